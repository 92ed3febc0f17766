"""Posteriors of random labels: nodes weighted by P(y | z), and functions of latent coordinates.

A latent coordinate has mean zero and variance one before its label is seen, whatever else is known:
a random label has the posterior of its function of all coordinates, with the latent ones so pinned.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.particles import (
    COARSE,
    Particles,
    Resolution,
    cholesky,
    outer_nodes,
    reduced,
)
from learnability.gaussian.quadrature import axis_breaks
from learnability.gaussian.sections import Section
from learnability.labels.finite_laws import FiniteLaw

if TYPE_CHECKING:
    from learnability.labels.channel import Channel
    from learnability.labels.posterior import Scheme

__all__ = ["PinnedPosterior", "SoftPosterior"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PinnedPosterior:
    """The posterior of a function of visible and latent coordinates.

    Attributes
    ----------
    channel : Channel
        The channel of the random label.
    scheme : Scheme
        The scheme of the function, for all of its coordinates.
    r : int
        Number of visible coordinates.
    """

    channel: Channel
    scheme: Scheme
    r: int

    def prepare(self, y: Array) -> dict[str, Array]:
        """What depends on the labels (N,) alone."""
        return self.scheme.prepare(y)

    def moments(
        self, data: dict[str, Any], omega: Any, V: Any, xp: Any, resolution: Resolution = COARSE
    ) -> tuple[Any, Any, Any]:
        """Return log Z, E[z - omega], E[(z - omega)(z - omega)^T] of the visible coordinates."""
        latents = self.scheme.channel.link.r - self.r
        mean = xp.concatenate([omega, xp.zeros((latents, omega.shape[1]), omega.dtype)])
        block = xp.zeros((self.r, latents), omega.dtype)
        rows = xp.concatenate([xp.asarray(V, omega.dtype), block], axis=1)
        pinned = xp.concatenate([block.T, xp.eye(latents, dtype=omega.dtype)], axis=1)
        log_z, first, second = self.scheme.moments(
            data, mean, xp.concatenate([rows, pinned]), xp, resolution
        )
        return log_z, first[: self.r], second[: self.r, : self.r]


@dataclass(frozen=True, eq=False)
class SoftPosterior:
    """The posterior of finitely many labels or of counts, on nodes that are cut at the breaks.

    Attributes
    ----------
    channel : Channel
        A channel whose law is a FiniteLaw.
    """

    channel: Channel

    @property
    def _law(self) -> FiniteLaw:
        law = self.channel.law
        assert isinstance(law, FiniteLaw)
        return law

    @cached_property
    def _edges(self) -> list[Array] | None:
        """Where each coordinate is cut; None when breaks lie on other planes or surfaces."""
        law = self._law
        found = [np.zeros(0)] * (law.r + law.latents)
        for link in law.carriers:
            own = None if link.breaks is None else axis_breaks(Section.whole(link))
            if own is None:
                return None
            found = [np.union1d(a, np.round(b, 12)) for a, b in zip(found, own, strict=True)]
        return found

    def prepare(self, y: Array) -> dict[str, Array]:
        """What depends on the labels (N,) alone."""
        return {"y": np.asarray(y)}

    def moments(
        self, data: dict[str, Any], omega: Any, V: Any, xp: Any, resolution: Resolution = COARSE
    ) -> tuple[Any, Any, Any]:
        """Return log Z (N,), E[z - omega] (r, N), E[(z - omega)(z - omega)^T] (r, r, N)."""
        law = self._law
        order = list(range(law.r))
        L = cholesky(V, order, xp)
        particles = Particles.nothing(xp, omega[0])
        edges = self._edges
        for k in range(law.r + law.latents):
            cuts = np.zeros(0) if edges is None else edges[k]
            count = resolution.panel_nodes if len(cuts) else resolution.nodes
            count *= 2 if edges is None else 1
            if k < law.r:
                mean, row = omega[k], L[k]
            else:
                mean, row = 0.0 * omega[0], np.eye(law.r + law.latents)[k].astype(omega.dtype)
            particles = outer_nodes(particles, mean, row, cuts, count, resolution.reach, xp)
        z = [sum(L[k, j] * particles.t[j] for j in range(k + 1)) + omega[k] for k in order]
        points = xp.stack([*z, *particles.t[law.r :]], axis=-1)
        chance = xp.maximum(self._likelihood(data["y"], points, xp), 1e-37)
        weighted = Particles(
            particles.log_weight + xp.log(chance), particles.t[: law.r], 0.0, particles.cell
        )
        return reduced(weighted, L, order, xp)

    def _likelihood(self, y: Any, points: Any, xp: Any) -> Any:
        law, noise = self._law, self.channel.noise
        if not noise:
            return law.likelihood(y, points, xp)
        labels = xp.asarray(law.labels, dtype=points.dtype).reshape(-1, *(1,) * (points.ndim - 1))
        kernel = xp.exp(-0.5 * (y - labels) ** 2 / noise) / math.sqrt(2 * math.pi * noise)
        return (kernel * law.probabilities(points, xp)).sum(axis=0)
