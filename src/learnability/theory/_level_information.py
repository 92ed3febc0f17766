"""The information E[g_out g_out^T] of one label of any link, from its level sets and cells.

With V = I - M and omega ~ N(0, M), the law of a label and its gradient in omega are integrals of a
Gaussian over a level set (continuous labels) or over a cell (labels with an atom), neither of
which depends on omega. In the eigenvectors of M that Gaussian is a product, so that the law on a
product grid of all omega at once is a matrix product. Label noise is a convolution afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from learnability.expressions.structure import Symmetry
from learnability.gaussian.rules import composite_legendre
from learnability.labels.channel import Channel
from learnability.theory._gaussian_sums import gaussian_sums
from learnability.theory._label_panels import label_rule
from learnability.theory.cell_edges import Cells, cells_of, label_atoms, label_sample
from learnability.theory.level_points import LevelPoints, Points

__all__ = ["FINE", "ROUGH", "LevelInformation", "OmegaGrid", "Resolution", "fisher"]

Array = NDArray[np.float64]

_RARE = 1e-25
_KNOWN = 1 - 1e-12


@dataclass(frozen=True)
class Resolution:
    """How finely the integrals are computed, for one, two, three and four directions.

    Attributes
    ----------
    step : tuple of float
        Distance of the lines that meet level sets.
    cell_step : tuple of float
        Distance of the lines that cross cells.
    omega_step : tuple of float
        Distance of neighbouring omega, in posterior widths.
    omega_reach : tuple of float
        Largest omega, in standard deviations.
    tolerance : tuple of float
        Of the rule for labels.
    """

    step: tuple[float, ...] = (0.001, 0.03, 0.2, 0.4)
    cell_step: tuple[float, ...] = (0.02, 0.012, 0.06, 0.25)
    omega_step: tuple[float, ...] = (0.4, 0.42, 0.45, 0.8)
    omega_reach: tuple[float, ...] = (5.5, 5.0, 4.4, 4.0)
    tolerance: tuple[float, ...] = (1e-6, 3e-5, 4e-4, 1e-3)


FINE = Resolution()
ROUGH = Resolution(
    step=(0.002, 0.06, 0.3, 0.55),
    cell_step=(0.04, 0.024, 0.1, 0.35),
    omega_step=(0.6, 0.7, 0.6, 1.0),
    omega_reach=(5.0, 4.5, 4.0, 3.7),
    tolerance=(1e-5, 1e-4, 1e-3, 3e-3),
)


_TEST = Resolution(omega_step=(1.0,) * 4, omega_reach=(3.5,) * 4)


@dataclass(frozen=True, eq=False)
class LevelInformation:
    """E[g_out g_out^T] of a channel at any overlap M.

    Parameters
    ----------
    channel : Channel
        At most four hidden directions.
    resolution : Resolution
        How finely.
    """

    channel: Channel
    resolution: Resolution = FINE

    def __post_init__(self) -> None:
        _ = self._rule  # The rule for labels comes first, so that equal questions cost the same.

    @property
    def r(self) -> int:
        """Number of hidden directions."""
        return self.channel.link.r

    def _at(self, values: tuple[float, ...]) -> float:
        return values[self.r - 1]

    # ---- labels

    @cached_property
    def _sample(self) -> Array:
        return label_sample(self.channel.link)

    @cached_property
    def atoms(self) -> tuple[float, ...]:
        """Labels of positive probability, before noise."""
        return label_atoms(self.channel.link)

    @cached_property
    def _levels(self) -> LevelPoints:
        reach = 5.5 if self.r < 3 else 5.0
        return LevelPoints(self.channel.link, reach, self._at(self.resolution.step))

    @cached_property
    def _rule(self) -> tuple[Array, Array, Points] | None:
        """Labels of the continuous part, their weights and level sets; None without that part."""
        if self.channel.link.values is not None:
            return None
        near = self._levels.near_values
        values = self._sample[~np.isin(self._sample, self.atoms)]
        values = np.concatenate([values, [near.min(), near.max()]])
        tests = [np.full(self.r, q) for q in ((0.1, 0.5, 0.85) if self.r < 3 else (0.1, 0.5))]

        def integrand(y: Array) -> Array:
            points = self._levels.of(y)
            return np.concatenate([self._contributions(points, q) for q in tests], axis=1)

        sigma = math.sqrt(self.channel.noise)
        widest = 2 * sigma if sigma > 0 else math.inf
        most = 400 if self.r < 3 else 120
        tolerance, nodes = self._at(self.resolution.tolerance), 6 if self.r < 3 else 4
        y, weight = label_rule(values, integrand, tolerance, nodes, widest, most)
        return y, weight, self._levels.of(y)

    def _contributions(self, points: Points, q: Array) -> Array:
        """E over omega of p, and of (grad p)^2 / p, of each label, at a diagonal overlap."""
        # Which labels matter is told by few omega.
        grid = OmegaGrid(np.diag(q), _TEST, self.channel.link.symmetries)
        found = np.zeros((len(points.start) - 1, 1 + self.r))
        for k, density in self._densities(points, grid):
            found[k, 0] = density[0] @ grid.weight
            inverse = _inverse(density[0], grid.weight)
            found[k, 1:] = np.einsum("akn,akn,kn->ka", density[1:], density[1:], inverse)
        return found

    # ---- information

    def __call__(self, M: Array) -> Array:
        """E[g_out g_out^T] at overlap M, shape (r, r)."""
        return self.with_mass(M)[0]

    def with_mass(self, M: Array) -> tuple[Array, float]:
        """The same, divided by the mass of all labels, which should be one; and that mass."""
        grid = OmegaGrid(M, self.resolution, self.channel.link.symmetries)
        parts = self._laws(grid)
        if self.channel.noise > 0:
            parts = self._blurred(parts)
        total, mass = np.zeros((self.r, self.r)), 0.0
        for _, weight, density in parts:
            total += fisher(density, grid.weight, weight[:, None])
            mass += float(weight @ density[0] @ grid.weight)
        return grid.back(total) / mass, mass

    def _laws(self, grid: OmegaGrid) -> Iterator[tuple[Array, Array, Array]]:
        """Labels (k,), weights (k,) and (density, gradient) (1 + r, k, n) on the grid of omega."""
        if self._rule is not None:
            y, weight, points = self._rule
            for k, density in self._densities(points, grid):
                yield y[k], weight[k], density
        if self.atoms:
            for value, density in self._cells(grid.frame).laws(grid.nodes, grid.variance):
                yield np.array([value]), np.ones(1), density[:, None]

    def _cells(self, frame: Array) -> Cells:
        step = self._at(self.resolution.cell_step)
        key = tuple(np.round(frame, 10).ravel().tolist())
        return cells_of(self.channel.link, self.atoms, key, 6.0, step)

    def _densities(
        self, points: Points, grid: OmegaGrid
    ) -> Iterator[tuple[NDArray[np.intp], Array]]:
        """Labels that occur, and their (p, grad p) in the eigenvectors of M."""
        single = np.float64 if self.r < 3 else np.float32
        turned = points.z @ grid.frame
        return gaussian_sums(turned, points.weight, points.start, grid.nodes, grid.variance, single)

    def _blurred(
        self, parts: Iterator[tuple[Array, Array, Array]]
    ) -> Iterator[tuple[Array, Array, Array]]:
        """The laws of noisy labels, on a rule that resolves the noise where it can."""
        labels, weights, laws = zip(*parts, strict=True)
        source, sigma = np.concatenate(labels), math.sqrt(self.channel.noise)
        near = (source[:, None] + sigma * np.array([-7, -4, -2, 0, 2, 4, 7])).ravel()
        edges = np.unique(np.round(np.sort(near) / (0.5 * sigma))) * 0.5 * sigma
        y, weight = composite_legendre(edges, 2 * sigma, 5)
        kernel = np.exp(-0.5 * ((y[:, None] - source) / sigma) ** 2)
        kernel *= np.concatenate(weights) / (sigma * math.sqrt(2 * math.pi))
        stacked = np.concatenate(laws, axis=1)
        for part in np.array_split(np.arange(len(y)), max(1, len(y) // 64)):
            yield y[part], weight[part], kernel[part] @ stacked


class OmegaGrid:
    """A product grid of omega ~ N(0, M) in the eigenvectors of M.

    Reflections of the link that keep the eigenvectors leave one half of an axis.

    Parameters
    ----------
    M : array, shape (r, r)
        The overlap.
    resolution : Resolution
        How finely.
    symmetries : tuple of Symmetry
        Of the link.
    """

    def __init__(self, M: Array, resolution: Resolution, symmetries: tuple[Symmetry, ...]) -> None:
        values, frame = np.linalg.eigh(0.5 * (M + M.T))
        r = len(values)
        values = np.clip(values, 0.0, _KNOWN)
        self.frame, self.variance = frame, 1 - values
        chosen: list[tuple[int, Array]] = []
        turned = [frame.T @ s.matrix @ frame for s in symmetries]
        flips = [np.diag(t) for t in turned if np.allclose(np.abs(t), np.eye(r), atol=1e-9)]
        for axis in range(r):
            taken = [a for a, _ in chosen]
            fits = [f for f in flips if f[axis] < 0 and all(f[a] > 0 for a in taken)]
            if fits:
                chosen.append((axis, fits[0]))
        self._flips = [flip for _, flip in chosen]
        half = {axis for axis, _ in chosen}
        step, reach = resolution.omega_step[r - 1], resolution.omega_reach[r - 1]
        self.nodes: list[Array] = []
        self.weight: Array = np.ones(1)
        for axis, (q, v) in enumerate(zip(values.tolist(), self.variance.tolist(), strict=True)):
            width = min(step * math.sqrt(v), 0.8 * math.sqrt(q))
            count = math.ceil(reach * math.sqrt(q) / width) if q > 1e-9 else 0
            omega = np.asarray(np.arange(-count, count + 1) * width, dtype=float)
            weight = np.exp(-0.5 * omega**2 / q) if count else np.ones(1)
            weight = weight / weight.sum()
            if axis in half:
                omega, weight = omega[count:], weight[count:] * (1 + (omega[count:] > 0))
            self.nodes.append(omega)
            self.weight = np.multiply.outer(self.weight, weight).ravel()

    def back(self, total: Array) -> Array:
        """An average over the grid, made that over all omega, in the coordinates of the link."""
        for flip in self._flips:
            total = 0.5 * (total + flip[:, None] * total * flip)
        return np.asarray(self.frame @ total @ self.frame.T)


def fisher(density: Array, weight: Array, times: Array | float = 1.0) -> Array:
    """E over omega of grad p grad p^T / p, summed over labels that count so many times."""
    r = len(density) - 1
    slope = density[1:].reshape(r, -1)
    return np.asarray((slope * (_inverse(density[0], weight) * times).ravel()) @ slope.T)


def _inverse(p: Array, weight: Array) -> Array:
    """weight / p, and zero where that is rounding."""
    return np.where(p > _RARE, weight, 0.0) / np.maximum(p, _RARE)
