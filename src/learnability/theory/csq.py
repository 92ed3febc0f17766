"""The CSQ staircase: what gradient descent on fresh data finds, and what it leaves unlearned.

U grows by the range of K_j(U) (see `correlations`): at order 1 with n of order d samples per giant
step, at order k with n of order d^k. The leap is the largest order that the greedy staircase needs.

References
----------
Dandi, Krzakala, Loureiro, Pesce, Stephan, JMLR 25 (2024), definition 3 and theorem 3.
Abbe, Boix-Adsera, Misiakiewicz, COLT 2023 (leap).
"""

from __future__ import annotations

import numpy as np

from learnability.errors import refuse
from learnability.gaussian.sections import complement
from learnability.labels.conditional import HIGHEST_ORDER
from learnability.labels.link import Link
from learnability.theory.correlations import correlation_kernels, correlation_signals, snapped
from learnability.theory.steps import Staircase, Step
from learnability.theory.subspaces import relevant_subspace, top_range, whole_section

__all__ = ["HIGHEST_KAPPA", "csq_staircase", "leap_staircase", "regression", "risk_floors"]

HIGHEST_KAPPA = 4


def csq_staircase(link: Link, order: int = 1) -> Staircase:
    """Return the subspaces found by giant steps with batches of size n of order d^k.

    Parameters
    ----------
    link : Link
        A link with r <= 4.
    order : int
        The exponent k: at every step all orders j <= k are seen.

    Returns
    -------
    Staircase
        Steps of kind ``"csq"``, until nothing is added.

    Raises
    ------
    LearnabilityError
        When the order is not accepted.
    """
    if isinstance(order, bool) or not isinstance(order, int) or not 1 <= order <= HIGHEST_ORDER:
        raise refuse("order", order, f"a whole number from 1 to {HIGHEST_ORDER}")
    return _climb(link, order, greedy=False)


def leap_staircase(link: Link) -> Staircase:
    """Return the greedy CSQ staircase: at every step the smallest order that adds a direction.

    Parameters
    ----------
    link : Link
        The link g.

    Returns
    -------
    Staircase
        Each step carries its order; the leap is the largest of them.
    """
    return _climb(link, HIGHEST_ORDER, greedy=True)


def regression(link: Link) -> Link:
    """Return E[y | z], the only part of a random label that correlations with it depend on."""
    return link if link.law is None else link.law.mean


def _climb(link: Link, highest: int, greedy: bool) -> Staircase:
    """Return CSQ steps up to an order; each uses the lowest order that adds a direction, or all."""
    link = regression(link)
    relevant, _ = relevant_subspace(link)
    section = whole_section(link, relevant)
    known = np.zeros((0, len(relevant)))
    steps: list[Step] = []
    doubts: list[str] = []
    tilt = 0.0
    while len(known) < len(relevant):
        unknown = complement(known, len(relevant))
        signals = correlation_signals(section, known, tilt)
        shown = [k for k in range(1, highest + 1) if len(signals[k].basis)]
        if any(signals[k].doubt for k in range(1, shown[0] if shown else highest + 1)):
            doubts.append(f"step {len(steps) + 1} of the CSQ staircase: which orders vanish")
        if not shown:
            break
        used = shown[:1] if greedy else shown
        together = np.sum([signals[k].basis.T @ signals[k].basis for k in used], axis=0)
        rank = int(np.linalg.matrix_rank(together, tol=1e-6))
        span, error = snapped(
            section, known, top_range(together, rank), max(signals[k].tilt for k in used)
        )
        tilt = max(tilt, error)
        steps.append(Step(span @ unknown @ relevant, "csq", None, used[-1]))
        known = np.vstack([known, span @ unknown])
    return Staircase(tuple(steps), tuple(doubts))


def risk_floors(link: Link, staircase: Staircase) -> tuple[tuple[float, ...], ...]:
    """Return what stays unlearned once the first t steps are known and degrees <= kappa fitted.

    Parameters
    ----------
    link : Link
        The target function f.
    staircase : Staircase
        Its CSQ staircase.

    Returns
    -------
    tuple of tuple of float
        Entry [t][kappa] is |P_{U_t, > kappa} f|^2 for kappa = 0 ... 4; kappa = 0 is
        E Var(f | P_{U_t} x).
    """
    link = regression(link)
    relevant, _ = relevant_subspace(link)
    section = whole_section(link, relevant)
    known = np.zeros((0, section.m))
    floors: list[tuple[float, ...]] = []
    for step in (None, *staircase.steps):
        if step is not None:
            known = np.vstack([known, step.directions @ relevant.T])
        if len(known) == section.m:
            floors.append((0.0,) * (HIGHEST_KAPPA + 1))
            break
        kernels, _, energy = correlation_kernels(section, known)
        variance = energy - float(kernels[0][0, 0])
        floor = max(1e-11 * variance, 4e-15 * energy)  # Below it only rounding errors are left.
        left, row = energy, []
        for kappa in range(HIGHEST_KAPPA + 1):
            left -= float(np.trace(kernels[kappa]))
            row.append(left if left > floor else 0.0)
        floors.append(tuple(row))
    return tuple(floors)
