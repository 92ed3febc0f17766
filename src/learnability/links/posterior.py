"""The posterior of the hidden coordinates: z ~ N(omega, V) given a label y of the channel.

    Z = E P(y | z),   g_out = grad_omega log Z = V^{-1} E[z - omega | y],
    d g_out / d omega = V^{-1} Cov(z | y) V^{-1} - V^{-1}.

Two schemes compute it. `BoxPosterior` holds when the link is smooth in at most one coordinate and
otherwise constant on boxes: exact roots in that coordinate, exact normal probabilities in the
last one. `LinePosterior` takes any other link: on short segments of lines g is replaced by a linear
function, whose Gaussian integrals are exact whatever the noise. When several coordinates are
smooth, lines run along each, with weights that add up to one and vanish where g is flat along
the line: without noise the density of a label along the line is singular there.

References
----------
Aubin, Maillard, Barbier, Krzakala, Macris, Zdeborova, NeurIPS 2018, equations (11) to (13).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.errors import LearnabilityError
from learnability.links._level_sets import LevelSets
from learnability.links._operations import evaluate as evaluate_tree
from learnability.links._particles import (
    COARSE,
    FINE,
    Particles,
    Resolution,
    interval,
    joined,
    outer_nodes,
    panel_ends,
    root_particles,
    special,
)
from learnability.links._quadrature import axis_breaks
from learnability.links._sections import REACH, Section
from learnability.links.link import Link

if TYPE_CHECKING:
    from learnability.links.channel import Channel

__all__ = [
    "COARSE",
    "FINE",
    "BoxPosterior",
    "LinePosterior",
    "Posterior",
    "Resolution",
    "scheme_of",
]

Array = NDArray[np.float64]

MOST_DIRECTIONS = 3
"""Most hidden directions of which posteriors are computed."""


class Posterior(NamedTuple):
    """The posterior of N samples.

    Attributes
    ----------
    log_z : array, shape (N,)
        Logarithm of the evidence Z_out.
    g : array, shape (N, r)
        g_out.
    slope : array, shape (N, r, r)
        Its derivative in omega.
    """

    log_z: Array
    g: Array
    slope: Array


@lru_cache(maxsize=64)
def scheme_of(channel: Channel) -> BoxPosterior | LinePosterior:
    """The scheme for a channel: boxes where they are exact, else lines."""
    if channel.link.r > MOST_DIRECTIONS:
        raise LearnabilityError(
            f"The posterior of {channel.link!r} has {channel.link.r} hidden directions, "
            f"but at most {MOST_DIRECTIONS} are computed."
        )
    boxes = BoxPosterior.of(channel)
    return LinePosterior(channel) if boxes is None else boxes


def checked_posterior(
    r: int, y: ArrayLike, omega: ArrayLike, V: ArrayLike
) -> tuple[Array, Array, Array]:
    """Labels (N,), means (N, r) and covariance (r, r) as arrays, or a sentence."""
    labels = np.atleast_1d(np.asarray(y, dtype=float))
    means = np.asarray(omega, dtype=float)
    covariance = np.atleast_2d(np.asarray(V, dtype=float))
    if labels.ndim != 1 or means.size != len(labels) * r or covariance.shape != (r, r):
        raise LearnabilityError(
            f"Labels of shape {labels.shape}, means of shape {np.shape(omega)} and a covariance of "
            f"shape {np.shape(V)} were given, but (N,), (N, {r}) and ({r}, {r}) are accepted."
        )
    if not all(np.isfinite(a).all() for a in (labels, means, covariance)):
        raise LearnabilityError("Labels, means and covariance must be finite.")
    if (
        not np.allclose(covariance, covariance.T, rtol=1e-9)
        or np.linalg.eigvalsh(covariance)[0] <= 0
    ):
        raise LearnabilityError("The covariance must be symmetric and positive definite.")
    return labels, means.reshape(len(labels), r), covariance


def evaluate(
    scheme: BoxPosterior | LinePosterior,
    y: ArrayLike,
    omega: ArrayLike,
    V: ArrayLike,
    resolution: Resolution = FINE,
) -> Posterior:
    """The posterior by a scheme, in NumPy.

    Parameters
    ----------
    scheme : BoxPosterior or LinePosterior
        From `scheme_of`.
    y : array_like, shape (N,)
        Labels.
    omega : array_like, shape (N, r)
        Means.
    V : array_like, shape (r, r)
        Common covariance, positive definite.
    resolution : Resolution
        How finely.
    """
    y, omega, V = (np.asarray(a, dtype=float) for a in (y, omega, V))
    log_z, first, second = scheme.moments(scheme.prepare(y), omega.T, V, np, resolution)
    inverse = np.linalg.inv(V)
    centred = np.moveaxis(second, -1, 0) - first.T[:, :, None] * first.T[:, None, :]
    return Posterior(log_z, first.T @ inverse, inverse @ centred @ inverse - inverse)


def _reduced(particles: Particles, L: Any, order: list[int], xp: Any) -> tuple[Any, Any, Any]:
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
    return top + xp.log(total), *_turned(mean, pairs, L, order, xp)


def _turned(
    mean: list[Any], pairs: dict[tuple[int, int], Any], L: Any, order: list[int], xp: Any
) -> tuple[Any, Any]:
    """Moments of t (r, N), (r, r, N) as those of L t in the original order of coordinates."""
    r = len(order)
    second = xp.stack([xp.stack([pairs[i, j] for j in range(r)]) for i in range(r)])
    back = np.argsort(order)
    first = (L @ xp.stack(mean))[back]
    return first, xp.einsum("ik,kln,jl->ijn", L, second, L)[back][:, back]


def _cholesky(V: Any, order: list[int], xp: Any) -> Any:
    return xp.linalg.cholesky(V[np.ix_(order, order)])


def traceable(channel: Channel) -> bool:
    """Whether JAX can compile the scheme; a user's function may be written for NumPy alone."""
    import jax

    if isinstance(scheme_of(channel), BoxPosterior):
        return True
    points = jax.ShapeDtypeStruct((2, channel.link.r), np.float32)
    try:
        for function in (channel.link, *channel.link.gradient(), *(channel.link.breaks or ())):
            jax.eval_shape(function, points)
    except Exception:  # Whatever a user's function raises on a tracer.
        return False
    return True


