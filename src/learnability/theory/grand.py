"""The grand staircase: what the best algorithms find, in which order, at which ratio of samples.

Given the directions U known so far, condition on (Y, z_U). Trivial directions are the range of
E[m m^T], m = E[z | Y, z_U]; otherwise F_U(M) = E[G M G], G = E[z z^T - I | Y, z_U], opens the range
of its top eigenmatrix at alpha = 1 / lambda_max. What is left then is hard.

Whether a conditional moment vanishes does not depend on Gaussian label noise: noise multiplies
the Fourier transform of zeta_k p by something that has no zeros. So it is decided without noise.

References
----------
Troiani, Dandi, Defilippis, Zdeborova, Loureiro, Krzakala, arXiv:2405.15480, section 4.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.sections import Section, complement
from learnability.labels.channel import Channel
from learnability.labels.conditional import (
    FEW_SAMPLES,
    HIGHEST_ORDER,
    MANY_SAMPLES,
    conditional_moments,
)
from learnability.labels.link import Link
from learnability.theory.correlations import shown_directions, snapped
from learnability.theory.self_consistency import self_consistent_alpha
from learnability.theory.steps import Staircase, Step
from learnability.theory.subspaces import open_range, relevant_subspace, threshold, whole_section

__all__ = ["grand_staircase"]

Array = NDArray[np.float64]


def grand_staircase(link: Link, noise: float = 0.0) -> Staircase:
    """Return steps of the grand staircase, idealised: earlier directions count as known.

    Parameters
    ----------
    link : Link
        Any link; at most three directions can be known before a step.
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
        where = f"step {len(steps) + 1} of the staircase"
        if len(known) > 3:
            doubts.append(f"{where}: not computed, more than three directions are known already")
            break
        shown = shown_directions(link, section, known)
        span, doubt = _trivial_span(section, known, shown[1])
        if doubt:
            doubts.append(f"{where}: whether E[z | y] vanishes in some direction")
        if len(span):
            steps.append(Step(span @ unknown @ relevant, "trivial", 0.0, 1, 0.0, 0.0))
            known = np.vstack([known, span @ unknown])
            continue
        value, error, opened, method = _easy_signal(section, noise, known)
        methods.append(method)
        proved = len(shown[2]) > 0
        if noise > 0 and not value > 10 * error:
            # Under strong noise alpha is out of reach, but not the class.
            clean, clean_error, opened, _ = _easy_signal(section, 0.0, known)
            proved = proved or clean > 10 * clean_error
        if value > 10 * error or proved:
            if not value > 10 * error:
                doubts.append(f"{where}: alpha")
                opened = opened if len(opened) else shown[2]
                value = max(value, error, 1e-300)
            alpha = 1 / value
            if method == "regression":
                opened, exact = snapped(section, known, opened)
                if not exact and len(opened) < len(unknown):
                    doubts.append(
                        f"{where}: its directions are sampled, so later steps are in doubt"
                    )
            new = opened @ unknown @ relevant
            true: float | None = alpha
            if len(known):
                true = self_consistent_alpha(Channel(link, noise), known @ relevant, new, alpha)
            steps.append(Step(new, "easy", alpha, 2, alpha * error / value, true))
            known = np.vstack([known, opened @ unknown])
            continue
        if value > 5 * error or error > 1e-3 * len(unknown):
            doubts.append(f"{where}: whether E[z z^T - I | y] vanishes")
        order = _first_order(section, known, shown, doubts, where)
        steps.append(Step(unknown @ relevant, "hard", math.inf, order))
        break
    return Staircase(tuple(steps), tuple(doubts), tuple(methods))


def _trivial_span(section: Section, known: Array, shown: Array) -> tuple[Array, bool]:
    """Return directions with E[z | y] != 0: those that correlations prove, then the others.

    Few samples are enough when they find every direction that the symmetries of g allow.
    """
    rest = complement(shown, shown.shape[1])
    if not len(rest):
        return shown, False
    for samples in (FEW_SAMPLES, MANY_SAMPLES):
        moments = conditional_moments(section, 0.0, [1], known, samples)[1]
        further = open_range(rest @ moments.matrix @ rest.T, moments.entry_error, 1.0)
        span = np.vstack([shown, further.basis @ rest])
        if not moments.replicates or len(span) >= moments.allowed:
            break
    return span, further.doubt and len(span) < moments.allowed


def _easy_signal(section: Section, noise: float, known: Array) -> tuple[float, float, Array, str]:
    """The largest eigenvalue of the operator, its error with a floor, what it opens, and how."""
    moments = conditional_moments(section, noise, [2], known)[2]
    value, error, opened = threshold(moments, section.m - len(known))
    if not math.isfinite(value):
        return 0.0, math.inf, opened[:0], moments.method
    floor = 1e-7 if moments.replicates else 1e-10
    return value, max(error, floor * (section.m - len(known))), opened, moments.method


def _first_order(
    section: Section, known: Array, shown: dict[int, Array], doubts: list[str], where: str
) -> int | None:
    """Return smallest k >= 3 at which the label says something about what is left."""
    left = section.m - len(known)
    for k in range(3, HIGHEST_ORDER + 1):
        if len(shown[k]):
            return k
        if math.comb(k + left - 1, k) > 300:
            break
        power, error = conditional_moments(section, 0.0, [k], known)[k].power
        scale = math.factorial(k)
        if power > max(10 * error, 1e-8 * scale):
            return k
        if not power <= max(5 * error, 1e-8 * scale) or error > 1e-3 * scale:
            doubts.append(f"{where}: whether the conditional moment of order {k} vanishes")
            return None
    doubts.append(f"{where}: the order at which the remaining directions show")
    return None
