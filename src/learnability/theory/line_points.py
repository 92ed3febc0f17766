"""Points on level sets of four variables, met by lines at random, and a rule for the labels.

A grid that resolves a level set in four variables has too many lines: few of them lie where the
normal law of z does. Lines along axis a are drawn from that law instead, and weigh the inverse of
their density, so that sums over their crossings are integrals over the level set without a bias.
Images of points under the reflections of the link are points too: what vanishes by symmetry does
so exactly.

Labels are counted by their normal score, x = Phi^{-1}(P(label < y)). In it a law is smooth, has
tails that a trapezoidal rule reaches, and needs no density.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.rules import sobol_normals
from learnability.gaussian.sobol import sobol_uniforms
from learnability.labels.link import Link
from learnability.labels.posterior import Coordinates
from learnability.theory.level_crossings import Edges, crossings
from learnability.theory.level_points import Points

__all__ = ["LabelScores", "line_points"]

Array = NDArray[np.float64]

_REACH, _EDGE = 4.9, 0.35
"""How far lines run, and the length of the edges on which g - y may change its sign once."""
_SAMPLE = 18
"""Labels, as a power of two, that tell the scores."""
_LAST = 4.4
"""Largest score of a label."""
_BETWEEN = 12
"""Points between two labels at which noise is added."""


def line_points(link: Link, labels: Array, log2_lines: int, seed: int) -> Points:
    """Points of the level sets of labels.

    Parameters
    ----------
    link : Link
        The link.
    labels : array, shape (m,)
        Labels.
    log2_lines : int
        Lines along each axis, as a power of two; images under reflections count.
    seed : int
        Of the lines.
    """
    r = link.r
    kept = [s for s in link.symmetries if s.character == 1]
    flips = [s.signs for s in kept if s.permutation == tuple(range(r))]
    images = np.array(flips, dtype=np.float32)
    fewer = max(log2_lines - int(math.log2(len(images))), 4)
    rng = np.random.default_rng([seed, r])
    z, weight, start = [], [], [0]
    with np.errstate(all="ignore"):
        for y in np.asarray(labels, dtype=np.float32):
            parts = [_along(link, axis, y, fewer, rng) for axis in range(r)]
            own = np.concatenate([p[0] for p in parts], axis=1)
            share = np.concatenate([p[1] for p in parts]) / len(images)
            z.append(np.concatenate([own.T * flip for flip in images]))
            weight.append(np.tile(share, len(images)))
            start.append(start[-1] + len(weight[-1]))
    found = (np.concatenate(z).astype(float), np.concatenate(weight).astype(float))
    return Points(*found, np.array(start))


def _along(
    link: Link, axis: int, y: np.float32, log2_lines: int, rng: np.random.Generator
) -> tuple[NDArray[np.float32], Array]:
    """Points (r, p) on lines along one axis, and their weights."""
    from scipy.special import ndtri

    r = link.r
    uniform = sobol_uniforms(r - 1, log2_lines, rng)
    across = ndtri(np.clip(uniform, 1e-9, 1 - 1e-9)).astype(np.float32).T
    density = np.exp(-0.5 * (across**2).sum(axis=0)) / math.sqrt(2 * math.pi) ** (r - 1)
    count = math.ceil(2 * _REACH / _EDGE)
    places = ((np.arange(count + 1) + rng.uniform()) * _EDGE - _REACH).astype(np.float32)
    lines = [row[:, None] for row in across]
    nodes = Coordinates((*lines[:axis], places[None], *lines[axis:]))

    def signs(function: Link, value: float | np.float32) -> NDArray[np.float32]:
        return np.asarray(nodes.evaluate(function, np) - value, dtype=np.float32)

    value = signs(link, y)
    changed = (value[:, :-1] > 0) != (value[:, 1:] > 0)
    for function in link.breaks or ():
        sign = signs(function, 0.0) > 0
        changed |= sign[:, :-1] != sign[:, 1:]
    line, place = np.nonzero(changed)
    t = np.empty((r, len(line)), dtype=np.float32)
    t[axis], t[[a for a in range(r) if a != axis]] = places[place], across[:, line]
    ends = np.zeros(len(line), dtype=np.float32), np.full(len(line), _EDGE, dtype=np.float32)
    edges = Edges(line, t, t.copy(), *ends, value[line, place], value[line, place + 1])
    # The sample of an edge is its line: all have the same label.
    label = np.full(across.shape[1], y)
    line, _, z, weight = crossings(link, label, np.eye(r, dtype=np.float32), edges, axis, _EDGE)
    return z, weight / (density[line] * across.shape[1])


@dataclass(frozen=True, eq=False)
class LabelScores:
    """A rule for labels that have a density, and for these with noise.

    Parameters
    ----------
    link : Link
        The link.
    noise : float
        Variance of the noise.
    step : float
        Distance of the scores of neighbouring labels.
    """

    link: Link
    noise: float
    step: float

    @cached_property
    def _sample(self) -> tuple[Array, Array]:
        """Sorted labels without and with noise."""
        nodes = sobol_normals(self.link.r + 1, _SAMPLE, 29)
        with np.errstate(all="ignore"):
            y = np.asarray(self.link(nodes[:, :-1]), dtype=float)
        kept = np.isfinite(y)
        noisy = y + math.sqrt(self.noise) * nodes[:, -1]
        return np.sort(y[kept]), np.sort(noisy[kept])

    @cached_property
    def scores(self) -> Array:
        """Scores of the labels."""
        count = math.ceil(_LAST / self.step)
        return np.asarray((np.arange(-count, count) + 0.5) * self.step)

    @cached_property
    def weights(self) -> Array:
        """Probabilities that labels stand for; their sum is one."""
        weight = np.exp(-0.5 * self.scores**2)
        return np.asarray(weight / weight.sum())

    def labels(self, noisy: bool = False) -> Array:
        """The labels, shape (m,)."""
        return _quantiles(self._sample[int(noisy)], self.scores)

    def blurred(self, y: Array) -> Array:
        """Densities of noisy labels y (n,) given a score, averaged around the m labels, (n, m).

        What is told of a label is linear in the score between two neighbours.
        """
        fine = np.arange(0.5 - 2 * _BETWEEN, 2 * _BETWEEN) / (2 * _BETWEEN)
        x = self.scores[:, None] + self.step * fine
        weight = np.maximum(1 - np.abs(fine), 0.0) * np.exp(-0.5 * x**2)
        source, sigma = _quantiles(self._sample[0], x), math.sqrt(self.noise)
        found = np.empty((len(y), len(x)))
        for k in range(len(x)):
            gap = (y[:, None] - source[k]) / sigma
            found[:, k] = np.exp(-0.5 * gap**2) @ weight[k]
        return np.asarray(found / (weight.sum() * sigma * math.sqrt(2 * math.pi)))


def _quantiles(ordered: Array, scores: Array) -> Array:
    """Values of a sorted sample at scores."""
    from scipy.special import ndtr

    place = ndtr(scores) * len(ordered) - 0.5
    return np.asarray(np.interp(place, np.arange(len(ordered)), ordered))
