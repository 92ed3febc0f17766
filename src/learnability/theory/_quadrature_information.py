"""The information E[g_out g_out^T] of any channel, by quadrature over (z, omega) and the noise.

The label of a node z is y = g(z) + sqrt(noise) eta, its estimate omega = M z + sqrt(M - M^2) xi,
and g_out comes from the posterior scheme of the channel. Nodes are products of Gaussian rules,
split at the breaks, where few enough of them do, else scrambled Sobol points. The posteriors of
links smooth in several coordinates are compiled, in float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.particles import FINE, Resolution
from learnability.gaussian.quadrature import axis_breaks
from learnability.gaussian.rules import (
    composite_legendre,
    gauss_normal,
    product_grid,
    sobol_normals,
)
from learnability.gaussian.sections import Section
from learnability.labels.channel import Channel
from learnability.labels.posterior import BoxPosterior, LinePosterior, scheme_of, traceable

__all__ = ["QuadratureInformation"]

Array = NDArray[np.float64]

_BLOCK = 512
_SOBOL = 13
_MEDIUM = Resolution(
    nodes=28, panel_nodes=20, box_nodes=20, segments=28, reach=5.2, blur=1e-4, tangents=1
)


@dataclass(frozen=True, eq=False)
class QuadratureInformation:
    """E[g_out g_out^T] and the response to a small overlap, at any overlap M.

    Parameters
    ----------
    channel : Channel
        The channel has at most three hidden directions.
    nodes : int
        About as many, and coarser posteriors below 10 000.
    """

    channel: Channel
    nodes: int = 40_000

    @cached_property
    def exact(self) -> bool:
        """Whether single posteriors are exact up to rounding and cheap."""
        scheme = scheme_of(self.channel)
        lines = isinstance(scheme, LinePosterior) and scheme.is_linear
        return isinstance(scheme, BoxPosterior) or lines

    def _nodes(self, open_directions: int) -> tuple[Array, Array]:
        """Return nodes of (z, eta, xi), with weights."""
        r, noisy = self.channel.link.r, self.channel.noise > 0
        size = r + noisy + open_directions
        breaks = axis_breaks(Section.whole(self.channel.link))
        if breaks is not None and self.exact and size <= 4:
            # An odd rule has a node at zero, whose label may be that of a flat piece by chance.
            each = 2 * int(0.5 * self.nodes ** (1 / size))
            axes = [gauss_normal(b, each, 2 * (each // 4)) for b in breaks]
            axes += [gauss_normal(np.zeros(0), each)] * (noisy + open_directions)
            return product_grid(axes)
        points = sobol_normals(size, _SOBOL, 1)
        return points, np.full(len(points), 1 / len(points))

    def _sampled(self, M: Array) -> tuple[Array, Array, Array, Array, int]:
        """Labels (n,), estimates (n, r), V (r, r), weights (n,), dimension of the integral."""
        r, noisy = self.channel.link.r, int(self.channel.noise > 0)
        values, vectors = np.linalg.eigh(0.5 * (M + M.T))
        values = np.clip(values, 0.0, 1 - 1e-9)
        opened = np.nonzero(values > 1e-8)[0]
        nodes, weight = self._nodes(len(opened))
        z = nodes[:, :r]
        y = np.asarray(self.channel.link(z), dtype=float)
        if noisy:
            y = y + math.sqrt(self.channel.noise) * nodes[:, r]
        frame = vectors[:, opened]
        frame = frame * np.where(frame[np.abs(frame).argmax(axis=0), range(len(opened))] < 0, -1, 1)
        xi = nodes[:, r + noisy :]
        # With all directions open the root is symmetric: frames may jump where eigenvalues meet.
        xi = xi @ frame if len(opened) == r else xi
        spread = np.sqrt(values[opened] * (1 - values[opened]))
        omega = (z @ frame * values[opened] + xi * spread) @ frame.T
        V = (vectors * (1 - values)) @ vectors.T
        return y, omega, V, weight, nodes.shape[1]

    def moments(self, M: Array) -> tuple[Array, Array, Array, Array]:
        """Weights (n,), E[z - omega] (r, n), E[(z - omega)(z - omega)^T] (r, r, n), and V."""
        y, omega, V, weight, dimensions = self._sampled(M)
        scheme = scheme_of(self.channel)
        data = scheme.prepare(y)
        fine = self.exact and dimensions <= 3 and self.nodes >= 10_000
        size = 4096 if fine else _BLOCK
        parts = []
        for start in range(0, len(y), size):
            part = slice(start, start + size)
            chosen = {k: v[..., part] for k, v in data.items()}
            if fine:
                parts.append(scheme.moments(chosen, omega[part].T, V, np, FINE)[1:])
            else:
                single = {k: v.astype(np.float32) for k, v in chosen.items()}
                means = omega[part].T.astype(np.float32)
                parts.append(self._compiled(single, means, V.astype(np.float32)))
        first, second = (
            np.concatenate([np.asarray(p[k], dtype=float) for p in parts], axis=-1)
            for k in range(2)
        )
        return weight, first, second, V

    @cached_property
    def _compiled(self) -> Callable[..., Any]:
        import jax
        import jax.numpy as jnp

        scheme = scheme_of(self.channel)
        if not traceable(self.channel):
            return lambda data, omega, V: scheme.moments(data, omega, V, np, _MEDIUM)[1:]
        return jax.jit(lambda data, omega, V: scheme.moments(data, omega, V, jnp, _MEDIUM)[1:])

    def __call__(self, M: Array) -> Array:
        """E[g_out g_out^T] at overlap M, shape (r, r)."""
        labels = self._label_grid if self.channel.noise > 0 and self.exact else None
        if labels is not None:
            return np.array([[self._on_label_grid(float(M[0, 0]), *labels)]])
        weight, first, _, V = self.moments(M)
        g = np.linalg.solve(V, first)
        return (g * weight) @ g.T

    @cached_property
    def _label_grid(self) -> tuple[Array, Array] | None:
        """A rule for noisy labels of one direction, when few nodes resolve the noise."""
        if self.channel.link.r > 1:
            return None
        sigma = math.sqrt(self.channel.noise)
        values = np.asarray(self.channel.link(np.linspace(-8.2, 8.2, 4001)[:, None]))
        low, high = values.min() - 8.5 * sigma, values.max() + 8.5 * sigma
        panels = math.ceil((high - low) / min(1.5 * sigma, (high - low) / 16))
        if panels > 200:
            return None
        return composite_legendre(np.linspace(low, high, panels + 1), np.inf, 10)

    def _on_label_grid(self, q: float, y: Array, y_weight: Array) -> float:
        """Return E[g_out^2] on a product grid of the label and omega, on which it is smooth."""
        v = 1 - min(q, 1 - 1e-9)
        width = math.sqrt(v + min(self.channel.noise, 1.0))
        reach = 8.7 * math.sqrt(max(q, 1e-300))
        panels = max(4, math.ceil(2 * reach / width)) if q > 0 else 1
        omega, weight = composite_legendre(np.linspace(-reach, reach, panels + 1), np.inf, 12)
        weight = weight * np.exp(-0.5 * omega**2 / max(q, 1e-300))
        weight = weight / weight.sum()
        total = 0.0
        scheme, V = scheme_of(self.channel), np.array([[v]])
        for rows in np.array_split(np.arange(len(y)), math.ceil(len(y) * len(omega) / 16384)):
            labels, means = (g.ravel() for g in np.meshgrid(y[rows], omega, indexing="ij"))
            data = scheme.prepare(labels)
            log_z, first, _ = scheme.moments(data, means[None], V, np, FINE)
            part = (np.exp(log_z) * (first[0] / v) ** 2).reshape(len(rows), -1)
            total += float(y_weight[rows] @ part @ weight)
        return total

    def with_response(self, M: Array, frame: Array) -> tuple[Array, float]:
        """Return E[g_out g_out^T], and how strongly it answers to a small overlap along a frame.

        Parameters
        ----------
        M : array, shape (r, r)
            Overlap, zero along the rows of the frame.
        frame : array, shape (k, r)
            Orthonormal rows.

        Returns
        -------
        information : array, shape (r, r)
        response : float
            Largest eigenvalue of D -> E[G D G], G = E[u u^T - I | y, omega], u = frame z.
        """
        weight, first, second, V = self.moments(M)
        g = np.linalg.solve(V, first)
        k = len(frame)
        G = np.einsum("ai,ijn,bj->nab", frame, second, frame) - np.eye(k)
        kernel = np.einsum("n,nab,ncd->abcd", weight, G, G)
        operator = kernel.transpose(0, 3, 1, 2).reshape(k * k, k * k)
        return (g * weight) @ g.T, float(np.linalg.eigvalsh(operator)[-1])
