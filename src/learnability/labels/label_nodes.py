"""Nodes of an integral over the labels of functions of one normal variable, with all their roots.

The labels are split at every value that a function takes at the end of one of its monotone
branches, and at the values of whole points, so that labels which span many orders of magnitude, or
which saturate, are as close together as the points that have them on each branch. Between two such
values the integral is one over a point of the longest branch, or of the longest that folds there,
in whose variable the integrand is analytic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.rules import composite_legendre
from learnability.gaussian.sections import REACH

if TYPE_CHECKING:
    from learnability.labels.level_sets import LevelSets

__all__ = ["LabelNodes", "Labels"]

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Selection = slice | NDArray[np.bool_]

_GRADED = np.concatenate([[0.0], 2.0 ** -np.arange(8, -1, -1)])
_EVEN = np.array([0.0, 1.0])
"""Panels of half an interval of labels that begins where a branch ends, or where none does."""
_AT_A_TIME = 2**19
"""Roots that are looked for together."""
_APART = 1e-3
"""Whole points closer to the end of a branch do not split it."""


@dataclass(frozen=True)
class Labels:
    """Labels of one interval, as nodes of an integral over it.

    Attributes
    ----------
    roots, weights : array, shape (b, n)
        The points of the line with that label, and the slope at the first over that at each.
    widths : array, shape (n,)
        Weights of an integral over the first point: p(y) dy is the sum over the points of
        their density times weight, times the width.
    branches : array of int, shape (b,)
        The branch of each point, counted through all functions.
    """

    roots: Array
    weights: Array
    widths: Array
    branches: Indices


class _Branches:
    """Monotone branches of several functions, in the unit of the first."""

    def __init__(self, functions: Sequence[LevelSets]) -> None:
        self._functions = functions
        self._scale = [levels.unit / functions[0].unit for levels in functions]
        parts = [levels.pieces.branches for levels in functions]
        counts = [len(part) for part in parts]
        self._owner = np.repeat(np.arange(len(functions)), counts)
        self._number = np.concatenate([np.arange(count) for count in counts])
        self.low = np.concatenate([part.low for part in parts])
        self.high = np.concatenate([part.high for part in parts])
        scaled = list(zip(parts, self._scale, strict=True))
        self.at_low = np.concatenate([part.at_low * scale for part, scale in scaled])
        self.at_high = np.concatenate([part.at_high * scale for part, scale in scaled])
        self.bottom = np.minimum(self.at_low, self.at_high)
        self.top = np.maximum(self.at_low, self.at_high)

    def roots(self, y: Array, which: Indices) -> Array:
        """Return the points (n,) of branches `which` (n,) with labels y (n,)."""
        found = np.empty(len(y))
        for f, own in self._of_each(which):
            branch = self._number[which[own]]
            found[own] = self._functions[f].points(y[own] / self._scale[f], branch)
        return found

    def values(self, z: Array, which: Indices) -> Array:
        """Return the labels of points (n,) of branches (n,)."""
        found = np.empty(len(z))
        for f, own in self._of_each(which):
            found[own] = self._functions[f].value(z[own]) * self._scale[f]
        return found

    def slopes(self, z: Array, which: Indices) -> Array:
        """Return |g'| at points (n,) of branches (n,)."""
        found = np.empty(len(z))
        for f, own in self._of_each(which):
            found[own] = np.abs(self._functions[f].slope(z[own])) * self._scale[f]
        return found

    def _of_each(self, which: Indices) -> Iterator[tuple[int, Selection]]:
        """Each function with the places of its branches among those of `which`."""
        if len(self._functions) == 1:
            yield 0, slice(None)
            return
        owner = self._owner[which]
        for f in np.unique(owner):
            yield int(f), owner == f


