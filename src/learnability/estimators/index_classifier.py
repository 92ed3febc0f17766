"""Classification on the few coordinates that matter."""

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

from learnability.errors import LearnabilityError
from learnability.estimators._prediction import IndexPredictor, fit_counted

__all__ = ["IndexClassifier"]


class IndexClassifier(ClassifierMixin, IndexPredictor):  # type: ignore[misc]
    """Classification that first finds the directions y depends on.

    Parameters
    ----------
    subspace : subspace estimator, optional
        Finds the directions; `IndexSubspace` with as many as it finds by default.
    classifier : classifier, optional
        Fitted on the coordinates; by default logistic regression on an approximated Gaussian
        kernel, tuned by cross-validation.
    class_weight : dict, "balanced" or None, default None
        Weights of the classes, for the default classifier and any that takes them.
    random_state : int, RandomState or None, default None
        The seed of the default subspace.

    Attributes
    ----------
    classes_ : array
        The classes.
    subspace_ : subspace estimator
        The fitted directions.
    classifier_ : classifier
        The fitted classifier; the shares of the classes where no direction was found.
    """

    def __init__(
        self, subspace: Any = None, classifier: Any = None, class_weight: Any = None,
        random_state: Any = None,
    ) -> None:  # fmt: skip
        self.subspace = subspace
        self.classifier = classifier
        self.class_weight = class_weight
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
        # As text, so that many classes are never taken for numbers.
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
        return self

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
        return np.asarray(self.classifier_.predict_proba(coordinates))

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

    def _weights(self) -> Any:
        """Return weights of the classes by their number."""
        if not isinstance(self.class_weight, dict):
            return self.class_weight
        return {k: self.class_weight.get(name, 1.0) for k, name in enumerate(self.classes_)}


def _tuned(t: NDArray[Any], codes: NDArray[Any], class_weight: Any, weights: Any) -> Any:
    """Logistic regression on an approximated Gaussian kernel, by cross-validated likelihood."""
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
