"""Average gradient outer product of a kernel machine, fed back into its metric (RFM).

With a Laplace kernel k(x, x') = exp(-|M^{1/2}(x - x')| / L) in white coordinates, kernel ridge
regression of the label functions gives f, and M <- E[grad f grad f^T], normalised; a few rounds
concentrate M on the relevant directions. The bandwidth is chosen in the first round and the ridge
in every round, by the leave-one-out error on at most five hundred rows, which a single
eigendecomposition of their kernel matrix gives for all ridges; the machine itself is then fitted to
all rows. A row of weight w_i has the ridge divided by w_i.

References
----------
Radhakrishnan, Beaglehole, Pandit, Belkin, Science 383 (2024) 1461.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from learnability.estimators._labels import Labels

__all__ = ["kernel_agop", "target_functions"]

Array = NDArray[np.float64]
_RIDGES = np.logspace(-4, 1, 11)
_BANDWIDTHS = (0.5, 1.5, 4.0)
_TUNED = 500
"""The largest number of rows that choose bandwidth and ridge."""


def target_functions(labels: Labels) -> Array:
    """Return the regressed functions (n, q): normal scores of numbers, or class indicators."""
    if labels.kind == "numbers":
        table = labels.scores[:, None]
    else:
        table = np.eye(int(labels.codes.max()) + 1)[labels.codes]
        table = table[:, 1:] if table.shape[1] == 2 else table
    return np.asarray(table - labels.weights @ table / labels.weights.sum())


def kernel_agop(
    Z: Array, T: Array, *, weights: Array, rounds: int, most: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return decreasing eigenvalues and eigenvectors (k, k) of the last average gradient product.

    Parameters
    ----------
    Z : array, shape (n, k)
        White rows.
    T : array, shape (n, q)
        The functions of the label that are regressed.
    weights : array, shape (n,)
        Counts of the rows.
    rounds : int
        Number of kernel machines.
    most : int
        The largest number of rows that are used.
    rng : numpy.random.Generator
        The source of the choice of rows.

    Returns
    -------
    tuple of arrays
    """
    if len(Z) > min(most, _TUNED):  # The rows that choose the ridge come first.
        keep = rng.permutation(len(Z))[:most]
        Z, T, weights = Z[keep], T[keep], weights[keep]
    k = Z.shape[1]
    root = np.eye(k)
    bandwidth = None
    for _ in range(rounds):
        R = Z @ root
        distances = _distances(R)
        few = slice(0, _TUNED)
        near = distances[few, few]
        scale = max(float(np.median(near[:, :200])), 1e-12)
        tried = _BANDWIDTHS if bandwidth is None else (bandwidth,)
        fits = [
            (*_leave_one_out(np.exp(-near / (b * scale)), T[few], weights[few]), b) for b in tried
        ]
        _, ridge, bandwidth = min(fits)
        kernel = np.exp(-distances / (bandwidth * scale))
        machine = _solve(kernel, T, weights, ridge)
        product = _gradients(R, kernel, distances, machine, weights, root)
        trace = float(np.trace(product))
        if not np.isfinite(trace) or trace <= 0:
            break
        values, vectors = np.linalg.eigh(product / trace)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T * np.sqrt(k)
    values, vectors = np.linalg.eigh(root @ root)
    return values[::-1], vectors[:, ::-1]


def _distances(R: Array) -> Array:
    squares = (R**2).sum(axis=1)
    found = R @ R.T
    found *= -2
    found += squares[:, None]
    found += squares
    np.fill_diagonal(found, 0.0)
    return np.sqrt(np.maximum(found, 0.0, out=found), out=found)


def _leave_one_out(K: Array, T: Array, weights: Array) -> tuple[float, float]:
    """Return the smallest leave-one-out error over the ridges, and the ridge that reaches it."""
    half = np.sqrt(weights)
    values, vectors = np.linalg.eigh(half[:, None] * K * half)
    along = vectors.T @ (T * half[:, None])
    squares = vectors**2
    found = []
    for ridge in _RIDGES:
        inverse = 1 / (np.maximum(values, 0.0) + ridge)
        left_out = (vectors @ (inverse[:, None] * along)) / (squares @ inverse)[:, None]
        found.append((float((left_out**2).sum() / weights.sum()), float(ridge)))
    return min(found)


def _solve(K: Array, T: Array, weights: Array, ridge: float) -> Array:
    """Return weights (n, q) of kernel ridge regression."""
    half = np.sqrt(weights)
    matrix = half[:, None] * K
    matrix *= half
    matrix[np.diag_indices(len(K))] += ridge
    factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    return np.asarray(half[:, None] * cho_solve(factor, T * half[:, None], check_finite=False))


def _gradients(
    R: Array, kernel: Array, distances: Array, machine: Array, weights: Array, root: Array
) -> Array:
    """Return the sum over rows of grad f grad f^T, up to a factor, in the original coordinates."""
    np.fill_diagonal(distances, 1.0)
    inner = np.divide(kernel, np.maximum(distances, 1e-9), out=kernel)
    np.fill_diagonal(inner, 0.0)
    found = np.zeros((R.shape[1], R.shape[1]))
    for column in machine.T:
        # grad f(x_i) = sum_j a_j k'(d_ij) / d_ij (R_j - R_i)
        gradient = (inner @ (column[:, None] * R) - (inner @ column)[:, None] * R) @ root
        found += gradient.T @ (gradient * weights[:, None])
    return found
