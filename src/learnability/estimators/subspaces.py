"""Measures of the distance of two subspaces, and of the stability of an estimate.

Angles are taken in the metric of a covariance S: directions a, b have cosine
a^T S b / sqrt(a^T S a  b^T S b), which is the correlation of the two coordinates, so that nothing
depends on the units of the columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state, check_X_y

from learnability.errors import LearnabilityError
from learnability.progress import tracked

__all__ = ["bootstrap_subspace", "principal_angles", "split_half", "subspace_overlap"]

Array = NDArray[np.float64]


def principal_angles(A: Any, B: Any, covariance: Any = None) -> Array:
    """Return angles between two subspaces, in increasing order.

    Parameters
    ----------
    A, B : array, shape (r, p) and (s, p)
        Rows that span the subspaces.
    covariance : array, shape (p, p), optional
        The metric; the identity by default.

    Returns
    -------
    array, shape (min(r, s),)
        The angles in radians.
    """
    cosines = _cosines(A, B, covariance)
    return np.arccos(np.clip(cosines, 0.0, 1.0))


def subspace_overlap(A: Any, B: Any, covariance: Any = None) -> float:
    """Return the sum of squared cosines of the angles of two subspaces, over the larger dimension.

    It is 1 for equal subspaces and about r / p for unrelated ones.

    Parameters
    ----------
    A, B : array, shape (r, p) and (s, p)
        Rows that span the subspaces.
    covariance : array, shape (p, p), optional
        The metric; the identity by default.

    Returns
    -------
    float
    """
    A, B = np.atleast_2d(A), np.atleast_2d(B)
    most = max(len(A), len(B))
    if min(len(A), len(B)) == 0:
        return 1.0 if most == 0 else 0.0
    return float((_cosines(A, B, covariance) ** 2).sum() / most)


def split_half(estimator: Any, X: Any, y: Any, repeats: int = 5, random_state: Any = 0) -> Array:
    """Return the overlap of the subspaces found in two random halves of the data.

    Parameters
    ----------
    estimator : subspace estimator
        It is cloned, not fitted.
    X, y : array
        The data.
    repeats : int
        Number of splits.
    random_state : int or RandomState
        The seed of the splits.

    Returns
    -------
    array, shape (repeats,)
    """
    X, y, metric = _read(X, y)
    rng = check_random_state(random_state)
    found = []
    for _ in tracked(range(repeats), "halves"):
        order = rng.permutation(len(X))
        half = len(X) // 2
        first, second = (
            clone(estimator).fit(X[rows], y[rows]).components_
            for rows in (order[:half], order[half:])
        )
        found.append(subspace_overlap(first, second, metric))
    return np.array(found)


def bootstrap_subspace(
    estimator: Any, X: Any, y: Any, repeats: int = 20, random_state: Any = 0
) -> Array:
    """Return the overlap of the estimate with those of bootstrap samples of the rows.

    Parameters
    ----------
    estimator : subspace estimator
        It is cloned, not fitted.
    X, y : array
        The data.
    repeats : int
        Number of samples.
    random_state : int or RandomState
        The seed of the samples.

    Returns
    -------
    array, shape (repeats,)
    """
    X, y, metric = _read(X, y)
    rng = check_random_state(random_state)
    whole = clone(estimator).fit(X, y).components_
    found = []
    for _ in tracked(range(repeats), "bootstrap"):
        rows = rng.randint(0, len(X), len(X))
        again = clone(estimator).fit(X[rows], y[rows]).components_
        found.append(subspace_overlap(whole, again, metric))
    return np.array(found)


def _read(X: Any, y: Any) -> tuple[Array, NDArray[Any], Array]:
    """Return the data, and the covariance of the inputs."""
    X, y = check_X_y(X, y, dtype=float, multi_output=True, ensure_min_samples=4)
    return X, y, np.cov(X, rowvar=False).reshape(X.shape[1], X.shape[1])


def _cosines(A: Any, B: Any, covariance: Any) -> Array:
    A, B = np.atleast_2d(np.asarray(A, float)), np.atleast_2d(np.asarray(B, float))
    if A.shape[1] != B.shape[1]:
        raise LearnabilityError(
            f"The subspaces lie in {A.shape[1]} and {B.shape[1]} dimensions: they must be equal."
        )
    S = np.eye(A.shape[1]) if covariance is None else np.asarray(covariance, float)

    def orthonormal(M: Array) -> Array:
        values, vectors = np.linalg.eigh(M @ S @ M.T)
        keep = values > 1e-12 * max(values.max(), 1e-300)
        return np.asarray((vectors[:, keep] / np.sqrt(values[keep])).T @ M)

    return np.asarray(np.linalg.svd(orthonormal(A) @ S @ orthonormal(B).T, compute_uv=False))
