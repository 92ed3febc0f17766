"""Staircases: which directions open, in which order, and what is left unlearned.

Grand staircase (Bayes-optimal and statistical-query algorithms): given the directions U known so
far, condition on (Y, z_U). Trivial directions are the range of E[m m^T], m = E[z | Y, z_U];
otherwise F_U(M) = E[G M G] opens the range of its top eigenmatrix at alpha = 1 / lambda_max.

CSQ staircase (gradient descent with fresh data): U grows by the range of
K_j(U) = E[ unfold(T_j) unfold(T_j)^T ] / j!, T_j(x_U) = E[He_j(x_perp) f | x_U].

References
----------
Troiani, Dandi, Defilippis, Zdeborova, Loureiro, Krzakala, arXiv:2405.15480, section 4.
Dandi, Krzakala, Loureiro, Pesce, Stephan, JMLR 25 (2024), definition 3 and theorem 3.
Abbe, Boix-Adsera, Misiakiewicz, COLT 2023 (leap).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.hardness._subspaces import open_range, relevant_subspace, threshold, whole_section
from learnability.links._quadrature import multi_indices, rules_for
from learnability.links._sections import Section, complement
from learnability.links.conditional import conditional_moments
from learnability.links.link import Link

__all__ = ["Staircase", "Step", "csq_staircase", "grand_staircase", "leap_staircase", "risk_floors"]

Array = NDArray[np.float64]

HIGHEST_KAPPA = 4
_HIGHEST_LEAP = 8


@dataclass(frozen=True)
class Step:
    """One step of a staircase.

    Attributes
    ----------
    directions : array, shape (k, r)
        The new directions, orthonormal rows.
    kind : {"trivial", "easy", "hard", "csq"}
        By what they are found.
    alpha : float or None
        Samples over dimension at which they open when the earlier directions are known: 0.0 for
        trivial, inf for hard, None for CSQ steps.
    order : int or None
        Order of the conditional Hermite moment that shows them; None when none was found.
    alpha_error : float or None
        Error of `alpha`.
    alpha_self_consistent : float or None
        The same when the earlier directions are only as well known as they can be at that alpha;
        None where it has not been computed.
    """

    directions: Array = field(repr=False)
    kind: str
    alpha: float | None
    order: int | None
    alpha_error: float | None = None
    alpha_self_consistent: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers; infinities become None."""
        return {
            "directions": self.directions.tolist(),
            "kind": self.kind,
            "alpha": _finite(self.alpha),
            "order": self.order,
            "alpha_error": _finite(self.alpha_error),
            "alpha_self_consistent": _finite(self.alpha_self_consistent),
        }


@dataclass(frozen=True)
class Staircase:
    """Steps, and sentences on what stayed in doubt."""

    steps: tuple[Step, ...]
    doubts: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value


def grand_staircase(link: Link, noise: float = 0.0, highest: int = 8) -> Staircase:
    """Steps of the grand staircase, idealised: earlier directions count as known.

    Parameters
    ----------
    link : Link
        Any link; r <= 4 beyond the first step.
    noise : float
        Variance of the label noise.
    highest : int
        Highest order looked at for hard directions.

    Returns
    -------
    Staircase
    """
    relevant, _ = relevant_subspace(link)
    section = whole_section(link, relevant)
    known = np.zeros((0, len(relevant)))
    steps: list[Step] = []
    doubts: list[str] = []
    methods: list[str] = []
    while len(known) < len(relevant):
        unknown = complement(known, len(relevant))
        left = len(unknown)
        where = f"step {len(steps) + 1} of the staircase"
        if len(known) > 3:
            doubts.append(f"{where}: more than three directions are known already, not computed")
            break
        moments = conditional_moments(section, noise, [1, 2], known)
        methods += [moments[2].method]
        scale = float(left)
        trivial = open_range(moments[1].matrix, moments[1].entry_error, 1.0)
        shown = correlation_signals(section, known, [1, 2])
        span = _union(trivial.basis, shown[1])
        if len(span):
            steps.append(Step(span @ unknown @ relevant, "trivial", 0.0, 1, 0.0))
            known = np.vstack([known, span @ unknown])
            continue
        if trivial.doubt:
            doubts.append(f"{where}: whether E[z | y] vanishes")
        value, error, opened = threshold(moments[2], left)
        is_zero = value <= max(5 * error, 1e-6 * scale)
        if not is_zero and value > max(10 * error, 1e-6 * scale):
            alpha = 1 / value
            steps.append(Step(opened @ unknown @ relevant, "easy", alpha, 2, alpha * error / value))
            known = np.vstack([known, opened @ unknown])
            continue
        if not is_zero or error > 1e-3 * scale or len(shown[2]):
            doubts.append(f"{where}: whether E[z z^T - I | y] vanishes")
        order = _first_order(section, noise, known, highest, doubts, where)
        steps.append(Step(unknown @ relevant, "hard", math.inf, order))
        break
    return Staircase(tuple(steps), tuple(doubts), tuple(methods))


