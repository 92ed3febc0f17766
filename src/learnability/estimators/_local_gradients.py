"""Outer product of local gradients, the neighbourhoods shrinking to the subspace they reveal (OPG).

At anchors a_j a weighted linear regression of the label on white rows, with Gaussian weights in the
current subspace, gives a gradient; the eigenvectors of the mean outer product are the next
subspace, its dimension lowered from k to r. Ridge keeps small neighbourhoods solvable.

References
----------
Xia, Tong, Li, Zhu, J. R. Stat. Soc. B 64 (2002) 363.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["local_gradients"]

Array = NDArray[np.float64]


def local_gradients(
    Z: Array, T: Array, r: int, *, weights: Array, anchors: int, rounds: int,
    rng: np.random.Generator,
) -> tuple[Array, Array]:  # fmt: skip
    """Eigenvalues in falling order and eigenvectors (k, k) of the last gradient product.

    Parameters
    ----------
    Z : array, shape (n, k)
        White rows.
    T : array, shape (n, q)
        What is regressed.
    r : int
        Dimension of the last neighbourhoods.
    weights : array, shape (n,)
        Counts of the rows.
    anchors, rounds : int
        Number of anchors and of subspaces.
    rng : numpy.random.Generator
        Chooses the anchors.

    Returns
    -------
    tuple of arrays
    """
    n, k = Z.shape
    chosen = rng.choice(n, min(anchors, n), replace=False)
    basis = np.eye(k)
    sizes = np.unique(np.geomspace(k, max(r, 1), rounds).round().astype(int))[::-1]
    sizes = np.concatenate([sizes, np.full(max(rounds - len(sizes), 0), max(r, 1))])
    values, vectors = np.ones(k), np.eye(k)
    X1 = np.column_stack([np.ones(n), Z])
    for q in sizes:
        near = Z @ basis[:, :q]
        product = np.zeros((k, k))
        width = 1.2 * n ** (-1 / (q + 4)) * np.sqrt(q if q > 4 else 1.0) * (2.0 if q > 4 else 1.0)
        for j in chosen:
            gaps = ((near - near[j]) ** 2).sum(axis=1) / (2 * width**2)
            nearness = np.exp(-gaps) * weights
            # Enough neighbours for a linear fit: widen where they are few.
            effective = nearness.sum() ** 2 / (nearness**2).sum()
            if effective < 2.0 * min(k, n // 3):
                order = np.partition(gaps, min(2 * k, n - 1))[min(2 * k, n - 1)]
                nearness = np.exp(-gaps / max(order, 1e-12)) * weights
            keep = nearness > 1e-4 * weights
            part = X1[keep]
            counted = part * nearness[keep, None]
            gram = part.T @ counted
            gram[np.diag_indices(k + 1)] += 1e-2 * nearness.sum() / np.sqrt(n) + 1e-9
            beta = np.linalg.solve(gram, counted.T @ T[keep])[1:]
            product += weights[j] * (beta @ beta.T)
        values, vectors = np.linalg.eigh(product / weights[chosen].sum())
        values, vectors = values[::-1], vectors[:, ::-1]
        basis = vectors
    return values, vectors
