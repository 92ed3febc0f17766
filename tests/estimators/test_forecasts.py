import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor

from learnability.errors import LearnabilityError
from learnability.estimators import IndexRegressor, MomentSubspace, forecast


@pytest.fixture
def model_and_rows():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((2000, 10))
    y = np.abs(X[:, 0]) + 0.3 * rng.standard_normal(2000)
    model = IndexRegressor(
        MomentSubspace("dr", 1), KNeighborsRegressor(10), folds=5, random_state=0
    )
    return model, X, y


def test_a_score_with_more_rows_is_within_its_forecast(model_and_rows):
    model, X, y = model_and_rows
    few = model.fit(X[:150], y[:150])
    residuals = few._residuals.copy()
    told = forecast(few, X[:150], y[:150], times=(1, 4), overlap=[(0.8, 0.5, 0.9), None])
    assert (few._residuals == residuals).all()
    assert told.rows == [150, 600] and told.measured[0] > told.measured[1]
    now, later = told.score
    assert now[0] < later[0] and later[1] < later[0] < later[2] <= 1
    assert "600 rows: score" in str(told) and "undecided" in str(told)
    true = model.fit(X[:600], y[:600]).score(X[600:], y[600:])
    assert later[1] <= true <= later[2]


def test_overlaps_grow_by_their_odds(model_and_rows):
    model, X, y = model_and_rows
    known = [(0.8, 0.5, 0.9), None]
    told = forecast(model.fit(X[:60], y[:60]), X[:60], y[:60], times=(4,), overlap=known)
    (q, low, high), nothing = told.overlap[0]
    assert nothing is None
    assert (q, low) == (pytest.approx(16 / 17), pytest.approx(4 / 5))
    assert high == pytest.approx(72 / 73)


def test_too_few_rows_and_fewer_rows_are_refused(model_and_rows):
    model, X, y = model_and_rows
    with pytest.raises(LearnabilityError, match="too few"):
        forecast(model.fit(X[:30], y[:30]), X[:30], y[:30])
    with pytest.raises(LearnabilityError, match="times"):
        forecast(model.fit(X[:60], y[:60]), X[:60], y[:60], times=(0.5,))
