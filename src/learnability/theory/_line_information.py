"""The information E[g_out g_out^T] of a link of four directions, on lines drawn at random.

The law of a label and its gradient in omega are sums over points of its level set, which do not
depend on omega, on a product grid of all omega at once. The points come from lines at random: the
sums have no bias, but the ratio grad p grad p^T / p has one, in proportion to their variance. Two
halves of the lines, each with twice that variance, tell it: it is taken off.

Label noise averages what is told of neighbouring labels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.labels.channel import Channel
from learnability.theory._gaussian_sums import gaussian_sums
from learnability.theory._level_information import OmegaGrid, Resolution, fisher
from learnability.theory.level_points import Points
from learnability.theory.line_points import LabelScores, line_points

__all__ = ["FEWER_LINES", "FINE_LINES", "ROUGH_LINES", "LineInformation", "LineResolution"]

Array = NDArray[np.float64]

_MOST = 4_000_000
"""Entries of the laws of all labels that are held at a time."""


@dataclass(frozen=True)
class LineResolution:
    """How finely the integrals are computed.

    Attributes
    ----------
    score_step : float
        Distance of the normal scores of neighbouring labels.
    log2_lines : int
        Lines along each axis, as a power of two.
    omega : Resolution
        Of the grid of omega.
    seed : int
        Of the lines.
    """

    score_step: float
    log2_lines: int
    omega: Resolution
    seed: int


FINE_LINES = LineResolution(
    0.08, 13, Resolution(omega_step=(0.9,) * 4, omega_reach=(4.2,) * 4), seed=1
)
FEWER_LINES = LineResolution(
    0.12, 12, Resolution(omega_step=(1.0,) * 4, omega_reach=(4.0,) * 4), seed=3
)
"""It tells the error of the fine one, from which it is independent."""
ROUGH_LINES = LineResolution(
    0.2, 11, Resolution(omega_step=(1.2,) * 4, omega_reach=(3.8,) * 4), seed=2
)


@dataclass(frozen=True, eq=False)
class LineInformation:
    """E[g_out g_out^T] of a channel at any overlap M that is not too large.

    Parameters
    ----------
    channel : Channel
        A link whose labels have a density, and its noise.
    resolution : LineResolution
        How finely.
    """

    channel: Channel
    resolution: LineResolution = FINE_LINES

    def __post_init__(self) -> None:
        _ = self._points  # They come first, so that equal questions cost the same.

    @property
    def r(self) -> int:
        """Number of hidden directions."""
        return self.channel.link.r

    @cached_property
    def _scores(self) -> LabelScores:
        return LabelScores(self.channel.link, self.channel.noise, self.resolution.score_step)

    @cached_property
    def _points(self) -> Points:
        """Points of two halves of each label, with weights that make densities relative.

        They are those of the label given omega over that of the label alone.
        """
        labels, step = self._scores.labels(), self.resolution
        halves = [
            line_points(self.channel.link, labels, step.log2_lines - 1, 2 * step.seed + k)
            for k in range(2)
        ]
        density = np.mean([self._density(half) for half in halves], axis=0)
        z, weight, count = [], [], []
        for k in range(len(labels)):
            for half in halves:
                part = slice(half.start[k], half.start[k + 1])
                z.append(half.z[part])
                weight.append(half.weight[part] / max(float(density[k]), 1e-300))
                count.append(len(weight[-1]))
        start = np.concatenate([[0], np.cumsum(count)])
        return Points(np.concatenate(z), np.concatenate(weight), start)

    def _density(self, points: Points) -> Array:
        """Density of each label, shape (labels,)."""
        law = points.weight * np.exp(-0.5 * (points.z**2).sum(axis=1))
        total = np.concatenate([[0.0], np.cumsum(law)])
        return np.asarray(np.diff(total[points.start])) / math.sqrt(2 * math.pi) ** self.r

    @cached_property
    def _blur(self) -> tuple[Array, Array]:
        """Laws of noisy labels as averages of those of labels, (m, m), and their weights."""
        blurred = self._scores.blurred(self._scores.labels(noisy=True))
        return blurred, self._scores.weights / np.maximum(blurred.sum(axis=1), 1e-300)

    def __call__(self, M: Array) -> Array:
        """E[g_out g_out^T] at overlap M, shape (r, r)."""
        return self.with_mass(M)[0]

    def with_mass(self, M: Array) -> tuple[Array, float]:
        """The same, divided by the mass of all labels, which should be one; and that mass."""
        grid = OmegaGrid(M, self.resolution.omega, self.channel.link.symmetries)
        total, mass = np.zeros((self.r, self.r)), 0.0
        for weight, halves in self._laws(grid):
            share = self._scores.weights
            if self.channel.noise > 0:
                kernel, share = self._blur
                halves = np.einsum("yk,hckn->hcyn", kernel, halves, optimize=True)
            whole = halves.mean(axis=0)
            total += 2 * fisher(whole, weight, share[:, None])
            total -= 0.5 * sum(fisher(half, weight, share[:, None]) for half in halves)
            mass += float(share @ whole[0] @ weight)
        return grid.back(total) / mass, mass

    def _laws(self, grid: OmegaGrid) -> Iterator[tuple[Array, NDArray[Any]]]:
        """Weights (n,) of some omega, and (density, gradient) (2, 1 + r, labels, n) of halves."""
        points, first = self._points, grid.nodes[0]
        labels, rest = len(self._scores.scores), math.prod(len(x) for x in grid.nodes[1:])
        turned = points.z @ grid.frame
        several = max(1, _MOST // (2 * (1 + self.r) * labels * rest))
        for low in range(0, len(first), several):
            nodes = [first[low : low + several], *grid.nodes[1:]]
            size = len(nodes[0]) * rest
            laws = np.zeros((1 + self.r, 2 * labels, size), dtype=np.float32)
            about = (points.weight, points.start, nodes, grid.variance, np.float32)
            for k, density in gaussian_sums(turned, *about):
                laws[:, k] = density
            halves = np.moveaxis(laws.reshape(1 + self.r, labels, 2, size), 2, 0)
            yield grid.weight[low * rest : low * rest + size], halves
