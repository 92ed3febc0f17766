"""What prediction on coordinates shares, whatever is predicted: directions first, then a model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from learnability.errors import LearnabilityError
from learnability.estimators._base import SubspaceEstimator, read_weights, refuse_missing
from learnability.estimators.index_subspace import IndexSubspace

__all__ = ["IndexPredictor", "fit_counted"]

_NUMBERS = [np.float64, np.float32]


class IndexPredictor(BaseEstimator):  # type: ignore[misc]
    """Base of the estimators that predict y from the directions it depends on."""

    _doc_link_module = SubspaceEstimator._doc_link_module
    _doc_link_template = SubspaceEstimator._doc_link_template
    _doc_link_url_param_generator = SubspaceEstimator._doc_link_url_param_generator

    subspace: Any
    random_state: Any
    subspace_: Any

    def _read(
        self, X: Any, y: Any, counts: Any, *, numeric: bool
    ) -> tuple[NDArray[Any], NDArray[Any], Any]:
        """Return the rows of positive weight, their targets, and their weights if given."""
        refuse_missing(X)
        X, y = validate_data(self, X, y, dtype=_NUMBERS, y_numeric=numeric, ensure_min_samples=2)
        if counts is None:
            return X, y, None
        weights = read_weights(X, counts)
        present = weights > 0
        return X[present], y[present], weights[present]

    def _find(self, X: Any, y: Any, weights: Any) -> NDArray[Any]:
        """Return coordinates of the rows in the directions that y depends on."""
        given = self.subspace is not None
        finder = clone(self.subspace) if given else IndexSubspace(random_state=self.random_state)
        self.subspace_ = fit_counted(finder, X, y, weights)
        return np.asarray(self.subspace_.transform(X))

    def _coordinates(self, X: Any) -> NDArray[Any]:
        """Return coordinates of new rows, or the rows themselves where no direction was found."""
        check_is_fitted(self)
        refuse_missing(X)
        X = validate_data(self, X, reset=False, dtype=_NUMBERS)
        if self.subspace_ is None or len(self.subspace_.components_) == 0:
            return np.asarray(X)
        return np.asarray(self.subspace_.transform(X))


def fit_counted(model: Any, X: Any, y: Any, weights: Any) -> Any:
    """Fit a model with weights of the rows, or refuse where it takes none."""
    if weights is None:
        return model.fit(X, y)
    if not has_fit_parameter(model, "sample_weight"):
        raise LearnabilityError(
            f"`sample_weight` was given, but {type(model).__name__} takes none: leave it out, or "
            "give a model whose `fit` takes `sample_weight`."
        )
    return model.fit(X, y, sample_weight=weights)
