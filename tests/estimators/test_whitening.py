import numpy as np
import pytest
import scipy.sparse

from learnability.estimators import _whitening
from learnability.estimators._whitening import whiten


def table(n, p, seed=0):
    rng = np.random.default_rng(seed)
    return 5 + rng.standard_normal((n, p)) @ rng.standard_normal((p, p))


def test_exactly_white_rows_have_unit_covariance_despite_constant_and_collinear_columns():
    X = table(200, 4)
    X = np.column_stack([X, np.full(200, 3.0), X[:, 0] - 2 * X[:, 1]])
    found = whiten(X, np.ones(200), "exact")
    Z = found.rows(X)
    assert found.rank == 4
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(Z.T @ Z / 200, np.eye(4), atol=1e-8)


def test_thin_products_are_those_of_the_white_rows():
    X = table(60, 5)
    found = whiten(X, np.ones(60), "shrunk")
    Z, G = found.rows(X), np.random.default_rng(1).standard_normal((60, 3))
    np.testing.assert_allclose(found.collect(X, G), Z.T @ G, atol=1e-9)
    assert 0 < found.shrinkage < 1


def test_independent_columns_are_shrunk_to_themselves_and_correlated_ones_are_not():
    free = np.random.default_rng(0).standard_normal((300, 60))
    assert whiten(free, np.ones(300), "shrunk").shrinkage > 0.9
    assert whiten(table(3000, 30), np.ones(3000), "shrunk").shrinkage < 0.1


def test_more_columns_than_rows_are_whitened_in_the_row_space():
    X = table(20, 50)
    found = whiten(X, np.ones(20), "exact")
    assert found.rank == 19
    np.testing.assert_allclose(found.rows(X).T @ found.rows(X) / 20, np.eye(19), atol=1e-8)


def test_a_weight_of_two_is_a_row_given_twice():
    X = table(40, 3)
    weights = np.random.default_rng(2).integers(0, 3, 40).astype(float)
    once = whiten(X, weights, "exact")
    often = whiten(np.repeat(X, weights.astype(int), axis=0), np.ones(int(weights.sum())), "exact")
    np.testing.assert_allclose(np.abs(once.factor), np.abs(often.factor), atol=1e-8)


def test_a_cholesky_factor_whitens_wide_sparse_tables(monkeypatch):
    monkeypatch.setattr(_whitening, "WIDE", 3)
    X = scipy.sparse.random_array((500, 6), density=0.3, rng=0, format="csr")
    found = whiten(X, np.ones(500), "exact")
    Z = found.rows(X.toarray())
    assert found.triangular
    np.testing.assert_allclose(Z.T @ Z / 500, np.eye(6), atol=1e-6)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_do_not_matter(scale):
    X = table(100, 3)
    units = np.array([1, scale, 1 / scale])
    one, other = (whiten(Y, np.ones(100), "shrunk").rows(Y) for Y in (X, X * units))
    np.testing.assert_allclose(np.abs(one), np.abs(other), atol=1e-6)


def test_a_large_mean_costs_no_digits_and_constants_stay_constant():
    X = np.random.default_rng(0).standard_normal((200, 3))
    far = np.column_stack([X + np.array([1e9, -1e6, 0]), np.full(200, 3.3), np.full(200, 1e9 / 3)])
    found = whiten(far, np.ones(200), "exact")
    assert found.rank == 3
    np.testing.assert_allclose(found.scale, [*X.std(axis=0), 1, 1], rtol=1e-6)
    np.testing.assert_allclose(found.rows(far).T @ found.rows(far) / 200, np.eye(3), atol=1e-6)


def test_a_row_far_out_leaves_all_columns():
    X = np.random.default_rng(1).standard_normal((200, 5))
    X[3] = 1e6
    assert whiten(X, np.ones(200), "exact").rank == 5
