"""The first layer of a network with two layers, as it is drawn and as the readout sees it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.links.link import Link

__all__ = ["ROWS", "features", "first_layer"]

ROWS = 4096
"""Rows that are computed at once, so that no second array of all features is held."""


def first_layer(seed: int, p: int, d: int) -> NDArray[np.float32]:
    """Weights (p, d) drawn from N(0, 1 / d)."""
    W = np.random.default_rng([seed, 11]).standard_normal((p, d), dtype=np.float32)
    W /= np.float32(math.sqrt(d))
    return W


def features(activation: Link, X: NDArray[Any], W: NDArray[Any]) -> NDArray[Any]:
    """p^(-1/2) sigma(W x), shape (n, p), in the type of X.

    Parameters
    ----------
    activation : Link
        The function sigma.
    X : array, shape (n, d)
        Inputs.
    W : array, shape (p, d)
        First layer.
    """
    values = np.empty((len(X), len(W)), dtype=X.dtype)
    with np.errstate(over="ignore"):  # Infinite features are told by the regression.
        for start in range(0, len(X), ROWS):
            block = slice(start, start + ROWS)
            values[block] = activation((X[block] @ W.T)[..., None])
    values /= math.sqrt(len(W))
    return values
