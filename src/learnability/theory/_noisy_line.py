"""The information of a noisy label of one direction, by matrix products over a grid of z.

With y = g(z) + noise of variance Delta, and z ~ N(omega, V), the law of a label and its slope,

    p(y | omega) = E[N(y; g(z), Delta)],    p' = E[(z - omega) / V  N(y; g(z), Delta)],

are integrals of smooth functions between the breaks of g: panels that are narrow beside sqrt(V) and
beside the noise, over the slope of g, have nodes for both. I(q) = E_omega of the integral of
p'^2 / p over y, on even grids, whose error is exponentially small for such functions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.rules import legendre
from learnability.gaussian.sections import Section
from learnability.labels.channel import Channel

__all__ = ["NARROWEST", "NoisyLine", "noisy_line"]

Array = NDArray[np.float64]

NARROWEST = 1e-3
"""Smallest variance V that is asked for."""
_REACH, _TAIL = 7.5, 7.5
"""Largest z and omega in their deviations, and largest noise in its own."""
_NODES = 8
_MOST_NODES, _MOST_PAIRS = 40_000, 4 * 10**6
_SHARP = 0.02
"""Smaller variances need half as fine rules: a posterior has one mode there."""
_LOOKS = 9
"""Points of a panel whose values tell how far the link moves in it."""


@dataclass(frozen=True, eq=False)
class NoisyLine:
    """I(q) of a link of one variable with label noise.

    Parameters
    ----------
    channel : Channel
        The link and its noise.
    coarseness : float
        Widths of panels and steps, over those that posteriors of one mode need.
    """

    channel: Channel
    coarseness: float = 0.5

    @cached_property
    def _edges(self) -> Array:
        breaks = np.asarray(Section.whole(self.channel.link).breakpoints, dtype=float)
        return np.unique(np.concatenate([[-_REACH, _REACH], breaks[np.abs(breaks) < _REACH]]))

    def _value(self, z: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(self.channel.link(z[..., None]), dtype=float)

    def nodes(self, variance: float) -> tuple[Array, Array] | None:
        """Return nodes z and weights for posteriors of a variance; None if there are too many."""
        coarse = self._coarse(variance)
        width, sigma = 2 * coarse * math.sqrt(variance), math.sqrt(self.channel.noise)
        parts = []
        for a, b in zip(self._edges[:-1], self._edges[1:], strict=True):
            even = np.linspace(a, b, max(math.ceil((b - a) / width), 1) + 1)
            inside = even[:-1, None] + np.diff(even)[:, None] * (np.arange(_LOOKS) + 0.5) / _LOOKS
            moves = np.abs(np.diff(self._value(inside), axis=1)).max(axis=1) * _LOOKS
            counts = moves / (2 * coarse * sigma)
            if not np.all(counts < _MOST_NODES) or counts.sum() > _MOST_NODES:
                return None
            pieces = np.maximum(np.ceil(counts), 1).astype(int)
            parts += [
                np.linspace(low, high, k, endpoint=False)
                for low, high, k in zip(even[:-1], even[1:], pieces, strict=True)
            ]
        edges = np.concatenate([*parts, [self._edges[-1]]])
        if _NODES * len(edges) > _MOST_NODES:
            return None
        x, w = legendre(_NODES)
        half = 0.5 * np.diff(edges)[:, None]
        return (edges[:-1, None] + half * (1 + x)).ravel(), (half * w).ravel()

    def _coarse(self, variance: float) -> float:
        return self.coarseness * (2 if variance < _SHARP else 1)

    def labels(self, values: Array, coarse: float) -> Array:
        """Return an even grid of labels, which has gaps where there are none."""
        step = 0.35 * coarse * math.sqrt(self.channel.noise)
        tail = math.ceil(_TAIL / (0.35 * coarse))
        near = np.unique(np.round(values / step))
        steps = np.unique((near[:, None] + np.arange(-tail, tail + 1, max(tail // 2, 1))).ravel())
        gaps = np.diff(steps)
        runs = np.split(steps, np.nonzero(gaps > 2 * tail)[0] + 1)
        return step * np.concatenate([np.arange(one[0], one[-1] + 1) for one in runs])

    def __call__(self, M: Array) -> Array:
        """I(q), shape (1, 1), at the overlap M, shape (1, 1)."""
        return self.with_mass(M)[0]

    def with_mass(self, M: Array) -> tuple[Array, float]:
        """The same, and the mass of all labels, which should be one."""
        q = min(max(float(M[0, 0]), 0.0), 1 - NARROWEST)
        variance = 1 - q
        found = self.nodes(variance)
        assert found is not None
        z, weight = found
        values = self._value(z)
        coarse = self._coarse(variance)
        y, sigma = self.labels(values, coarse), math.sqrt(self.channel.noise)
        spacing = 0.4 * coarse * min(1.0, math.sqrt(variance / max(q, 1e-300)))
        count = math.ceil(_REACH / spacing)
        u = np.linspace(-_REACH, _REACH, 2 * count + 1) if q > 0 else np.zeros(1)
        share = np.exp(-0.5 * u**2)
        share /= share.sum()
        away = (z[:, None] - math.sqrt(q) * u) / math.sqrt(variance)
        law = weight[:, None] * np.exp(-0.5 * away**2) / math.sqrt(2 * math.pi * variance)
        both = np.concatenate([law, law * away / math.sqrt(variance)], axis=1)
        total = mass = 0.0
        for part in np.array_split(y, max(len(y) * len(z) // 10**6, 1)):
            kernel = np.exp(-0.5 * ((part[:, None] - values) / sigma) ** 2)
            p, slope = np.split(kernel @ both, 2, axis=1)
            with np.errstate(all="ignore"):
                ratio = np.where(p > 1e-290, slope**2 / p, 0.0)
            total += float(np.sum(ratio @ share))
            mass += float(np.sum(p @ share))
        scale = (y[1] - y[0]) / (sigma * math.sqrt(2 * math.pi))
        return np.array([[total / mass]]), mass * scale


def noisy_line(channel: Channel, coarseness: float = 0.5) -> NoisyLine | None:
    """Return the information of a noisy label of one direction; None where nodes are too many.

    Parameters
    ----------
    channel : Channel
        The link and its noise.
    coarseness : float
        Widths of panels and steps, over those that posteriors of one mode need.
    """
    if channel.link.r != 1 or channel.noise == 0 or channel.law is not None:
        return None
    line = NoisyLine(channel, coarseness)
    found = line.nodes(NARROWEST)
    if found is None or not np.isfinite(values := line._value(found[0])).all():
        return None
    labels = min(float(np.ptp(values)) / math.sqrt(channel.noise) + 2 * _TAIL, 1e9) / 0.35
    return line if len(values) * labels < _MOST_PAIRS else None
