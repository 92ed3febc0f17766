"""Fixed points of state evolution for overlap matrices, as one family along their trace.

At a given trace of M the ratio of samples is what is solved for: with I(M) known, alpha is chosen
such that A (I + A)^{-1}, A = alpha I(M), has that trace. The fixed points of this map are those of
state evolution, and a branch that message passing leaves in a jump is on it as well.

References
----------
Aubin, Maillard, Barbier, Krzakala, Macris, Zdeborova, NeurIPS 2018, equation (4).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from learnability.statuses import Status
from learnability.theory._overlap_branch import Branch, Member, foretold, open_directions
from learnability.theory._relaxation import opened
from learnability.theory._slopes import Slopes, physical

__all__ = ["OverlapFamily", "one_curve"]

Array = NDArray[np.float64]

_FIRST, _LAST = 4e-3, 0.985
"""Least and largest mean overlap of a direction."""
_SAME = 0.03
"""Members of one trace that are closer than this are the same."""
_CLOSE, _MOST_CENTRES = 0.03, 4
"""A function I(M) that is smooth around an overlap holds this far from it."""
_NOTHING = 1e-13
"""Information below this is rounding."""
_REFINED = 3
_HARD = 0.02
"""Below this overlap fixed points of a hard link are rounding."""
_OUT_OF_REACH = 1e12


@dataclass(frozen=True, eq=False)
class OverlapFamily:
    """Fixed points at every trace, grown from no information and from the truth.

    Parameters
    ----------
    around : callable
        M -> the function I(M), shape (r, r), that is smooth close to M.
    r : int
        Number of hidden directions.
    tolerance : callable
        M -> the size of a step that means nothing.
    alpha_c : float
        The ratio at which the family starts.
    full : float
        The ratio above which perfect recovery is a fixed point; inf if it never is.
    error : float
        Relative error of I(M): smaller bends of the family are none.
    psi : callable
        M -> Psi(M) - Psi(0), asked for where two branches do not meet.
    nodes : int
        Number of traces.
    """

    around: Callable[[Array], Callable[[Array], Array]]
    r: int
    tolerance: Callable[[Array], float]
    alpha_c: float
    full: float
    error: float
    psi: Callable[[Array], float]
    nodes: int = 24

    # ---- members

    def member(
        self, t: float, near: Array, plain: int = 0, slopes: Slopes | None = None
    ) -> Member | None:
        """The fixed point of a mean overlap that is found from an overlap near it.

        The slopes are those of the map at other members close to it.
        """
        M = physical(near * (self.r * t / np.trace(near)))
        for _ in range(_MOST_CENTRES):
            information, tried = self.around(M), list[tuple[Array, float]]()

            def one_step(
                M: Array,
                information: Callable[[Array], Array] = information,
                tried: list[tuple[Array, float]] = tried,
            ) -> Array:
                ratio, new = _of_trace(information(M), self.r * t)
                tried.append((M, ratio))
                return new

            found, status = opened(one_step, self.tolerance, M, plain, slopes)
            moved, M = float(np.abs(found - M).max()), physical(found)
            # The last one may have been tried with a little more.
            alpha = min(tried, key=lambda pair: float(np.abs(pair[0] - found).max()))[1]
            if status is not Status.CONVERGED or not alpha < _OUT_OF_REACH:
                return None
            if moved < _CLOSE:
                break
        return Member(t, alpha, M, math.sqrt(max(_price(M), 0.0)))

    @cached_property
    def _overlaps(self) -> Array:
        """Mean overlaps, close together at both ends in sqrt(1 - t)."""
        low, high = math.sqrt(1 - _LAST), math.sqrt(1 - _FIRST)
        angle = np.linspace(0, math.pi, self.nodes)
        return np.asarray(1 - (0.5 * (low + high) + 0.5 * (high - low) * np.cos(angle)) ** 2)

    @cached_property
    def lower(self) -> Branch:
        """Members grown from no information."""
        found: list[Member] = []
        slopes = Slopes()
        for t in self._overlaps:
            if found:
                member = self.member(float(t), foretold(found, float(t)), 0, slopes)
            else:
                member = self.member(float(t), np.eye(self.r), 4)
            if member is not None:
                found.append(member)
        if len(found) < 3:
            raise ArithmeticError("Fixed points of too few traces are found.")
        return Branch(self._refined(found), self.alpha_c, self.psi)

    @cached_property
    def upper(self) -> Branch:
        """Members grown from the truth; `lower` itself where they are the same."""
        below = {m.t: m for m in self.lower.members}
        found: list[Member] = []
        slopes = Slopes()
        for t in self._overlaps[::-1]:
            near = found[-1].M if found else np.eye(self.r)
            member = self.member(float(t), near, 0, slopes if found else None)
            if member is None:
                continue
            own = below.get(member.t)
            if own is not None and np.abs(own.M - member.M).max() < _SAME:
                if not found:
                    return self.lower
                rest = [m for m in self.lower.members if m.t <= member.t]
                return Branch(self._refined(rest + found[::-1]), self.alpha_c, self.psi)
            found.append(member)
        return Branch(self._refined(found[::-1]), math.nan, self.psi)

    def _refined(self, members: list[Member]) -> list[Member]:
        """More members where a direction opens, and at the turning points."""
        for _ in range(_REFINED):
            steps = range(len(members) - 1, 0, -1)
            for k in [
                k for k in steps if open_directions(members[k]) != open_directions(members[k - 1])
            ]:
                a, b = members[k - 1 : k + 1]
                new = self.member(0.5 * (a.t + b.t), 0.5 * (a.M + b.M), 4, Slopes())
                members = members if new is None else [*members[:k], new, *members[k:]]
            for k in reversed(_turns(members)):
                a, b, c = members[k - 1 : k + 2]
                t = _vertex([m.t for m in (a, b, c)], [m.alpha for m in (a, b, c)])
                new = self.member(t, b.M)
                far = min(abs(t - m.t) for m in (a, b, c)) > 1e-4
                if new is not None and far:
                    members = [*members[: k + (t > b.t)], new, *members[k + (t > b.t) :]]
        return one_curve(members)

    # ---- what the members say

    def reached(self, alpha: float, last: bool) -> tuple[Array, Array] | None:
        """The overlap of a ratio and its error, between two members; None if they do not tell it.

        Parameters
        ----------
        alpha : float
            Samples over dimension.
        last : bool
            Whether the overlap kept from the truth is meant.
        """
        branch = self.upper if last else self.lower
        M = branch.overlap(alpha, last)
        if M is None:
            return None
        error = np.zeros_like(M)
        for sign in (-1, 1):
            end = branch.overlap(alpha * (1 + sign * self.error), last)
            error = error if end is None else np.maximum(error, np.abs(end - M))
        fewer = branch.thinned(lambda m: m is branch.members[-1]).overlap(alpha, last)
        return M, error + (0.0 if fewer is None else np.abs(fewer - M))

    def coarser(self) -> OverlapFamily:
        """The same from every second member, to tell the error of what lies between."""
        other = replace(self)
        turns = {b.members[k].t for b in (self.lower, self.upper) for k in _turns(b.members)}
        for name in ("lower", "upper"):
            other.__dict__[name] = getattr(self, name).thinned(lambda m: m.t in turns)
        return other

    @cached_property
    def _tops(self) -> list[Member]:
        """Local maxima of alpha on `lower` from which it falls by more than its error."""
        members, least = self.lower.members, max(1e-4, 3 * self.error)
        tops = []
        for k in _turns(members):
            m = members[k]
            lowest = min(min(x.alpha for x in members[k + 1 :]), self.full)
            highest = max(x.alpha for x in members[:k])
            if m.alpha >= highest and lowest < m.alpha * (1 - least):
                tops.append(m)
        return tops

    @cached_property
    def spinodal(self) -> float:
        """The ratio at the highest local maximum, where the overlap jumps; NaN without a jump.

        It is infinite when weak recovery is out of reach but a larger overlap is a fixed point.

        Raises
        ------
        ArithmeticError
            When the overlap itself is not continuous along the family at the maximum.
        """
        if math.isinf(self.alpha_c):
            return math.inf
        if not self._tops:
            return math.nan
        top = max(self._tops, key=lambda m: m.alpha)
        members = self.lower.members
        k = next(k for k, m in enumerate(members) if m is top)
        for low, high in ((members[k - 1], top), (top, members[k + 1])):
            if np.abs(high.M - low.M).max() > 2 * self.r * (high.t - low.t) + _SAME:
                raise ArithmeticError("The family is not one curve at its maximum.")
        return top.alpha

    @property
    def jumps_from(self) -> float:
        """Largest overlap of a direction at that maximum."""
        tops = self._tops
        top = max(tops, key=lambda m: m.alpha) if tops else None
        return 1.0 if top is None else float(np.linalg.eigvalsh(top.M)[-1])

    @cached_property
    def information_threshold(self) -> float:
        """Where the lowest and the highest fixed point have the same free entropy; NaN if none."""
        from scipy.optimize import brentq

        last = self.spinodal
        if math.isnan(last):
            return math.nan
        start = max((m.t for m in self._tops), default=_HARD)
        lowest = min(m.alpha for m in self.upper.members if m.t > start)
        if self.full <= lowest * (1 + 1e-6):
            return self.full  # At perfect recovery the free entropy has no bound.
        low, high = lowest * (1 + 1e-9), min(last, self.full)
        high = self.upper.members[-1].alpha if math.isinf(high) else high
        if self.gain(low) > 0:
            return lowest
        if self.gain(high * (1 - 1e-9)) <= 0:
            return self.full if high == self.full else math.nan
        return float(brentq(self.gain, low, high * (1 - 1e-9), xtol=1e-9))

    def gain(self, alpha: float) -> float:
        """The free entropy of the informed fixed point over that of the other one."""
        return self.upper.entropy(alpha, True) - self.lower.entropy(alpha, False)


def one_curve(members: list[Member]) -> list[Member]:
    """Leave out members after which P falls along the trace.

    A later one has more directions open at a smaller P: there a direction that was about to open
    had not done so yet.

    Parameters
    ----------
    members : list of Member
        In the order of their trace.
    """
    found: list[Member] = []
    for member in reversed(members):
        if not found or member.root < found[-1].root:
            found.append(member)
    return found[::-1]


def _price(M: Array) -> float:
    """P = -(tr M + log det(I - M)) / 2."""
    values = np.clip(np.linalg.eigvalsh(M), 0.0, 1 - 1e-15)
    return -0.5 * float(np.sum(values + np.log1p(-values)))


def _of_trace(information: Array, trace: float) -> tuple[float, Array]:
    """alpha at which A (I + A)^{-1}, A = alpha I, has a trace; and that matrix."""
    values, frame = np.linalg.eigh(information)
    alpha = _ratio_of_trace(values, trace)
    if math.isinf(alpha):  # No ratio is enough: what has any information is known.
        known = (values > _NOTHING).astype(float)
    else:
        share = alpha * np.maximum(values, 0.0)
        known = share / (1 + share)
    return alpha, np.asarray((frame * known) @ frame.T)


def _ratio_of_trace(values: Array, trace: float) -> float:
    """alpha at which the sum of alpha v / (1 + alpha v) over values is a trace; inf if none."""
    values = values[values > _NOTHING]
    if len(values) <= trace:
        return math.inf
    low, high = math.log(trace / len(values) / values.max()), 0.0
    low -= 1.0
    high = math.log(trace / (len(values) - trace) / values.min()) + 1.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        share = math.exp(middle) * values
        if float(np.sum(share / (1 + share))) < trace:
            low = middle
        else:
            high = middle
        if high - low < 1e-14:
            break
    return math.exp(0.5 * (low + high))


def _turns(members: list[Member]) -> list[int]:
    """Where alpha has a local maximum or minimum."""
    ratios = [m.alpha for m in members]
    inner = range(1, len(members) - 1)
    return [k for k in inner if (ratios[k] - ratios[k - 1]) * (ratios[k + 1] - ratios[k]) < 0]


def _vertex(x: list[float], y: list[float]) -> float:
    """The turning point of the parabola through three points."""
    first, second = (y[1] - y[0]) / (x[1] - x[0]), (y[2] - y[1]) / (x[2] - x[1])
    bend = (second - first) / (x[2] - x[0])
    at = 0.5 * (x[0] + x[1]) - 0.5 * first / bend
    return min(max(at, x[0]), x[2])
