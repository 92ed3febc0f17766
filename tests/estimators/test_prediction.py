import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier

from learnability.errors import LearnabilityError
from learnability.estimators import IndexRegressor, MomentSubspace
from learnability.estimators._prediction import explained, fit_counted


def test_a_model_without_weights_is_fitted_without_and_refused_with():
    X, y = np.arange(6.0)[:, None], np.repeat([0, 1], 3)
    model = fit_counted(KNeighborsClassifier(1), X, y, None)
    assert model.score(X, y) == 1
    with pytest.raises(LearnabilityError, match="takes none"):
        fit_counted(KNeighborsClassifier(1), X, y, np.ones(6))


def test_rows_of_weight_zero_are_left_out():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 2)), rng.standard_normal(80)
    y[:40] = X[:40, 0]
    half = (np.arange(80) < 40).astype(float)
    model = IndexRegressor(MomentSubspace("sir", 1), LinearRegression())
    whole = model.fit(X, y, sample_weight=half).predict(X)
    np.testing.assert_allclose(whole, model.fit(X[:40], y[:40]).predict(X), atol=1e-8)


def test_the_error_of_an_explained_share_is_that_of_a_ratio():
    rng = np.random.default_rng(1)
    ones, shares, errors = np.ones(400), [], []
    for _ in range(300):
        z = rng.standard_t(6, 400)
        y = z + 0.5 * rng.standard_normal(400)
        rows = explained(y, z, ones)
        shares.append(rows.mean())
        errors.append(rows.std() / 20)
        assert rows.mean() == pytest.approx(1 - ((y - z) ** 2).mean() / y.var())
    assert np.std(shares) == pytest.approx(np.mean(errors), rel=0.15)
    assert explained(y, np.full(400, y.mean()), ones).std() < 1e-9
