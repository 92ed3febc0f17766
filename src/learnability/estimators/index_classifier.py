"""Classification on the few relevant coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import check_classification_targets
from threadpoolctl import threadpool_limits

from learnability.errors import LearnabilityError
from learnability.estimators._prediction import IndexPredictor, fit_counted

__all__ = ["IndexClassifier"]

Array = NDArray[np.float64]
_LEAST = 1e-6
"""Smaller class probabilities are replaced by this one."""


class IndexClassifier(ClassifierMixin, IndexPredictor):  # type: ignore[misc]
    """Classification that first finds the directions on which y depends.

    Parameters
    ----------
    subspace : subspace estimator, optional
        Finds the directions; `IndexSubspace` with as many as it finds by default.
    classifier : classifier, optional
        Fitted on the coordinates; by default logistic regression on an approximated Gaussian
        kernel, tuned by cross-validation.
    class_weight : dict, "balanced" or None, default None
        Weights of the classes, for the default classifier and any that takes them.
    folds : int, optional
        Number of folds. Directions and classifier are fitted again without each fold, for an honest
        score, for calibrated probabilities and for sets of classes; none by default.
    random_state : int, RandomState or None, default None
        The seed of the default subspace, and of the folds.

    Attributes
    ----------
    classes_ : array
        The classes.
    subspace_ : subspace estimator
        The fitted directions.
    classifier_ : classifier
        The fitted classifier; the shares of the classes where no direction was found.
    held_out_ : array, shape (n, classes)
        Class probabilities by fits that did not see the row, where `folds` is given; of rows that
        are copies of each other, the first only.
    score_, score_error_ : float
        Share of the rows whose class they predict, and its standard error.
    sharpness_ : float
        Power to which probabilities are raised, for the largest likelihood of unseen rows; 1
        without `folds`, and where classes have weights.
    """

    def __init__(
        self, subspace: Any = None, classifier: Any = None, class_weight: Any = None,
        folds: Any = None, random_state: Any = None,
    ) -> None:  # fmt: skip
        self.subspace = subspace
        self.classifier = classifier
        self.class_weight = class_weight
        self.folds = folds
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> IndexClassifier:
        """Find the directions and classify by their coordinates.

        Parameters
        ----------
        X : array, shape (n, p)
            The inputs.
        y : array, shape (n,)
            The classes.
        sample_weight : array, shape (n,), optional
            Counts of the rows.

        Returns
        -------
        IndexClassifier
        """
        X, y, weights = self._read(X, y, sample_weight, numeric=False)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise LearnabilityError(
                "`y` has 1 class only, but a classifier needs at least two classes."
            )
        # Classes are given as text, so that many classes are never read as numbers.
        t = self._find(X, np.char.add("class ", codes.astype(str)), weights)
        if t.shape[1] == 0:
            self.classifier_ = DummyClassifier(strategy="prior").fit(X, codes, weights)
        elif self.classifier is not None:
            model = clone(self.classifier)
            if self.class_weight is not None and "class_weight" in model.get_params():
                model.set_params(class_weight=self._weights())
            self.classifier_ = fit_counted(model, t, codes, weights)
        else:
            self.classifier_ = _tuned(t, codes, self._weights(), weights)
        self.sharpness_ = 1.0
        return self._fit_folds(X, y, weights, codes)

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return probabilities of the classes.

        Parameters
        ----------
        X : array, shape (n, p)
            The inputs.

        Returns
        -------
        array, shape (n, classes)
        """
        coordinates = self._coordinates(X)
        return _sharpened(self.classifier_.predict_proba(coordinates), self.sharpness_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable classes.

        Parameters
        ----------
        X : array, shape (n, p)
            The inputs.

        Returns
        -------
        array, shape (n,)
        """
        coordinates = self._coordinates(X)
        return np.asarray(self.classes_[self.classifier_.predict(coordinates)])

    def predict_set(self, X: Any, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Return sets of classes that hold the class of a share of new rows, whatever their law.

        A class is left out if its probability, by the fits without each fold, is below those of the
        true classes of at least this share of the rows of the folds.

        Parameters
        ----------
        X : array, shape (n, p)
            The inputs.
        coverage : float
            The share.

        Returns
        -------
        array of bool, shape (n, classes)
            Which classes are in the set, in the order of `classes_`.

        Raises
        ------
        LearnabilityError
            When the model was fitted without `folds`, or the share is not in (0, 1).

        References
        ----------
        Romano, Sesia, Candes, NeurIPS 2020, section 2.3.
        """
        views = self._fold_views(X, coverage)
        likelier = np.zeros(views[0].shape)
        for fold, view in enumerate(views):
            own = np.sort(self._own[self.fold_ == fold])
            likelier += len(own) - np.searchsorted(own, view, side="right")
        return np.asarray(likelier < coverage * (len(self._own) + 1))

    def _predicted(self, X: NDArray[Any]) -> NDArray[Any]:
        return self.predict_proba(X)

    def _of_fold(self, model: Any, X: NDArray[Any]) -> NDArray[Any]:
        found = np.zeros((len(X), len(self.classes_)))
        found[:, np.searchsorted(self.classes_, model.classes_)] = model.predict_proba(X)
        return found

    def _gains(self, y: NDArray[Any], predicted: NDArray[Any], weights: Array) -> Array:
        return np.asarray(self.classes_[predicted.argmax(axis=1)] == y, dtype=float)

    def _learn_errors(self, y: NDArray[Any], weights: Array) -> None:
        codes = np.searchsorted(self.classes_, y)
        self._own = self.held_out_[np.arange(len(y)), codes]
        if self.class_weight is None:
            self.sharpness_ = _sharpness(self.held_out_, codes, weights)

    def _weights(self) -> Any:
        """Return weights of the classes by their number."""
        if not isinstance(self.class_weight, dict):
            return self.class_weight
        return {k: self.class_weight.get(name, 1.0) for k, name in enumerate(self.classes_)}


def _sharpened(chances: NDArray[Any], power: float) -> NDArray[Any]:
    """Return probabilities (n, classes) raised to a power and normalised."""
    if power == 1.0:
        return np.asarray(chances)
    found = np.maximum(chances, _LEAST) ** power
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _sharpness(chances: NDArray[Any], codes: NDArray[Any], weights: Array) -> float:
    """Return the power of the probabilities that maximises the likelihood of the classes."""
    from scipy.optimize import minimize_scalar

    def surprise(log_power: float) -> float:
        own = _sharpened(chances, float(np.exp(log_power)))[np.arange(len(codes)), codes]
        return -float(weights @ np.log(np.maximum(own, _LEAST)))

    return float(np.exp(minimize_scalar(surprise, bounds=(-3, 2), method="bounded").x))


# The matrices are so small that threads would only wait.
@threadpool_limits.wrap(limits=1, user_api="blas")  # type: ignore[untyped-decorator]
def _tuned(t: NDArray[Any], codes: NDArray[Any], class_weight: Any, weights: Any) -> Any:
    """Return logistic regression on an approximate Gaussian kernel, tuned by cross-validation."""
    pieces = min(200, max(2, len(t) // 3))
    model = make_pipeline(
        StandardScaler(),
        Nystroem(n_components=pieces, random_state=0, gamma=0.1),
        LogisticRegression(C=10.0, max_iter=2000, class_weight=class_weight),
    )
    counts = {} if weights is None else {"logisticregression__sample_weight": weights}
    folds = min(3, int(np.bincount(codes).min()))
    if folds < 3 or len(t) < 60:
        return model.fit(t, codes, **counts)
    grid = {"nystroem__gamma": [0.03, 0.3], "logisticregression__C": [1.0, 30.0]}
    return GridSearchCV(model, grid, cv=folds, scoring="neg_log_loss").fit(t, codes, **counts)
