"""Directions made of few columns: the lasso chooses the columns, a finder works in them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, LassoCV
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from learnability.estimators._base import SubspaceEstimator, as_seed, check_count, fixed_signs
from learnability.estimators._labels import Labels, read_labels
from learnability.estimators._whitening import whiten
from learnability.estimators.message_passing_subspace import MessagePassingSubspace
from learnability.estimators.moment_subspace import MomentSubspace

__all__ = ["SparseSubspace"]

Array = NDArray[np.float64]
_PENALTIES = 25
_SMALLEST = 0.03
"""Smallest penalty of the lasso, in units of the one that leaves no column."""
_FOLDS = 4
_ROWS_EACH = 4
"""The least number of rows per column that is kept."""
_CONSTANT = 1e-12
"""A column with a smaller spread over its mean is constant."""
_FAR = 3.0
"""Values are clipped at this many standard deviations before they are squared."""


class SparseSubspace(SubspaceEstimator):
    """Directions made of a few of the columns, for tables with many columns and few rows.

    The lasso regresses the normal score of y (contrasts of its classes, if any) on the columns, and
    again on their squares, for even functions; each twice, the second time with the columns
    multiplied by their first coefficients. The penalty is the largest whose cross-validated error
    is within one standard error of the best. In the columns that it keeps, message passing finds
    the directions, or first moments if there are fewer than three rows per column.

    Parameters
    ----------
    n_components : int, default 1
        Number of directions.
    random_state : int, RandomState or None, default None
        The seed of the folds of the lasso and of the finder.

    Attributes
    ----------
    components_ : array, shape (r, p)
        The directions, orthonormal in the metric of the covariance of the columns that were kept,
        and zero elsewhere.
    center_ : array, shape (p,)
        Mean of x.
    columns_ : array of int
        The columns that were kept.
    rank_ : int
        Number of independent columns among them.
    shrinkage_ : float
        Weight of the identity in their correlation matrix.

    References
    ----------
    Zou, J. Am. Stat. Assoc. 101 (2006) 1418, for the second lasso; Lin, Zhao, Liu, J. Am. Stat.
    Assoc. 114 (2019) 1726, for the lasso on functions of y; Mai, Zou, Yuan, Biometrika 99 (2012)
    29, for classes.

    Examples
    --------
    >>> import numpy as np
    >>> from learnability.estimators import SparseSubspace
    >>> X = np.random.default_rng(0).standard_normal((100, 200))
    >>> SparseSubspace(random_state=0).fit(X, X[:, 7] - X[:, 3]).columns_
    array([3, 7])
    """

    def __init__(self, n_components: int = 1, random_state: Any = None) -> None:
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SparseSubspace:
        """Choose the columns and find the directions in them.

        Parameters
        ----------
        X : array, shape (n, p)
            The inputs.
        y : array, shape (n,) or (n, outputs)
            The target: numbers, of which only the order counts, or classes.
        sample_weight : array, shape (n,), optional
            Counts of the rows.

        Returns
        -------
        SparseSubspace
        """
        check_count("n_components", self.n_components)
        X, y, weights = self._read_counted(X, y, sample_weight)
        labels = read_labels(y, weights)
        seed = as_seed(self.random_state)
        Z, center, scale = _standard(np.asarray(X, dtype=float), weights)
        strength = _strengths(Z, labels, self.n_components, seed)
        most = max(len(X) // _ROWS_EACH, self.n_components)
        order = np.argsort(-strength, kind="stable")
        kept = int(np.clip((strength > 1).sum(), self.n_components, most))
        self.columns_ = np.sort(order[: min(kept, X.shape[1])])
        part = X[:, self.columns_]
        finder: Any = MessagePassingSubspace(self.n_components, random_state=seed)
        if whiten(part, weights, "auto").has_few_rows(weights.sum()):
            finder = MomentSubspace("sir", self.n_components, random_state=seed)
        inner = finder.fit(part, y, sample_weight=weights)
        components = np.zeros((len(inner.components_), X.shape[1]))
        components[:, self.columns_] = inner.components_
        self.components_ = fixed_signs(components, scale)
        self.center_ = center
        self.rank_ = inner.rank_
        self.shrinkage_ = inner.shrinkage_
        return self


def _standard(X: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Return columns of mean zero and variance one, or zero, their means and their spreads."""
    shares = weights / weights.sum()
    center = shares @ X
    Z = X - center
    scale = np.sqrt(shares @ Z**2)
    scale = np.where(scale > _CONSTANT * np.abs(center) + 1e-150, scale, np.inf)
    return Z / scale, center, np.where(np.isfinite(scale), scale, 1.0)


