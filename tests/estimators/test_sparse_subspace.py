import numpy as np
import pytest

from learnability.errors import LearnabilityError
from learnability.estimators import IndexSubspace, SparseSubspace


def sparse(n, p, seed):
    """A wide table, a target that five columns make, and its direction."""
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((n, p)), np.zeros(p)
    w[rng.choice(p, 5, replace=False)] = rng.choice([-1, 1], 5) / np.sqrt(5)
    return X, X @ w + 0.2 * rng.standard_normal(n), w


def overlap(found, w):
    v = found.components_[0]
    return (v @ w) ** 2 / (v @ v)


@pytest.mark.parametrize("read", [np.asarray, np.exp, lambda y: np.where(y > 0, "up", "down")])
def test_few_of_many_columns_are_found_by_the_order_of_numbers_and_by_classes(read):
    X, y, w = sparse(120, 600, 0)
    y = read(y)
    found = SparseSubspace(1, random_state=0).fit(X, y)
    assert overlap(found, w) > 0.7
    assert len(found.columns_) <= 30
    assert (np.flatnonzero(found.components_[0]) == found.columns_).all()
    assert np.std(found.transform(X)) == pytest.approx(1, abs=0.2)


def test_an_even_function_of_a_column_is_seen_by_its_square():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 300))
    found = SparseSubspace(1, random_state=0).fit(X, np.abs(X[:, 17]))
    assert 17 in found.columns_ and overlap(found, np.eye(300)[17]) > 0.9


def test_the_judge_prefers_few_columns_where_they_are_all_there_is():
    X, y, w = sparse(60, 80, 2)
    found = IndexSubspace(1, folds=3, random_state=0).fit(X, y)
    assert {"sir", "sparse"} <= set(found.report_.scores)
    assert found.chosen_ == "sparse" and overlap(found, w) > 0.9


def test_weights_and_constant_columns_and_bad_counts():
    X, y, w = sparse(120, 100, 3)
    X[:, 0] = 7.0
    w[0] = 0.0
    half = (np.arange(120) < 90).astype(float)
    one = SparseSubspace(1, random_state=0)
    a = one.fit(X, y, sample_weight=half).components_
    np.testing.assert_allclose(a, one.fit(X[:90], y[:90]).components_, atol=1e-9)
    assert a[0, 0] == 0
    with pytest.raises(LearnabilityError, match="n_components"):
        SparseSubspace(0).fit(X, y)
