"""Posteriors of any link, along lines on whose short segments g is replaced by a linear function.

The Gaussian integrals of a linear function are exact whatever the noise. When several coordinates
are smooth, lines run along each, with weights that add up to one and vanish where g is flat along
the line: without noise the density of a label along the line is singular there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from learnability.expressions.calculus import evaluate as evaluate_tree
from learnability.gaussian.particles import (
    COARSE,
    Particles,
    Resolution,
    cholesky,
    outer_nodes,
    panel_ends,
    special,
    turned,
)
from learnability.gaussian.quadrature import axis_breaks
from learnability.gaussian.sections import REACH, Section
from learnability.labels._box_posterior import moves_along
from learnability.labels.link import Link

if TYPE_CHECKING:
    from learnability.labels.channel import Channel

__all__ = ["LinePosterior"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinePosterior:
    """Posterior for any link: piecewise linear along lines.

    Attributes
    ----------
    channel : Channel
        The link and its noise.
    """

    channel: Channel

    @cached_property
    def _edges(self) -> list[Array]:
        """Where each coordinate is cut: the breaks that lie on axis planes."""
        section = Section.whole(self.channel.link)
        found = [np.zeros(0)] * section.m
        for direction, positions in section.planes or ():
            axis = int(np.argmax(np.abs(direction)))
            if abs(direction[axis]) > 1 - 1e-10:
                found[axis] = np.sort(np.sign(direction[axis]) * positions)
        return found

    @cached_property
    def _oblique(self) -> bool:
        """Whether breaks are known that do not lie on axis planes."""
        section = Section.whole(self.channel.link)
        return self.channel.link.breaks is not None and axis_breaks(section) is None

    @cached_property
    def axes(self) -> list[int]:
        """The coordinates along which lines run."""
        link = self.channel.link
        moving = [i for i in range(link.r) if moves_along(link, i, self._edges)]
        if len(moving) < 2 or link.values is not None:
            return moving[:1] or [link.r - 1]
        z = 1.5 * np.random.default_rng(13).standard_normal((4000, link.r))
        with np.errstate(all="ignore"):
            steep = np.array([np.asarray(link.gradient()[i](z)) for i in moving]) ** 4
            share = np.nan_to_num(steep / steep.sum(axis=0))
        always = [i for i, least in zip(moving, share.min(axis=1), strict=True) if least > 0.05]
        # Along an axis with breaks the lines of some outer points miss the label, which is a jump.
        return [min(always, key=lambda i: len(self._edges[i]))] if always else moving

    @property
    def is_linear(self) -> bool:
        """Whether one piece per line is enough: posteriors are then exact but for outer nodes."""
        return len(self.axes) == 1 and self._linear[self.axes[0]]

    @cached_property
    def _linear(self) -> list[bool]:
        """Whether one piece is enough along each axis: g is linear between its breaks."""
        link = self.channel.link
        if self._oblique or len(self.axes) > 1:
            return [False] * link.r
        rng = np.random.default_rng(17)
        found = []
        for axis in range(link.r):
            z = 1.5 * rng.standard_normal((500, link.r))
            edges = np.concatenate([[-REACH], self._edges[axis], [REACH]])
            panel = np.clip(np.searchsorted(edges, z[:, axis]) - 1, 0, len(edges) - 2)
            low, high = edges[panel], edges[panel + 1]
            values = []
            for fraction in (0.1, 0.5, 0.7):
                z[:, axis] = low + fraction * (high - low)
                values.append(np.asarray(link(z)))
            bend = np.abs(values[0] + 2 * values[2] - 3 * values[1])
            found.append(bool(np.max(bend) <= 1e-11 * (1 + np.abs(values).max())))
        return found

    @cached_property
    def _unit(self) -> float:
        z = np.random.default_rng(19).standard_normal((4000, self.channel.link.r))
        return float(np.std(np.asarray(self.channel.link(z)))) or 1.0

    @property
    def _floor(self) -> float:
        """Least variance of a label, which gives the values of flat pieces a finite density."""
        return (1e-6 * self._unit) ** 2

    def prepare(self, y: Array) -> dict[str, Array]:
        """Return what depends on the labels (N,) alone."""
        return {"y": y}

    def moments(
        self, data: dict[str, Any], omega: Any, V: Any, xp: Any, resolution: Resolution = COARSE
    ) -> tuple[Any, Any, Any]:
        """Return log Z (N,), E[z - omega] (r, N), E[(z - omega)(z - omega)^T] (r, r, N).

        The parameters are those of `BoxPosterior.moments`.
        """
        parts = [self._along(axis, data["y"], omega, V, xp, resolution) for axis in self.axes]
        total, first, second = (sum(terms) for terms in zip(*parts, strict=True))
        safe = xp.maximum(total, 1e-30)  # A label out of reach says nothing.
        # Without noise the probability of one of finitely many labels is meant, not a density.
        atoms = self.channel.link.values is not None and not self.channel.noise
        shift = 0.5 * math.log(2 * math.pi * self._floor) if atoms else 0.0
        return xp.log(safe) + shift, first / safe, second / safe

    def _along(
        self, axis: int, y: Any, omega: Any, V: Any, xp: Any, resolution: Resolution
    ) -> tuple[Any, Any, Any]:
        """Return what lines along an axis add to Z (N,) and to Z times the moments of z - omega."""
        r = self.channel.link.r
        order = [*(i for i in range(r) if i != axis), axis]
        L = cholesky(V, order, xp)
        outer = Particles.nothing(xp, omega[0])
        for k, other in enumerate(order[:-1]):
            edges = self._edges[other]
            count = resolution.panel_nodes if len(edges) else resolution.nodes
            outer = outer_nodes(outer, omega[other], L[k], edges, count, resolution.reach, xp)
        centre, scale = outer.centre(omega[axis], L[r - 1]), L[r - 1, r - 1]
        fixed = [
            omega[other] + sum((L[k, j] * outer.t[j] for j in range(k + 1)), 0.0)
            for k, other in enumerate(order[:-1])
        ]

        def points(t: Any) -> Coordinates:
            coordinates = list(fixed)
            coordinates.insert(axis, centre + scale * t)
            return Coordinates(tuple(coordinates))

        sums = [0.0, 0.0, 0.0]  # These are the mass and the first two moments along each line.
        for low, high in panel_ends(centre, scale, self._edges[axis], resolution.reach, xp):
            parts = self._panel(low, high, y, points, V, scale, axis, xp, resolution)
            sums = [total + part for total, part in zip(sums, parts, strict=True)]
        weight = xp.exp(outer.log_weight)
        mass, first, second = (weight * total for total in sums)
        t = [*outer.t, None]
        mean = [(mass * outer.t[i]).sum(axis=0) for i in range(r - 1)] + [first.sum(axis=0)]
        pairs: dict[tuple[int, int], Any] = {(r - 1, r - 1): second.sum(axis=0)}
        for i in range(r - 1):
            pairs[i, r - 1] = pairs[r - 1, i] = (first * t[i]).sum(axis=0)
            for j in range(i + 1):
                pairs[i, j] = pairs[j, i] = (mass * t[i] * t[j]).sum(axis=0)
        return mass.sum(axis=0), *turned(mean, pairs, L, order, xp)

    def _panel(
        self,
        low: Any,
        high: Any,
        y: Any,
        points: Callable[[Any], Coordinates],
        V: Any,
        scale: Any,
        axis: int,
        xp: Any,
        resolution: Resolution,
    ) -> tuple[Any, Any, Any]:
        """Moments 0 to 2 of a coordinate t, normal times the law of y, on a panel of each line.

        On a segment on which g = c + k t, the product of the two normal laws is one of mean
        m = k (y - c) / (k^2 + noise) and variance u = noise / (k^2 + noise).
        """
        pieces = 1 if self._linear[axis] else resolution.segments
        steps = xp.asarray((np.arange(pieces + 1) / pieces).reshape(-1, 1, 1), dtype=low.dtype)
        knots = low + (high - low) * steps
        left, right = knots[:-1], knots[1:]
        whole = not len(self._edges[axis]) and not self._oblique
        if whole:
            value = self._link(points(knots), xp)
            at_left, at_right = value[:-1], value[1:]
            width = right - left
            slope = (at_right - at_left) / width
            offset = at_left - slope * left
        else:
            left, right = self._cut(knots, points, xp)
            width = right - left
            inset = 1e-3 * width  # Values are taken just inside, since the ends may be jumps.
            at_left = self._link(points(left + inset), xp)
            at_right = self._link(points(right - inset), xp)
            slope = (at_right - at_left) / xp.maximum(0.998 * width, 1e-12)
            offset = at_left - slope * (left + inset)
        z = None
        for _ in range(0 if self._linear[axis] else resolution.tangents):
            noise = self._noise(slope, resolution)
            total = noise + slope**2
            likeliest = xp.clip(
                slope * (y - offset) / total, left + 1e-3 * width, right - 1e-3 * width
            )
            middle = 0.5 * (left + right)
            t = xp.where(4 * noise > width**2 * total, middle, likeliest)
            z = points(t)
            slope = scale * z.evaluate(self.channel.link.gradient()[axis], xp)
            offset = self._link(z, xp) - slope * t
        noise = self._noise(slope, resolution)
        total = noise + slope**2
        mean = slope * (y - offset) / total
        u = noise / total
        deviation = xp.sqrt(u)
        a, b = (left - mean) / deviation, (right - mean) / deviation
        ndtr = special(xp).ndtr
        mass = xp.where(a > 0, ndtr(-a) - ndtr(-b), ndtr(b) - ndtr(a))
        root = 1 / math.sqrt(2 * math.pi)
        at_a, at_b = (root * deviation * xp.exp(-0.5 * x**2) for x in (a, b))
        density = root * xp.exp(-0.5 * (y - offset) ** 2 / total) / xp.sqrt(total)
        if z is not None and len(self.axes) > 1:
            density = density * self._share(z, V, axis, xp)
        density = xp.where(width > 1e-9, density, 0.0)
        return (
            (density * mass).sum(axis=0),
            (density * (mean * mass + at_a - at_b)).sum(axis=0),
            (density * ((mean**2 + u) * mass + (left + mean) * at_a - (right + mean) * at_b)).sum(
                axis=0
            ),
        )

    def _cut(self, knots: Any, points: Callable[[Any], Coordinates], xp: Any) -> tuple[Any, Any]:
        """Ends (S, Q, N) of the segments between knots, cut once more where a break is crossed."""
        left, right = knots[:-1], knots[1:]
        if not self._oblique:
            return left, right
        z, cut = points(knots), right
        for function in self.channel.link.breaks or ():
            value = z.evaluate(function, xp)
            before, after = value[:-1], value[1:]
            crossed = before * after < 0
            gap = xp.where(crossed, before - after, 1.0)
            cut = xp.minimum(cut, xp.where(crossed, left + (right - left) * before / gap, right))
        return xp.concatenate([left, cut]), xp.concatenate([cut, right])

    def _noise(self, slope: Any, resolution: Resolution) -> Any:
        return self.channel.noise + (resolution.blur * slope) ** 2 + self._floor

    def _link(self, z: Coordinates, xp: Any) -> Any:
        return z.evaluate(self.channel.link, xp)

    def _share(self, z: Coordinates, V: Any, axis: int, xp: Any) -> Any:
        """Return the weight at z of the lines along an axis, one for all axes together."""
        gradient = self.channel.link.gradient()
        floor = 1e-8 * self._unit**4
        steep = {
            i: (z.evaluate(gradient[i], xp) ** 2 * V[i, i]) ** 2 + floor * V[i, i] ** 2
            for i in self.axes
        }
        return steep[axis] / sum(steep.values())


@dataclass(frozen=True)
class Coordinates:
    """Points whose coordinates are arrays of different shapes that broadcast together.

    What depends on few of them is then computed on few points.
    """

    coordinates: tuple[Any, ...]

    @property
    def dtype(self) -> Any:
        """The type of the coordinates."""
        return self.coordinates[0].dtype

    def __getitem__(self, key: tuple[Any, int]) -> Any:
        return self.coordinates[key[1]]

    def evaluate(self, link: Link, xp: Any) -> Any:
        """Return values of a link, of the common shape."""
        shape = np.broadcast_shapes(*(c.shape for c in self.coordinates))
        if link.tree is not None:
            return xp.broadcast_to(evaluate_tree(link.tree, self, xp), shape)
        return link(xp.stack([xp.broadcast_to(c, shape) for c in self.coordinates], axis=-1))
