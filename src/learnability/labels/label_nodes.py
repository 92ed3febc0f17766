"""Nodes of an integral over the labels of functions of one normal variable, with all their roots.

The labels are split at every value that a function takes at the end of one of its monotone
branches, and at the values of whole points, so that labels which span many orders of magnitude, or
which saturate, are as close together as the points that have them on each branch. Between two such
values the integral is one over a point of the longest branch, or of the longest that folds there,
in whose variable the integrand is analytic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.rules import composite_legendre
from learnability.gaussian.sections import REACH

if TYPE_CHECKING:
    from learnability.labels.level_sets import LevelSets

__all__ = ["Labels", "label_nodes"]

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_GRADED = np.concatenate([[0.0], 2.0 ** -np.arange(8, -1, -1)])
_EVEN = np.array([0.0, 1.0])
"""Panels of half an interval of labels that begins where a branch ends, or where none does."""
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
        """Return the point of each branch of `which` (b,) with labels y (n,), shape (b, n)."""
        found = np.empty((len(which), len(y)))
        for f in np.unique(self._owner[which]):
            own = self._owner[which] == f
            found[own] = self._functions[f].points(y / self._scale[f], self._number[which[own]])
        return found

    def values(self, z: Array, branch: int) -> Array:
        """Return the labels of points (n,) of one branch."""
        owner = int(self._owner[branch])
        return np.asarray(self._functions[owner].value(z) * self._scale[owner])

    def slopes(self, z: Array, which: Indices) -> Array:
        """Return |g'| at points (b, ...) of the branches."""
        found = np.empty_like(z)
        for f in np.unique(self._owner[which]):
            own = self._owner[which] == f
            found[own] = np.abs(self._functions[f].slope(z[own])) * self._scale[f]
        return found


def label_nodes(functions: Sequence[LevelSets], n: int) -> list[Labels]:
    """Return nodes that integrate over the continuous part of the labels, with all roots of each.

    Parameters
    ----------
    functions : sequence of LevelSets
        Functions of the same normal variable; a label may come from any of them.
    n : int
        Number of nodes of each panel.
    """
    branches = _Branches(functions)
    if not len(branches.low):
        return []
    ends = _distinct(np.concatenate([branches.at_low, branches.at_high]))
    whole = np.arange(math.ceil(-REACH), REACH)
    inside = [
        whole[(whole > low + _APART) & (whole < high - _APART)]
        for low, high in zip(branches.low, branches.high, strict=True)
    ]
    between = [branches.values(z, k) for k, z in enumerate(inside)]
    levels = _distinct(np.concatenate([ends, *between]))
    is_end = np.isin(levels, ends)
    found = []
    for k, (below, above) in enumerate(pairwise(levels)):
        middle = 0.5 * (below + above)
        which = np.nonzero((branches.bottom < middle) & (branches.top > middle))[0]
        if len(which):
            found += _between(branches, which, (below, above), (is_end[k], is_end[k + 1]), n)
    return found


def _between(
    branches: _Branches,
    which: Indices,
    levels: tuple[float, float],
    graded: tuple[bool, bool],
    n: int,
) -> list[Labels]:
    """Return nodes for the labels between two levels, closer to those where branches end."""
    below, above = levels
    ends = branches.roots(np.array([below, above]), which)  # (b, 2)
    for j, level in enumerate((below, above)):  # At a fold bisection finds half the digits.
        close = 1e-11 * (abs(level) + 1e-3 * (above - below))
        own = np.abs(branches.at_low[which] - level) <= close
        ends[:, j] = np.where(own, branches.low[which], ends[:, j])
        own = np.abs(branches.at_high[which] - level) <= close
        ends[:, j] = np.where(own, branches.high[which], ends[:, j])
    longest = int(np.argmax(np.abs(ends[:, 1] - ends[:, 0])))
    middle = float(branches.values(np.array([ends[longest].mean()]), which[longest])[0])
    halves = branches.roots(np.array([middle]), which)[:, 0]
    found = []
    for j, level in enumerate((below, above)):
        # The variable is that of the longest branch that folds at this level, if any does.
        extent = np.abs(ends[:, j] - halves)
        folds = branches.slopes(ends[:, j], which) * extent < 1e-3 * abs(middle - level)
        ref = int(np.argmax(np.where(folds, extent + 2 * REACH, extent)))
        start, stop = float(ends[ref, j]), float(halves[ref])
        panels = _GRADED if graded[j] else _EVEN
        fraction, weight = composite_legendre(panels, 1.0, n)
        z = start + fraction * (stop - start)
        y = np.clip(branches.values(z, which[ref]), below, above)
        others = np.delete(which, ref)
        ordered = np.concatenate([which[[ref]], others])
        roots = np.concatenate([z[None], branches.roots(y, others)])
        slopes = np.maximum(branches.slopes(roots, ordered), 1e-290)
        relative = np.minimum(slopes[0] / slopes, 1e100)
        # Where rounding hides how far a label is from the fold, the slopes are lost too.
        blind = np.abs(y - level) <= 64 * np.finfo(float).eps * np.abs(level)
        relative = np.where(blind, np.minimum(relative, 1.0), relative)
        found.append(Labels(roots, relative, weight * abs(stop - start), ordered))
    return found


def _distinct(levels: Array) -> Array:
    levels = np.sort(levels)
    scale = np.abs(levels) + 1e-3 * np.abs(levels).max()
    return np.asarray(levels[np.diff(levels, prepend=-np.inf) > 1e-12 * scale])
