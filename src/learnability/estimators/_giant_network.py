"""Gradient product of a two-layer network after a few giant steps.

The network is f(x) = a . relu(W z + b). It takes full-batch steps on W whose size is of the order
of the number of neurons, with ridge regression for a between them, and returns the average of
grad f grad f^T at the end. It finds what correlations with the label show (information exponent at
most two) and is blind to the rest.

References
----------
Dandi, Krzakala, Loureiro, Pesce, Stephan, JMLR 25 (2024) 349.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["giant_network"]

Array = NDArray[np.float64]


def giant_network(
    Z: Array, T: Array, *, weights: Array, neurons: int, steps: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return eigenvalues in decreasing order and eigenvectors (k, k) of the gradient product.

    Parameters
    ----------
    Z : array, shape (n, k)
        White rows.
    T : array, shape (n, q)
        The functions of the label that are regressed.
    weights : array, shape (n,)
        Counts of the rows.
    neurons, steps : int
        Width and number of giant steps.
    rng : numpy.random.Generator
        The source of the initial weights.

    Returns
    -------
    tuple of arrays
    """
    n, k = weights.sum(), Z.shape[1]
    counts = weights[:, None]
    q = T.shape[1]
    W = rng.standard_normal((neurons, k)) / np.sqrt(k)
    bias = rng.uniform(-1, 1, neurons)
    a = rng.standard_normal((neurons, q)) / np.sqrt(neurons)
    rest = T
    for _ in range(steps):
        active = (Z @ W.T + bias > 0).astype(float)
        push = (active * (rest @ a.T)).T @ (Z * counts) / n
        sizes = np.linalg.norm(push, axis=1, keepdims=True)
        W = W + push / (np.median(sizes) + 1e-12)
        W /= np.linalg.norm(W, axis=1, keepdims=True)
        a, rest = _readout(Z, W, bias, T, counts)
    active = (Z @ W.T + bias > 0).astype(float)
    product = np.zeros((k, k))
    for column in a.T:
        gradient = (active * column) @ W
        product += gradient.T @ (gradient * counts) / n
    values, vectors = np.linalg.eigh(product)
    return values[::-1], vectors[:, ::-1]


def _readout(Z: Array, W: Array, bias: Array, T: Array, counts: Array) -> tuple[Array, Array]:
    """Return the ridge regression on the neurons, and its residual."""
    hidden = np.maximum(Z @ W.T + bias, 0.0)
    gram = hidden.T @ (hidden * counts)
    gram[np.diag_indices(len(gram))] += 0.1 * np.trace(gram) / len(gram) + 1e-9
    a = np.asarray(np.linalg.solve(gram, hidden.T @ (T * counts)), dtype=float)
    return a, T - hidden @ a
