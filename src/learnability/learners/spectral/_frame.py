"""The estimate of W* that several eigenvectors give together.

An eigenvector of an rd x rd matrix is r rows in R^d. By the theory all rows R of the leading
eigenvectors are S W* + noise, with known coordinates S and Gram matrix H = E[R R^T]: the linear
estimate with the smallest error is S^T H^-1 R, whose Gram matrix and overlap with W* are both
S^T H^-1 S. Eigenvectors are defined up to a sign, and those of close outliers up to a rotation O.
It is found by comparing the Gram matrix of the rows with H, as the maximiser of the convex function
tr[H (O kron I) R R^T (O kron I)^T]. Outliers far apart are not mixed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from learnability.learners.spectral._transition import Transition

__all__ = ["combinations"]

Array = NDArray[np.float64]

_CLOSE = 0.05  # Outliers closer than this share of their distance from the edge are mixed.
_STARTS = 48
_STEPS = 500


def combinations(transition: Transition, observed: Array | None = None) -> list[Array]:
    """Return coefficients C (r, m * r) of estimates C R of W*.

    Parameters
    ----------
    transition : Transition
        The transition, with k outliers.
    observed : array, shape (m * r, m * r), optional
        Gram matrix of the rows R of the first m <= k eigenvectors; that of theory by default.

    Returns
    -------
    list of array
        One per rotation of the eigenvectors that fits best.
    """
    r = transition.shapes.shape[1]
    observed = transition.gram if observed is None else observed
    rows = slice(0, len(observed))
    gram = transition.gram[rows, rows]
    values = transition.values[: len(observed) // r]
    close = np.abs(values[:, None] - values) <= _CLOSE * (values[0] - transition.edge)
    filtered = transition.signal[rows].T @ np.linalg.pinv(gram, rcond=1e-8, hermitian=True)
    turns = _rotations(gram, observed, close)
    return [filtered @ np.kron(turn, np.eye(r)) for turn in turns]


def _rotations(gram: Array, observed: Array, close: NDArray[np.bool_]) -> list[Array]:
    """Return the distinct maximisers O (k, k), zero where not close, from many starts."""
    k = len(close)
    r = len(gram) // k
    blocks = (a.reshape(k, r, k, r).transpose(0, 2, 1, 3) for a in (gram, observed))
    form = np.einsum("klab,mnab->kmln", *blocks).reshape(k * k, k * k)
    starts = np.random.default_rng(11).standard_normal(((1 if k == 1 else _STARTS) - 1, k, k))
    turns = np.concatenate([np.eye(k)[None], _polar(close * starts)])
    values = np.full(len(turns), -np.inf)
    moving = np.arange(len(turns))
    for _ in range(_STEPS):
        pull = turns[moving].reshape(-1, k * k) @ form
        now = np.einsum("si,si->s", pull, turns[moving].reshape(-1, k * k))
        rises = now - values[moving] > 1e-13 * np.abs(now)
        moving, pull, now = moving[rises], pull[rises], now[rises]
        if not len(moving):
            break
        values[moving] = now
        turns[moving] = _polar(close * pull.reshape(-1, k, k))
    best = values.max()
    distinct: list[Array] = []
    for value, rotation in zip(values, turns, strict=True):
        fits = value >= best - 1e-6 * abs(best)
        if fits and all(np.abs(rotation - other).max() > 1e-2 for other in distinct):
            distinct.append(rotation)
    return distinct


def _polar(matrices: Array) -> Array:
    """Return the orthogonal factors of matrices (..., k, k)."""
    u, _, vt = np.linalg.svd(matrices)
    return np.asarray(u @ vt)
