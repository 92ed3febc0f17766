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
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.hardness._subspaces import (
    is_square_integrable,
    open_range,
    relevant_subspace,
    threshold,
    whole_section,
)
from learnability.links._quadrature import multi_indices, rules_for
from learnability.links._sections import Section, complement
from learnability.links.conditional import (
    FEW_SAMPLES,
    HIGHEST_ORDER,
    MANY_SAMPLES,
    conditional_moments,
)
from learnability.links.link import Link

__all__ = ["Staircase", "Step", "csq_staircase", "grand_staircase", "leap_staircase", "risk_floors"]

Array = NDArray[np.float64]

HIGHEST_KAPPA = 4
MOST_CSQ_DIRECTIONS = 4
_HIGHEST_LEAP = HIGHEST_ORDER
# Squared correlations from rules that resolve every break vanish to rounding, squared.
_CSQ_FLOOR = 1e-18


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


def grand_staircase(link: Link, noise: float = 0.0) -> Staircase:
    """Steps of the grand staircase, idealised: earlier directions count as known.

    Parameters
    ----------
    link : Link
        Any link; r <= 4 beyond the first step.
    noise : float
        Variance of the label noise.

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
        shown = correlation_signals(section, known)
        span, doubt = _trivial_span(section, noise, known, shown[1])
        if len(span):
            steps.append(Step(span @ unknown @ relevant, "trivial", 0.0, 1, 0.0))
            known = np.vstack([known, span @ unknown])
            continue
        if doubt:
            doubts.append(f"{where}: whether E[z | y] vanishes")
        moments = conditional_moments(section, noise, [2], known)
        methods += [moments[2].method]
        value, error, opened = threshold(moments[2], left)
        floor = 1e-6 * left if moments[2].method == "regression" else 1e-9 * left
        if value > max(10 * error, floor) or len(shown[2]):
            if value <= max(10 * error, floor):
                # The correlation with the label itself proves a signal that is too weak to measure.
                doubts.append(f"{where}: alpha")
                value, opened = max(value, error, floor), shown[2]
            alpha = 1 / value
            steps.append(Step(opened @ unknown @ relevant, "easy", alpha, 2, alpha * error / value))
            known = np.vstack([known, opened @ unknown])
            continue
        if value > max(5 * error, floor) or error > 1e-3 * left:
            doubts.append(f"{where}: whether E[z z^T - I | y] vanishes")
        order = _first_order(section, noise, known, doubts, where)
        steps.append(Step(unknown @ relevant, "hard", math.inf, order))
        break
    return Staircase(tuple(steps), tuple(doubts), tuple(methods))


def _trivial_span(section: Section, noise: float, known: Array, shown: Array) -> tuple[Array, bool]:
    """Directions with E[z | y] != 0: those that correlations show exactly, then the others.

    Few samples are enough when they find every direction that the symmetries of g allow.
    """
    rest = complement(shown, shown.shape[1])
    if not len(rest):
        return shown, False
    for samples in (FEW_SAMPLES, MANY_SAMPLES):
        moments = conditional_moments(section, noise, [1], known, samples)[1]
        further = open_range(rest @ moments.matrix @ rest.T, moments.entry_error, 1.0)
        span = np.vstack([shown, further.basis @ rest])
        if moments.method != "regression" or len(span) >= moments.allowed:
            break
    return span, further.doubt and not len(span)


def _first_order(
    section: Section, noise: float, known: Array, doubts: list[str], where: str
) -> int | None:
    """Smallest k >= 3 at which the label says something about what is left."""
    left = section.m - len(known)
    shown = correlation_signals(section, known)
    for k in range(3, HIGHEST_ORDER + 1):
        if len(shown[k]):
            return k
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


def correlation_signals(section: Section, known: Array) -> dict[int, Array]:
    """Ranges of K_j(U), j = 1 ... 8: what correlations with the label show, as rows (k, m - j).

    Empty where correlations do not exist or are not computed: they prove a signal, never its
    absence.
    """
    left = section.m - len(known)
    orders = range(1, _HIGHEST_LEAP + 1)
    if not is_square_integrable(section.link) or section.m > MOST_CSQ_DIRECTIONS:
        return {k: np.zeros((0, left)) for k in orders}
    kernels, errors, energy, _ = correlation_kernels(section, known)
    scale = _scale(energy, kernels)
    found = {k: open_range(kernels[k], errors[k], scale, _CSQ_FLOOR).basis for k in orders}
    return {k: rows.reshape(-1, left) for k, rows in found.items()}


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
    return _climb(link, order, greedy=False)


def leap_staircase(link: Link) -> Staircase:
    """The greedy CSQ staircase: at every step the smallest order that adds a direction.

    Returns
    -------
    Staircase
        Each step carries its order; the leap is the largest of them.
    """
    return _climb(link, _HIGHEST_LEAP, greedy=True)


def _climb(link: Link, highest: int, greedy: bool) -> Staircase:
    """CSQ steps up to an order: at each, the lowest that shows something, or all together."""
    relevant, _ = relevant_subspace(link)
    section = whole_section(link, relevant)
    known = np.zeros((0, len(relevant)))
    steps: list[Step] = []
    doubts: list[str] = []
    while len(known) < len(relevant):
        unknown = complement(known, len(relevant))
        kernels, errors, energy, _ = correlation_kernels(section, known)
        scale = _scale(energy, kernels)
        signals = {
            k: open_range(kernels[k], errors[k], scale, _CSQ_FLOOR) for k in range(1, highest + 1)
        }
        shown = [k for k, signal in signals.items() if len(signal.basis)]
        if any(signals[k].doubt for k in range(1, shown[0] if shown else highest + 1)):
            doubts.append(f"step {len(steps) + 1} of the CSQ staircase: which orders vanish")
        if not shown:
            break
        used = shown[:1] if greedy else shown
        total = open_range(
            np.sum([kernels[k] for k in used], axis=0),
            sum(errors[k] for k in used),
            scale,
            _CSQ_FLOOR,
        )
        steps.append(Step(total.basis @ unknown @ relevant, "csq", None, used[-1]))
        known = np.vstack([known, total.basis @ unknown])
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
