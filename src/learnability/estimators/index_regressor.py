"""Regression on the few coordinates that matter."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin, clone
from sklearn.dummy import DummyRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from learnability.estimators._prediction import IndexPredictor, fit_counted

__all__ = ["IndexRegressor"]

_MOST_ROWS = 2500
"""Rows beyond which the kernel is approximated."""


class IndexRegressor(RegressorMixin, IndexPredictor):  # type: ignore[misc]
    """Regression that first finds the directions y depends on.

    Parameters
    ----------
    subspace : subspace estimator, optional
        Finds the directions; `IndexSubspace` with as many as it finds by default.
    regressor : regressor, optional
        Fitted on the coordinates; by default kernel ridge regression with a Gaussian kernel, tuned
        by cross-validation (with an approximated kernel beyond 2500 rows).
    random_state : int, RandomState or None, default None
        The seed of the default subspace.

    Attributes
    ----------
    subspace_ : subspace estimator
        The fitted directions.
    regressor_ : regressor
        The fitted regressor; the mean where no direction was found.
    """

    def __init__(
        self, subspace: Any = None, regressor: Any = None, random_state: Any = None
    ) -> None:
        self.subspace = subspace
        self.regressor = regressor
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> IndexRegressor:
        """Find the directions and regress on their coordinates.

        Parameters
        ----------
        X : array, shape (n, p)
            The inputs.
        y : array, shape (n,)
            The target.
        sample_weight : array, shape (n,), optional
            Counts of the rows.

        Returns
        -------
        IndexRegressor
        """
        X, y, weights = self._read(X, y, sample_weight, numeric=True)
        if len(np.unique(y)) < 2:
            self.subspace_, self.regressor_ = None, DummyRegressor().fit(X, y, weights)
            return self
        t = self._find(X, y, weights)
        if t.shape[1] == 0:
            self.regressor_ = DummyRegressor().fit(X, y, weights)
        elif self.regressor is not None:
            self.regressor_ = fit_counted(clone(self.regressor), t, y, weights)
        else:
            self.regressor_ = _tuned(t, y, weights)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return predicted targets.

        Parameters
        ----------
        X : array, shape (n, p)
            The inputs.

        Returns
        -------
        array, shape (n,)
        """
        coordinates = self._coordinates(X)
        return np.asarray(self.regressor_.predict(coordinates))


def _tuned(t: NDArray[Any], y: NDArray[Any], weights: Any) -> Any:
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
    counts = {} if weights is None else {f"{model.steps[-1][0]}__sample_weight": weights}
    scaled = TransformedTargetRegressor(model, transformer=StandardScaler())
    if folds < 3 or len(t) < 10:
        return scaled.fit(t, y, **counts)
    search = GridSearchCV(scaled, grid, cv=folds, scoring="neg_mean_squared_error")
    return search.fit(t, y, **counts)
