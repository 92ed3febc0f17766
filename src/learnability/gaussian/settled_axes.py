"""Products of Gauss rules with as many nodes on each axis as a function needs.

A Gauss rule of n nodes is exact for polynomials of degree below 2 n, and means nothing for a
function that oscillates faster than its nodes: E[sin(20 z)^2] is 1/2, and 40 nodes say 1.3. So
a rule is held against one that is finer along one axis at a time, and refined along those axes
where the means of the function, of its square and of its product with a coordinate move.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.rules import gauss_normal, product_grid

__all__ = ["settled_axes"]

Array = NDArray[np.float64]

_FINER, _GROWTH = 1.37, 1.6
"""Nodes of the rule that tells the error over those of the rule, and how these grow where they have
to."""
_ROUNDING = 1e-20


def settled_axes(
    values: Callable[[Array], Array],
    breaks: list[Array],
    count: int | list[int],
    tolerance: float,
    most: int,
    least: int | list[int] = 10,
) -> list[tuple[Array, Array]] | None:
    """Return rules for the axes whose product integrates a function and its square.

    Parameters
    ----------
    values : callable
        Points (N, m) -> values, of shape (N,) or (functions, N).
    breaks : list of array
        Where the function breaks on each axis.
    count : int or list of int
        Nodes on an axis to begin with, for all axes or for each.
    tolerance : float
        What a finer rule may change in the mean and in the products with coordinates, over the
        standard deviation, and in the variance, over itself.
    most : int
        The largest number of nodes of the product.
    least : int or list of int
        The fewest nodes between two breaks, to begin with.

    Returns
    -------
    list of (nodes, weights), or None
        None where so many nodes do not settle it.
    """
    m = len(breaks)
    counts = np.broadcast_to(np.asarray(count, dtype=float), m).copy()
    fewest = np.broadcast_to(np.asarray(least, dtype=float), m).copy()
    centre = None
    while True:
        axes = [_axis(b, n, few) for b, n, few in zip(breaks, counts, fewest, strict=True)]
        if math.prod(len(x) for x, _ in axes) > most:
            return None
        if centre is None:
            centre = _moments(values, axes, 0.0)[0][0]
        first, second = _moments(values, axes, centre)
        moving = []
        for k, b in enumerate(breaks):
            finer = list(axes)
            finer[k] = _axis(b, _FINER * counts[k], _FINER * fewest[k])
            mean, square = _moments(values, finer, centre)
            size = np.maximum(np.maximum(square, second), _ROUNDING * (1 + centre**2))
            gaps = [*np.abs(mean - first) / np.sqrt(size), np.abs(square - second) / size]
            if not float(np.max(gaps)) <= tolerance:
                moving.append(k)
        if not moving:
            return axes
        counts[moving] *= _GROWTH
        fewest[moving] *= _GROWTH


def _axis(breaks: Array, count: float, least: float) -> tuple[Array, Array]:
    return gauss_normal(breaks, math.ceil(count - 1e-9), math.ceil(least - 1e-9))


def _moments(
    values: Callable[[Array], Array], axes: list[tuple[Array, Array]], centre: Array | float
) -> tuple[Array, Array]:
    """Means of the values less their centre, alone and times each coordinate, and of squares."""
    points, weights = product_grid(axes)
    found = np.atleast_2d(np.asarray(values(points), dtype=float))
    found = found - np.reshape(centre, (-1, 1))
    factors = np.column_stack([np.ones(len(points)), points]) * weights[:, None]
    return np.asarray((found @ factors).T), np.asarray(found**2 @ weights)
