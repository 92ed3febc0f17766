"""Points of the level set of each label, on lines of a grid around each mean.

With z = omega + L t, the lines of a grid of t along every axis cross the level set g = y.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.labels.link import Link
from learnability.labels.posterior import Coordinates
from learnability.theory.level_crossings import Edges, crossings

__all__ = ["SurfacePoints", "surface_points"]

Array = NDArray[np.float64]
Single = NDArray[np.float32]
Indices = NDArray[np.intp]

_STEP, _REACH = {2: 0.08, 3: 0.4, 4: 0.8}, 4.8
"""Distance of lines, and how far from a mean they run, in standard deviations."""
_FARTHER, _MARGIN = 2.0, 1.5
"""A label that is out of reach, or within this margin of it, is met by a grid so much larger."""
_BLOCK = 32
"""Samples at a time: their values of g on the grid stay in cache."""


class SurfacePoints(NamedTuple):
    """Points of several surfaces, those of one sample next to each other.

    Attributes
    ----------
    sample, number : array of int, shape (m,)
        Samples that have points, and how many.
    z : array, shape (r, p)
        The points.
    weight : array, shape (p,)
        Area over gradient.
    """

    sample: NDArray[Any]
    number: NDArray[Any]
    z: NDArray[Any]
    weight: NDArray[Any]

    @staticmethod
    def none(r: int) -> SurfacePoints:
        """No points."""
        none, nothing = np.zeros(0, dtype=np.intp), np.zeros((r, 0), dtype=np.float32)
        return SurfacePoints(none, none, nothing, nothing[0])

    def replaced(self, samples: Indices, new: SurfacePoints) -> SurfacePoints:
        """These points, with new ones of some samples."""
        kept = ~np.isin(self.sample, samples)
        point = np.repeat(kept, self.number)
        old = (self.sample[kept], self.number[kept], self.z[:, point], self.weight[point])
        parts = zip(old, new, strict=True)
        return SurfacePoints(*(np.concatenate(part, axis=-1) for part in parts))


def surface_points(
    link: Link, samples: Indices, omega: Single, y: Single, root: Array, step: float | None = None
) -> SurfacePoints:
    """Points of the surfaces g = y_i around omega_i.

    Parameters
    ----------
    link : Link
        g, whose labels have a density.
    samples : array of int, shape (m,)
        The samples i that are wanted.
    omega : array, shape (r, n)
        Centres of the grids.
    y : array, shape (n,)
        Labels.
    root : array, shape (r, r)
        L, lower triangular.
    step : float, optional
        Distance of lines, in standard deviations.
    """
    step = _STEP[link.r] if step is None else step
    found = [SurfacePoints.none(link.r)]
    with np.errstate(all="ignore"):
        for scale in (1.0, _FARTHER):
            grid = _grid(link.r, scale * step, scale * _REACH)
            far = []
            for start in range(0, len(samples), _BLOCK):
                some = samples[start : start + _BLOCK]
                sample, t, z, weight = _Surface(link, omega[:, some], y[some], root, grid).points()
                inner = np.einsum("in,in->n", t, t) < (_REACH - _MARGIN) ** 2
                near = np.bincount(sample[inner], minlength=len(some)) > 0
                near |= scale > 1
                far.append(some[~near])
                order = np.argsort(sample, kind="stable")
                order = order[near[sample[order]]]
                count = np.bincount(sample[order], minlength=len(some))
                met = count > 0
                found.append(SurfacePoints(some[met], count[met], z[:, order], weight[order]))
            samples = np.concatenate([samples[:0], *far])
    return SurfacePoints(*(np.concatenate(part, axis=-1) for part in zip(*found, strict=True)))


class _Grid(NamedTuple):
    """Nodes of t, and which edges between them lie within reach.

    Attributes
    ----------
    step : float
        Distance of neighbouring nodes.
    axis : array, shape (m,)
        Positions of the nodes along each axis.
    t : array, shape (r, m^r)
        The nodes.
    near : array, shape (r, m^r)
        For each axis, whether the edge that starts at a node counts.
    """

    step: float
    axis: Single
    t: Single
    near: NDArray[np.bool_]


@lru_cache(maxsize=8)
def _grid(r: int, step: float, reach: float) -> _Grid:
    half = math.ceil(reach / step)
    axis = ((np.arange(-half, half) + 0.5) * step).astype(np.float32)
    nodes = np.stack(np.meshgrid(*[axis] * r, indexing="ij"))
    near = []
    for a in range(r):
        middle = nodes.copy()
        middle[a] += 0.5 * step
        inside = (middle**2).sum(axis=0) < reach**2
        np.moveaxis(inside, a, 0)[-1] = False
        near.append(inside.ravel())
    return _Grid(step, axis, nodes.reshape(r, -1), np.array(near))


class _Surface:
    """The level surfaces of some samples on a grid."""

    def __init__(
        self, link: Link, omega: Single, y: Single, root: NDArray[Any], grid: _Grid
    ) -> None:
        self.link, self.omega, self.y, self.grid = link, omega, y, grid
        self.root = root.astype(np.float32)
        self.breaks = link.breaks or ()

    def points(self) -> tuple[Indices, Single, Single, Single]:
        """Sample (p,), t and z (r, p) and weight (p,) of all points."""
        r, n = self.omega.shape
        value = self._on_grid(self.link).reshape(n, -1) - self.y[:, None]
        signs = [(value > 0).ravel()]
        signs += [(self._on_grid(function) > 0).ravel() for function in self.breaks]
        parts = [self._along(axis, value.ravel(), signs) for axis in range(r)]
        sample, t, z, weight = (np.concatenate(part, axis=-1) for part in zip(*parts, strict=True))
        area = self.grid.step ** (r - 1) * float(np.prod(np.diag(self.root)))
        return sample, t, z, weight * np.float32(area)

    def _on_grid(self, link: Link) -> Single:
        """Values of a link on the nodes of all samples, shape (n, m, ..., m)."""
        r, n = self.omega.shape
        coordinates = []
        for k in range(r):
            own = self.omega[k].reshape(n, *(1,) * r)
            for j in range(k + 1):
                if self.root[k, j]:
                    own = own + (self.root[k, j] * self.grid.axis).reshape(-1, *(1,) * (r - 1 - j))
            coordinates.append(own)
        shape = (n, *(len(self.grid.axis),) * r)
        found = Coordinates(tuple(coordinates)).evaluate(link, np)
        return np.asarray(np.broadcast_to(found, shape), dtype=np.float32)

    def _along(
        self, axis: int, value: Single, signs: list[NDArray[np.bool_]]
    ) -> tuple[Indices, Single, Single, Single]:
        """The same on lines along an axis, with weights in units of a cell of t."""
        edges = self._edges(axis, value, signs)
        return crossings(self.link, self.y, self.root, edges, axis, self.grid.step)

    def _edges(self, axis: int, value: Single, signs: list[NDArray[np.bool_]]) -> Edges:
        """Edges along which g - y changes its sign, or which a break crosses."""
        r, size = self.grid.t.shape
        stride = len(self.grid.axis) ** (r - 1 - axis)
        changed = np.zeros(len(value), dtype=bool)
        for sign in signs:
            changed[:-stride] |= sign[:-stride] != sign[stride:]
        start = np.flatnonzero(changed.reshape(-1, size) & self.grid.near[axis])
        sample = start // size
        t = self.grid.t[:, start - sample * size]
        low = np.zeros(len(start), dtype=np.float32)
        high = np.full(len(start), self.grid.step, dtype=np.float32)
        z = self.omega[:, sample] + self.root @ t
        return Edges(sample, t, z, low, high, value[start], value[start + stride])
