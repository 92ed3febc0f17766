import numpy as np

from learnability.estimators import IndexClassifier, IndexRegressor, MomentSubspace

from tests.estimators.problems import planted


def test_regression_on_the_coordinate_that_matters():
    X, y, _ = planted(lambda z: z[0] ** 2, 1, 800, 12, 0)
    model = IndexRegressor(MomentSubspace("dr", 1)).fit(X[:500], y[:500])
    assert model.score(X[500:], y[500:]) > 0.8


def test_classification_with_words():
    X, y, _ = planted(lambda z: np.where(np.abs(z[0]) > 0.7, "far", "near"), 1, 800, 10, 1)
    model = IndexClassifier(MomentSubspace("dr", 1)).fit(X[:500], y[:500])
    assert model.score(X[500:], y[500:]) > 0.9
    np.testing.assert_allclose(model.predict_proba(X[500:]).sum(axis=1), 1)
    assert set(model.predict(X[500:])) == {"far", "near"}


def test_on_noise_the_mean_is_predicted():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 30)), rng.standard_normal(40)
    model = IndexRegressor(random_state=0).fit(X, y)
    if len(model.subspace_.components_) == 0:
        np.testing.assert_allclose(model.predict(X), y.mean())
