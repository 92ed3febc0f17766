"""Averages over latent coordinates: the last one exactly, cut at the breaks along its line."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.expressions.tree import Const
from learnability.gaussian.functions import Function
from learnability.gaussian.line_roots import roots_on_lines
from learnability.gaussian.rules import gauss_normal, legendre, product_grid
from learnability.gaussian.sections import REACH

__all__ = ["averaged", "first_two_moments", "normal_measure"]

Array = NDArray[np.float64]

_PANELS, _MOST_PANELS, _NODES = 13, 208, 14
_PROBES, _SETTLED = 16, 1e-7
"""Points at which panels are halved until no average moves by more, relative to the largest."""
_OUTER = {1: 0, 2: 48, 3: 20}
_MOST_POINTS = 2_000_000
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
        for block, origins, weights in _lines(points, latents, _NODES * (panels + 2)):
            xi, mass = _along(origins, breaks, constant, panels)
            on_lines = (np.asarray(function(_points(origins, xi))) * mass).sum(axis=-1)
            parts.append(on_lines.reshape(-1, block, len(weights)) @ weights)
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


def first_two_moments(function: Function, z: Array, latents: int) -> Array:
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

    Returns
    -------
    array, shape (2, n)
    """

    def powers(at: Array) -> Array:
        value = np.asarray(function(at), dtype=float)
        return np.stack([value, value**2])

    if function.breaks is None or not _is_polynomial(function, 2):
        return averaged(powers, z, latents, function.breaks, False)
    parts = [
        _of_pieces(function, origins).reshape(2, block, len(weights)) @ weights
        for block, origins, weights in _lines(z, latents, 8)
    ]
    return np.concatenate(parts, axis=1)


@lru_cache(maxsize=64)
def _is_polynomial(function: Function, degree: int) -> bool:
    """Whether a function is one along its last coordinate between its breaks, of that degree."""
    if function.tree is None:
        return False
    for _ in range(degree + 1):
        function = function.gradient()[-1]
    return isinstance(function.tree, Const) and function.tree.value == 0


def _of_pieces(function: Function, origins: Array) -> Array:
    """Moments one and two (2, n) along lines on which a function is quadratic between breaks.

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
    at_low, at_high = (np.exp(-0.5 * x**2) / math.sqrt(2 * math.pi) for x in (low, high))
    raw = [normal_measure(low, high), at_low - at_high]
    for k in (2, 3, 4):
        raw.append((k - 1) * raw[k - 2] + low ** (k - 1) * at_low - high ** (k - 1) * at_high)
    u = [
        sum(math.comb(k, j) * (-middle) ** (k - j) * raw[j] for j in range(k + 1)) / half**k
        for k in range(5)
    ]
    mean = a0 * u[0] + a1 * u[1] + a2 * u[2]
    square = (
        a0**2 * u[0] + 2 * a0 * a1 * u[1] + (a1**2 + 2 * a0 * a2) * u[2]
        + 2 * a1 * a2 * u[3] + a2**2 * u[4]
    )  # fmt: skip
    return np.stack([mean.sum(axis=1), square.sum(axis=1)])


def _lines(z: Array, latents: int, places: int) -> Iterator[tuple[int, Array, Array]]:
    """Yield blocks: how many points z, lines along the last latent (n, m), weights of the others.

    A line will hold about so many places.
    """
    outer = [gauss_normal(np.zeros(1), _OUTER[min(latents, 3)], least=2)] * (latents - 1)
    nodes, weights = product_grid(outer)
    lines = max(_MOST_POINTS // (len(nodes) * places), 1)
    for block in np.array_split(z, math.ceil(len(z) / lines)) if len(z) else [z]:
        origins = np.concatenate(
            [
                np.repeat(block, len(nodes), axis=0),
                np.tile(nodes, (len(block), 1)),
                np.zeros((len(block) * len(nodes), 1)),
            ],
            axis=1,
        )
        yield len(block), origins, weights


def _points(origins: Array, xi: Array) -> Array:
    """Points (n, p, m) at places (n, p) of the last coordinate."""
    points = np.repeat(origins[:, None, :], xi.shape[1], axis=1)
    points[..., -1] = xi
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
    x, w = legendre(_NODES)
    half = 0.5 * np.diff(edges, axis=1)[..., None]
    xi = (0.5 * (edges[:, 1:] + edges[:, :-1])[..., None] + half * x).reshape(len(origins), -1)
    mass = (half * w).reshape(len(origins), -1) * np.exp(-0.5 * xi**2)
    return xi, mass / mass.sum(axis=1, keepdims=True)


def _edges(origins: Array, breaks: Sequence[Function]) -> Array:
    """The breaks (n, k) along the lines of the last coordinate, between the ends of the lines."""
    ends = np.full((len(origins), 1), REACH)
    found = [_roots(function, origins) for function in breaks]
    cuts = np.sort(np.concatenate([ends[:, :0], *found], axis=1), axis=1)
    return np.concatenate([-ends, np.clip(cuts, -REACH, REACH), ends], axis=1)


def _roots(function: Function, origins: Array) -> Array:
    """Roots (n, k) along the lines of the last coordinate; explicit ones of a linear function."""
    if function.breaks is None or len(function.breaks) or not _is_polynomial(function, 1):
        direction = np.eye(origins.shape[1])[-1]
        return roots_on_lines(partial(_values, function), origins, direction)
    ends = np.full((len(origins), 1), REACH)
    values = _values(function, _points(origins, np.concatenate([-ends, ends], axis=1)))
    crossed = values[:, 0] * values[:, 1] < 0
    share = values[:, 0] / np.where(crossed, values[:, 0] - values[:, 1], 1.0)
    return np.where(crossed, REACH * (2 * share - 1), np.inf)[:, None]


def _values(function: Function, points: Array) -> Array:
    return np.asarray(function(points), dtype=float)


def normal_measure(low: Array, high: Array) -> Array:
    """Return the normal probability of intervals, from the side on which both tails are small."""
    from scipy.special import ndtr

    flip = low > 0
    return np.asarray(ndtr(np.where(flip, -low, high)) - ndtr(np.where(flip, -high, low)))
