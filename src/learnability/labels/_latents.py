"""Averages over latent coordinates, each cut where breaks cross it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.expressions.tree import Const, variables
from learnability.gaussian.functions import Function
from learnability.gaussian.line_roots import roots_on_lines
from learnability.gaussian.rules import gauss_normal, legendre, normal_measure
from learnability.gaussian.sections import REACH

__all__ = ["averaged", "first_two_moments"]

Array = NDArray[np.float64]

_PANELS, _MOST_PANELS, _NODES = 13, 208, 14
_PROBES, _SETTLED = 16, 1e-7
"""Points at which panels are halved until no average moves by more, relative to the largest."""
_OUTER = {2: 48, 3: 20}
_OUTER_PANELS = {2: (8, 10), 3: (6, 8)}
"""Panels, and nodes of each, of a latent before the last that is cut."""
_MOST_POINTS = 2_000_000
_PIECES = 100
"""So many numbers for each line are in use at once; blocks of lines stay in a cache."""
_NARROW = 1e-4


def averaged(
    function: Callable[[Array], Any],
    z: Array,
    latents: int,
    breaks: Sequence[Function] | None,
    constant: bool,
) -> Array:
    """Return the average of a function over its last, latent, coordinates.

    Parameters
    ----------
    function : callable
        Points (..., r + latents) -> values (K, ...).
    z : array, shape (n, r)
        Visible coordinates.
    latents : int
        Number of latent coordinates, at least one.
    breaks : sequence or None
        Functions of all coordinates whose zero sets hold the breaks.
    constant : bool
        Whether the function is constant between its breaks.

    Returns
    -------
    array, shape (K, n)
    """

    def with_panels(points: Array, panels: int) -> Array:
        parts = []
        for origins, weights in _lines(points, latents, _NODES * (panels + 2), breaks):
            xi, mass = _along(origins, breaks, constant, panels)
            on_lines = (np.asarray(function(_points(origins, xi))) * mass).sum(axis=-1)
            parts.append((on_lines.reshape(-1, *weights.shape) * weights).sum(axis=-1))
        return np.concatenate(parts, axis=1)

    if constant and breaks is not None:
        return with_panels(z, _PANELS)
    panels, some = _PANELS, z[:: max(len(z) // _PROBES, 1)]
    found = with_panels(some, panels)
    while panels < _MOST_PANELS:
        finer = with_panels(some, 2 * panels)
        if np.abs(finer - found).max(initial=0.0) <= _SETTLED * np.abs(finer).max(initial=0.0):
            break
        panels, found = 2 * panels, finer
    return with_panels(z, panels)


def first_two_moments(function: Function, z: Array, latents: int, highest: int = 2) -> Array:
    """Return the averages of a function and of its square over latent coordinates.

    One that is a polynomial of degree two along the last of them between its breaks, such as
    |z + xi|, has moments in closed form on each piece.

    Parameters
    ----------
    function : Function
        Of visible and latent coordinates.
    z : array, shape (n, r)
        Visible coordinates.
    latents : int
        Number of latent coordinates, at least one.
    highest : int
        1 leaves the square out.

    Returns
    -------
    array, shape (highest, n)
    """

    def powers(at: Array) -> Array:
        value = np.asarray(function(at), dtype=float)
        return np.stack([value, value**2][:highest])

    if function.breaks is None or not _is_polynomial(function, 2):
        return averaged(powers, z, latents, function.breaks, False)
    parts = [
        (_of_pieces(function, origins, highest) * weights.ravel())
        .reshape(highest, *weights.shape)
        .sum(axis=-1)
        for origins, weights in _lines(z, latents, _PIECES, function.breaks)
    ]
    return np.concatenate(parts, axis=1)


@lru_cache(maxsize=64)
def _is_polynomial(function: Function, degree: int, axis: int = -1) -> bool:
    """Whether a function is one along a coordinate between its breaks, of that degree."""
    if function.tree is None:
        return False
    for _ in range(degree + 1):
        function = function.gradient()[axis]
    return isinstance(function.tree, Const) and function.tree.value == 0


def _of_pieces(function: Function, origins: Array, highest: int) -> Array:
    """Moments (highest, n) along lines on which a function is quadratic between breaks.

    With u in [-1, 1] on a piece it is a0 + a1 u + a2 u^2. A narrow piece is taken as constant.
    """
    edges = _edges(origins, function.breaks or ())
    low, high = edges[:, :-1], edges[:, 1:]
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    left, centre, right = (
        _values(function, _points(origins, middle + u * half)) for u in (-0.5, 0.0, 0.5)
    )
    wide = half > _NARROW
    a0, a1 = centre, np.where(wide, right - left, 0.0)
    a2 = np.where(wide, 2 * (left + right - 2 * centre), 0.0)
    half = np.where(wide, half, 1.0)
    u = _moments_of_pieces(edges, middle, half, 2 * highest)
    found = [a0 * u[0] + a1 * u[1] + a2 * u[2]]
    if highest > 1:
        found.append(
            a0**2 * u[0] + 2 * a0 * a1 * u[1] + (a1**2 + 2 * a0 * a2) * u[2]
            + 2 * a1 * a2 * u[3] + a2**2 * u[4]
        )  # fmt: skip
    return np.stack([f.sum(axis=1) for f in found])


def _moments_of_pieces(edges: Array, middle: Array, half: Array, highest: int) -> list[Array]:
    """Integrals of ((x - middle) / half)^k over the normal law between edges (n, p + 1).

    The first and the last edge are so far out that there is nothing beyond them.
    """
    ends: Array = np.zeros_like(edges)
    ends[:, 1:-1] = np.exp(-0.5 * edges[:, 1:-1] ** 2) / math.sqrt(2 * math.pi)
    raw = [_masses(edges), ends[:, :-1] - ends[:, 1:]]
    shift, powers = -middle, [np.ones_like(middle), -middle]
    for k in range(2, highest + 1):
        ends = ends * edges
        raw.append((k - 1) * raw[k - 2] + ends[:, :-1] - ends[:, 1:])
        powers.append(powers[-1] * shift)
    found, scale = [raw[0]], np.ones_like(half)
    for k in range(1, highest + 1):
        scale = scale * half
        total = raw[k] + sum(math.comb(k, j) * powers[k - j] * raw[j] for j in range(k))
        found.append(total / scale)
    return found


def _lines(
    z: Array, latents: int, places: int, breaks: Sequence[Function] | None
) -> Iterator[tuple[Array, Array]]:
    """Yield for blocks of points z: lines along the last latent (n m, r), weights (n, m).

    A line will hold about so many places. The latents before the last are cut where a break
    crosses them that depends on no later one: averages over those are smooth.
    """
    r = z.shape[1]
    cut = [_last_of(breaks or (), r + k) for k in range(latents - 1)]
    plain = gauss_normal(np.zeros(1), _OUTER[min(latents, 3)], least=2) if latents > 1 else None
    panels, nodes = _OUTER_PANELS[min(max(latents, 2), 3)]
    count = math.prod(nodes * (panels + len(c)) if c else _OUTER[2] for c in cut)
    lines = max(_MOST_POINTS // (count * places), 1)
    for block in np.array_split(z, math.ceil(len(z) / lines)) if len(z) else [z]:
        origins = np.concatenate([block, np.zeros((len(block), latents))], axis=1)
        weights: Array = np.ones((len(block), 1))
        for k, functions in enumerate(cut):
            if functions:
                x, w = _panels(origins, functions, r + k, panels, nodes)
            else:
                assert plain is not None
                x, w = (np.broadcast_to(part, (len(origins), len(part))) for part in plain)
            origins = np.repeat(origins, x.shape[1], axis=0)
            origins[:, r + k] = x.ravel()
            weights = (weights[..., None] * w.reshape(*weights.shape, -1)).reshape(len(block), -1)
        yield origins, weights


def _last_of(breaks: Sequence[Function], axis: int) -> list[Function]:
    """The breaks that depend on one coordinate, and on none after it."""
    return [b for b in breaks if b.tree is not None and max(variables(b.tree), default=-1) == axis]


def _panels(
    origins: Array, functions: Sequence[Function], axis: int, panels: int, nodes: int
) -> tuple[Array, Array]:
    """Nodes and weights (n, p) of a normal coordinate, cut where functions vanish."""
    cuts = np.concatenate([_roots(f, origins, axis) for f in functions], axis=1)
    even = np.linspace(-REACH, REACH, panels + 1)
    edges = np.concatenate(
        [np.broadcast_to(even, (len(origins), len(even))), np.clip(cuts, -REACH, REACH)], axis=1
    )
    edges.sort(axis=1)
    return _legendre_panels(edges, nodes)


def _legendre_panels(edges: Array, nodes: int) -> tuple[Array, Array]:
    """Nodes and weights (n, p) of a normal coordinate between edges (n, k)."""
    x, w = legendre(nodes)
    half = 0.5 * np.diff(edges, axis=1)[..., None]
    xi = (0.5 * (edges[:, 1:] + edges[:, :-1])[..., None] + half * x).reshape(len(edges), -1)
    mass = (half * w).reshape(len(edges), -1) * np.exp(-0.5 * xi**2)
    return xi, mass / mass.sum(axis=1, keepdims=True)


def _points(origins: Array, xi: Array, axis: int = -1) -> Array:
    """Points (n, p, m) at places (n, p) of a coordinate."""
    points: Array = np.empty((*xi.shape, origins.shape[1]))
    points[:] = origins[:, None, :]
    points[..., axis] = xi
    return points


def _along(
    origins: Array, breaks: Sequence[Function] | None, constant: bool, count: int
) -> tuple[Array, Array]:
    """Nodes (n, p) on the lines of the last coordinate, and weights that add up to one."""
    edges = _edges(origins, breaks or ())
    if constant and breaks is not None:
        return 0.5 * (edges[:, 1:] + edges[:, :-1]), normal_measure(edges[:, :-1], edges[:, 1:])
    panels = np.broadcast_to(np.linspace(-REACH, REACH, count + 1), (len(origins), count + 1))
    edges = np.sort(np.concatenate([panels, edges[:, 1:-1]], axis=1), axis=1)
    return _legendre_panels(edges, _NODES)


def _edges(origins: Array, breaks: Sequence[Function]) -> Array:
    """The breaks (n, k) along the lines of the last coordinate, between the ends of the lines."""
    ends = np.full((len(origins), 1), REACH)
    found = [_roots(function, origins) for function in breaks]
    cuts = np.sort(np.concatenate([ends[:, :0], *found], axis=1), axis=1)
    return np.concatenate([-ends, np.clip(cuts, -REACH, REACH), ends], axis=1)


def _roots(function: Function, origins: Array, axis: int = -1) -> Array:
    """Roots (n, k) along the lines of a coordinate; explicit ones of a linear function."""
    if function.breaks is None or len(function.breaks) or not _is_polynomial(function, 1, axis):
        direction = np.eye(origins.shape[1])[axis]
        return roots_on_lines(partial(_values, function), origins, direction)
    ends = np.full((len(origins), 1), REACH)
    values = _values(function, _points(origins, np.concatenate([-ends, ends], axis=1), axis))
    crossed = values[:, 0] * values[:, 1] < 0
    share = values[:, 0] / np.where(crossed, values[:, 0] - values[:, 1], 1.0)
    return np.where(crossed, REACH * (2 * share - 1), np.inf)[:, None]


def _values(function: Function, points: Array) -> Array:
    return np.asarray(function(points), dtype=float)


def _masses(edges: Array) -> Array:
    """The normal probability between edges (n, p + 1), nothing beyond the first and the last."""
    ends = edges.copy()
    ends[:, 0], ends[:, -1] = -np.inf, np.inf
    return normal_measure(ends[:, :-1], ends[:, 1:])
