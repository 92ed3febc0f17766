"""Regression on the few coordinates that matter."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.dummy import DummyRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data

from learnability.estimators._base import SubspaceEstimator, refuse_missing
from learnability.estimators.index_subspace import IndexSubspace

__all__ = ["IndexRegressor"]

_MOST_ROWS = 2500
"""Rows beyond which the kernel is approximated."""


class IndexRegressor(RegressorMixin, BaseEstimator):
    """Regression that first finds the directions y depends on.

    Parameters
    ----------
    subspace : subspace estimator, optional
        Finds the directions; `IndexSubspace` with as many as it finds by default.
    regressor : regressor, optional
        Fitted on the coordinates; by default kernel ridge regression with a Gaussian kernel, tuned
        by cross-validation (with an approximated kernel beyond 2500 rows).
    random_state : int, RandomState or None, default None
        Of the default subspace.

    Attributes
    ----------
    subspace_ : subspace estimator
        The fitted directions.
    regressor_ : regressor
        The fitted regressor; the mean where no direction was found.
    """

    _doc_link_module = SubspaceEstimator._doc_link_module
    _doc_link_template = SubspaceEstimator._doc_link_template
    _doc_link_url_param_generator = SubspaceEstimator._doc_link_url_param_generator

    def __init__(
        self, subspace: Any = None, regressor: Any = None, random_state: Any = None
    ) -> None:
        self.subspace = subspace
        self.regressor = regressor
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> IndexRegressor:
        """Find the directions and regress on their coordinates.

        Parameters
        ----------
        X : array, shape (n, p)
            The inputs.
        y : array, shape (n,)
            The target.

        Returns
        -------
        IndexRegressor
        """
        refuse_missing(X)
        X, y = validate_data(
            self, X, y, dtype=[np.float64, np.float32], y_numeric=True, ensure_min_samples=2
        )
        finder = (
            IndexSubspace(random_state=self.random_state)
            if self.subspace is None
            else clone(self.subspace)
        )
        if len(np.unique(y)) < 2:
            self.subspace_, self.regressor_ = None, DummyRegressor().fit(X, y)
            return self
        self.subspace_ = finder.fit(X, y)
        t = self.subspace_.transform(X)
        if t.shape[1] == 0:
            self.regressor_ = DummyRegressor().fit(X, y)
        elif self.regressor is not None:
            self.regressor_ = clone(self.regressor).fit(t, y)
        else:
            self.regressor_ = _tuned(t, y)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predicted targets.

        Parameters
        ----------
        X : array, shape (n, p)
            The inputs.

        Returns
        -------
        array, shape (n,)
        """
        check_is_fitted(self)
        refuse_missing(X)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        finder: Any = self.subspace_
        bare = finder is None or len(finder.components_) == 0
        return np.asarray(self.regressor_.predict(X if bare else finder.transform(X)))


def _tuned(t: NDArray[Any], y: NDArray[Any]) -> Any:
    """Kernel ridge regression of the standardised target, kernel and ridge by cross-validation."""
    from sklearn.compose import TransformedTargetRegressor

    folds = min(5, len(t))
    widths = [0.03, 0.1, 0.3, 1.0]
    if len(t) > _MOST_ROWS:
        model: Any = make_pipeline(
            StandardScaler(),
            Nystroem(n_components=300, random_state=0),
            RidgeCV(np.logspace(-6, 1, 8)),
        )
        grid = {"regressor__nystroem__gamma": widths}
    else:
        model = make_pipeline(StandardScaler(), KernelRidge(kernel="rbf"))
        grid = {
            "regressor__kernelridge__gamma": widths,
            "regressor__kernelridge__alpha": [1e-4, 1e-3, 1e-2, 0.1, 1.0],
        }
    scaled = TransformedTargetRegressor(model, transformer=StandardScaler())
    if folds < 3 or len(t) < 10:
        return scaled.fit(t, y)
    return GridSearchCV(scaled, grid, cv=folds, scoring="neg_mean_squared_error").fit(t, y)
