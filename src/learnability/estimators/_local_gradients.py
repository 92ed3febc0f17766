"""Outer product of local gradients (OPG), with neighbourhoods that shrink to the subspace found.

At anchors a_j a weighted linear regression of the label on white rows, with Gaussian weights in the
current subspace, gives a gradient; the eigenvectors of the mean outer product are the next
subspace. Its dimension is lowered from k to r little by little: few large reductions would lose
directions that are still weak. A ridge keeps small neighbourhoods solvable.

References
----------
Xia, Tong, Li, Zhu, J. R. Stat. Soc. B 64 (2002) 363.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

__all__ = ["local_gradients"]

Array = NDArray[np.float64]
_FALL = 0.85
"""Dimension of the neighbourhoods, over that of the round before."""
_WIDTH = 1.17
"""Width of the neighbourhoods over n^{-1 / (q + 4)} in q dimensions, half of that for densities."""
_RIDGE = 1e-3
"""Ridge, divided by the weight of the neighbourhood plus `_MORE` rows."""
_MORE = 30.0
"""Number of rows that is added to the weight of a neighbourhood in its ridge."""
_NUMBERS = 4e6
"""Number of products of coordinates that are held at a time."""
_WIDE = 120
"""With more columns than this, anchors are fitted one at a time."""


def _dimensions(k: int, r: int, rounds: int) -> list[int]:
    """Return dimensions of the neighbourhoods: from k down to r, and `rounds` of r."""
    falling = []
    while k > r:
        falling.append(k)
        k = max(r, int(_FALL * k))
    return falling + [r] * rounds


def _gradients(X1: Array, T: Array, nearness: Array) -> Array:
    """Return slopes (anchors, k, q) of weighted linear fits of T (n, q) on X1 (n, 1 + k)."""
    if X1.shape[1] > _WIDE:
        each = [_solve((X1.T @ (X1 * w[:, None]))[None], X1, T, w[None]) for w in nearness]
        return np.concatenate(each)
    n, m = X1.shape
    first, second = np.triu_indices(m)
    upper = np.zeros((len(nearness), len(first)))
    size = max(int(_NUMBERS / len(first)), 1)
    for start in range(0, n, size):  # One product per block gives all normal equations.
        part = X1[start : start + size]
        upper += nearness[:, start : start + size] @ (part[:, first] * part[:, second])
    gram = np.empty((len(nearness), m, m))
    gram[:, first, second] = upper
    gram[:, second, first] = upper
    return _solve(gram, X1, T, nearness)


def _solve(gram: Array, X1: Array, T: Array, nearness: Array) -> Array:
    """Return slopes from the normal equations (anchors, 1 + k, 1 + k), with their ridge."""
    diagonal = np.arange(X1.shape[1])
    gram[:, diagonal, diagonal] += _RIDGE * (nearness.sum(axis=1)[:, None] + _MORE)
    right = np.einsum("an,nm,nq->amq", nearness, X1, T, optimize=True)
    return np.linalg.solve(gram, right)[:, 1:]


# The matrices are so small that threads would only wait.
@threadpool_limits.wrap(limits=1, user_api="blas")  # type: ignore[untyped-decorator]
def local_gradients(
    Z: Array, T: Array, r: int, *, weights: Array, anchors: int, rounds: int,
    rng: np.random.Generator,
) -> tuple[Array, Array]:  # fmt: skip
    """Return eigenvalues in decreasing order and eigenvectors (k, k) of the last gradient product.

    Parameters
    ----------
    Z : array, shape (n, k)
        White rows.
    T : array, shape (n, q)
        The functions of the label that are regressed.
    r : int
        Dimension of the last neighbourhoods.
    weights : array, shape (n,)
        Counts of the rows.
    anchors, rounds : int
        Number of anchors, and of rounds with the last dimension.
    rng : numpy.random.Generator
        The source of the choice of anchors.

    Returns
    -------
    tuple of arrays
    """
    n, k = Z.shape
    chosen = rng.choice(n, min(anchors, n), replace=False)
    X1 = np.column_stack([np.ones(n), Z])
    values, vectors = np.ones(k), np.eye(k)
    for q in _dimensions(k, max(r, 1), rounds):
        near = Z @ vectors[:, :q]
        squares = (near**2).sum(axis=1)
        gaps = squares[chosen, None] + squares - 2 * near[chosen] @ near.T
        width = _WIDTH * n ** (-1 / (q + 4)) * np.sqrt(max(q / 4, 1.0))
        nearness = np.exp(-gaps / (2 * width**2)) * weights
        slopes = _gradients(X1, T, nearness)
        crowds = nearness.sum(axis=1)  # An anchor that is nearly alone counts less.
        crowds = weights[chosen] * np.minimum(crowds, np.median(crowds))
        product = np.einsum("a,akq,alq->kl", crowds, slopes, slopes, optimize=True)
        values, vectors = np.linalg.eigh(product / crowds.sum())
        values, vectors = values[::-1], vectors[:, ::-1]
    return values, vectors