def _first_order(
    section: Section, noise: float, known: Array, highest: int, doubts: list[str], where: str
) -> int | None:
    """Smallest k >= 3 at which the label says something about what is left."""
    left = section.m - len(known)
    for k in range(3, highest + 1):
        if math.comb(k + left - 1, k) > 300:
            break
        moments = conditional_moments(section, noise, [k], known)[k]
        power, error = moments.power
        floor = 1e-6 * math.factorial(k)
        if power > max(10 * error, floor):
            return k
        if power > max(5 * error, floor) or error > 1e-3 * math.factorial(k):
            doubts.append(f"{where}: whether the conditional moment of order {k} vanishes")
            return None
    doubts.append(f"{where}: the order at which the remaining directions show")
    return None


def _union(first: Array, second: Array) -> Array:
    """Orthonormal rows that span two row spaces."""
    rows = first
    for row in second:
        rest = row - rows.T @ (rows @ row) if len(rows) else row
        size = np.linalg.norm(rest)
        if size > 1e-3:
            rows = np.vstack([rows, rest / size])
    return rows if len(rows) else np.zeros((0, second.shape[1]))


# ---- correlations with f, given the known coordinates


@lru_cache(maxsize=64)
def _correlations(link: Link, frame_bytes: bytes, m: int, known: int) -> tuple[Any, ...]:
    """K_j of `correlation_kernels` and its errors, cached."""
    frame = np.frombuffer(frame_bytes).reshape(m, link.r)
    section = Section.whole(link).inside(frame)
    orders = list(range(_HIGHEST_LEAP + 1))
    found: list[list[Array]] = []
    energies = []
    for rule in rules_for(section, known)[0]:
        values = rule.evaluate(section)
        energies.append(rule.mean(values**2))
        moments = rule.hermite_moments(values, orders)
        found.append(
            [_unfolded_kernel(moments[k], rule.outer_weights, m - known, k) for k in orders]
        )
    kernels = found[0]
    errors = [
        float(max(np.abs(kernels[k] - other[k]).max(initial=0.0) for other in found[1:]))
        for k in orders
    ]
    return kernels, errors, energies[0], max(abs(e - energies[0]) for e in energies[1:])


def _unfolded_kernel(moments: Array, weights: Array, m: int, k: int) -> Array:
    """E[unfold(T_k) unfold(T_k)^T] / k! from orthonormal moments (n, q); 1 x 1 for k = 0."""
    if k == 0:
        return np.array([[float(weights @ moments[:, 0] ** 2)]])
    if m == 0:
        return np.zeros((0, 0))
    position = {tuple(beta): j for j, beta in enumerate(multi_indices(m, k).tolist())}
    kernel = np.zeros((m, m))
    for gamma in multi_indices(m, k - 1).tolist():
        rows = np.empty((m, len(moments)))
        for a in range(m):
            beta = list(gamma)
            beta[a] += 1
            rows[a] = math.sqrt(beta[a] / k) * moments[:, position[tuple(beta)]]
        kernel += (rows * weights) @ rows.T
    return kernel


def correlation_kernels(
    section: Section, known: Array
) -> tuple[list[Array], list[float], float, float]:
    """K_j(U) for j = 0 ... 8 on the complement of U, their errors, E[f^2] and its error."""
    frame = np.vstack([known, complement(known, section.m)]) @ section.A.T
    kernels, errors, energy, energy_error = _correlations(
        section.link, np.ascontiguousarray(frame).tobytes(), section.m, len(known)
    )
    return kernels, errors, energy, energy_error


