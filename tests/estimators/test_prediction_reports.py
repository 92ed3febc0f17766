import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier

from learnability.errors import LearnabilityError
from learnability.estimators import (
    IndexClassifier,
    IndexRegressor,
    MomentSubspace,
    PredictionReport,
    prediction_report,
)


@pytest.fixture
def rows():
    X = np.random.default_rng(0).standard_normal((150, 4))
    return X, X[:, 0] + X[:, 1] ** 2


def test_signal_that_the_directions_lose_is_said(rows):
    X, y = rows
    model = IndexRegressor(MomentSubspace("sir", 1), LinearRegression(), folds=2, random_state=0)
    report = prediction_report(model.fit(X, y), X, y)
    assert report.score == model.score_ and set(report.references) == {
        "ridge", "kernel machine", "boosting"
    }  # fmt: skip
    assert report.loss[0] in ("kernel machine", "boosting")
    assert "The directions lose signal" in str(report) and report.to_dict()["rows"] == 150
    linear = X[:, 0] + np.random.default_rng(1).standard_normal(len(X))
    model = IndexRegressor(MomentSubspace("sir", 4), LinearRegression(), folds=2, random_state=0)
    other = prediction_report(model.fit(X, linear), X, linear)  # All there is in four columns.
    assert other.loss is None and "No model of all columns" in str(other)


def test_classes_are_compared_by_the_share_that_is_right(rows):
    X, y = rows
    words = np.where(y > 1, "high", "low")
    model = IndexClassifier(
        MomentSubspace("dr", 2), KNeighborsClassifier(10), folds=2, random_state=0
    ).fit(X, words)
    report = prediction_report(model, X, words)
    assert report.measure == "share of right classes" and report.score > 0.7
    assert report.references["logistic"][0] < report.score


def test_a_model_without_folds_is_refused(rows):
    X, y = rows
    model = IndexRegressor(MomentSubspace("sir", 1), LinearRegression()).fit(X, y)
    with pytest.raises(LearnabilityError, match="folds"):
        prediction_report(model, X, y)


def test_no_signal_is_lost_where_no_model_is_above_chance():
    scores = {"ridge": (0.04, 0.04), "boosting": (0.3, 0.05)}
    ahead = {"ridge": (0.1, 0.03), "boosting": (0.05, 0.04)}
    report = PredictionReport(60, 5, "explained", -0.06, 0.02, scores, ahead)
    assert report.loss is None and "ridge by 0.100" in str(report).replace("\n", " ")
    clear = PredictionReport(60, 5, "explained", -0.06, 0.02, scores, {"boosting": (0.3, 0.05)})
    assert clear.loss == ("boosting", 0.3, 0.05)
    classes = PredictionReport(60, 5, "right", 0.2, 0.02, scores, clear.ahead, chance=0.25)
    assert classes.loss is None
