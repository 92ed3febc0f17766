"""The grand staircase: what the best algorithms find, in which order, at which ratio of samples.

Given the directions U known so far, condition on (Y, z_U). Trivial directions are the range of
E[m m^T], m = E[z | Y, z_U]; otherwise F_U(M) = E[G M G], G = E[z z^T - I | Y, z_U], opens the range
of its top eigenmatrix at alpha = 1 / lambda_max. The remaining directions are hard.

Whether a conditional moment vanishes does not depend on Gaussian label noise: noise multiplies
the Fourier transform of zeta_k p by a function without zeros. So it is decided without noise.

References
----------
Troiani, Dandi, Defilippis, Zdeborova, Loureiro, Krzakala, arXiv:2405.15480, section 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

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
from learnability.labels.relabelling import plain_channel, plain_label
from learnability.theory.correlations import shown_directions, snapped, transformed_signal
from learnability.theory.self_consistency import self_consistent_alpha
from learnability.theory.steps import Staircase, Step
from learnability.theory.subspaces import (
    Signal,
    is_square_integrable,
    open_range,
    relevant_subspace,
    threshold,
    top_range,
    whole_section,
)

__all__ = ["grand_staircase"]

Array = NDArray[np.float64]

_EXACT = 1e-10  # Directions with a smaller error count as exact.
_STANDS_OUT = 1e4

_TOLD_APART = 1e-3  # A smaller signal in a blurred label may be an artefact.


@dataclass(frozen=True)
class _Known:
    """What is known at a step: orthonormal rows (j, m), and their error as a sine."""

    rows: Array
    tilt: float

    def with_new(self, rows: Array, tilt: float) -> _Known:
        """Return what is known after a step; `rows` (k, m - j) are in the unknown directions."""
        unknown = complement(self.rows, self.rows.shape[1])
        return _Known(np.vstack([self.rows, rows @ unknown]), max(self.tilt, tilt))


def grand_staircase(link: Link, noise: float = 0.0) -> Staircase:
    """Return the steps of the idealised grand staircase, where earlier directions are known.

    Parameters
    ----------
    link : Link
        Any link; at most three directions can be known before a step.
    noise : float
        Variance of the label noise.

    Returns
    -------
    Staircase
        Directions that stay undecided form one last step without a kind.
    """
    relevant, _ = relevant_subspace(link)
    simplest, plainer = plain_label(link), plain_channel(Channel(link, noise))
    if noise == 0 < plainer.noise and is_square_integrable(plainer.link):
        # tanh(z + xi) tells what z + xi does, which is z with normal noise.
        link, noise, simplest = plainer.link, plainer.noise, plain_label(plainer.link)
    label = whole_section(link, relevant)
    plain = whole_section(simplest, relevant)
    known = _Known(np.zeros((0, len(relevant))), 0.0)
    steps: list[Step] = []
    doubts: list[str] = []
    methods: list[str] = []
    while len(known.rows) < len(relevant):
        unknown = complement(known.rows, len(relevant))
        where = f"step {len(steps) + 1} of the staircase"
        if len(known.rows) > 3:
            doubts.append(f"{where}: not computed, more than three directions are known already")
            steps.append(Step(unknown @ relevant, None, None, None))
            break
        shown = shown_directions(link, label, known.rows, known.tilt)
        span, tilt, doubt = _trivial_span(plain, known, shown)
        if len(span):
            steps.append(Step(span @ unknown @ relevant, "trivial", 0.0, 1, 0.0, 0.0))
            known = known.with_new(span, tilt)
        if doubt:
            doubts.append(f"{where}: whether E[z | y] vanishes in some direction")
            if len(known.rows) < len(relevant):
                unknown = complement(known.rows, len(relevant))
                steps.append(Step(unknown @ relevant, None, None, None))
            break
        if len(span):
            continue
        # Under strong noise alpha cannot be computed, but the kind can.
        clean = _easy_signal(plain, 0.0, known)
        noisy = clean if noise == 0 else _easy_signal(label, noise, known)
        methods.append(noisy.method)
        proved = shown[2].basis.reshape(-1, len(unknown))
        if clean.is_there or noisy.is_there or len(proved):
            source = noisy if noisy.is_there else clean
            opened = source.opened if source.is_there else proved
            tilt = 10 * source.error / source.value if source.is_there else shown[2].tilt
            opened, tilt = snapped(plain, known.rows, opened, min(tilt, 1.0))
            new = opened @ unknown @ relevant
            alpha = error = true = None
            if noisy.is_there:
                alpha = 1 / noisy.value
                error = alpha * noisy.error / noisy.value
                true = alpha if not len(known.rows) else None
                if len(known.rows) and known.tilt < _EXACT:
                    before = known.rows @ relevant
                    true = self_consistent_alpha(Channel(link, noise), before, new, alpha)
            else:
                doubts.append(f"{where}: alpha")
            steps.append(Step(new, "easy", alpha, 2, error, true))
            known = known.with_new(opened, tilt)
            continue
        order = None
        if clean.may_be_there:
            doubts.append(f"{where}: whether E[z z^T - I | y] vanishes")
        else:
            order = _first_order(plain, known, shown, clean.bound, doubts, where)
        kind = None if order is None else "hard"
        steps.append(Step(unknown @ relevant, kind, None if order is None else math.inf, order))
        break
    return Staircase(tuple(steps), tuple(doubts), tuple(methods))


def _blur(section: Section, known: _Known) -> float:
    """Return the variance of a label noise that hides errors of the known directions.

    If U is off by an angle, a label that depends on U alone still depends on a share of the unknown
    directions given z_U. Noise a hundred times as large reduces that signal to (1 percent)^2.
    """
    if known.tilt < _EXACT:
        return 0.0
    values = section(np.random.default_rng(41).standard_normal((4096, section.m)))
    spread = float(np.subtract(*np.quantile(values, [0.95, 0.05])))
    return (100 * known.tilt * spread) ** 2


def _trivial_span(
    section: Section, known: _Known, shown: dict[int, Signal]
) -> tuple[Array, float, bool]:
    """Return directions with E[z | y] != 0, their error, and whether others are in doubt.

    Correlations with the label prove some of them and correlations with functions of the label
    more; the others come from the conditional law. Few samples are enough when they find every
    direction that the symmetries of g allow.
    """
    left = section.m - len(known.rows)
    found = shown[1].basis.reshape(-1, left)
    rest = complement(found, left)
    if not len(rest):
        return found, 0.0, False
    blur = _blur(section, known)
    floor = 1e-10 if known.tilt < _EXACT else _TOLD_APART
    for samples in (FEW_SAMPLES, MANY_SAMPLES):
        moments = conditional_moments(section, 0.0, [1], known.rows, samples, blur)[1]
        if not moments.replicates and shown[1].tilt > _EXACT:
            whole = open_range(moments.matrix, moments.entry_error, 1.0, floor)
            outside = found - found @ whole.basis.T @ whole.basis
            if whole.tilt < shown[1].tilt and np.abs(outside).max() <= 10 * shown[1].tilt:
                shown = {**shown, 1: whole}  # The same directions, known better.
                found, rest = whole.basis, complement(whole.basis, left)
        # What is found is off by an angle, and so is the rest.
        error = moments.entry_error + shown[1].tilt ** 2 * float(np.abs(moments.matrix).max())
        further = open_range(rest @ moments.matrix @ rest.T, error, 1.0, floor)
        span = np.vstack([found, further.basis @ rest])
        if not moments.replicates or len(span) >= moments.allowed:
            break
    # A signal that errors of the known directions could cause proves nothing either way.
    seen = open_range(rest @ moments.matrix @ rest.T, error, 1.0)
    doubt = further.doubt or len(seen.basis) > len(further.basis)
    doubt = doubt and len(span) < moments.allowed
    if moments.replicates and len(span) < moments.allowed and len(span) < left:
        if known.tilt >= _EXACT:
            return span, known.tilt, True
        proved = transformed_signal(section, known.rows, 1)
        together = span.T @ span + proved.basis.T @ proved.basis
        span = top_range(together, int(np.linalg.matrix_rank(together, tol=1e-3)))
        doubt = (doubt or proved.doubt) and len(span) < moments.allowed
    tilt = max(10 * further.tilt, shown[1].tilt)
    if len(span):
        span, tilt = snapped(section, known.rows, span, min(tilt, 1.0))
    return span, tilt, doubt


@dataclass(frozen=True)
class _EasySignal:
    """The largest eigenvalue of the operator, its error, what it opens, the method and a floor."""

    value: float
    error: float
    opened: Array
    method: str
    floor: float

    @property
    def is_there(self) -> bool:
        """Whether the eigenvalue is well above its error and above possible artefacts."""
        return self.value > max(10 * self.error, self.floor)

    @property
    def may_be_there(self) -> bool:
        """Whether it may differ from zero; samples alone never prove that it vanishes."""
        return self.value > 5 * self.error or self.error > 1e-3 or self.method == "regression"

    @property
    def bound(self) -> float:
        """An upper bound of the eigenvalue."""
        return max(self.value, 0.0) + 5 * self.error


def _easy_signal(section: Section, noise: float, known: _Known) -> _EasySignal:
    blur = _blur(section, known)
    moments = conditional_moments(section, noise, [2], known.rows, blur=blur)[2]
    value, error, opened = threshold(moments, section.m - len(known.rows))
    if moments.method == "regression" and not value > 10 * error and known.tilt < _EXACT:
        signal = transformed_signal(section, known.rows, 2)
        if not len(signal.basis) and not signal.doubt:
            return _EasySignal(0.0, 1e-9, opened[:0], "correlations", 0.0)
    if not math.isfinite(value):
        return _EasySignal(0.0, math.inf, opened[:0], moments.method, 0.0)
    floor = (1e-7 if moments.replicates else 1e-10) * (section.m - len(known.rows))
    error = max(error, floor)
    if blur > 0:  # Noise of half the deviation shows how much the noise hides.
        less = conditional_moments(section, noise, [2], known.rows, blur=blur / 4)[2]
        error += abs(threshold(less, section.m - len(known.rows))[0] - value)
    return _EasySignal(value, error, opened, moments.method, _TOLD_APART if blur > 0 else 0.0)


def _first_order(
    section: Section,
    known: _Known,
    shown: dict[int, Signal],
    below: float,
    doubts: list[str],
    where: str,
) -> int | None:
    """Return the smallest k >= 3 at which the label depends on the remaining directions.

    The signal must stand out from what the lower orders may still hide, `below` at order 2.
    """
    left = section.m - len(known.rows)
    blur = _blur(section, known)
    for k in range(3, HIGHEST_ORDER + 1):
        if math.comb(k + left - 1, k) > 300:
            break
        power, error = conditional_moments(section, 0.0, [k], known.rows, blur=blur)[k].power
        scale = math.factorial(k)
        proved = len(shown[k].basis) > 0
        if power > max(10 * error, 1e-8 * scale) or proved:
            if power > _STANDS_OUT * below * scale:
                return k
            doubts.append(f"{where}: whether the moments below order {k} vanish")
            return None
        if not power <= max(5 * error, 1e-8 * scale) or error > 1e-3 * scale:
            doubts.append(f"{where}: whether the conditional moment of order {k} vanishes")
            return None
        below = max(below, max(power, 0.0) / scale + 5 * error / scale)
    doubts.append(f"{where}: the order at which the remaining directions show")
    return None
