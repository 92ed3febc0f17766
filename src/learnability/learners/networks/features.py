"""The first layer of a network with two layers: its random weights and its features."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.labels.link import Link

__all__ = ["ROWS", "features", "first_layer", "row_blocks"]

ROWS = 4096
"""Number of samples that a training step draws at once."""
_ENTRIES = 2**20


def row_blocks(rows: int, columns: int) -> Iterator[slice]:
    """Yield blocks of about a million entries, so that no second array of full size is held."""
    height = max(_ENTRIES // columns, 64)
    return (slice(start, start + height) for start in range(0, rows, height))


def first_layer(seed: int, p: int, d: int) -> NDArray[np.float32]:
    """Return weights (p, d) drawn from N(0, 1 / d)."""
    W = np.random.default_rng([seed, 11]).standard_normal((p, d), dtype=np.float32)
    W /= np.float32(math.sqrt(d))
    return W


def features(
    activation: Link, X: NDArray[Any], W: NDArray[Any], bias: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Return p^(-1/2) sigma(W x + b), shape (n, p), in the type of X.

    Parameters
    ----------
    activation : Link
        The function sigma.
    X : array, shape (n, d)
        Inputs.
    W : array, shape (p, d)
        First layer.
    bias : array, shape (p,), optional
        Biases b.
    """
    values = np.empty((len(X), len(W)), dtype=X.dtype)
    with np.errstate(over="ignore"):  # The regression refuses infinite features.
        for block in row_blocks(len(X), len(W)):
            fields = X[block] @ W.T
            if bias is not None:
                fields += bias
            values[block] = activation(fields[..., None])
    values /= math.sqrt(len(W))
    return values