# The matrices are so small that threads would only wait.
@threadpool_limits.wrap(limits=1, user_api="blas")  # type: ignore[untyped-decorator]
def _strengths(Z: Array, labels: Labels, r: int, seed: int) -> Array:
    """Return the strength of each column, above 1 where the lasso keeps it, shape (p,).

    For the others it is the correlation with the target, which is below 1.
    """
    squares = _standard(np.clip(Z, -_FAR, _FAR) ** 2, labels.weights)[0]
    shares = labels.weights / labels.weights.sum()
    found = np.zeros(Z.shape[1])
    for target in _targets(labels, Z, r):
        for table in (Z, squares):
            wanted = np.abs(_adaptive_lasso(table, target, labels.weights, seed))
            alone = np.abs((shares * target) @ table)
            found = np.maximum(found, np.where(wanted > 0, 1 + wanted, np.minimum(alone, 1.0)))
    return found


def _targets(labels: Labels, Z: Array, r: int) -> list[Array]:
    """Return standardised functions of y: its normal score, or r contrasts of its classes."""
    if labels.kind == "numbers":
        functions = labels.scores[:, None]
    else:
        classes = (labels.codes[:, None] == np.arange(len(labels.values))).astype(float)
        counts = np.maximum(labels.weights @ classes, 1e-12)
        means = (classes * labels.weights[:, None]).T @ Z / np.sqrt(counts)[:, None]
        contrasts = np.linalg.svd(means, full_matrices=False)[0] / np.sqrt(counts)[:, None]
        functions = classes @ contrasts[:, : min(r, len(counts) - 1)]
    return list(_standard(functions, labels.weights)[0].T)


def _adaptive_lasso(Z: Array, target: Array, weights: Array, seed: int) -> Array:
    """Return coefficients of a second lasso, with penalties divided by the first coefficients."""
    sizes = np.abs(_lasso(Z, target, weights, seed))
    kept = np.flatnonzero(sizes)
    found = np.zeros(Z.shape[1])
    if len(kept):
        scaled = _lasso(Z[:, kept] * sizes[kept], target, weights, seed)
        found[kept] = scaled * sizes[kept]
    return found


def _lasso(Z: Array, target: Array, weights: Array, seed: int) -> Array:
    """Return coefficients at the largest penalty within one standard error of the best."""
    folds = KFold(min(_FOLDS, len(Z)), shuffle=True, random_state=seed)
    least = float(np.abs((weights * target) @ Z).max()) / weights.sum()  # It leaves no column.
    alphas = max(least, 1e-12) * np.geomspace(1, _SMALLEST, _PENALTIES)
    model = LassoCV(alphas=alphas, cv=folds, tol=1e-3, max_iter=500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # Only the columns are used.
        model.fit(Z, target, sample_weight=weights)
        errors = model.mse_path_.mean(axis=1)
        spread = model.mse_path_.std(axis=1) / np.sqrt(model.mse_path_.shape[1])
        best = int(errors.argmin())
        first = int(np.argmax(errors <= errors[best] + spread[best]))
        chosen = Lasso(model.alphas_[first], tol=1e-3, max_iter=500)
        return np.asarray(chosen.fit(Z, target, sample_weight=weights).coef_)
