import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

from learnability.errors import LearnabilityError
from learnability.estimators import IndexRegressor, MomentSubspace

from tests.estimators.problems import planted


def test_regression_on_the_coordinate_that_matters():
    X, y, _ = planted(lambda z: z[0] ** 2, 1, 800, 12, 0)
    model = IndexRegressor(MomentSubspace("dr", 1)).fit(X[:500], y[:500])
    assert model.score(X[500:], y[500:]) > 0.8


def test_where_nothing_is_found_the_mean_is_predicted():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 30)), rng.standard_normal(40)
    counts = np.where(np.arange(40) < 20, 1.0, 3.0)
    model = IndexRegressor(random_state=0).fit(X, y, sample_weight=counts)
    assert len(model.subspace_.components_) == 0
    np.testing.assert_allclose(model.predict(X), np.average(y, weights=counts))
    constant = IndexRegressor().fit(X, np.full(40, 2.0))
    np.testing.assert_allclose(constant.predict(X), 2.0)


def test_weights_reach_directions_and_regressor_or_are_refused():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 3))
    first = np.arange(300) < 150
    y = np.where(first, X[:, 0], X[:, 1])
    for regressor in (LinearRegression(), None):
        model = IndexRegressor(MomentSubspace("sir", 1), regressor)
        model.fit(X, y, sample_weight=first.astype(float))
        assert np.abs(model.predict(X) - X[:, 0]).mean() < 0.1
    with pytest.raises(LearnabilityError, match="KNeighborsRegressor takes none"):
        IndexRegressor(MomentSubspace("sir", 1), KNeighborsRegressor()).fit(X, y, first)


def test_intervals_hold_their_share_of_new_targets_and_the_score_is_true():
    held, scores = [], []
    for seed in range(12):
        X, y, _ = planted(lambda z: np.abs(z[0]), 1, 900, 6, seed)
        y = y + 0.4 * np.random.default_rng(seed).standard_normal(900)
        model = IndexRegressor(
            MomentSubspace("dr", 1), KNeighborsRegressor(10), folds=5, random_state=0
        ).fit(X[:200], y[:200])
        low, high = model.predict_interval(X[200:], coverage=0.8).T
        held.append(((low <= y[200:]) & (y[200:] <= high)).mean())
        scores.append((model.score_ - model.score(X[200:], y[200:])) / model.score_error_)
    assert 0.77 < np.mean(held) < 0.86
    assert abs(np.mean(scores)) < 1.5
    assert np.isinf(model.predict_interval(X[:2], coverage=0.999)).all()
    with pytest.raises(LearnabilityError, match="coverage"):
        model.predict_interval(X, coverage=1.0)
    with pytest.raises(LearnabilityError, match="`folds`"):
        model.set_params(folds=None).fit(X, y).predict_interval(X)


def test_predictions_of_far_rows_stay_near_the_targets():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = X[:, 0] + 0.1 * rng.standard_normal(200)
    far = np.array([[1e3, 0.0, 0.0], [-1e3, 1e3, 0.0]])
    model = IndexRegressor(MomentSubspace("sir", 1)).fit(X, y)
    assert np.allclose(model.predict(far), [y.max() + np.ptp(y) / 10, y.min() - np.ptp(y) / 10])
    linear = IndexRegressor(MomentSubspace("sir", 1), LinearRegression()).fit(X, y)
    assert linear.predict(far)[0] > 100


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_targets_whose_squares_are_no_numbers_are_refused_in_words(size):
    X = np.random.default_rng(0).standard_normal((60, 3))
    with pytest.raises(LearnabilityError, match="other units"):
        IndexRegressor(MomentSubspace("sir", 1)).fit(X, X[:, 0] * size)
