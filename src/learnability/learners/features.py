"""The first layer of a network with two layers, as it is drawn and as the readout sees it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.links.link import Link

__all__ = ["features", "first_layer"]


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
    with np.errstate(over="ignore"):  # Infinite features are told by the regression.
        values = np.asarray(activation((X @ W.T)[..., None]), dtype=X.dtype)
    values /= math.sqrt(len(W))
    return values
