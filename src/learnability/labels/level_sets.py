"""Conditional Hermite moments of a function of one normal variable, from its level sets.

With y = g(z), the roots z_b of g(z) = y and the weights w_b = phi(z_b) / |g'(z_b)|,

    E[h_k(z) | y] = sum_b h_k(z_b) w_b / sum_b w_b,

and flat pieces are atoms of the label. The line is split at the folds of g and, in the label,
at every value taken at a fold (`LabelNodes`). With label noise the sum over roots becomes an
integral over the stretch of each branch that the noise can reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.hermite_products import hermite_table
from learnability.gaussian.rules import composite_legendre, normal_measure
from learnability.gaussian.sections import Section
from learnability.labels.label_nodes import LabelNodes, Labels
from learnability.labels.monotone_pieces import BISECTIONS, Pieces, monotone_pieces

__all__ = ["MOST_BRANCHES", "LevelSets"]

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

MOST_BRANCHES = 200


@dataclass(frozen=True)
class LevelSets:
    """Level sets of a one-dimensional section.

    Parameters
    ----------
    section : Section
        A section with m = 1.
    """

    section: Section

    @cached_property
    def unit(self) -> float:
        """The spread of g, the unit in which labels are handled."""
        return float(np.ptp(self.section(np.linspace(-4, 4, 801)[:, None] + 1e-7))) or 1.0

    def value(self, t: Array) -> Array:
        """Return the function g on points of the line, in its unit."""
        return self.section(t[..., None]) / self.unit

    def slope(self, t: Array) -> Array:
        """Return the derivative of `value`."""
        return self.section.slope(t) / self.unit

    @cached_property
    def pieces(self) -> Pieces:
        """The line cut into monotone and flat pieces."""
        return monotone_pieces(self.section, self.value, self.slope)

    @property
    def tractable(self) -> bool:
        """Whether the branches are few enough to be followed."""
        return len(self.pieces.branches) <= MOST_BRANCHES

    def points(self, y: Array, which: Indices) -> Array:
        """Return points of branches with given labels, or the ends closest to them.

        Parameters
        ----------
        y : array
            Labels, in the unit.
        which : array of int
            Numbers of branches, of a shape that broadcasts with that of `y`.

        Returns
        -------
        array
            The points, of the common shape.
        """
        branches = self.pieces.branches
        shape = np.broadcast_shapes(np.shape(y), np.shape(which))
        low = np.broadcast_to(branches.low[which], shape)
        high = np.broadcast_to(branches.high[which], shape)
        rising = (branches.at_high > branches.at_low)[which]
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            right = (self.value(middle) < y) == rising
            low, high = np.where(right, middle, low), np.where(right, high, middle)
        return 0.5 * (low + high)

    def _hits(self, y: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Roots (b, n) of labels in the unit, the log of their slopes, and whether they exist."""
        branches = self.pieces.branches
        roots = self.points(y, np.arange(len(branches))[:, None])
        log_slope = np.log(np.maximum(np.abs(self.slope(roots)), 1e-290))
        return roots, log_slope, (y >= branches.bottom[:, None]) & (y <= branches.top[:, None])

    def roots_of(self, y: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Return the points of the line with given labels.

        Parameters
        ----------
        y : array, shape (n,)
            Labels.

        Returns
        -------
        roots, log_slope : array, shape (b, n)
            One for each branch, and the log of |g'| there.
        exists : array of bool, shape (b, n)
            Whether the branch takes the label.
        """
        roots, log_slope, exists = self._hits(y / self.unit)
        return roots, log_slope + np.log(self.unit), exists

    def _atoms(self, order: int) -> tuple[Array, Array]:
        """Return distinct values (n,) of the flat pieces and their moments (order + 1, n)."""
        values, ends = self.pieces.flat_values, self.pieces.flats
        moments = np.empty((order + 1, len(values)))
        a, b = ends.T
        moments[0] = normal_measure(a, b)
        density = [np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi) for x in (a, b)]
        tables = [hermite_table(x, max(order - 1, 0)) for x in (a, b)]
        for k in range(1, order + 1):  # The antiderivative of He_k phi is -He_{k-1} phi.
            moments[k] = (density[0] * tables[0][k - 1] - density[1] * tables[1][k - 1]) / np.sqrt(
                k
            )
        return _merged(values, moments)

    def squared_moments(self, order: int, noise: float = 0.0) -> tuple[Array, Array]:
        """Return E[ E[h_k(z) | y]^2 ] of the orthonormal Hermite polynomials.

        Parameters
        ----------
        order : int
            Highest k.
        noise : float
            Variance of additive Gaussian label noise.

        Returns
        -------
        value, error : array, shape (order + 1,)
            Entry 0 is one. The error is the difference between two rules.
        """
        noise = noise / self.unit**2
        fine, coarse = (
            self._noisy(order, noise, n) if noise > 0 else self._noise_free(order, n)
            for n in ((10, 8) if noise > 0 else (16, 12))
        )
        scale = max(abs(fine[0]), 1e-300)  # The total mass is one up to the cut at REACH.
        lost = self._blurred(order) if noise == 0 else 0.0
        return fine / scale, np.abs(fine - coarse) + abs(1 - fine[0]) + lost

    def _blurred(self, order: int) -> Array:
        """Return E[h_k^2] on pieces that are flat only to rounding.

        It is not known which of them share a label, and this bounds what they may add.
        """
        total = np.zeros(order + 1)
        for low, high in self.pieces.saturated:
            z, weight = composite_legendre(np.array([low, high]), 0.5, 12)
            weight = weight * np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
            total += hermite_table(z, order) ** 2 @ weight
        return total

    def _noise_free(self, order: int, n: int) -> Array:
        _, moments = self._atoms(order)
        with np.errstate(all="ignore"):
            total = np.where(moments[0] > 0, moments**2 / moments[0], 0.0).sum(axis=1)
        for part in self.labels(n):
            weight = np.exp(-0.5 * part.roots**2) / np.sqrt(2 * np.pi) * part.weights
            sums = (hermite_table(part.roots, order) * weight).sum(axis=1)
            with np.errstate(all="ignore"):
                total = total + np.where(sums[0] > 0, sums**2 / sums[0], 0.0) @ part.widths
        return np.asarray(total)

    def labels(self, n: int) -> list[Labels]:
        """Nodes that integrate over the continuous part of the label, with all roots of each."""
        return self._nodes(n)

    @cached_property
    def _nodes(self) -> LabelNodes:
        return LabelNodes([self])

    def _noisy(self, order: int, noise: float, n: int) -> Array:
        branches, flat_values = self.pieces.branches, self.pieces.flat_values
        sigma = np.sqrt(noise)
        levels = np.concatenate([branches.at_low, branches.at_high, flat_values])
        grid = np.linspace(-8.5, 8.5, 69)
        near = sigma * np.array([-8.5, -6, -4, -3, -2, -1, -0.5, 0, 0.5, 1, 2, 3, 4, 6, 8.5])
        edges = np.sort(np.concatenate([self.value(grid), (levels[:, None] + near).ravel()]))
        y, weight = composite_legendre(_thinned(edges, 0.4 * sigma), np.inf, n)
        density = self._noisy_density(y, order, noise, n)
        with np.errstate(all="ignore"):
            return np.where(density[0] > 1e-290, density**2 / density[0], 0.0) @ weight

    def _noisy_density(self, y: Array, order: int, noise: float, n: int) -> Array:
        """Return the law of the noisy label times E[h_k | y], shape (order + 1, len(y))."""
        branches = self.pieces.branches
        sigma = np.sqrt(noise)
        atoms, moments = self._atoms(order)
        density = moments @ np.exp(-0.5 * ((y - atoms[:, None]) / sigma) ** 2)
        x, inner = np.polynomial.legendre.leggauss(n)
        # Panels are narrow both in the label, in units of the noise, and on the line.
        steps_of_noise = np.array([-8.5, -5.5, -3.5, -2, -0.7, 0.7, 2, 3.5, 5.5, 8.5])
        for k in range(len(branches)):
            cuts = self.points(y + sigma * steps_of_noise[:, None], np.array(k))
            steps = np.arange(np.ceil(branches.low[k]), branches.high[k])[:, None]
            steps = np.clip(steps, cuts.min(axis=0), cuts.max(axis=0))
            cuts = np.sort(np.concatenate([cuts, steps]), axis=0)
            half = 0.5 * np.diff(cuts, axis=0)
            z = (cuts[:-1] + half)[:, None, :] + half[:, None, :] * x[:, None]
            part = np.exp(-0.5 * ((y - self.value(z)) / sigma) ** 2 - 0.5 * z**2)
            part *= half[:, None, :] * inner[:, None] / np.sqrt(2 * np.pi)
            density = density + (hermite_table(z, order) * part).sum(axis=(1, 2))
        return np.asarray(density / (sigma * np.sqrt(2 * np.pi)))

    def conditional(self, y: Array, order: int, noise: float = 0.0) -> Array:
        """Return E[h_k(z) | y] of the orthonormal Hermite polynomials.

        Parameters
        ----------
        y : array, shape (n,)
            Labels.
        order : int
            Highest k.
        noise : float
            Variance of the label noise.

        Returns
        -------
        array, shape (order + 1, n)
            NaN for labels that do not occur.
        """
        y, noise = y / self.unit, noise / self.unit**2
        if noise > 0:
            density = self._noisy_density(y, order, noise, 12)
        else:
            roots, log_slope, hit = self._hits(y)
            weight = np.where(hit, np.exp(-0.5 * roots**2 - log_slope), 0.0)
            density = (hermite_table(roots, order) * weight).sum(axis=1)
            atoms, moments = self._atoms(order)
            for value, moment in zip(atoms, moments.T, strict=True):
                same = np.abs(y - value) <= 1e-9 * (1 + abs(value))
                density = np.where(same, moment[:, None], density)
        with np.errstate(all="ignore"):
            return np.where(density[0] > 1e-290, density / density[0], np.nan)


def _thinned(edges: Array, gap: float) -> Array:
    """Return sorted edges at least `gap` apart, the last one kept."""
    kept = [float(edges[0])]
    for edge in edges[1:]:
        if edge - kept[-1] >= gap:
            kept.append(float(edge))
    kept[-1] = max(kept[-1], float(edges[-1]))
    return np.array(kept)


def _merged(values: Array, moments: Array) -> tuple[Array, Array]:
    """Add up the moments of equal values."""
    order = np.argsort(values)
    values, moments = values[order], moments[:, order]
    if not len(values):
        return values, moments
    new = np.diff(values, prepend=-np.inf) > 1e-12 * (1 + np.abs(values))
    return values[new], np.add.reduceat(moments, np.nonzero(new)[0], axis=1)
