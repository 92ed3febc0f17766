"""A function of one overlap that is computed at a few dozen points and interpolated."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

__all__ = ["interpolated_information"]

_TRIALS = (0.3, 0.75)
"""Overlaps, over the largest, at which the polynomial is held to the information itself."""


def interpolated_information(
    information: Callable[[float], float],
    nodes: int,
    most: float,
    vanishes: bool,
    exponent: float,
    full: float,
) -> tuple[Callable[[float], float], float]:
    """Return I(q) from a polynomial in sqrt(1 - q), in which (1 - q) I(q) is smooth.

    Parameters
    ----------
    information : callable
        q -> I(q).
    nodes : int
        Number of Chebyshev points.
    most : float
        Largest overlap at which `information` is called.
    vanishes : bool
        Whether I(q) / q is smooth at q = 0.
    exponent : float
        The power e in (1 - q) I(q) ~ (1 - q)^e close to q = 1.
    full : float
        For e = 0, the limit of 1 / ((1 - q) I(q)) at q = 1.

    Returns
    -------
    function : callable
        q -> I(q), for 0 < q < 1.
    error : float
        Its largest relative error at two overlaps between the points.
    """
    from scipy.interpolate import BarycentricInterpolator

    low = math.sqrt(1 - most)
    angle = (np.arange(nodes) + 0.5) * math.pi / nodes
    root = 0.5 * (1 + low) + 0.5 * (1 - low) * np.cos(angle)
    overlap = 1 - root**2
    values = np.array([(1 - q) * information(float(q)) for q in overlap])
    polynomial = BarycentricInterpolator(root, values / overlap if vanishes else values)

    def inside(q: float) -> float:
        found = float(polynomial(math.sqrt(1 - q)))
        return max(found, 0.0) * (q if vanishes else 1.0)

    def scaled(root: float) -> float:
        return inside(1 - root * root) / float(root ** (2 * exponent))

    # Beyond the last node it is a line, as it is to first order at the end: in 1 - q with noise, in
    # which I(q) is smooth, else in sqrt(1 - q).
    power = 2 if exponent == 1 else 1
    last, end = scaled(low), low**power
    slope = (scaled(1.02 * low) - last) / ((1.02**power - 1) * end)
    if exponent == 0:
        slope = (last - 1 / full) / low

    def evaluate(q: float) -> float:
        v = 1 - q
        if q <= most:
            return inside(q) / v
        root = math.sqrt(v)
        return (last + slope * (root**power - end)) * float(root ** (2 * exponent)) / v

    trials = [(q, information(q)) for q in (share * most for share in _TRIALS)]
    return evaluate, max(abs(evaluate(q) - value) / max(value, 1e-300) for q, value in trials)