# ---- boxes


@dataclass(frozen=True, eq=False)
class BoxPosterior:
    """Posterior for a link smooth in at most one coordinate and constant on boxes in the others.

    Attributes
    ----------
    channel : Channel
        With label noise only when the link takes finitely many values.
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
        """The scheme, or None where it does not apply."""
        link = channel.link
        breaks = axis_breaks(Section.whole(link))
        if breaks is None:
            return None
        smooth = [i for i in range(link.r) if _moves_along(link, i, breaks)]
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
        return 0.5 * (edges[:-1] + edges[1:])

    @cached_property
    def functions(self) -> list[tuple[LevelSets, list[tuple[int, ...]]]]:
        """Distinct functions of the smooth coordinate, with the boxes of the others."""
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
        """Boxes of all coordinates (in the order of integration) with one label, and those."""
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
        """Log Z (N,), E[z - omega] (r, N), E[(z - omega)(z - omega)^T] (r, r, N).

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
            How finely.
        """
        L = _cholesky(V, self.order, xp)
        parts = []
        start = Particles.nothing(xp, omega[0])
        if self.flat_boxes[0]:
            parts.append(self._boxes(start, data["boxes"], omega, L, xp, resolution))
        if self.smooth is not None and len(data["roots"]):
            parts.append(self._roots(start, data, omega, L, xp, resolution))
        return _reduced(joined(parts, xp), L, self.order, xp)

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

    def _roots(
        self, start: Particles, data: Any, omega: Any, L: Any, xp: Any, res: Resolution
    ) -> Particles:
        assert self.smooth is not None
        first = root_particles(
            start, omega[self.smooth], L[0], data["roots"], data["log_weights"], xp
        )
        particles = self._filled(first, omega, L, xp, res)
        owner: list[int] = []
        for number, (levels, _) in enumerate(self.functions):
            owner += [number] * len(levels.pieces.branches)
        allowed = [set(cells) for _, cells in self.functions]
        kept = np.array(
            [
                k
                for k, cell in enumerate(particles.cell)
                if tuple(map(int, cell[1:])) in allowed[owner[cell[0]]]
            ]
        )
        return Particles(
            particles.log_weight[kept],
            tuple(t[kept] for t in particles.t),
            xp.broadcast_to(particles.spread, particles.log_weight.shape)[kept],
            particles.cell[kept],
        )


def _moves_along(link: Link, axis: int, breaks: list[Array]) -> bool:
    """Whether the link changes along an axis between its breaks."""
    rng = np.random.default_rng(11)
    z = 1.5 * rng.standard_normal((2000, link.r))
    edges = np.concatenate([[-np.inf], breaks[axis], [np.inf]])
    panel = np.searchsorted(edges, z[:, axis]) - 1
    low, high = np.maximum(edges[panel], -REACH), np.minimum(edges[panel + 1], REACH)
    moved = z.copy()
    moved[:, axis] = low + (0.01 + 0.98 * rng.random(len(z))) * (high - low)
    before, after = np.asarray(link(z)), np.asarray(link(moved))
    return bool(np.max(np.abs(after - before)) > 1e-10 * (1e-300 + np.abs(before).max()))


# ---- lines


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
        moving = [i for i in range(link.r) if _moves_along(link, i, self._edges)]
        if len(moving) < 2 or link.values is not None:
            return moving[:1] or [link.r - 1]
        z = 1.5 * np.random.default_rng(13).standard_normal((4000, link.r))
        with np.errstate(all="ignore"):
            steep = np.array([np.asarray(link.gradient()[i](z)) for i in moving]) ** 4
            share = np.nan_to_num(steep / steep.sum(axis=0))
        always = [i for i, least in zip(moving, share.min(axis=1), strict=True) if least > 0.05]
        # Along an axis with breaks the lines of some outer points miss the label: a jump.
        return [min(always, key=lambda i: len(self._edges[i]))] if always else moving

    @property
    def is_linear(self) -> bool:
        """Whether one piece a line is enough: posteriors are then exact but for outer nodes."""
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
        """Least variance of a label, on which flat pieces are told apart."""
        return (1e-6 * self._unit) ** 2

    def prepare(self, y: Array) -> dict[str, Array]:
        """What depends on the labels (N,) alone."""
        return {"y": y}

    def moments(
        self, data: dict[str, Any], omega: Any, V: Any, xp: Any, resolution: Resolution = COARSE
    ) -> tuple[Any, Any, Any]:
        """Log Z (N,), E[z - omega] (r, N), E[(z - omega)(z - omega)^T] (r, r, N).

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
        """What lines along an axis add to Z (N,) and to Z times the moments of z - omega."""
        r = self.channel.link.r
        order = [*(i for i in range(r) if i != axis), axis]
        L = _cholesky(V, order, xp)
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

        sums = [0.0, 0.0, 0.0]  # Of each line: mass, first and second moment of its coordinate.
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
        return mass.sum(axis=0), *_turned(mean, pairs, L, order, xp)

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
            inset = 1e-3 * width  # Just inside: the ends may be jumps.
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
        """The weight at z of the lines along an axis, one for all axes together."""
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
        """Of the coordinates."""
        return self.coordinates[0].dtype

    def __getitem__(self, key: tuple[Any, int]) -> Any:
        return self.coordinates[key[1]]

    def evaluate(self, link: Link, xp: Any) -> Any:
        """Values of a link, of the common shape."""
        shape = np.broadcast_shapes(*(c.shape for c in self.coordinates))
        if link.tree is not None:
            return xp.broadcast_to(evaluate_tree(link.tree, self, xp), shape)
        return link(xp.stack([xp.broadcast_to(c, shape) for c in self.coordinates], axis=-1))
