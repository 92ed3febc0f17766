"""Gaussian masses and gradients of the cells on which a link is constant, along parallel lines.

A line is cut where the label changes, and the mass of a cell on it is a sum of one-dimensional
normal distribution functions; the lines themselves are a trapezoidal rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.rules import sobol_normals
from learnability.labels.link import Link

__all__ = ["Cells", "cells_of", "label_atoms", "label_sample"]

Array = NDArray[np.float64]

_ATOM = 2e-3
"""A value more frequent than this in a sample of labels has a positive probability."""
_BISECTIONS = 36
_COARSER = 4
"""Distance between points on a line over the distance between lines."""
_BLOCK = 6_000_000


@lru_cache(maxsize=32)
def label_sample(link: Link) -> Array:
    """Return the finite labels of a fixed sample."""
    with np.errstate(all="ignore"):
        y = np.asarray(link(sobol_normals(link.r, 14, 21)), dtype=float)
    return np.asarray(y[np.isfinite(y)])


def label_atoms(link: Link) -> tuple[float, ...]:
    """Return the labels of positive probability."""
    if link.values is not None:
        return link.values
    values, count = np.unique(label_sample(link), return_counts=True)
    return tuple(map(float, values[count > _ATOM * count.sum()]))


@dataclass(frozen=True, eq=False)
class Cells:
    """Where lines along one axis enter and leave cells, in a rotated frame.

    Attributes
    ----------
    atoms : tuple of float
        The labels.
    axis : int
        The axis along which the lines run.
    step : float
        Distance of neighbouring lines.
    outer : array, shape (lines, r - 1)
        Positions of the lines.
    first : array, shape (lines,)
        Index of the label at the lower end of each line; -1 for none of them.
    line, place, before, after : arrays, shape (edges,)
        Line and position of every change of label, and the labels on both sides.
    """

    atoms: tuple[float, ...]
    axis: int
    step: float
    outer: Array
    first: NDArray[np.intp]
    line: NDArray[np.intp]
    place: Array
    before: NDArray[np.intp]
    after: NDArray[np.intp]

    def laws(self, nodes: list[Array], variance: Array) -> Iterator[tuple[float, Array]]:
        """Yield each label with its probability and gradient (1 + r, n) on a grid of omega."""
        from scipy.special import ndtr

        r = len(nodes)
        others = [a for a in range(r) if a != self.axis]
        plain, moved = [], []
        for k, a in enumerate(others):
            gap = self.outer[:, k, None] - nodes[a]
            v = float(variance[a])
            law = np.exp(-0.5 * gap**2 / v) * (self.step / math.sqrt(2 * math.pi * v))
            # Even if the lines are too far apart, their weights sum to one.
            lines = np.unique(self.outer[:, k])
            mass = np.exp(-0.5 * (lines[:, None] - nodes[a]) ** 2 / v).sum(axis=0)
            law = law / (mass * self.step / math.sqrt(2 * math.pi * v))
            plain.append(law)
            moved.append(law * gap / v)
        v = float(variance[self.axis])
        gap = (self.place[:, None] - nodes[self.axis]) / math.sqrt(v)
        beyond = ndtr(-gap)  # The mass past each edge.
        slope = np.exp(-0.5 * gap**2) / math.sqrt(2 * math.pi * v)
        for index, value in enumerate(self.atoms):
            sign = (self.after == index).astype(float) - (self.before == index)
            use = np.nonzero(sign)[0]
            full = np.nonzero(self.first == index)[0]
            total = np.zeros((1 + r, *(len(x) for x in nodes)))
            for which in range(-1, r):
                factors = [(moved if a == which else plain)[k] for k, a in enumerate(others)]
                last = slope[use] if which == self.axis else beyond[use]
                part = self._summed([f[self.line[use]] for f in factors], last * sign[use, None])
                if which != self.axis and len(full):
                    ones = np.ones((len(full), len(nodes[self.axis])))
                    part = part + self._summed([f[full] for f in factors], ones)
                total[which + 1] = np.moveaxis(part, -1, self.axis)
            yield value, np.maximum(total.reshape(1 + r, -1), _least(r))

    @staticmethod
    def _summed(factors: list[Array], last: Array) -> Array:
        """Return sum_k prod factors[k] last[k]; the axis of the lines is the last."""
        shape = tuple(f.shape[1] for f in factors)
        total = np.zeros((math.prod(shape), last.shape[1]))
        size = max(1, _BLOCK // max(math.prod(shape), 1))
        for start in range(0, len(last), size):
            part = slice(start, start + size)
            product = np.ones((len(last[part]), 1))
            for f in factors:
                product = (product[:, :, None] * f[part][:, None, :]).reshape(len(product), -1)
            total += product.T @ last[part]
        return total.reshape(*shape, last.shape[1])


def _least(r: int) -> Array:
    """Return lower bounds: probabilities are not negative, gradients have no bound."""
    return np.array([0.0] + [-np.inf] * r)[:, None]


@lru_cache(maxsize=16)
def cells_of(
    link: Link, atoms: tuple[float, ...], frame: tuple[float, ...], reach: float, step: float
) -> Cells:
    """Return the cells of a link in a rotated frame.

    Parameters
    ----------
    link : Link
        The link.
    atoms : tuple of float
        The labels of the cells.
    frame : tuple of float
        Entries of the orthogonal matrix whose columns are the axes.
    reach : float
        Half the width of the grid.
    step : float
        Distance of neighbouring lines.
    """
    r = link.r
    Q = np.array(frame).reshape(r, r)
    scale = max(1.0, max(abs(a) for a in atoms))

    def label(points: Array) -> NDArray[np.intp]:
        with np.errstate(all="ignore"):
            y = np.asarray(link(points @ Q.T), dtype=float)
        found = np.full(y.shape, -1, dtype=np.intp)
        for k, a in enumerate(atoms):
            found[np.abs(y - a) <= 1e-9 * scale] = k
        return found

    axis = _transversal(label, r, reach)
    x, along = _midpoints(reach, step), _midpoints(reach, _COARSER * step)
    sides = [along if a == axis else x for a in range(r)]
    grid = np.moveaxis(np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1), axis, r - 1)
    moved = label(grid).reshape(-1, len(along))
    outer = grid[..., 0, :].reshape(-1, r)
    x = along
    line, segment = np.nonzero(moved[:, 1:] != moved[:, :-1])
    before, after = moved[line, segment], moved[line, segment + 1]
    points = outer[line].copy()
    low, high = x[segment], x[segment + 1]
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        points[:, axis] = middle
        same = label(points) == before
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    others = [a for a in range(r) if a != axis]
    return Cells(
        atoms, axis, step, outer[:, others], moved[:, 0], line, 0.5 * (low + high), before, after
    )


def _midpoints(reach: float, step: float) -> Array:
    n = math.ceil(reach / step)
    return np.asarray((np.arange(-n, n) + 0.5) * step, dtype=float)


def _transversal(label: Callable[[Array], NDArray[np.intp]], r: int, reach: float) -> int:
    """Return the axis along which labels change most often."""
    x = _midpoints(reach, 0.25)
    grid = np.stack(np.meshgrid(*[x] * r, indexing="ij"), axis=-1)
    labels, weight = label(grid), np.exp(-0.5 * (grid**2).sum(axis=-1))
    changes = []
    for a in range(r):
        moved, w = np.moveaxis(labels, a, -1), np.moveaxis(weight, a, -1)
        changes.append(float(((moved[..., 1:] != moved[..., :-1]) * w[..., 1:]).sum()))
    return int(np.argmax(np.round(changes, 6)))
