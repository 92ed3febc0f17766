"""Numbers of samples from which runs succeed, and how they grow with the dimension."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["slope", "threshold"]

Array = NDArray[np.float64]

_MISSED = 1 / 12
"""The largest share of runs that succeed at the smallest size, or fail at the largest."""


def threshold(sizes: Array, reached: Array) -> tuple[float, float]:
    """Return the mean of log(size) at which runs succeed, and its standard error.

    The share of success is read as a distribution of the logarithm (Spearman and Karber). Both are
    NaN where the sizes do not cover it: where more than one run in twelve succeeds at the smallest
    of them, or fails at the largest.

    Parameters
    ----------
    sizes : array, shape (k,)
        Numbers or ratios of samples, evenly spaced in their logarithm.
    reached : array of bool, shape (k, runs)
        Which runs succeeded.
    """
    share = reached.mean(axis=1)
    if max(share[0], 1 - share[-1]) > _MISSED + 1e-9:
        return math.nan, math.nan
    x = np.log(sizes)
    spacing = float(x[1] - x[0])
    edges = np.diff(np.concatenate([[0.0], share, [1.0]]))
    places = np.append(x, x[-1] + spacing) - spacing / 2
    # Half a success and half a failure more, so that no error is zero.
    runs = reached.shape[1]
    smooth = (reached.sum(axis=1) + 0.5) / (runs + 1)
    stderr = spacing * math.sqrt(float(np.sum(smooth * (1 - smooth))) / runs)
    return float(edges @ places), stderr


def slope(d: Array, logs: Array, errors: Array) -> tuple[float, float]:
    """Return the slope of thresholds in log d, and its standard error.

    Dimensions without a threshold are left out, and both are NaN where fewer than three are left.

    Parameters
    ----------
    d, logs, errors : array, shape (k,)
        Dimensions, logarithms of the thresholds and their standard errors.
    """
    known = np.isfinite(logs)
    if known.sum() < 3:
        return math.nan, math.nan
    x = np.log(d[known]) - np.log(d[known]).mean()
    square = float(x @ x)
    return float(x @ logs[known]) / square, math.sqrt(float(x**2 @ errors[known] ** 2)) / square
