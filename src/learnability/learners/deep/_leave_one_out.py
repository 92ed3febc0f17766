"""Ridge regression with the ridge that has the least leave-one-out error, over blocks of samples.

The residual that sample i would have if it were left out is (y_i - q(x_i)) / (1 - H_ii). With
features Phi = U S V^T, H_ii = sum_k (Phi V)_ik^2 / (s_k^2 + ridge): this takes one product Phi V,
then products with a factor that has one column per ridge. With fewer samples than features the
system of Phi Phi^T is solved instead. Otherwise blocks of features are computed twice, not kept.

References
----------
Golub, Heath, Wahba, Technometrics 21 (1979) (generalised cross-validation).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError

__all__ = ["Fit", "fit_by_leave_one_out"]

Array = NDArray[np.float64]

RIDGES = 10.0 ** np.arange(-6, 1.6, 0.5)
"""Ridges that are tried, divided by the mean eigenvalue of the Gram matrix."""


class Fit(NamedTuple):
    """A ridge regression.

    Attributes
    ----------
    weights : array, shape (k, p)
        One row per label.
    offset : array, shape (k,)
        Means of the labels.
    left_out : array, shape (k, n)
        Prediction of every sample by the fit without it.
    ridge : tuple of float
        The ridge of each label.
    """

    weights: Array
    offset: Array
    left_out: Array
    ridge: tuple[float, ...]

    def __call__(self, features: NDArray[Any]) -> NDArray[Any]:
        """Return predictions (n, k) in the type of the features."""
        kind = features.dtype
        return np.asarray(features @ self.weights.T.astype(kind) + self.offset.astype(kind))


def fit_by_leave_one_out(
    blocks: Callable[[], Iterable[NDArray[Any]]], labels: NDArray[Any], ridge: float | None = None
) -> Fit:
    """Fit labels on features.

    Parameters
    ----------
    blocks : callable
        Returns the blocks (rows, p) of the features, anew at each call.
    labels : array, shape (k, n)
        One row per label; all labels share the features.
    ridge : float, optional
        Ridge divided by the mean eigenvalue of the Gram matrix; by default the one of least
        leave-one-out error.

    Raises
    ------
    LearnabilityError
        When the features are not finite, or dependent while the ridge is 0.
    """
    y = np.asarray(labels, dtype=np.float64)
    offset = y.mean(axis=1)
    y = y - offset[:, None]
    n = y.shape[1]
    p = next(iter(blocks())).shape[1]
    shares = RIDGES if ridge is None else np.array([ridge], dtype=float)
    with np.errstate(all="ignore"):  # `_eigen` refuses what is not finite.
        return (_primal if n > p else _dual)(blocks, y, offset, shares)


def _primal(
    blocks: Callable[[], Iterable[NDArray[Any]]], y: Array, offset: Array, shares: Array
) -> Fit:
    gram: Any = 0.0
    moments: Any = 0.0
    start = 0
    for block in blocks():
        gram = gram + (block.T @ block).astype(np.float64)
        moments = moments + y[:, start : start + len(block)].astype(block.dtype) @ block
        start += len(block)
    kind = block.dtype
    values, vectors = _eigen(gram, shares)
    ridges = shares * values.mean()
    inverse = 1 / (values[:, None] + ridges)  # (p, ridges)
    turned = vectors.T @ np.asarray(moments, dtype=np.float64).T  # (p, k)
    solutions = inverse[:, :, None] * turned[:, None, :]  # (p, ridges, k)
    right = solutions.reshape(len(values), -1).astype(kind)
    low, basis = inverse.astype(kind), vectors.astype(kind)
    leverage, fitted = [], []
    for block in blocks():
        z = block @ basis
        fitted.append(z @ right)
        z *= z
        leverage.append(z @ low)
    H = np.concatenate(leverage).astype(np.float64)[..., None]  # (n, ridges, 1)
    q = np.concatenate(fitted).astype(np.float64).reshape(len(H), len(shares), -1)
    missed = (y.T[:, None] - q) / np.maximum(1 - H, 1e-6)  # (n, ridges, k)
    best = np.argmin(np.mean(missed**2, axis=0), axis=0)
    several = range(len(y))
    weights = np.array([vectors @ solutions[:, best[k], k] for k in several])
    left = np.array([y[k] - missed[:, best[k], k] for k in several])
    return Fit(weights, offset, left + offset[:, None], tuple(float(ridges[b]) for b in best))


def _dual(
    blocks: Callable[[], Iterable[NDArray[Any]]], y: Array, offset: Array, shares: Array
) -> Fit:
    features = np.concatenate([np.asarray(block) for block in blocks()])
    values, vectors = _eigen((features @ features.T).astype(np.float64), shares)
    ridges = shares * values.sum() / features.shape[1]
    inverse = 1 / (values[:, None] + ridges)  # (n, ridges)
    turned = vectors.T @ y.T  # (n, k)
    c = np.einsum("in,nr,nk->irk", vectors, inverse, turned, optimize=True)
    missed = c / ((vectors**2) @ inverse)[..., None]
    best = np.argmin(np.mean(missed**2, axis=0), axis=0)
    several = range(len(y))
    weights = np.array([c[:, best[k], k] @ features.astype(np.float64) for k in several])
    left = np.array([y[k] - missed[:, best[k], k] for k in several])
    return Fit(weights, offset, left + offset[:, None], tuple(float(ridges[b]) for b in best))


def _eigen(gram: Array, shares: Array) -> tuple[Array, Array]:
    """Return eigenvalues, at least zero, and eigenvectors.

    Raises
    ------
    LearnabilityError
        When the matrix is not finite, or singular without a ridge.
    """
    from scipy.linalg import eigh

    if not np.isfinite(gram).all():
        raise LearnabilityError(
            "The features are not all finite, so no ridge regression is possible: use an "
            "activation that does not overflow."
        )
    values, vectors = eigh(gram, overwrite_a=True, check_finite=False, driver="evd")
    if shares.min() <= 0 and values[0] <= 1e-6 * values[-1]:
        raise LearnabilityError(
            "`ridge` is 0, but the features are not independent of each other, so that the "
            "regression has no single solution: use a ridge above 0, or None for the best one."
        )
    return np.maximum(values, 0.0), vectors
