"""Measurements of a deep network: errors and overlaps on fresh samples, ranks, spectra.

The overlap M_W of the first layer alone misleads: rows that collapse on few directions of the
hidden subspace have a large overlap. The participation ratio of the rows counts how many directions
they span. The overlap M_h of a function with the features is a Pearson correlation; the robust one,
for features with heavy tails, has both clipped at three standard deviations.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.learners.measurement import FRESH

__all__ = [
    "Fresh",
    "first_layer_overlap",
    "first_layer_rank",
    "kernel_spectrum",
    "on_fresh_samples",
]

Array = NDArray[np.float64]

TEST = 10**6
"""Number of the first batch of fresh samples; no run learns from it."""
_BLOCK = 2000
_CLIPPED = 3.0


class Fresh(NamedTuple):
    """Measurements on fresh samples of k outputs.

    Attributes
    ----------
    error : array, shape (k,)
        Mean squared error against the noisy label; the noise is added exactly.
    overlap, robust_overlap : array, shape (k, r)
        |correlation| of the outputs with the features, and with both clipped at 3 deviations.
    """

    error: Array
    overlap: Array
    robust_overlap: Array


def on_fresh_samples(
    target: Any, seed: int, d: int, outputs: Callable[[NDArray[Any]], NDArray[Any]]
) -> Fresh:
    """Measure outputs (n, k) on 10000 fresh samples."""
    found, features, truth = [], [], []
    for batch in islice(target.batches(seed, _BLOCK, d, first=TEST, dtype=np.float32),
                        FRESH // _BLOCK):  # fmt: skip
        found.append(outputs(batch.X))
        features.append(batch.h)
        truth.append(np.asarray(target.link(batch.h), dtype=np.float64))
    q = np.concatenate(found).astype(np.float64)
    h, f = np.concatenate(features).astype(np.float64), np.concatenate(truth)
    error = np.mean((q - f[:, None]) ** 2, axis=0) + target.noise
    return Fresh(error, _correlation(q, h), _correlation(_clipped(q), _clipped(h)))


def _clipped(values: Array) -> Array:
    centred = values - values.mean(axis=0)
    scale = _CLIPPED * np.maximum(centred.std(axis=0), 1e-300)
    return np.asarray(np.clip(centred, -scale, scale))


def _correlation(q: Array, h: Array) -> Array:
    q, h = q - q.mean(axis=0), h - h.mean(axis=0)
    length = np.outer(np.linalg.norm(q, axis=0), np.linalg.norm(h, axis=0))
    return np.abs(q.T @ h) / np.maximum(length, 1e-300)


def _checked_rows(name: str, rows: Any) -> NDArray[Any]:
    """Return rows (p, d), of which none is zero."""
    found = np.asarray(rows)
    if found.ndim != 2 or not found.size or not np.abs(found).max(axis=1).all():
        raise LearnabilityError(
            f"`{name}` was given with shape {found.shape}, but rows (p, d) that are not zero are "
            "accepted."
        )
    return found


def first_layer_overlap(W: NDArray[Any], hidden: NDArray[Any]) -> float:
    """Return M_W, the root mean square length of the unit rows of W in the hidden subspace."""
    W, hidden = _checked_rows("W", W), _checked_rows("hidden", hidden)
    if W.shape[1] != hidden.shape[1]:
        raise LearnabilityError(
            f"`W` has rows of length {W.shape[1]} and `hidden` of {hidden.shape[1]}, but rows of "
            "one length are accepted."
        )
    inside = np.sum((W @ hidden.T).astype(np.float64) ** 2, axis=1)
    return float(np.sqrt(np.mean(inside / np.sum(W.astype(np.float64) ** 2, axis=1))))


def first_layer_rank(W: NDArray[Any]) -> float:
    """Return the participation ratio (tr W W^T)^2 / tr (W W^T)^2 of unit rows."""
    W = _checked_rows("W", W)
    unit = W / np.linalg.norm(W, axis=1, keepdims=True)
    values = np.linalg.eigvalsh((unit.T @ unit).astype(np.float64))
    return float(values.sum() ** 2 / np.sum(values**2))


def kernel_spectrum(features: NDArray[Any], h: NDArray[Any]) -> tuple[Array, Array]:
    """Return eigenvalues of the conjugate kernel, and a feature's share in leading eigenvectors.

    Parameters
    ----------
    features : array, shape (n, p)
        sigma(W x + b) of n samples.
    h : array, shape (n,)
        The feature at the same samples.

    Returns
    -------
    eigenvalues, share : array, shape (min(n, p),)
        The eigenvalues, largest first; the share of the variance of h in the first k eigenvectors.
    """
    phi, feature = np.asarray(features, dtype=np.float64), np.asarray(h, dtype=np.float64)
    if phi.ndim != 2 or feature.shape != phi.shape[:1] or np.ptp(feature) == 0:
        raise LearnabilityError(
            f"`features` and `h` were given with shapes {phi.shape} and {feature.shape}, but "
            "features (n, p) and n values that are not all the same are accepted."
        )
    left, values, _ = np.linalg.svd(phi, full_matrices=False)
    centred = feature - feature.mean()
    parts = (left.T @ centred) ** 2 / np.sum(centred**2)
    return values**2 / len(h), np.cumsum(parts)
