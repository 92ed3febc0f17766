"""The information of a noisy label of several directions, on one grid of z.

With y = g(z) + noise of variance Delta, and z ~ N(omega, V), the law of a label and its gradient,

    p(y | omega) = E[N(y; g(z), Delta)],    grad p = E[V^{-1} (z - omega) N(y; g(z), Delta)],

are sums over an even grid of z, in the eigenvectors of M, that is narrow beside sqrt(V) and beside
the noise over the slope of g. On it the Gaussian is a product, and the sums at all omega are matrix
products, axis after axis. At kinks of g the error is of the square of the step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from learnability.labels.channel import Channel

__all__ = ["NoisyGrid"]

Array = NDArray[np.float64]

_REACH, _FARTHEST, _TAIL = (5.6, 5.0), 5.2, 6.0
"""Largest z for two and three directions, omega and noise, in their deviations."""
_OF_WIDTH, _OF_NOISE, _OF_OMEGA, _OF_LABEL = 0.6, 0.9, 0.6, 0.45
"""Steps of z beside sqrt(V) and beside the noise over the slope, of omega, and of the label."""
_FEWEST_Z = 0.25
"""Widest step of z."""
_MOST_Z, _MOST_OMEGA, _MOST_WORK = 2 * 10**6, 2 * 10**5, 6e9
_STEEP = 0.995
"""Share of z at which the step is narrow beside the noise over the slope."""
_RARE, _LEAST = 1e-9, 1e-60
"""Labels and laws of a smaller probability are left out."""


@dataclass(frozen=True, eq=False)
class NoisyGrid:
    """I(M) of a link of two or three variables with label noise.

    Parameters
    ----------
    channel : Channel
        The link and its noise.
    coarseness : float
        Steps over those that are narrow enough.
    """

    channel: Channel
    coarseness: float = 1.0

    def __call__(self, M: Array) -> Array | None:
        """I(M), shape (r, r); None where that needs too many nodes."""
        values, frame = np.linalg.eigh(0.5 * (M + M.T))
        overlap = np.clip(values, 0.0, 1 - 1e-9)
        axes, omegas = self._axes(frame, 1 - overlap), [self._omega(float(q)) for q in overlap]
        sizes, counts = [len(z) for z in axes], [len(x) for x, _ in omegas]
        if math.prod(sizes) > _MOST_Z or math.prod(counts) > _MOST_OMEGA:
            return None
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        square, link = (grid**2).sum(axis=-1), self._link(grid @ frame.T)
        near = square < _REACH[len(values) - 2] ** 2
        order = np.argsort(np.where(near, link, np.inf), axis=None)[: int(near.sum())]
        sorted_values = link.ravel()[order]
        labels = self._labels(sorted_values, np.exp(-0.5 * square.ravel()[order]))
        work = len(labels) * sum(
            math.prod(counts[a:]) * math.prod(sizes[: a + 1]) for a in range(len(values))
        )
        if not np.isfinite(sorted_values).all() or work > _MOST_WORK:
            return None
        plain, moved = _kernels(axes, omegas, 1 - overlap)
        weight = np.ones(1)
        for _, share in omegas:
            weight = np.multiply.outer(weight, share).ravel()
        sigma, total = math.sqrt(self.channel.noise), np.zeros((len(values),) * 2)
        kernel, mass = np.zeros(math.prod(sizes)), 0.0
        for y in labels:
            low, high = np.searchsorted(sorted_values, [y - _TAIL * sigma, y + _TAIL * sigma])
            part = order[low:high]
            kernel[part] = np.exp(-0.5 * ((sorted_values[low:high] - y) / sigma) ** 2)
            law, *slopes = _sums(kernel.reshape(sizes), plain, moved)
            kernel[part] = 0.0
            slope = np.array([s.ravel() for s in slopes])
            inverse = np.where(law.ravel() > _LEAST, weight, 0.0) / np.maximum(law.ravel(), _LEAST)
            total += (slope * inverse) @ slope.T
            mass += float(law.ravel() @ weight)
        return np.asarray(frame @ total @ frame.T) / mass

    def _link(self, z: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(self.channel.link(z), dtype=float)

    def _axes(self, frame: Array, variance: Array) -> list[Array]:
        """Even grids of z along the eigenvectors, with no node on a plane through the origin."""
        from learnability.gaussian.rules import sobol_normals

        r, sigma = len(frame), math.sqrt(self.channel.noise)
        z, found = sobol_normals(r, 11, 7), []
        for a in range(r):
            away = 1e-4 * frame[:, a]
            slope = np.abs(self._link(z + away) - self._link(z - away)) / 2e-4
            steep = float(np.quantile(slope[np.isfinite(slope)], _STEEP))
            step = min(
                _OF_WIDTH * math.sqrt(float(variance[a])),
                _OF_NOISE * sigma / max(steep, 1e-12),
                _FEWEST_Z,
            )
            count = math.ceil(_REACH[r - 2] / max(self.coarseness * step, 1e-3))
            width = _REACH[r - 2] / count
            found.append(np.asarray((np.arange(-count, count) + 0.5) * width, dtype=float))
        return found

    def _omega(self, q: float) -> tuple[Array, Array]:
        """Even nodes of omega ~ N(0, q), and their weights."""
        if q < 1e-9:
            return np.zeros(1), np.ones(1)
        step = self.coarseness * _OF_OMEGA * min(math.sqrt((1 - q) / q), 1.0)
        count = math.ceil(_FARTHEST / step)
        x = np.asarray(np.arange(-count, count + 1) * step, dtype=float)
        weight = np.exp(-0.5 * x**2)
        return math.sqrt(q) * x, weight / weight.sum()

    def _labels(self, values: Array, chance: Array) -> Array:
        """An even grid of the labels that are not too rare."""
        sigma = math.sqrt(self.channel.noise)
        step = self.coarseness * _OF_LABEL * sigma
        if not float(np.ptp(values)) / step < 1e5:
            return np.zeros(10**6)
        low, high = np.floor(values[0] / step), np.ceil(values[-1] / step)
        tail = math.ceil(_TAIL / (self.coarseness * _OF_LABEL))
        y = np.arange(low - tail, high + tail + 1) * step
        below = np.concatenate([[0.0], np.cumsum(chance)]) / chance.sum()
        ends = [np.searchsorted(values, y + sign * _TAIL * sigma) for sign in (-1, 1)]
        return np.asarray(y[below[ends[1]] - below[ends[0]] > _RARE])


def _kernels(
    axes: list[Array], omegas: list[tuple[Array, Array]], variance: Array
) -> tuple[list[Array], list[Array]]:
    """Along each axis N(z; omega, v) and its slope in omega, (z, omega)."""
    plain, moved = [], []
    for z, (omega, _), v in zip(axes, omegas, variance.tolist(), strict=True):
        gap = (z[:, None] - omega) / v
        law = np.exp(-0.5 * v * gap**2) * (z[1] - z[0]) / math.sqrt(2 * math.pi * v)
        plain.append(law)
        moved.append(law * gap)
    return plain, moved


def _sums(kernel: Array, plain: list[Array], moved: list[Array]) -> list[Array]:
    """Sums over all axes of z; the first plain, then with one axis moved."""
    found = [kernel]
    # Each axis is summed as the last one, and its omega become the first axis.
    for law, slope in zip(plain[::-1], moved[::-1], strict=True):
        found = [np.tensordot(law, part, axes=(0, part.ndim - 1)) for part in found] + [
            np.tensordot(slope, found[0], axes=(0, kernel.ndim - 1))
        ]
    return [found[0], *found[:0:-1]]
