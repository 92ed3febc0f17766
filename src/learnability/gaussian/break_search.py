"""Jumps and kinks of a function whose breaks nobody declared, found from its values.

On a line, cells of a grid whose second difference stands out are zoomed into. In space, the breaks
on many random lines are explained by planes: those of the axes and diagonals first, then any that
pass through many of them. Where planes do not explain all breaks, the breaks are not known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.functions import REACH, Function

__all__ = ["Plane", "broken_planes", "detected_breaks", "distinct", "zero_planes"]

Array = NDArray[np.float64]

_LINES = 40
_SUPPORT = 6
_MOST_BREAKS = 40  # This bounds the breaks on one line.
_MOST_DIRECTIONS = 4


@dataclass(frozen=True)
class Plane:
    """The function z -> normal . z - offset, which vanishes on a plane."""

    normal: tuple[float, ...]
    offset: float

    def __call__(self, z: Array) -> Array:
        """Return values (...) at points (..., r)."""
        return np.asarray(np.asarray(z) @ np.array(self.normal) - self.offset)


@lru_cache(maxsize=64)
def broken_planes(function: Function) -> tuple[Plane, ...] | None:
    """Return planes that hold every break seen on random lines; None when planes do not.

    Parameters
    ----------
    function : Function
        A function of 2 to 4 variables; for any other number the answer is None.
    """
    return _explained_by_planes(function, function.r)


@lru_cache(maxsize=64)
def zero_planes(function: Function) -> tuple[Plane, ...] | None:
    """Return planes on which a function changes its sign; None when it does so elsewhere too.

    Parameters
    ----------
    function : Function
        A function such as z1^2 - z2^2, which vanishes on two planes.
    """
    return _explained_by_planes(lambda z: np.sign(function(z)), function.r) or None


def _explained_by_planes(function: Callable[[Array], Array], r: int) -> tuple[Plane, ...] | None:
    if not 2 <= r <= _MOST_DIRECTIONS:
        return None
    rng = np.random.default_rng(29)
    origins = rng.standard_normal((_LINES, r))
    directions = rng.standard_normal((_LINES, r))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    points = []
    for origin, direction in zip(origins, directions, strict=True):

        def along(t: Array, origin: Array = origin, direction: Array = direction) -> Array:
            return np.asarray(function(origin + t[:, None] * direction), dtype=float)

        positions = detected_breaks(along)
        points.append(origin + positions[:, None] * direction)
        if len(positions) > _MOST_BREAKS:
            return None
    left = np.concatenate(points)
    planes: list[Plane] = []
    for normal in _usual_normals(r):
        found, left = _parallel_planes(left, normal)
        planes += found
    while len(left):
        plane = _plane_through_many(left, rng)
        if plane is None:
            return None
        planes.append(plane)
        left = left[np.abs(plane(left)) > 1e-5]
    return tuple(planes)


def _usual_normals(r: int) -> list[Array]:
    axes = list(np.eye(r))
    pairs = [(a + s * b) / np.sqrt(2) for a, b in combinations(axes, 2) for s in (1.0, -1.0)]
    return axes + pairs


def _parallel_planes(points: Array, normal: Array) -> tuple[list[Plane], Array]:
    """Planes of one normal through many points, and the points on none of them."""
    height = points @ normal
    order = np.argsort(height)
    sorted_height = height[order]
    starts = np.nonzero(np.diff(sorted_height, prepend=-np.inf) > 1e-6)[0]
    planes, free = [], np.ones(len(points), dtype=bool)
    for a, b in zip(starts, np.append(starts, len(points))[1:], strict=True):
        if b - a >= _SUPPORT:
            planes.append(_plane(normal, points[order[a:b]]))
            free[np.abs(height - sorted_height[a:b].mean()) < 1e-5] = False
    return planes, points[free]


def _plane(normal: Array, points: Array) -> Plane:
    """The plane with a given normal through points, or a close one that fits them far better.

    Its offset becomes a round number where that is within the scatter of the points.
    """
    off, offset = _scatter(normal, points)
    _, _, vectors = np.linalg.svd(points - points.mean(axis=0))
    fitted = vectors[-1] * np.sign(vectors[-1] @ normal)
    off_fitted, offset_fitted = _scatter(fitted, points)
    if off_fitted < 0.1 * off:
        normal, off, offset = fitted, off_fitted, offset_fitted
    round_offset = round(offset, 4) + 0.0
    near = abs(offset - round_offset) < min(2 * off + 1e-10, 2e-6)
    return Plane(tuple(map(float, normal)), round_offset if near else offset)


def _scatter(normal: Array, points: Array) -> tuple[float, float]:
    """The largest distance of points from the plane with a given normal, and its offset."""
    height = points @ normal
    offset = float(np.median(height))
    return float(np.abs(height - offset).max()), offset


def _plane_through_many(points: Array, rng: np.random.Generator) -> Plane | None:
    """A plane through r of the points that holds many more; None when none is found."""
    count, r = points.shape
    if count < r + 3:
        return None
    for _ in range(600):
        chosen = points[rng.choice(count, r, replace=False)]
        near = points
        for tolerance in (1e-3, 1e-5):
            centre = chosen.mean(axis=0)
            _, sizes, vectors = np.linalg.svd(chosen - centre)
            if len(sizes) > 1 and sizes[r - 2] < 0.1:
                break
            normal = vectors[-1]
            near = points[np.abs((points - centre) @ normal) < tolerance]
            if len(near) < max(_SUPPORT, r + 3):
                break
            chosen = near
        else:
            normal = normal * np.sign(normal[np.argmax(np.abs(normal) > 0.1)])
            return _plane(normal, near)
    return None


def distinct(sorted_points: Array) -> Array:
    """Return points that are at least 1e-9 apart."""
    keep = np.diff(sorted_points, prepend=-np.inf) > 1e-9
    return sorted_points[keep]


def detected_breaks(function: Callable[[Array], Array]) -> Array:
    """Return jumps and kinks of a function of one variable whose breaks nobody declared.

    It zooms into the cells of a grid whose second difference stands out, and keeps a point if the
    jump of the value or of the slope survives at a spacing of 1e-5.
    """
    grid = np.linspace(-REACH, REACH, 4097) + np.sqrt(2) * 1e-6
    values = function(grid)
    bend = np.abs(np.diff(values, 2))
    around = np.maximum(np.roll(bend, 3), np.roll(bend, -3))
    found = []
    for k in np.nonzero(bend > 8 * around + 1e-9 * np.abs(values).max())[0]:
        low, high = grid[k], grid[k + 2]
        while high - low > 4e-5:
            fine = np.linspace(low, high, 17)
            j = int(np.argmax(np.abs(np.diff(function(fine), 2))))
            low, high = fine[j], fine[j + 2]
        slopes = np.diff(function(np.linspace(low - 1e-4, high + 1e-4, 8))[[0, 1, 6, 7]])
        before, across, after = slopes
        width = (high - low + 2e-4) / 7
        jump = abs(across) > 20 * (abs(before) + abs(after)) + 1e-12
        kink = abs(after - before) / width > 1e-3 * (abs(after) + abs(before)) / width + 1e-9
        if jump or kink:
            found.append(_located(function, low, high, jump))
    return distinct(np.sort(np.array(found)))


def _located(function: Callable[[Array], Array], low: float, high: float, jump: bool) -> float:
    """Return the position of a jump by bisection, or of a kink as the crossing of two tangents."""
    if jump:
        below = float(function(np.array([low]))[0])
        above = float(function(np.array([high]))[0])
        while high - low > 1e-13 * max(1.0, abs(high)):
            middle = 0.5 * (low + high)
            if middle in (low, high):
                break
            value = float(function(np.array([middle]))[0])
            low, high = (middle, high) if abs(value - below) < abs(value - above) else (low, middle)
        return 0.5 * (low + high)
    width = 1e-3
    left = low - width * np.array([2.0, 1.0, 0.0])
    right = high + width * np.array([0.0, 1.0, 2.0])
    difference = np.polyfit(left - low, function(left), 2) - np.polyfit(
        right - low, function(right), 2
    )
    roots = np.roots(difference)
    roots = np.real(roots[np.abs(np.imag(roots)) < 1e-12])
    inside = roots[np.abs(roots) < 10 * (high - low) + 1e-4]
    return low + float(inside[np.argmin(np.abs(inside))]) if len(inside) else 0.5 * (low + high)