def correlation_signals(section: Section, known: Array, orders: Sequence[int]) -> dict[int, Array]:
    """Ranges of K_j(U): what correlations with the label itself show, as rows (k, m - j)."""
    empty = {k: np.zeros((0, section.m - len(known))) for k in orders}
    try:
        kernels, errors, energy, _ = correlation_kernels(section, known)
    except LearnabilityError:
        return empty
    found = {k: open_range(kernels[k], errors[k], _scale(energy, kernels)).basis for k in orders}
    return {k: rows if len(rows) else empty[k] for k, rows in found.items()}


def _scale(energy: float, kernels: list[Array]) -> float:
    """The variance of f, the scale of all its correlations."""
    mean_square = float(kernels[0][0, 0])
    return max(energy - mean_square, 1e-12 * energy, 1e-300)


def csq_staircase(link: Link, order: int = 1) -> Staircase:
    """The subspaces found by giant steps with batches of size n of order d^k.

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
    """
    if isinstance(order, bool) or not isinstance(order, int) or not 1 <= order <= _HIGHEST_LEAP:
        raise LearnabilityError(
            f"`order` was given as {order!r}, "
            f"but a whole number from 1 to {_HIGHEST_LEAP} is accepted."
        )
    return _climb(link, lambda opened: opened, order)


def leap_staircase(link: Link) -> Staircase:
    """The greedy CSQ staircase: at every step the smallest order that adds a direction.

    Returns
    -------
    Staircase
        Each step carries its order; the leap is the largest of them.
    """

    def smallest(opened: list[Array]) -> list[Array]:
        for k, rows in enumerate(opened):
            if len(rows):
                return opened[: k + 1]
        return []

    return _climb(link, smallest, _HIGHEST_LEAP)


def _climb(link: Link, choose: Callable[[list[Array]], list[Array]], highest: int) -> Staircase:
    relevant, _ = relevant_subspace(link)
    section = whole_section(link, relevant)
    known = np.zeros((0, len(relevant)))
    steps: list[Step] = []
    doubts: list[str] = []
    while len(known) < len(relevant):
        unknown = complement(known, len(relevant))
        kernels, errors, energy, _ = correlation_kernels(section, known)
        scale = _scale(energy, kernels)
        signals = [open_range(kernels[k], errors[k], scale) for k in range(1, highest + 1)]
        chosen = choose([s.basis for s in signals])
        span = np.zeros((0, len(unknown)))
        for rows in chosen:
            span = _union(span, rows) if len(rows) else span
        first = next((k for k, s in enumerate(signals, 1) if len(s.basis)), None)
        if any(s.doubt for s in signals[: first or len(signals)]):
            doubts.append(f"step {len(steps) + 1} of the CSQ staircase: which orders vanish")
        if not len(span):
            break
        order = max(k for k, s in enumerate(chosen, 1) if len(s))
        steps.append(Step(span @ unknown @ relevant, "csq", None, order))
        known = np.vstack([known, span @ unknown])
    return Staircase(tuple(steps), tuple(doubts))


def risk_floors(link: Link, staircase: Staircase) -> list[list[float]]:
    """What stays unlearned once the first t steps are known and degrees up to kappa are fitted.

    Parameters
    ----------
    link : Link
        The target function f.
    staircase : Staircase
        Its CSQ staircase.

    Returns
    -------
    list of list of float
        Entry [t][kappa] is |P_{U_t, > kappa} f|^2 for kappa = 0 ... 4; kappa = 0 is
        E Var(f | P_{U_t} x).
    """
    relevant, _ = relevant_subspace(link)
    section = whole_section(link, relevant)
    known = np.zeros((0, section.m))
    floors = []
    for step in (None, *staircase.steps):
        if step is not None:
            known = np.vstack([known, step.directions @ relevant.T])
        if len(known) == section.m:
            floors.append([0.0] * (HIGHEST_KAPPA + 1))
            break
        kernels, _, energy, _ = correlation_kernels(section, known)
        left, row = energy, []
        for kappa in range(HIGHEST_KAPPA + 1):
            left -= float(np.trace(kernels[kappa]))
            row.append(left if left > 1e-11 * energy else 0.0)
        floors.append(row)
    return floors
