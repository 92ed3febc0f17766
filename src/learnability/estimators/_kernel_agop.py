"""Average gradient outer product of a kernel machine, fed back into its metric (RFM).

With a Laplace kernel k(x, x') = exp(-|M^{1/2}(x - x')| / L) in white coordinates, kernel ridge
regression of the label functions gives f, and M <- E[grad f grad f^T], normalised; a few rounds
concentrate M on the directions that matter. Bandwidth and ridge are chosen in the first round by
leave-one-out error, which one eigendecomposition of the kernel matrix gives for all ridges.

References
----------
Radhakrishnan, Beaglehole, Pandit, Belkin, Science 383 (2024) 1461.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["kernel_agop", "target_functions"]

Array = NDArray[np.float64]
_RIDGES = np.logspace(-4, 1, 11)
_BANDWIDTHS = (0.5, 1.5, 4.0)


def target_functions(scores: Array, codes: NDArray[np.intp], kind: str) -> Array:
    """What is regressed, (n, q): the normal scores of numbers, the indicators of classes."""
    if kind == "numbers":
        return scores[:, None] - scores.mean()
    table = np.eye(int(codes.max()) + 1)[codes]
    table = table[:, 1:] if table.shape[1] == 2 else table
    return table - table.mean(axis=0)


def kernel_agop(
    Z: Array, T: Array, *, rounds: int, most: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Eigenvalues in falling order and eigenvectors (k, k) of the last average gradient product.

    Parameters
    ----------
    Z : array, shape (n, k)
        White rows.
    T : array, shape (n, q)
        What is regressed.
    rounds : int
        Number of kernel machines.
    most : int
        Largest number of rows that is used.
    rng : numpy.random.Generator
        Chooses them.

    Returns
    -------
    tuple of arrays
    """
    if len(Z) > most:
        keep = rng.choice(len(Z), most, replace=False)
        Z, T = Z[keep], T[keep]
    k = Z.shape[1]
    root = np.eye(k)
    bandwidth = None
    for _ in range(rounds):
        R = Z @ root
        distances = _distances(R)
        scale = max(float(np.median(distances)), 1e-12)
        tried = _BANDWIDTHS if bandwidth is None else (bandwidth,)
        fits = [(*_leave_one_out(np.exp(-distances / (b * scale)), T), b) for b in tried]
        _, weights, bandwidth = min(fits, key=lambda fit: fit[0])
        product = _gradients(R, distances, weights, bandwidth * scale, root)
        trace = float(np.trace(product))
        if not np.isfinite(trace) or trace <= 0:
            break
        values, vectors = np.linalg.eigh(product / trace)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T * np.sqrt(k)
    values, vectors = np.linalg.eigh(root @ root)
    return values[::-1], vectors[:, ::-1]


def _distances(R: Array) -> Array:
    squares = (R**2).sum(axis=1)
    found = squares[:, None] + squares - 2 * R @ R.T
    np.fill_diagonal(found, 0.0)
    return np.sqrt(np.maximum(found, 0.0))


def _leave_one_out(K: Array, T: Array) -> tuple[float, Array]:
    """Smallest leave-one-out error over the ridges, and the weights (n, q) that reach it."""
    values, vectors = np.linalg.eigh(K)
    along = vectors.T @ T
    best: tuple[float, Array] | None = None
    for ridge in _RIDGES:
        inverse = 1 / (np.maximum(values, 0.0) + ridge)
        weights = vectors @ (inverse[:, None] * along)
        diagonal = (vectors**2) @ inverse
        error = float(((weights / diagonal[:, None]) ** 2).mean())
        if best is None or error < best[0]:
            best = (error, weights)
    assert best is not None
    return best


def _gradients(R: Array, distances: Array, weights: Array, scale: float, root: Array) -> Array:
    """sum over rows and outputs of grad f grad f^T, in the coordinates before `root`."""
    with np.errstate(divide="ignore"):
        inner = np.where(distances > 1e-9, np.exp(-distances / scale) / (scale * distances), 0.0)
    found = np.zeros((R.shape[1], R.shape[1]))
    for column in weights.T:
        pull = inner * column  # grad f(x_i) = sum_j a_j k'(d_ij)/d_ij (R_j - R_i)
        gradient = (pull @ R - pull.sum(axis=1)[:, None] * R) @ root
        found += gradient.T @ gradient
    return found / len(R)
