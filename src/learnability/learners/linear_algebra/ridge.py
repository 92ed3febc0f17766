"""Ridge regression on given features or kernels: the smaller system, factorised once.

The readout a minimises |y - F a|^2 + ridge |a|^2 for features F (n, p). It solves the system of
F^T F (p, p), or, when n <= p, a = F^T c with that of F F^T (n, n). One positive ridge needs a
Cholesky factor; several, or a ridge of zero, share one eigendecomposition, and at zero the solution
of least norm is returned.

Products run in the precision of the features. Their rounding moves eigenvalues by about the unit
of rounding times the norm of the matrix; where the smallest ridge is not much larger than that,
they are computed again in float64.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError

__all__ = ["Readout", "dual_path", "fit_readout"]

Array = NDArray[np.float64]

_MARGIN = 30.0  # The smallest ridge for float32, over the error of eigenvalues by rounding.
_BLOCK = 2**25  # Bytes of a block that is converted to float64.


class Readout(NamedTuple):
    """Ridge readouts.

    Attributes
    ----------
    weights : array, shape (k, m)
        One row per ridge: readouts a, or the coefficients c of a kernel.
    train_error : array, shape (k,)
        Mean squared residual.
    status : tuple of str
        "solved", or "least norm" where the system is singular and the ridge zero.
    """

    weights: Array
    train_error: Array
    status: tuple[str, ...]


def fit_readout(features: NDArray[Any], y: NDArray[Any], ridges: Sequence[float]) -> Readout:
    """Return readouts of features for every ridge.

    Parameters
    ----------
    features : array, shape (n, p)
        float32 or float64.
    y : array, shape (n,)
        Labels.
    ridges : sequence of float
        At least zero.
    """
    n, p = features.shape
    labels = np.asarray(y, dtype=np.float64)
    with np.errstate(all="ignore"):  # `_path` refuses what is not finite.
        gram = _gram(features.T if n <= p else features, min(ridges))
        moments = _sums(labels[None], features)[0] if n > p else labels
    found = _path(gram, moments, ridges)
    if n <= p:
        return Readout(_sums(found.solutions, features), found.missed / n, found.status)
    residuals = labels - _double(found.solutions, features)
    return Readout(found.solutions, np.mean(residuals**2, axis=1), found.status)


def dual_path(kernel: Array, y: Array, ridges: Sequence[float]) -> Readout:
    """Return coefficients c of (K + ridge I) c = y for every ridge.

    Parameters
    ----------
    kernel : array, shape (n, n)
        Positive semi-definite, float64; overwritten.
    y : array, shape (n,)
        Labels.
    ridges : sequence of float
        At least zero.
    """
    found = _path(kernel, y, ridges)
    return Readout(found.solutions, found.missed / len(y), found.status)


class _Path(NamedTuple):
    """Solutions x (k, m), squared lengths of right - matrix x (k,), and one status per ridge."""

    solutions: Array
    missed: Array
    status: tuple[str, ...]


def _path(matrix: Array, right: Array, ridges: Sequence[float]) -> _Path:
    """Return solutions of (matrix + ridge I) x = right; the matrix is overwritten."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

    matrix = matrix.T  # The same matrix in Fortran order: else LAPACK makes a copy.
    if not (np.isfinite(matrix).all() and np.isfinite(right).all()):
        raise LearnabilityError(
            "The features or labels are not all finite, so no ridge regression is possible: use an "
            "activation or a kernel that does not overflow."
        )
    if len(ridges) == 1 and ridges[0] > 0:
        matrix[np.diag_indices(len(matrix))] += ridges[0]
        try:
            factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            raise _not_positive(ridges[0]) from None
        x = cho_solve(factor, right, check_finite=False)
        return _Path(x[None], np.array([np.sum((ridges[0] * x) ** 2)]), ("solved",))
    values, vectors = eigh(matrix, overwrite_a=True, check_finite=False)
    rounding = 10 * len(values) * np.finfo(np.float64).eps * max(abs(values[0]), abs(values[-1]))
    if values[0] + min(ridges) < -rounding:
        raise _not_positive(min(ridges))
    turned = vectors.T @ right
    solutions, missed, status = [], [], []
    for ridge in ridges:
        shifted = values + ridge
        kept = shifted > rounding
        solutions.append(vectors[:, kept] @ (turned[kept] / shifted[kept]))
        missed.append(np.sum((turned * np.where(kept, ridge / np.where(kept, shifted, 1), 1)) ** 2))
        status.append("solved" if kept.all() else "least norm")
    return _Path(np.array(solutions), np.array(missed), tuple(status))


def _not_positive(ridge: float) -> LearnabilityError:
    return LearnabilityError(
        f"With ridge {ridge:g} the matrix of the regression is not positive: the kernel is not "
        "positive definite, or the ridge is lost in rounding. Use a larger `ridge`."
    )


def _gram(features: NDArray[Any], ridge: float) -> Array:
    """Return features^T features in float64, summed in the features' precision if sufficient."""
    if features.dtype != np.float64:
        quick = features.T @ features
        rounding = float(np.finfo(features.dtype).eps) * float(np.linalg.norm(quick))
        if ridge > _MARGIN * rounding:
            return np.asarray(quick.astype(np.float64))
        del quick
    total = np.zeros((features.shape[1],) * 2)
    for block in _blocks(features):
        total += block.T @ block
    return total


def _double(weights: Array, features: NDArray[Any]) -> Array:
    """Return outputs (k, n) of readouts (k, p), in float64."""
    return np.concatenate([weights @ block.T for block in _blocks(features)], axis=1)


def _sums(weights: Array, features: NDArray[Any]) -> Array:
    """Return sums (k, p) of the features of all samples with weights (k, n), in float64."""
    total, start = np.zeros((len(weights), features.shape[1])), 0
    for block in _blocks(features):
        total += weights[:, start : start + len(block)] @ block
        start += len(block)
    return total


def _blocks(features: NDArray[Any]) -> Iterator[Array]:
    """Yield blocks of rows in float64."""
    height = max(_BLOCK // (8 * features.shape[1]), 1)
    for start in range(0, len(features), height):
        yield np.asarray(features[start : start + height], dtype=np.float64)
