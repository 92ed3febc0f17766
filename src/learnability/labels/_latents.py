"""Averages over latent coordinates: the last one exactly, cut at the breaks along its line."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.functions import Function
from learnability.gaussian.line_roots import roots_on_lines
from learnability.gaussian.rules import gauss_normal, legendre, product_grid
from learnability.gaussian.sections import REACH

__all__ = ["averaged", "normal_measure"]

Array = NDArray[np.float64]

_PANELS = np.linspace(-REACH, REACH, 14)
_NODES = 14
_OUTER = {1: 0, 2: 48, 3: 20}
_MOST_POINTS = 2_000_000


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
    outer = [gauss_normal(np.zeros(1), _OUTER[min(latents, 3)], least=2)] * (latents - 1)
    nodes, weights = product_grid(outer)
    lines = max(_MOST_POINTS // (len(nodes) * 200), 1)
    parts = []
    for block in np.array_split(z, math.ceil(len(z) / lines)) if len(z) else [z]:
        origins = np.concatenate(
            [
                np.repeat(block, len(nodes), axis=0),
                np.tile(nodes, (len(block), 1)),
                np.zeros((len(block) * len(nodes), 1)),
            ],
            axis=1,
        )
        xi, mass = _along(origins, breaks, constant)
        points = np.repeat(origins[:, None, :], xi.shape[1], axis=1)
        points[..., -1] = xi
        on_lines = (np.asarray(function(points)) * mass).sum(axis=-1)
        parts.append(on_lines.reshape(-1, len(block), len(nodes)) @ weights)
    return np.concatenate(parts, axis=1)


def _along(
    origins: Array, breaks: Sequence[Function] | None, constant: bool
) -> tuple[Array, Array]:
    """Nodes (n, p) on the lines of the last coordinate, and weights that add up to one."""
    direction = np.eye(origins.shape[1])[-1]
    found = [np.zeros((len(origins), 0))]
    for function in breaks or ():
        values = partial(_values, function)
        found.append(np.clip(roots_on_lines(values, origins, direction), -REACH, REACH))
    cuts = np.sort(np.concatenate(found, axis=1), axis=1)
    ends = np.full((len(origins), 1), REACH)
    if constant and breaks is not None:
        edges = np.concatenate([-ends, cuts, ends], axis=1)
        return 0.5 * (edges[:, 1:] + edges[:, :-1]), normal_measure(edges[:, :-1], edges[:, 1:])
    panels = np.broadcast_to(_PANELS, (len(origins), len(_PANELS)))
    edges = np.sort(np.concatenate([panels, cuts], axis=1), axis=1)
    x, w = legendre(_NODES)
    half = 0.5 * np.diff(edges, axis=1)[..., None]
    xi = (0.5 * (edges[:, 1:] + edges[:, :-1])[..., None] + half * x).reshape(len(origins), -1)
    mass = (half * w).reshape(len(origins), -1) * np.exp(-0.5 * xi**2)
    return xi, mass / mass.sum(axis=1, keepdims=True)


def _values(function: Function, points: Array) -> Array:
    return np.asarray(function(points), dtype=float)


def normal_measure(low: Array, high: Array) -> Array:
    """Return the normal probability of intervals, from the side on which both tails are small."""
    from scipy.special import ndtr

    flip = low > 0
    return np.asarray(ndtr(np.where(flip, -low, high)) - ndtr(np.where(flip, -high, low)))
