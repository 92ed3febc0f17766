"""Monotone and flat pieces of a function of one variable, between its breaks and its folds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.sections import REACH, Section

__all__ = ["BISECTIONS", "Branches", "Pieces", "monotone_pieces"]

Array = NDArray[np.float64]
Values = Callable[[Array], Array]

BISECTIONS = 58
"""The number of halvings of an interval after which float64 has no more digits."""
_CELL = 0.01
_NEAR = 2.0
"""Values so close to a point tell the rounding there."""


@dataclass(frozen=True)
class Branches:
    """Monotone pieces [low, high] of the line, with the values of g at their ends."""

    low: Array
    high: Array
    at_low: Array
    at_high: Array

    def __len__(self) -> int:
        return len(self.low)

    @property
    def bottom(self) -> Array:
        """Smallest value on each branch."""
        return np.minimum(self.at_low, self.at_high)

    @property
    def top(self) -> Array:
        """Largest value on each branch."""
        return np.maximum(self.at_low, self.at_high)


@dataclass(frozen=True)
class Pieces:
    """Monotone and flat pieces of the line.

    Attributes
    ----------
    branches : Branches
        The monotone pieces.
    flat_values, flats : array, shapes (n,) and (n, 2)
        Values and ends of the flat pieces.
    saturated : array, shape (k, 2)
        The ends of those flat pieces on which g is flat only to rounding.
    """

    branches: Branches
    flat_values: Array
    flats: Array
    saturated: Array


def monotone_pieces(section: Section, value: Values, slope: Values) -> Pieces:
    """Cut the line into monotone and flat pieces of a function.

    Parameters
    ----------
    section : Section
        The function on a line, with m = 1.
    value, slope : callable
        The function in its unit, and its derivative, on points of the line.
    """
    branches: list[tuple[float, float]] = []
    flats: list[tuple[float, float]] = []
    edges = np.concatenate([[-REACH], section.breakpoints, [REACH]])
    for a, b in zip(edges[:-1], edges[1:], strict=True):
        margin = min(1e-13 * max(1.0, abs(a), abs(b)), 0.01 * (b - a))
        a, b = a + margin, b - margin
        grid = np.linspace(a, b, max(int((b - a) / _CELL), 24))
        values = section(grid[:, None])
        size = float(np.abs(values).max())
        if np.ptp(values) <= 1e-13 * size:
            flats.append((a, b))
            continue
        cuts = [a, *_folds(section, value, slope, grid, values), b]
        branches += zip(cuts[:-1], cuts[1:], strict=True)
    low, high, saturated = _trimmed(section, *np.array(branches).reshape(-1, 2).T)
    found = Branches(low, high, value(low), value(high))
    flat = np.array([*flats, *saturated]).reshape(-1, 2)
    return Pieces(found, value(flat.mean(axis=1)), flat, np.array(saturated).reshape(-1, 2))


def _folds(
    section: Section, value: Values, slope: Values, grid: Array, values: Array
) -> list[float]:
    """Return where the slope changes sign inside a smooth interval, by bisection.

    Steps that may be rounding say nothing: rounding is told by the values close by, since those far
    away may be larger by many orders.
    """
    from scipy.ndimage import maximum_filter1d

    around = 2 * int(np.ceil(_NEAR / (grid[1] - grid[0]))) + 1
    flat = 1e-14 * maximum_filter1d(np.abs(values), around)[1:]
    step = np.where(np.abs(np.diff(values)) <= flat, 0.0, np.sign(np.diff(values)))
    known = np.nonzero(step)[0]
    turn = np.nonzero(step[known[:-1]] * step[known[1:]] < 0)[0]
    low, high = grid[known[turn]], grid[known[turn + 1] + 1]
    rising = step[known[turn]]
    if section.link.tree is None:  # A golden section on the values needs no slope.
        ratio = 0.5 * (np.sqrt(5) - 1)
        for _ in range(60):
            left, right = high - ratio * (high - low), low + ratio * (high - low)
            up = rising * (value(right) - value(left)) > 0
            low, high = np.where(up, left, low), np.where(up, high, right)
    else:
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            up = rising * slope(middle) > 0
            low, high = np.where(up, middle, low), np.where(up, high, middle)
    return [float(x) for x in 0.5 * (low + high)]


def _trimmed(
    section: Section, low: Array, high: Array
) -> tuple[Array, Array, list[tuple[float, float]]]:
    """Move ends on which g has saturated to rounding (erf beyond six) to the flat pieces."""
    low, high = low.copy(), high.copy()
    saturated = []
    for k in range(len(low)):
        grid = np.linspace(low[k], high[k], 400)
        values = section(grid[:, None])
        size = np.maximum(np.abs(values[1:]), np.abs(values[:-1]))
        moving = np.nonzero(np.abs(np.diff(values)) > 1e-15 * size)[0]
        if len(moving) and grid[moving[-1] + 1] < high[k]:
            saturated.append((float(grid[moving[-1] + 1]), float(high[k])))
            high[k] = grid[moving[-1] + 1]
        if len(moving) and grid[moving[0]] > low[k]:
            saturated.append((float(low[k]), float(grid[moving[0]])))
            low[k] = grid[moving[0]]
    return low, high, saturated
