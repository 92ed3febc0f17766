"""Gaussian integrals as weighted particles, one coordinate after the other.

A normal vector z ~ N(omega, V) is written z = omega + L t with V = L L^T and t standard normal. All
coordinates but the last are integrated over nodes, on panels that end at the breaks; the last is
integrated exactly, on intervals on which the label is a linear function of it. A particle is a node
of the outer coordinates with one such interval: a log weight, the mean of t, and the variance of
the last coordinate within it. Everything is written for NumPy and JAX alike, with the samples on
the last axis, and in logarithms, so that tails and small V lose no digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.rules import legendre

__all__ = [
    "COARSE",
    "FINE",
    "Particles",
    "Resolution",
    "cholesky",
    "interval",
    "joined",
    "outer_nodes",
    "panel_ends",
    "reduced",
    "root_particles",
    "special",
    "turned",
]

Array = NDArray[np.float64]

_LOG_ROOT = 0.5 * math.log(2 * math.pi)


@dataclass(frozen=True)
class Resolution:
    """How finely integrals are taken.

    Attributes
    ----------
    nodes : int
        Number of nodes of an outer coordinate on the whole line.
    panel_nodes : int
        The same on each panel, when breaks cut the line.
    box_nodes : int
        The same where the link is constant on boxes.
    segments : int
        Number of linear pieces of a line, or of each of its panels.
    reach : float
        Half the width of the line, in standard deviations.
    blur : float
        Without noise, the label is blurred by this fraction of its change over one standard
        deviation of the line.
    tangents : int
        How often the chord of a segment is replaced by the tangent at the likeliest point.
    """

    nodes: int
    panel_nodes: int
    box_nodes: int
    segments: int
    reach: float
    blur: float
    tangents: int


FINE = Resolution(
    nodes=64, panel_nodes=48, box_nodes=48, segments=256, reach=8.5, blur=1e-6, tangents=2
)
"""For single posteriors: exact on boxes, to 1e-4 on lines with noise, to percents on others."""
COARSE = Resolution(
    nodes=24, panel_nodes=18, box_nodes=10, segments=24, reach=4.8, blur=1e-3, tangents=1
)
"""For runs and averages: to 1e-4 on boxes, to percents on curved lines."""


@dataclass(frozen=True)
class Particles:
    """Weighted points of t, with the panel or interval that each lies in.

    Attributes
    ----------
    log_weight : array, shape (P, N)
        Logarithm of the weight.
    t : tuple of arrays, shape (P, N)
        Mean of each coordinate integrated so far.
    spread : array or float, shape (P, N)
        Variance of the last coordinate within the particle.
    cell : array of int, shape (P, k)
        The number of the panel on each coordinate; it does not depend on the samples.
    """

    log_weight: Any
    t: tuple[Any, ...]
    spread: Any
    cell: NDArray[np.intp]

    @staticmethod
    def nothing(xp: Any, like: Any) -> Particles:
        """Return one particle of weight one, before any coordinate."""
        return Particles(xp.zeros_like(like)[None], (), 0.0, np.zeros((1, 0), dtype=np.intp))

    @property
    def _zero(self) -> Any:
        return 0.0 * self.t[0] if self.t else 0.0 * self.log_weight

    def centre(self, mean: Any, row: Any) -> Any:
        """Mean of the next coordinate: `mean` (N,) plus what the earlier coordinates add."""
        return sum((row[j] * t for j, t in enumerate(self.t)), mean + self._zero)


def joined(parts: list[Particles], xp: Any) -> Particles:
    """Return several sets of particles as one."""
    if len(parts) == 1:
        return parts[0]
    shapes = [p.log_weight.shape for p in parts]
    return Particles(
        xp.concatenate([p.log_weight for p in parts]),
        tuple(xp.concatenate(ts) for ts in zip(*(p.t for p in parts), strict=True)),
        xp.concatenate([xp.broadcast_to(p.spread, s) for p, s in zip(parts, shapes, strict=True)]),
        np.concatenate([p.cell for p in parts]),
    )


def panel_ends(centre: Any, scale: Any, edges: Array, reach: float, xp: Any) -> list[Any]:
    """Return the ends (low, high) in t of the panels between edges, cut to where the mass is.

    A panel away from the origin is kept out to where the density has fallen by exp(-reach^2/2)
    from its own peak.
    """
    marks = [(float(edge) - centre) / scale for edge in edges]
    lows: list[Any] = [None, *marks]
    highs: list[Any] = [*marks, None]
    ends = []
    for low, high in zip(lows, highs, strict=True):
        peak = 0.0 * centre
        peak = peak if low is None else xp.maximum(peak, low)
        peak = peak if high is None else xp.minimum(peak, high)
        far = xp.sqrt(peak**2 + reach**2)
        a = -far if low is None else xp.maximum(low, -far)
        b = far if high is None else xp.minimum(high, far)
        ends.append((a, xp.maximum(a, b)))
    return ends


def outer_nodes(
    so_far: Particles, mean: Any, row: Any, edges: Array, count: int, reach: float, xp: Any
) -> Particles:
    """Integrate one more coordinate over nodes, equally many on each panel between its edges."""
    centre = so_far.centre(mean, row)
    if len(edges):
        x, w = legendre(count)
    else:  # On the whole line equal steps are best.
        x, w = (2 * np.arange(count) + 1) / count - 1, np.full(count, 2 / count)
    parts = []
    for number, (low, high) in enumerate(panel_ends(centre, row[len(so_far.t)], edges, reach, xp)):
        half = 0.5 * (high - low)
        shape = (count, *(1,) * centre.ndim)
        t = (low + half) + half * xp.asarray(x.reshape(shape), dtype=centre.dtype)
        log_width = xp.log(xp.maximum(half, 1e-30)) - _LOG_ROOT
        log_weight = so_far.log_weight + log_width - 0.5 * t**2
        log_weight = log_weight + xp.asarray(np.log(w).reshape(shape), dtype=centre.dtype)
        flat = (-1, *centre.shape[1:])
        grown = np.tile(so_far.cell, (count, 1))
        parts.append(
            Particles(
                log_weight.reshape(flat),
                (
                    *(xp.broadcast_to(s, t.shape).reshape(flat) for s in so_far.t),
                    t.reshape(flat),
                ),
                0.0,
                np.column_stack([grown, np.full(len(grown), number)]),
            )
        )
    return joined(parts, xp)


def root_particles(mean: Any, row: Any, roots: Any, log_weight: Any, xp: Any) -> Particles:
    """Fix the first coordinate to given points (B, N) with given log weights."""
    scale = row[0]
    t = (roots - mean) / scale
    return Particles(
        log_weight - 0.5 * t**2 - _LOG_ROOT - xp.log(scale),
        (t,),
        0.0,
        np.arange(len(roots))[:, None],
    )


def reduced(particles: Particles, L: Any, order: list[int], xp: Any) -> tuple[Any, Any, Any]:
    """Log of the total weight, E[z - omega] (r, N) and E[(z - omega)(z - omega)^T] (r, r, N)."""
    top = xp.maximum(particles.log_weight.max(axis=0), -1e30)
    weight = xp.exp(particles.log_weight - top)
    total = xp.maximum(weight.sum(axis=0), 1e-30)  # A label that cannot occur says nothing.
    share = weight / total
    mean = [(share * t).sum(axis=0) for t in particles.t]
    r = len(order)
    pairs: dict[tuple[int, int], Any] = {}
    for i in range(r):
        for j in range(i + 1):
            inner = particles.t[i] * particles.t[j]
            if i == j == r - 1:
                inner = inner + particles.spread
            pairs[i, j] = pairs[j, i] = (share * inner).sum(axis=0)
    return top + xp.log(total), *turned(mean, pairs, L, order, xp)


def turned(
    mean: list[Any], pairs: dict[tuple[int, int], Any], L: Any, order: list[int], xp: Any
) -> tuple[Any, Any]:
    """Turn moments (r, N), (r, r, N) of t into those of L t in the original order."""
    r = len(order)
    second = xp.stack([xp.stack([pairs[i, j] for j in range(r)]) for i in range(r)])
    back = np.argsort(order)
    first = (L @ xp.stack(mean))[back]
    return first, xp.einsum("ik,kln,jl->ijn", L, second, L)[back][:, back]


def cholesky(V: Any, order: list[int], xp: Any) -> Any:
    """Return the lower factor of V with its rows and columns in the given order."""
    return xp.linalg.cholesky(V[np.ix_(order, order)])


def interval(low: Any, high: Any, xp: Any) -> tuple[Any, Any, Any]:
    """Return the log mass, mean and variance of a standard normal variable on [low, high].

    They are computed from the side on which both tails are small, never from 1 - Phi. An end that
    is None is infinite.
    """
    log_ndtr = special(xp).log_ndtr
    if low is None or high is None:
        if low is None and high is None:
            return 0.0, 0.0, 1.0
        end = high if low is None else -low
        log_mass = log_ndtr(end)
        pull = xp.exp(xp.minimum(-0.5 * end**2 - _LOG_ROOT - log_mass, 60.0))
        variance = xp.clip(1 - pull * (pull + end), 0.0, 1.0)
        return log_mass, -pull if low is None else pull, variance
    flip = low + high > 0
    a, b = xp.where(flip, -high, low), xp.where(flip, -low, high)
    log_b = log_ndtr(b)
    ratio = xp.minimum(log_ndtr(a) - log_b, -1e-30)
    log_mass = log_b + xp.log(xp.maximum(-xp.expm1(ratio), 1e-30))
    at_a, at_b = (xp.exp(xp.minimum(-0.5 * x**2 - _LOG_ROOT - log_mass, 60.0)) for x in (a, b))
    mean = xp.minimum(xp.maximum(at_a - at_b, a), b)
    variance = xp.clip(1 + a * at_a - b * at_b - mean**2, 0.0, 1.0)
    return log_mass, xp.where(flip, -mean, mean), variance


def special(xp: Any) -> Any:
    """Return the special functions that go with ``numpy`` or ``jax.numpy``."""
    if xp is np:
        import scipy.special

        return scipy.special
    import jax.scipy.special

    return jax.scipy.special