class LabelNodes:
    """Nodes of integrals over the continuous part of the labels of some functions.

    Parameters
    ----------
    functions : sequence of LevelSets
        Functions of the same normal variable; a label may come from any of them.
    """

    def __init__(self, functions: Sequence[LevelSets]) -> None:
        self._branches = _Branches(functions)
        self._halves = _halves(self._branches) if len(self._branches.low) else []

    def __call__(self, n: int) -> list[Labels]:
        """Return the nodes, with all roots of each.

        Parameters
        ----------
        n : int
            Number of nodes of each panel.
        """
        found: list[Labels] = []
        roots = np.array([len(half.others) * half.panels * n for half in self._halves])
        for part in np.unique(np.cumsum(roots) // _AT_A_TIME):  # As far as memory goes.
            some = np.nonzero(np.cumsum(roots) // _AT_A_TIME == part)[0]
            found += _with_all_roots(self._branches, [self._halves[k] for k in some], n)
        return found


@dataclass(frozen=True)
class _Half:
    """Half of an interval of labels, from a level at its end to its middle.

    Its labels are those of the points of one branch from `start` to `stop`; other branches have
    them too.
    """

    level: float
    between: tuple[float, float]
    start: float
    stop: float
    graded: bool
    branch: int
    others: Indices

    @property
    def panels(self) -> int:
        """Number of panels, closer to the level where a branch ends there."""
        return len(_GRADED if self.graded else _EVEN) - 1

    def nodes(self, n: int) -> tuple[Array, Array]:
        """Points of the branch and the weights of an integral over them, n for each panel."""
        fraction, weight = composite_legendre(_GRADED if self.graded else _EVEN, 1.0, n)
        length = self.stop - self.start
        return self.start + fraction * length, weight * abs(length)


def _levels(branches: _Branches) -> tuple[Array, NDArray[np.bool_]]:
    """Return the labels between which intervals lie, and whether a branch ends there."""
    ends = _distinct(np.concatenate([branches.at_low, branches.at_high]))
    ends[-1] = branches.top.max()
    whole = np.arange(math.ceil(-REACH), REACH)
    inside = [
        whole[(whole > low + _APART) & (whole < high - _APART)]
        for low, high in zip(branches.low, branches.high, strict=True)
    ]
    owners = np.repeat(np.arange(len(inside)), [len(z) for z in inside])
    between = branches.values(np.concatenate(inside), owners)
    # Where a branch fades out, whole points have its label up to rounding: the end is the level.
    nearest = np.abs(between[:, None] - ends).min(axis=1)
    between = between[nearest > _rounding(between, np.abs(ends).max())]
    levels = _distinct(np.concatenate([ends, between]))
    return levels, np.isin(levels, ends)


def _halves(branches: _Branches) -> list[_Half]:
    """Return the halves of the intervals between levels, with the branches that have them."""
    levels, is_end = _levels(branches)
    below, above = levels[:-1], levels[1:]
    middles = 0.5 * (below + above)
    found = (branches.bottom[:, None] < middles) & (branches.top[:, None] > middles)
    interval, which = np.nonzero(found.T)  # Pairs, those of one interval beside each other.
    if not len(which):
        return []
    both, level = np.tile(which, 2), np.concatenate([below[interval], above[interval]])
    ends = branches.roots(level, both)
    # At a fold bisection finds half the digits.
    close = 1e-11 * (np.abs(level) + 1e-3 * np.tile((above - below)[interval], 2))
    ends = np.where(np.abs(branches.at_low[both] - level) <= close, branches.low[both], ends)
    ends = np.where(np.abs(branches.at_high[both] - level) <= close, branches.high[both], ends)
    slopes = branches.slopes(ends, both).reshape(2, -1)
    ends = ends.reshape(2, -1)
    groups = np.split(np.arange(len(which)), np.nonzero(np.diff(interval))[0] + 1)
    longest = np.array([g[np.argmax(np.abs(ends[1, g] - ends[0, g]))] for g in groups])
    at_middle = branches.values(ends[:, longest].mean(axis=0), which[longest])
    middle = np.repeat(at_middle, [len(g) for g in groups])
    halfway = branches.roots(middle, which)
    made = []
    for g in groups:
        k, ordered = interval[g[0]], which[g]
        between = float(below[k]), float(above[k])
        for j, level_there in enumerate(between):
            # The variable is that of the longest branch that folds at this level, if any does.
            extent = np.abs(ends[j, g] - halfway[g])
            folds = slopes[j, g] * extent < 1e-3 * abs(middle[g[0]] - level_there)
            ref = int(np.argmax(np.where(folds, extent + 2 * REACH, extent)))
            points = float(ends[j, g[ref]]), float(halfway[g[ref]])
            others = np.delete(ordered, ref)
            graded = bool(is_end[k + j])
            made.append(_Half(level_there, between, *points, graded, ordered[ref], others))
    return made


def _with_all_roots(branches: _Branches, halves: list[_Half], n: int) -> list[Labels]:
    """Return labels of several halves, with their points on all branches."""
    points, widths = zip(*(half.nodes(n) for half in halves), strict=True)
    sizes = [len(z) for z in points]
    own = np.repeat([half.branch for half in halves], sizes)
    values = _parts(branches.values(np.concatenate(points), own), sizes)
    labels = [np.clip(y, *half.between) for y, half in zip(values, halves, strict=True)]
    wanted = [np.tile(y, len(half.others)) for y, half in zip(labels, halves, strict=True)]
    on = [np.repeat(half.others, size) for half, size in zip(halves, sizes, strict=True)]
    other = branches.roots(np.concatenate(wanted), np.concatenate(on))
    other_points = _parts(other, [len(y) for y in wanted])
    roots = [np.concatenate(pair) for pair in zip(points, other_points, strict=True)]
    ordered = [np.concatenate([[half.branch], half.others]) for half in halves]
    which = [np.repeat(order, size) for order, size in zip(ordered, sizes, strict=True)]
    slopes = np.maximum(branches.slopes(np.concatenate(roots), np.concatenate(which)), 1e-290)
    found = []
    parts = _parts(slopes, [len(z) for z in roots])
    for half, y, z, slope, order, width in zip(
        halves, labels, roots, parts, ordered, widths, strict=True
    ):
        slope = slope.reshape(len(order), -1)
        relative = np.minimum(slope[0] / slope, 1e100)
        # Where rounding hides how far a label is from the fold, the slopes are lost too.
        blind = np.abs(y - half.level) <= 64 * np.finfo(float).eps * np.abs(half.level)
        relative = np.where(blind, np.minimum(relative, 1.0), relative)
        found.append(Labels(z.reshape(slope.shape), relative, width, order))
    return found


def _parts(values: Array, sizes: list[int]) -> list[Array]:
    return np.split(values, np.cumsum(sizes)[:-1])


def _distinct(levels: Array) -> Array:
    levels = np.sort(levels)
    apart = np.diff(levels, prepend=-np.inf) > _rounding(levels, np.abs(levels).max())
    return np.asarray(levels[apart])


def _rounding(levels: Array, largest: float) -> Array:
    """Distance up to which labels count as one."""
    return np.asarray(1e-12 * (np.abs(levels) + 1e-3 * largest))
