"""What regression and classification on coordinates share: directions first, then a model.

With `folds` both directions and model are fitted again without each fold of the rows. Their
predictions of the rows that they did not see give an honest score, and intervals or sets of labels
that hold a given share of new labels for any law of the rows (cross-conformal prediction: at least
1 - 2 alpha for a requested 1 - alpha, in practice 1 - alpha).

References
----------
Barber, Candes, Ramdas, Tibshirani, Ann. Stat. 49 (2021) 486, theorem 4; Romano, Sesia, Candes,
NeurIPS 2020, for classes.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from learnability.errors import LearnabilityError
from learnability.estimators._base import (
    SubspaceEstimator,
    as_seed,
    check_count,
    read_weights,
    refuse_extreme_target,
    refuse_missing,
)
from learnability.estimators._copies import copied_rows, merged_rows
from learnability.estimators._labels import weighted_mean
from learnability.estimators.index_subspace import IndexSubspace

__all__ = ["IndexPredictor", "explained", "fit_counted", "fold_numbers", "given_rows"]

Array = NDArray[np.float64]
_NUMBERS = [np.float64, np.float32]
_EQUAL = 1e-9
"""Weights that differ by less are equal."""


class IndexPredictor(BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """Base of the estimators that predict y from the directions on which it depends."""

    _doc_link_module = SubspaceEstimator._doc_link_module
    _doc_link_template = SubspaceEstimator._doc_link_template
    _doc_link_url_param_generator = SubspaceEstimator._doc_link_url_param_generator

    subspace: Any
    folds: Any
    random_state: Any
    subspace_: Any

    def _read(
        self, X: Any, y: Any, counts: Any, *, numeric: bool
    ) -> tuple[NDArray[Any], NDArray[Any], Any]:
        """Return the rows of positive weight, their targets, and their weights if given.

        Copies of a row are one row: folds would show it to the fits that must not see it.
        """
        if self.folds is not None:
            check_count("folds", self.folds, 2)
        refuse_missing(X)
        X, y = validate_data(self, X, y, dtype=_NUMBERS, y_numeric=numeric, ensure_min_samples=2)
        if numeric:
            refuse_extreme_target(y)
        weights = read_weights(X, counts)
        X, y, weights = (rows[weights > 0] for rows in (X, y, weights))
        self._copies = copied_rows(X, y)
        if self._copies is not None:
            X, y, weights = merged_rows(self._copies, X, y, weights)
        given = counts is not None or (np.ptp(weights) > _EQUAL and self._takes_weights())
        return X, y, weights if given else None

    def _takes_weights(self) -> bool:
        """Return whether all models that were given can be fitted with weights."""
        models = (
            self.subspace,
            getattr(self, "regressor", None),
            getattr(self, "classifier", None),
        )
        return all(one is None or has_fit_parameter(one, "sample_weight") for one in models)

    def _find(self, X: Any, y: Any, weights: Any) -> NDArray[Any]:
        """Return coordinates of the rows in the directions of y, (n, 0) where there is none."""
        given = self.subspace is not None
        finder = clone(self.subspace) if given else IndexSubspace(random_state=self.random_state)
        self.subspace_ = fit_counted(finder, X, y, weights)
        found = np.asarray(self.subspace_.transform(X))
        return found[:, : len(self.subspace_.components_)]

    def _coordinates(self, X: Any) -> NDArray[Any]:
        """Return coordinates of new rows, or the rows themselves where no direction was found."""
        check_is_fitted(self)
        X = self._new_rows(X)
        if self.subspace_ is None or len(self.subspace_.components_) == 0:
            return np.asarray(X)
        return np.asarray(self.subspace_.transform(X))

    def _new_rows(self, X: Any) -> NDArray[Any]:
        refuse_missing(X)
        return np.asarray(validate_data(self, X, reset=False, dtype=_NUMBERS))

    # ---- the rows that a fit did not see

    @abstractmethod
    def _predicted(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return what is compared with the target: a number, or the class probabilities."""

    @abstractmethod
    def _gains(self, y: NDArray[Any], predicted: NDArray[Any], weights: Array) -> Array:
        """Return terms of the score of the rows, shape (n,)."""

    @abstractmethod
    def _learn_errors(self, y: NDArray[Any], weights: Array) -> None:
        """Store what intervals or sets of labels need."""

    def _fit_folds(self, X: Any, y: NDArray[Any], weights: Any, codes: Any = None) -> Self:
        """Fit again without each fold, if folds are requested, and score the rows left out.

        Folds hold the same shares of the classes, given by their codes.
        """
        if self.folds is None:
            return self
        seed = as_seed(self.random_state)
        self.fold_ = fold_numbers(len(X), min(self.folds, len(X)), seed, codes)
        self.fold_models_: list[Any] = []
        parts: list[NDArray[Any]] = []
        for fold in range(self.fold_.max() + 1):
            out = self.fold_ == fold
            counts = {} if weights is None else {"sample_weight": weights[~out]}
            model = clone(self).set_params(folds=None).fit(X[~out], y[~out], **counts)
            self.fold_models_.append(model)
            parts.append(self._of_fold(model, X[out]))
        self.held_out_ = np.zeros((len(X), *parts[0].shape[1:]))
        for fold, part in enumerate(parts):
            self.held_out_[self.fold_ == fold] = part
        counted = np.ones(len(X)) if weights is None else weights
        self._rows = self._gains(y, self.held_out_, counted)
        self.score_, self.score_error_ = weighted_mean(self._rows, counted)
        self._learn_errors(y, counted)
        return self

    def _of_fold(self, model: Any, X: NDArray[Any]) -> NDArray[Any]:
        """Return the predictions of a model that was fitted without a fold."""
        return np.asarray(model._predicted(X))

    def _fold_views(self, X: Any, coverage: float) -> list[NDArray[Any]]:
        """Return predictions of new rows by the model without each fold."""
        check_is_fitted(self)
        if self.folds is None:
            raise LearnabilityError(
                "Intervals rest on fits without folds of the rows, and this model has none: give "
                "`folds`, for instance 5."
            )
        if not 0 < coverage < 1:
            raise LearnabilityError(
                f"`coverage` was given as {coverage!r}, but a number in (0, 1) is accepted."
            )
        X = self._new_rows(X)
        return [self._of_fold(model, X) for model in self.fold_models_]


