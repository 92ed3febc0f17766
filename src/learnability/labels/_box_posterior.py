"""Posteriors of links smooth in at most one coordinate and constant on boxes in the others.

The smooth coordinate has exact roots, the last one exact normal probabilities, and those between
them have nodes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.particles import (
    COARSE,
    Particles,
    Resolution,
    cholesky,
    interval,
    joined,
    outer_nodes,
    reduced,
    root_particles,
)
from learnability.gaussian.quadrature import axis_breaks
from learnability.gaussian.sections import REACH, Section
from learnability.labels.level_sets import LevelSets
from learnability.labels.link import Link

if TYPE_CHECKING:
    from learnability.labels.channel import Channel

__all__ = ["BoxPosterior", "moves_along"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BoxPosterior:
    """Posterior for a link smooth in at most one coordinate and constant on boxes in the others.

    Attributes
    ----------
    channel : Channel
        The channel; it has label noise only when the link takes finitely many values.
    smooth : int or None
        The coordinate in which the link is smooth.
    edges : tuple of arrays
        Where each coordinate is cut; the smooth one at the ends of its flat pieces.
    """

    channel: Channel
    smooth: int | None
    edges: tuple[Array, ...]

    @staticmethod
    def of(channel: Channel) -> BoxPosterior | None:
        """Return the scheme, or None where it does not apply."""
        link = channel.link
        breaks = axis_breaks(Section.whole(link))
        if breaks is None:
            return None
        smooth = [i for i in range(link.r) if moves_along(link, i, breaks)]
        if len(smooth) > 1 or (smooth and channel.noise > 0):
            return None
        if not smooth:
            return BoxPosterior(channel, None, tuple(breaks))
        axis = smooth[0]
        found = BoxPosterior(channel, axis, tuple(breaks))
        flats = [levels.pieces.flats for levels, _ in found.functions]
        if not all(levels.tractable for levels, _ in found.functions):
            return None
        ends = np.unique(np.concatenate([np.zeros(0), *(f.ravel() for f in flats)]))
        ends = ends[np.abs(ends) < REACH - 1e-6]
        ends = ends[np.diff(ends, prepend=-np.inf) > 1e-9]
        breaks[axis] = ends
        return BoxPosterior(channel, axis, tuple(breaks))

    @cached_property
    def order(self) -> list[int]:
        """Order of integration: the smooth coordinate first."""
        rest = [i for i in range(self.channel.link.r) if i != self.smooth]
        return rest if self.smooth is None else [self.smooth, *rest]

    def _middles(self, axis: int) -> Array:
        edges = np.concatenate([[-REACH], self.edges[axis], [REACH]])
        return np.asarray(0.5 * (edges[:-1] + edges[1:]))

    @cached_property
    def functions(self) -> list[tuple[LevelSets, list[tuple[int, ...]]]]:
        """Distinct functions of the smooth coordinate, each with its boxes of the others."""
        assert self.smooth is not None
        link, rest = self.channel.link, self.order[1:]
        frame = np.eye(link.r)[rest]
        probes = np.linspace(-4.03, 4.11, 37)
        found: list[tuple[Array, LevelSets, list[tuple[int, ...]]]] = []
        for cell in product(*(range(len(self.edges[i]) + 1) for i in rest)):
            at = np.array([self._middles(i)[k] for i, k in zip(rest, cell, strict=True)])
            section = Section.whole(link).fix(frame, at) if rest else Section.whole(link)
            values = section(probes[:, None])
            for known, _, cells in found:
                if np.allclose(known, values, rtol=1e-12, atol=1e-12):
                    cells.append(cell)
                    break
            else:
                found.append((values, LevelSets(section), [cell]))
        return [(levels, cells) for _, levels, cells in found]

    @cached_property
    def flat_boxes(self) -> tuple[list[tuple[int, ...]], Array]:
        """Boxes of all coordinates (in the order of integration), and the one label of each."""
        link = self.channel.link
        boxes, values = [], []
        rng = np.random.default_rng(3)
        for cell in product(*(range(len(self.edges[i]) + 1) for i in self.order)):
            ends = []
            for i, k in zip(self.order, cell, strict=True):
                all_edges = np.concatenate([[-REACH], self.edges[i], [REACH]])
                ends.append((all_edges[k], all_edges[k + 1]))
            low, high = np.array(ends).T
            z = np.empty((16, link.r))
            z[:, self.order] = low + (0.001 + 0.998 * rng.random((16, link.r))) * (high - low)
            label = np.asarray(link(z))
            if np.ptp(label) <= 1e-12 * (1 + np.abs(label).max()):
                boxes.append(cell)
                values.append(float(label[0]))
        return boxes, np.array(values)

    def prepare(self, y: Array) -> dict[str, Array]:
        """What depends on the labels (N,) alone: roots and log weights, box log likelihoods."""
        _, values = self.flat_boxes
        noise = self.channel.noise
        distance = y - values[:, None]
        if noise > 0:
            boxes = -0.5 * distance**2 / noise - 0.5 * math.log(2 * math.pi * noise)
        else:
            size = 1e-6 * (1 + np.abs(values[:, None]))
            boxes = np.where(np.abs(distance) <= size, 0.0, -np.inf)
        data = {"boxes": boxes}
        if self.smooth is None:
            return data
        on_atom = (boxes == 0).any(axis=0)
        roots, weights = [], []
        for levels, _ in self.functions:
            positions, log_slope, hit = levels.roots_of(y)
            roots.append(positions)
            weights.append(np.where(hit & ~on_atom, -log_slope, -np.inf))
        data["roots"] = np.concatenate(roots)
        data["log_weights"] = np.concatenate(weights)
        return data

    def moments(
        self, data: dict[str, Any], omega: Any, V: Any, xp: Any, resolution: Resolution = COARSE
    ) -> tuple[Any, Any, Any]:
        """Return log Z (N,), E[z - omega] (r, N), E[(z - omega)(z - omega)^T] (r, r, N).

        Parameters
        ----------
        data : dict
            From `prepare`.
        omega : array, shape (r, N)
            Means.
        V : array, shape (r, r)
            Covariance.
        xp : module
            ``numpy`` or ``jax.numpy``.
        resolution : Resolution
            How finely the integrals are taken.
        """
        L = cholesky(V, self.order, xp)
        parts = []
        start = Particles.nothing(xp, omega[0])
        if self.flat_boxes[0]:
            parts.append(self._boxes(start, data["boxes"], omega, L, xp, resolution))
        if self.smooth is not None and len(data["roots"]):
            parts.append(self._roots(data, omega, L, xp, resolution))
        return reduced(joined(parts, xp), L, self.order, xp)

    @property
    def is_planar(self) -> bool:
        """Whether two coordinates or more are constant on boxes, as `PlanarScore` needs."""
        return len(self.order) - (self.smooth is not None) >= 2

    @cached_property
    def _owners(self) -> NDArray[np.intp]:
        """The number of the function of the smooth coordinate that each root belongs to."""
        counts = [len(levels.pieces.branches) for levels, _ in self.functions]
        return np.repeat(np.arange(len(counts)), counts)

    @cached_property
    def allowed(self) -> Array:
        """Whether a root counts on a box of the other coordinates: (boxes of each..., roots)."""
        found = np.zeros((*(len(self.edges[i]) + 1 for i in self.order[1:]), len(self._owners)))
        for number, (_, cells) in enumerate(self.functions):
            for cell in cells:
                found[(*cell, self._owners == number)] = 1.0
        return found

    def at_roots(self, data: Any, omega: Any, L: Any, xp: Any) -> Particles:
        """Return particles whose smooth coordinate is fixed to where the link takes the label."""
        mean = omega[self.smooth]
        return root_particles(mean, L[0], data["roots"], data["log_weights"], xp)

    def _filled(
        self, so_far: Particles, omega: Any, L: Any, xp: Any, resolution: Resolution
    ) -> Particles:
        """Integrate the coordinates that are left, the last one exactly."""
        r = len(self.order)
        reach = resolution.reach
        for k in range(len(so_far.t), r - 1):
            axis = self.order[k]
            count = resolution.box_nodes if len(self.edges[axis]) else resolution.nodes
            so_far = outer_nodes(so_far, omega[axis], L[k], self.edges[axis], count, reach, xp)
        if len(so_far.t) == r:
            return so_far
        last = self.order[-1]
        centre = so_far.centre(omega[last], L[r - 1])
        scale = L[r - 1, r - 1]
        marks = [(edge - centre) / scale for edge in self.edges[last]]
        lows: list[Any] = [None, *marks]
        highs: list[Any] = [*marks, None]
        parts = []
        for number, (low, high) in enumerate(zip(lows, highs, strict=True)):
            log_mass, mean, variance = interval(low, high, xp)
            cell = np.column_stack([so_far.cell, np.full(len(so_far.cell), number)])
            t = (*so_far.t, xp.broadcast_to(mean, centre.shape))
            parts.append(Particles(so_far.log_weight + log_mass, t, variance, cell))
        return joined(parts, xp)

    def _boxes(
        self, start: Particles, log_likelihood: Any, omega: Any, L: Any, xp: Any, res: Resolution
    ) -> Particles:
        particles = self._filled(start, omega, L, xp, res)
        numbers = {cell: k for k, cell in enumerate(self.flat_boxes[0])}
        which = np.array([numbers.get(tuple(map(int, cell)), -1) for cell in particles.cell])
        kept = np.nonzero(which >= 0)[0]
        return Particles(
            particles.log_weight[kept] + log_likelihood[which[kept]],
            tuple(t[kept] for t in particles.t),
            xp.broadcast_to(particles.spread, particles.log_weight.shape)[kept],
            particles.cell[kept],
        )

    def _roots(self, data: Any, omega: Any, L: Any, xp: Any, res: Resolution) -> Particles:
        first = self.at_roots(data, omega, L, xp)
        particles = self._filled(first, omega, L, xp, res)
        kept = np.array(
            [k for k, cell in enumerate(particles.cell) if self.allowed[(*cell[1:], cell[0])]]
        )
        return Particles(
            particles.log_weight[kept],
            tuple(t[kept] for t in particles.t),
            xp.broadcast_to(particles.spread, particles.log_weight.shape)[kept],
            particles.cell[kept],
        )


def moves_along(link: Link, axis: int, breaks: list[Array]) -> bool:
    """Return whether the link changes along an axis between its breaks."""
    rng = np.random.default_rng(11)
    z = 1.5 * rng.standard_normal((2000, link.r))
    edges = np.concatenate([[-np.inf], breaks[axis], [np.inf]])
    panel = np.searchsorted(edges, z[:, axis]) - 1
    low, high = np.maximum(edges[panel], -REACH), np.minimum(edges[panel + 1], REACH)
    moved = z.copy()
    moved[:, axis] = low + (0.01 + 0.98 * rng.random(len(z))) * (high - low)
    before, after = np.asarray(link(z)), np.asarray(link(moved))
    return bool(np.max(np.abs(after - before)) > 1e-10 * (1e-300 + np.abs(before).max()))
