"""Predictions from the directions, compared with models that use all columns.

All models are fitted without each fold of the rows and scored on the same rows of that fold, so
that their differences have small errors. Where a model that uses all columns is ahead by more than
two standard errors, the directions lose signal, and the report says how much.
"""

from __future__ import annotations

import textwrap
import warnings
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from learnability.estimators._labels import weighted_mean
from learnability.estimators._prediction import IndexPredictor, explained, given_rows
from learnability.progress import tracked

__all__ = ["PredictionReport", "prediction_report"]

Array = NDArray[np.float64]
_CLEAR = 2.0
"""A reference is clearly ahead if it leads by more than this many standard errors."""
_STIFF = (1.0, 10.0, 100.0)
"""Values of the constant C of a kernel machine."""
_SMOOTH = 0.3
"""Inverse squared width of its kernel, divided by the number of columns."""
_TUNED = 2000
"""The largest number of rows for which the constant is chosen by inner folds."""


@dataclass(frozen=True)
class PredictionReport:
    """Scores on unseen rows.

    Attributes
    ----------
    rows, folds : int
        Numbers of rows and folds.
    measure : str
        What a score is.
    score, error : float
        Score of the model on the directions, and its standard error.
    references : dict
        Model on all columns -> (score, standard error).
    ahead : dict
        Model on all columns -> (its score minus that of the directions, standard error).
    chance : float
        The score of a model that knows the target only: 0, or the share of the largest class.
    """

    rows: int
    folds: int
    measure: str
    score: float
    error: float
    references: dict[str, tuple[float, float]]
    ahead: dict[str, tuple[float, float]]
    chance: float = 0.0

    @property
    def loss(self) -> tuple[str, float, float] | None:
        """The reference that is most clearly ahead, its lead and the error of it; or None.

        It must also be clearly above chance itself.
        """
        clear = [
            (gain, error, name)
            for name, (gain, error) in self.ahead.items()
            if gain > _CLEAR * error
            and self.references[name][0] - self.chance > _CLEAR * self.references[name][1]
        ]
        if not clear:
            return None
        gain, error, name = max(clear)
        return name, gain, error

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain numbers and words."""
        return asdict(self)

    def __str__(self) -> str:
        """Return sentences, one per paragraph."""
        others = ", ".join(f"{name} {a:.3f} ± {b:.3f}" for name, (a, b) in self.references.items())
        lines = [
            f"Prediction of rows that were left out ({self.folds} folds of {self.rows} rows), "
            f"{self.measure}: from the directions {self.score:.3f} ± {self.error:.3f}; from all "
            f"columns {others}."
        ]
        if self.loss is None:
            name, (gain, error) = max(self.ahead.items(), key=lambda item: item[1][0])
            near = f": {name} by {gain:.3f} ± {error:.3f}" if gain > 0 else ""
            lines.append(
                "No model of all columns is above chance and ahead by more than two standard "
                f"errors{near}."
            )
        else:
            name, gain, error = self.loss
            lines.append(
                f"The directions lose signal: {name} on all columns is ahead by {gain:.3f} ± "
                f"{error:.3f}."
            )
        return "\n".join(textwrap.fill(line, 80) for line in lines)


def prediction_report(
    model: IndexPredictor, X: Any, y: Any, sample_weight: Any = None
) -> PredictionReport:
    """Compare predictions from the directions with those of models that use all columns.

    Parameters
    ----------
    model : IndexRegressor or IndexClassifier
        A model that was fitted with `folds`.
    X, y, sample_weight
        The data to which it was fitted.

    Returns
    -------
    PredictionReport

    Raises
    ------
    LearnabilityError
        When the model was fitted without `folds`, or to other rows.
    """
    X, y, weights = given_rows(model, X, y, sample_weight)
    numbers = bool(is_regressor(model))
    own, folds = model._rows, model.fold_
    references: dict[str, tuple[float, float]] = {}
    ahead: dict[str, tuple[float, float]] = {}
    named = _references(X, numbers=numbers)
    for name, reference in tracked(list(named.items()), "models of all columns"):
        rows = _rows_of(reference, X, y, weights, folds, numbers=numbers)
        references[name] = weighted_mean(rows, weights)
        ahead[name] = weighted_mean(rows - own, weights)
    return PredictionReport(
        rows=len(X),
        folds=int(folds.max()) + 1,
        measure="explained share of the variance" if numbers else "share of right classes",
        score=weighted_mean(own, weights)[0],
        error=weighted_mean(own, weights)[1],
        references=references,
        ahead=ahead,
        chance=0.0 if numbers else _largest_share(y, weights),
    )


def _largest_share(y: NDArray[Any], weights: Array) -> float:
    """Return the share of the most frequent class."""
    counts = np.bincount(np.unique(y, return_inverse=True)[1], weights=weights)
    return float(counts.max() / counts.sum())


def _references(X: Array, *, numbers: bool) -> dict[str, Any]:
    """Return models of all columns: a linear one, a kernel machine, boosted trees."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.linear_model import LassoCV, LogisticRegression, RidgeCV
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC, SVR

    def scaled(model: Any) -> Any:
        return make_pipeline(StandardScaler(), model)

    def tuned(machine: Any) -> Any:
        if len(X) > _TUNED:
            return machine.set_params(C=_STIFF[1])
        return GridSearchCV(machine, {"C": list(_STIFF)}, cv=3)

    wide = X.shape[1] > len(X)
    gamma = _SMOOTH / X.shape[1]
    if numbers:
        linear = {"lasso": LassoCV(cv=3)} if wide else {"ridge": RidgeCV(np.logspace(-3, 4, 15))}
        boosting = HistGradientBoostingRegressor(max_iter=60)
        others = {"kernel machine": tuned(SVR(gamma=gamma)), "boosting": boosting}
    else:
        linear = {"logistic": LogisticRegression(C=0.1 if wide else 1.0, max_iter=1000)}
        boosting = HistGradientBoostingClassifier(max_iter=60)
        others = {"kernel machine": tuned(SVC(gamma=gamma)), "boosting": boosting}
    if wide:
        del others["boosting"]  # It takes too long, and there are too few rows for it.
    return {name: scaled(model) for name, model in (linear | others).items()}


# The tables are so small that threads would only wait.
@threadpool_limits.wrap(limits=1)  # type: ignore[untyped-decorator]
def _rows_of(
    model: Any, X: Array, y: NDArray[Any], weights: Array, folds: NDArray[Any], *, numbers: bool
) -> Array:
    """Return terms of the score of a model that is fitted without each fold, shape (n,)."""
    if numbers:  # Support vector machines expect numbers of order one.
        y = y.astype(float)
        y = (y - y.mean()) / (float(y.std()) or 1.0)
    predicted = np.empty(len(y), dtype=y.dtype)
    last, equal = model.steps[-1][0], bool((weights == weights[0]).all())
    for fold in range(folds.max() + 1):
        out = folds == fold
        if len(np.unique(y[~out])) < 2:
            predicted[out] = y[~out][0]
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            # Boosted trees bin weighted columns ten times as slowly.
            counts = {} if equal else {f"{last}__sample_weight": weights[~out]}
            predicted[out] = clone(model).fit(X[~out], y[~out], **counts).predict(X[out])
    if numbers:
        return explained(y, predicted, weights)
    return np.asarray(predicted == y, dtype=float)
