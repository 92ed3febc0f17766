import numpy as np

from learnability.estimators import IndexSubspace
from learnability.estimators.loadings import loadings


def test_weights_have_intervals_and_are_those_of_the_direction():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5)) * [1, 10, 1, 1, 1]
    y = np.tanh(X[:, 0] + 0.1 * X[:, 1]) + 0.3 * rng.standard_normal(300)
    found = IndexSubspace(1, random_state=0).fit(X, y)
    told = loadings(found, X, y)
    assert np.allclose((told.weights**2).sum(), 1)
    assert np.abs(told.weights[0, :2] - np.sqrt(0.5)).max() < 0.1
    assert (told.errors > 0).all() and told.errors.max() < 0.1
    assert "0 +0.7" in str(told) and "90 %" in str(told)


def test_samples_in_which_nothing_is_seen_give_no_interval():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((200, 5))
    y = rng.standard_normal(200)
    found = IndexSubspace(1, random_state=0).fit(X, y)
    told = loadings(found, X, y)
    assert np.isnan(told.errors).all()
    assert "90 %" not in str(told) and " to " not in str(told)


def test_directions_that_rows_do_not_support_have_no_interval():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 5))
    y = np.abs(X[:, 0]) + 0.2 * rng.standard_normal(400)
    found = IndexSubspace(2, random_state=0).fit(X, y)
    told = loadings(found, X, y)
    assert found.report_.supported == told.supported == 1
    assert np.isfinite(told.errors[0]).all() and np.isnan(told.errors[1]).all()
    assert "Direction 2, standardised weights (not distinguishable" in str(told).replace(
        "\n  ", " "
    )


def test_one_column_that_was_kept_has_an_error():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((150, 4))
    y = X[:, 2] + 0.5 * rng.standard_normal(150)
    found = IndexSubspace(1, random_state=0).fit(X, y)
    told = loadings(found, X, y)
    assert 2 in found.estimator_.columns_ and len(found.estimator_.columns_) < 4
    assert (told.errors > 0).all() and told.errors[0, [0, 1]].min() > 0.01


def test_values_of_one_column_of_words_say_the_same_with_other_weights():
    rng = np.random.default_rng(3)
    group = rng.integers(0, 6, 400)
    X = np.column_stack([np.eye(6)[group], rng.standard_normal((400, 2))])
    y = np.linspace(-1.5, 1.5, 6)[group] + 0.5 * rng.standard_normal(400)
    told = loadings(IndexSubspace(1, random_state=0).fit(X, y), X, y)
    assert np.isnan(told.errors).all()
    assert "columns with few values" in " ".join(str(told).split())
