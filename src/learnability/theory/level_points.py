"""Points on the level sets of a link, with the weights that turn a sum into a density of labels.

The density of the label of z ~ N(omega, V) is an integral over a level set,
p(y) = int_{g = y} N(z; omega, V) dS / |grad g|, and the level set does not depend on omega or V.
The lines of a grid along every axis cross it; lines along axis a count with the share n_a^2 of the
unit normal n, so that a crossing has the weight |d_a g| / |grad g|^2 times the area of a cell:
tangent lines have no weight, and on a smooth level set the sum converges faster than any power.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from learnability.labels.link import Link

__all__ = ["LevelPoints", "Points"]

Array = NDArray[np.float64]

_SECANT_STEPS = 7
_BISECTIONS = 30


@dataclass(frozen=True, eq=False)
class Points:
    """Points of several level sets, those of one label next to each other.

    Attributes
    ----------
    z : array, shape (n, r)
        The points.
    weight : array, shape (n,)
        Area over gradient.
    start : array, shape (labels + 1,)
        Where the points of each label start, and the number of all points.
    """

    z: Array
    weight: Array
    start: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class LevelPoints:
    """Level sets of a link, met by the lines of a grid.

    Parameters
    ----------
    link : Link
        The link.
    reach : float
        Points farther than this from the origin are left out.
    step : float
        Distance of neighbouring lines.
    """

    link: Link
    reach: float
    step: float

    @cached_property
    def _axis(self) -> Array:
        n = int(np.ceil(self.reach / self.step))
        return np.asarray(
            (np.arange(-n, n) + 0.5) * self.step, dtype=float
        )  # No line lies in a plane z_i = 0.

    @cached_property
    def values(self) -> Array:
        """The link on the grid, shape (n,) * r; NaN where it is not finite."""
        grid = np.stack(np.meshgrid(*[self._axis] * self.link.r, indexing="ij"), axis=-1)
        with np.errstate(all="ignore"):
            y = np.asarray(self.link(grid), dtype=float)
        return np.where(np.isfinite(y), y, np.nan)

    @cached_property
    def near_values(self) -> Array:
        """The values within reach."""
        square = self._axis**2
        distance = square
        for _ in range(self.link.r - 1):
            distance = np.add.outer(distance, square)
        y = self.values[distance < self.reach**2]
        return np.asarray(y[np.isfinite(y)])

    def of(self, labels: Array) -> Points:
        """Return the points of sorted labels (m,)."""
        r = self.link.r
        parts = [self._along(axis, labels) for axis in range(r)]
        z, weight, owner = (np.concatenate([p[k] for p in parts]) for k in range(3))
        order = np.argsort(owner, kind="stable")
        start = np.searchsorted(owner[order], np.arange(len(labels) + 1))
        return Points(z[order], weight[order], start)

    def _along(self, axis: int, labels: Array) -> tuple[Array, Array, NDArray[np.intp]]:
        """Return points, weights and labels that the lines along one axis cross."""
        z, right, before, after = self._segments[axis]
        first = np.searchsorted(labels, np.minimum(before, after))
        count = np.searchsorted(labels, np.maximum(before, after)) - first
        cell = np.repeat(np.arange(len(z)), count)
        owner = np.arange(len(cell)) + np.repeat(first - (np.cumsum(count) - count), count)
        wanted = labels[owner]
        z, found = self._root(
            z[cell], axis, right[cell], wanted, before[cell] - wanted, after[cell] - wanted
        )
        z, owner = z[found], owner[found]
        with np.errstate(all="ignore"):
            slope = np.stack([np.asarray(d(z), dtype=float) for d in self.link.gradient()])
            weight = np.abs(slope[axis]) / (slope**2).sum(axis=0) * self.step ** (self.link.r - 1)
        good = np.isfinite(weight)
        return z[good], weight[good], owner[good]

    @cached_property
    def _segments(self) -> list[tuple[Array, Array, Array, Array]]:
        """Along each axis: left ends (n, r), right ends, and the values of g at both, (n,)."""
        return [self._segments_along(axis) for axis in range(self.link.r)]

    def _segments_along(self, axis: int) -> tuple[Array, Array, Array, Array]:
        r = self.link.r
        y = np.moveaxis(self.values, axis, -1)
        grid = np.stack(np.meshgrid(*[self._axis] * r, indexing="ij"), axis=-1)
        grid = np.moveaxis(grid, axis, r - 1)[..., :-1, :]
        with np.errstate(invalid="ignore"):
            near = (grid**2).sum(axis=-1) < self.reach**2
            near &= np.isfinite(y[..., :-1]) & np.isfinite(y[..., 1:])
        z, before, after = grid[near], y[..., :-1][near], y[..., 1:][near]
        right = z[:, axis] + self.step
        for function in self.link.breaks or ():
            z, right, before, after = self._split(function, axis, z, right, before, after)
        moving = before != after
        return z[moving], right[moving], before[moving], after[moving]

    def _split(
        self, function: Link, axis: int, z: Array, right: Array, before: Array, after: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Cut segments in two where a break crosses them: the link may jump there."""
        ends = z.copy()
        ends[:, axis] = right
        with np.errstate(all="ignore"):
            low = np.asarray(function(z), dtype=float)
            high = np.asarray(function(ends), dtype=float)
            crossed = np.nonzero(low * high < 0)[0]
        if not len(crossed):
            return z, right, before, after
        at, start = z[crossed].copy(), z[crossed, axis]
        a, b, below = start.copy(), right[crossed].copy(), low[crossed]
        for _ in range(_BISECTIONS):
            at[:, axis] = 0.5 * (a + b)
            with np.errstate(all="ignore"):
                same = np.asarray(function(at), dtype=float) * below > 0
            a, b = np.where(same, at[:, axis], a), np.where(same, b, at[:, axis])
        inset = 1e-6 * self.step
        sides = []
        for shifted in (a - inset, b + inset):
            at[:, axis] = np.clip(shifted, start, right[crossed])
            with np.errstate(all="ignore"):
                sides.append(np.asarray(self.link(at), dtype=float))
        good = np.isfinite(sides[0]) & np.isfinite(sides[1])
        crossed, at = crossed[good], at[good]
        new = z[crossed].copy()
        new[:, axis] = b[good]
        joined = (
            np.concatenate([z, new]),
            np.concatenate([right, right[crossed]]),
            np.concatenate([before, sides[1][good]]),
            np.concatenate([after, after[crossed]]),
        )
        joined[1][crossed], joined[3][crossed] = a[good], sides[0][good]
        return joined

    def _root(
        self, z: Array, axis: int, right: Array, wanted: Array, below: Array, above: Array
    ) -> tuple[Array, NDArray[np.bool_]]:
        """Find where the link takes wanted values on segments, by the Illinois method.

        Next to a point at which all slopes vanish it is slow, and the segments are halved instead.
        Returns the points, and whether they are roots: a jump over the value is not one.
        """
        left, right = z[:, axis].copy(), right.copy()
        before, after = below.copy(), above.copy()
        z, value = z.copy(), below
        side = np.zeros(len(z))
        for _ in range(_SECANT_STEPS):
            with np.errstate(all="ignore"):
                t = (left * after - right * before) / (after - before)
                t = np.clip(np.where(np.isfinite(t), t, 0.5 * (left + right)), left, right)
                z[:, axis] = t
                value = np.asarray(self.link(z), dtype=float) - wanted
            on_left = np.sign(value) == np.sign(before)
            # The value at an end that stays for the second time is halved.
            before = np.where(on_left, value, np.where(side < 0, 0.5 * before, before))
            after = np.where(on_left, np.where(side > 0, 0.5 * after, after), value)
            left, right = np.where(on_left, t, left), np.where(on_left, right, t)
            side = np.where(on_left, 1.0, -1.0)
        near = 1e-4 * np.abs(above - below)
        late = np.nonzero(np.abs(value) > near)[0]
        at, left, right, before = z[late], left[late], right[late], np.sign(below[late])
        for _ in range(_BISECTIONS if len(late) else 0):
            at[:, axis] = 0.5 * (left + right)
            with np.errstate(all="ignore"):
                value[late] = np.asarray(self.link(at), dtype=float) - wanted[late]
            on_left = np.sign(value[late]) == before
            left = np.where(on_left, at[:, axis], left)
            right = np.where(on_left, right, at[:, axis])
        z[late] = at
        return z, np.abs(value) <= near
