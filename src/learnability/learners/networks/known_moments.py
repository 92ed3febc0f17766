"""Weights of nodes that know the mean and the variance of a label with heavy tails.

The mean square of a label may lie in values that no node meets: a million samples of exp(3 z) have
a fifth of it. A squared error (f - y)^2 has the parts y^2 and y f, so that its mean misses what the
nodes miss of E[y] and E[y^2], which are known. Weights w_i (1 + b . (y_i, y_i^2)) that have both
right give the mean of every function that is a combination of these two as it is, and that of
others by regression on them (control variates).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["knowing_weights"]

Array = NDArray[np.float64]
_RANK = 1e-10
"""Relative size of a combination of both that is constant but for rounding, such as the square of
a label of two values."""


def knowing_weights(labels: Array, mean: float, variance: float, weights: Array) -> Array:
    """Return weights (N,) under which labels (N,) have a known mean and variance.

    Parameters
    ----------
    labels : array, shape (N,)
        Labels at the nodes.
    mean, variance : float
        Of the labels, as they are known.
    weights : array, shape (N,)
        Weights of the nodes, which sum to one.

    Returns
    -------
    array, shape (N,)
        They sum to one too. A moment of labels that take one value on all nodes stays as it is.
    """
    moved = labels - mean  # A constant in the label is no size.
    parts = np.stack([moved, moved**2])
    found = parts @ weights
    parts -= found[:, None]
    scale = np.sqrt((parts**2) @ weights)
    size = np.array([abs(mean) + scale[0], found[1]])
    parts, missing = (
        np.where(scale > _RANK * size, part.T / np.maximum(scale, 1e-300), 0.0).T
        for part in (parts, np.array([0.0, variance]) - found)
    )
    inverse = np.linalg.pinv((parts * weights) @ parts.T, rcond=_RANK, hermitian=True)
    return np.asarray(weights * (1 + (inverse @ missing) @ parts))
