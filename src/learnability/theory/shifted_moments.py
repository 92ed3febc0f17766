"""Gaussian means of a function at a shifted argument, and of its derivatives.

These are M_k(z) = E[F^(k)(z + width v)] = E[F(z + width v) He_k(v)] / width^k with v standard
normal. The argument is integrated on panels that end at the breaks of F, so that F needs no
derivative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.hermite_products import hermite_table
from learnability.gaussian.rules import composite_legendre
from learnability.gaussian.sections import REACH, Section
from learnability.labels.link import Link

__all__ = ["moments_by_width", "shifted_moments", "tabulated_moments"]

Array = NDArray[np.float64]

_GROUPS = 8
"""Groups of neurons, each of which has one width."""


def shifted_moments(function: Link, z: Array, width: float, order: int, power: int = 1) -> Array:
    """Return M_0 ... M_order of function^power at the points z, shape (order + 1, len(z)).

    Parameters
    ----------
    function : Link
        The function F of one variable.
    z : array, shape (n,)
        Shifts.
    width : float
        The standard deviation of the normal law around them.
    order : int
        Highest derivative.
    power : int
        Power of F that is averaged.
    """
    low, high = float(z.min()) - REACH * width, float(z.max()) + REACH * width
    breaks = Section.whole(function).breakpoints
    inside = np.sort(breaks[(breaks > low) & (breaks < high)])
    edges = np.concatenate([[low], inside, [high]])
    x, weights = composite_legendre(edges, 1.1 * width, 14)
    value = np.asarray(function(x[:, None]), dtype=float) ** power * weights
    v = (x - z[:, None]) / width
    density = np.exp(-0.5 * v**2) / (math.sqrt(2 * math.pi) * width)
    table = hermite_table(v, order) if order else np.ones((1, *v.shape))
    return np.array(
        [
            (density * table[k]) @ value * math.sqrt(math.factorial(k)) / width**k
            for k in range(order + 1)
        ]
    )


@lru_cache(maxsize=32)
def tabulated_moments(
    function: Link, reach: float, width: float, order: int, power: int = 1
) -> Callable[[Array], Array]:
    """Return the moments as a spline on [-reach, reach], a callable from z to (order + 1, ...)."""
    from scipy.interpolate import CubicSpline

    z = np.linspace(-reach, reach, int(2 * reach / (0.05 * width)) | 1)
    parts = [  # Each block needs few panels.
        shifted_moments(function, block, width, order, power)
        for block in np.array_split(z, max(len(z) // 64, 1))
    ]
    return CubicSpline(z, np.concatenate(parts, axis=1), axis=1)


def moments_by_width(
    function: Link, fields: Array, widths: Array, order: int, power: int = 1
) -> Array:
    """Return M_0 ... M_order at fields (K, m) whose columns have widths of their own.

    Columns are put into eight groups of similar width, and have the root mean square of theirs.

    Parameters
    ----------
    function : Link
        The function F.
    fields : array, shape (K, m)
        Shifts.
    widths : array, shape (m,)
        Standard deviations.
    order, power : int
        Highest derivative, and power of F.
    """
    found = np.empty((order + 1, *fields.shape))
    for group in np.array_split(np.argsort(widths, kind="stable"), min(_GROUPS, len(widths))):
        width = math.sqrt(float(np.mean(widths[group] ** 2)))
        own = fields[:, group]
        reach = float(np.abs(own).max()) + width
        found[:, :, group] = tabulated_moments(function, reach, width, order, power)(own)
    return found