def fold_numbers(n: int, count: int, seed: int, codes: Any = None) -> NDArray[np.intp]:
    """Return the fold of each row; folds hold the same shares of the classes, if any."""
    order = np.random.default_rng(seed).permutation(n)
    if codes is not None:
        order = order[np.argsort(codes[order], kind="stable")]
    found = np.empty(n, dtype=np.intp)
    found[order] = np.arange(n) % count
    return found


def given_rows(model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Array, NDArray[Any], Array]:
    """Return the rows to which a model was fitted in folds; refuse others."""
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
    copies = getattr(model, "_copies", None)
    if copies is not None and len(copies) == len(X):
        X, y, weights = merged_rows(copies, X, y, weights)
    if model.folds is None or len(getattr(model, "fold_", ())) != len(X):
        raise LearnabilityError(
            "This needs a model that was fitted with `folds`, and the rows it was fitted to."
        )
    return X, y, weights


def explained(y: NDArray[Any], predicted: NDArray[Any], weights: Array) -> Array:
    """Return terms of the explained share of the variance of a target, shape (n,).

    Their mean is the share, and their standard error is that of a ratio, as extreme rows enter both
    the errors and the variance.
    """
    shares = weights / weights.sum()
    squares, errors = (y - shares @ y) ** 2, (y - predicted) ** 2
    variance = float(shares @ squares)
    if variance == 0:
        return np.zeros(len(y))
    left = float(shares @ errors) / variance
    return np.asarray(1 - errors / variance + left * (squares / variance - 1))


def fit_counted(model: Any, X: Any, y: Any, weights: Any) -> Any:
    """Fit a model with weights of the rows; refuse a model that takes none."""
    if weights is None:
        return model.fit(X, y)
    if not has_fit_parameter(model, "sample_weight"):
        raise LearnabilityError(
            f"`sample_weight` was given, but {type(model).__name__} takes none: leave it out, or "
            "give a model whose `fit` takes `sample_weight`."
        )
    return model.fit(X, y, sample_weight=weights)
