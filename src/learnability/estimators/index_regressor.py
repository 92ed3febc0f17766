"""Regression on the few relevant coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin, clone
from sklearn.dummy import DummyRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from learnability.estimators._prediction import IndexPredictor, explained, fit_counted
from learnability.estimators._whitening import row_blocks

__all__ = ["IndexRegressor"]

Array = NDArray[np.float64]
_PIECES = 300
_PIECES_EACH = 75
"""Largest number of rows at which the kernel is centred, in all and per coordinate."""
_WIDTHS = (0.03, 0.1, 0.3, 1.0)
"""Inverse squared widths of the kernel, in units of the spread of the coordinates."""
_FEW_ROWS = 10
"""Fewer rows than this are too few to choose a width."""
_BEYOND = 0.1
"""Share of the range of the targets by which predictions may go beyond them."""
_MOST_ERRORS = 5000
"""The largest number of errors from which intervals are made."""


class IndexRegressor(RegressorMixin, IndexPredictor):  # type: ignore[misc]
    """Regression that first finds the directions on which y depends.

    Parameters
    ----------
    subspace : subspace estimator, optional
        Finds the directions; `IndexSubspace` with as many as it finds by default.
    regressor : regressor, optional
        Fitted on the coordinates; by default ridge regression on them and on a Gaussian kernel at
        at most 300 of the rows, tuned by leave-one-out errors. Its predictions go beyond the
        targets that it saw by at most a tenth of their range.
    folds : int, optional
        Number of folds. Directions and regressor are fitted again without each fold, for an honest
        score and for intervals; none by default.
    random_state : int, RandomState or None, default None
        The seed of the default subspace, and of the folds.

    Attributes
    ----------
    subspace_ : subspace estimator
        The fitted directions.
    regressor_ : regressor
        The fitted regressor; the mean where no direction was found.
    held_out_ : array, shape (n,)
        Predictions of the rows by fits that did not see them, where `folds` is given; of rows that
        are copies of each other, the first only.
    score_, score_error_ : float
        Share of the variance that these explain, and its standard error.
    """

    def __init__(
        self, subspace: Any = None, regressor: Any = None, folds: Any = None,
        random_state: Any = None,
    ) -> None:  # fmt: skip
        self.subspace = subspace
        self.regressor = regressor
        self.folds = folds
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
        self._ends = (-np.inf, np.inf)
        if self.regressor is None:
            more = _BEYOND * np.ptp(y, axis=0)
            self._ends = (y.min(axis=0) - more, y.max(axis=0) + more)
        if len(np.unique(y)) < 2:
            self.subspace_, self.regressor_ = None, DummyRegressor().fit(X, y, weights)
            return self._fit_folds(X, y, weights)
        t = self._find(X, y, weights)
        if t.shape[1] == 0:
            self.regressor_ = DummyRegressor().fit(X, y, weights)
        elif self.regressor is not None:
            self.regressor_ = fit_counted(clone(self.regressor), t, y, weights)
        else:
            self.regressor_ = _tuned(t, y, weights)
        return self._fit_folds(X, y, weights)

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
        return np.asarray(np.clip(self.regressor_.predict(coordinates), *self._ends))

    def predict_interval(self, X: Any, coverage: float = 0.9) -> NDArray[Any]:
        """Return intervals that hold a share of new targets, whatever the law of the rows.

        They are made of the errors of the fits without each fold on the rows of that fold, each row
        counted once (CV+).

        Parameters
        ----------
        X : array, shape (n, p)
            The inputs.
        coverage : float
            The share.

        Returns
        -------
        array, shape (n, 2)
            Lower and upper ends; infinite where rows are too few for that share.

        Raises
        ------
        LearnabilityError
            When the model was fitted without `folds`, or the share is not in (0, 1).

        References
        ----------
        Barber, Candes, Ramdas, Tibshirani, Ann. Stat. 49 (2021) 486, section 3.
        """
        views = np.stack(self._fold_views(X, coverage), axis=1)
        some = slice(None, None, -(-len(self._residuals) // _MOST_ERRORS))
        folds, errors = self.fold_[some], self._residuals[some]
        place = int(np.floor((1 - coverage) * (len(errors) + 1)))
        found = np.full((len(views), 2), [-np.inf, np.inf])
        if place == 0:
            return found
        for rows in row_blocks(0, len(views), 256):
            each = views[rows][:, folds]
            found[rows, 0] = np.partition(each - errors, place - 1, axis=1)[:, place - 1]
            found[rows, 1] = np.partition(each + errors, -place, axis=1)[:, -place]
        return found

    def _predicted(self, X: NDArray[Any]) -> NDArray[Any]:
        return self.predict(X)

    def _gains(self, y: NDArray[Any], predicted: NDArray[Any], weights: Array) -> Array:
        return explained(y, predicted, weights)

    def _learn_errors(self, y: NDArray[Any], weights: Array) -> None:
        self._residuals = np.abs(y - self.held_out_)


# The matrices are so small that threads would only wait.
@threadpool_limits.wrap(limits=1, user_api="blas")  # type: ignore[untyped-decorator]
def _tuned(t: NDArray[Any], y: NDArray[Any], weights: Any) -> Any:
    """Return ridge regression on coordinates and a kernel, width and ridge by left-out rows."""
    from sklearn.compose import TransformedTargetRegressor

    n, r = t.shape
    pieces = max(min(_PIECES, _PIECES_EACH * r, 4 * n // 5), 1)
    counts = {} if weights is None else {"ridgecv__sample_weight": weights}
    found = []
    for gamma in _WIDTHS if n >= _FEW_ROWS else (None,):
        kernel = Nystroem(gamma=gamma, n_components=pieces, random_state=0)
        model = make_pipeline(
            StandardScaler(), make_union("passthrough", kernel), RidgeCV(np.logspace(-5, 1, 7))
        )
        scaled = TransformedTargetRegressor(model, transformer=StandardScaler())
        found.append(scaled.fit(t, y, **counts))
    # The score is the leave-one-out error, which is exact for ridge regression.
    return max(found, key=lambda model: model.regressor_[-1].best_score_)
