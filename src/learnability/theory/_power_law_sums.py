"""Sums over infinite power laws: the head term by term, the rest as an integral in log k.

For k > K0 the sum of a smooth function f(k) is the integral of f from K0 + 1/2 on (midpoint rule),
up to f'(K0 + 1/2) / 24, which is neglected; Gauss-Legendre panels in log k resolve the integral.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from learnability.gaussian.rules import composite_legendre
from learnability.theory.equivalent import Levels

__all__ = ["power_law"]

_HEAD = 400
_DECADES = 90.0  # Sums go up to this many e-folds of k.


@lru_cache(maxsize=64)
def power_law(alpha: float, r: float, levels: int | None) -> Levels:
    """Return xi_k = k^-alpha and f_k = k^(-alpha r - 1/2) at all k, or at k = 1 ... levels.

    A node stands for as many k as its size says.

    Parameters
    ----------
    alpha, r : float
        Capacity and source.
    levels : int or None
        Number of eigenvalues; None for infinitely many.
    """
    if levels is not None and levels <= 200_000:
        k, weights = np.arange(1.0, levels + 1.0), np.ones(levels)
    else:
        head = np.arange(1.0, _HEAD + 1.0)
        first = math.log(_HEAD + 0.5)
        last = first + _DECADES if levels is None else math.log(levels + 0.5)
        x, w = composite_legendre(np.array([first, last]), 0.6, 16)
        k, weights = (
            np.concatenate([head, np.exp(x)]),
            np.concatenate([np.ones(_HEAD), w * np.exp(x)]),
        )
    log_k = np.log(k)
    energies = weights * np.exp(-(2 * alpha * r + 1) * log_k)
    return Levels(np.exp(-alpha * log_k), weights, energies, 0.0, 0.0)
