import numpy as np

from learnability.estimators import _local_gradients
from learnability.estimators._local_gradients import local_gradients


def run(Z, T, weights, seed=0, anchors=60):
    rng = np.random.default_rng(seed)
    return local_gradients(Z, T, 2, weights=weights, anchors=anchors, rounds=4, rng=rng)


def test_smooth_directions_are_found_whatever_the_law_of_the_rows():
    rng = np.random.default_rng(0)
    Z = rng.exponential(size=(800, 8)) - 1
    T = np.tanh(Z[:, :1]) + Z[:, 1:2] ** 2
    values, vectors = run(Z, T, np.ones(800))
    assert (vectors[:2, :2] ** 2).sum() / 2 > 0.95
    assert values[2] < 0.1 * values[1]


def test_a_linear_function_has_its_slope_everywhere():
    Z = np.random.default_rng(1).standard_normal((300, 4))
    slope = np.array([[1.0], [2.0], [0.0], [0.0]])
    values, vectors = run(Z, Z @ slope, np.ones(300))
    np.testing.assert_allclose(values[0], 5, rtol=0.05)
    np.testing.assert_allclose(np.abs(vectors[:, 0]), slope[:, 0] / np.sqrt(5), atol=0.01)


def test_weights_choose_between_two_functions():
    rng = np.random.default_rng(2)
    Z = rng.standard_normal((400, 4))
    first = np.arange(400) < 200
    T = np.where(first, Z[:, 0], Z[:, 1])[:, None]
    weights = np.where(first, 1.0, 1e-6)
    _, vectors = run(Z, T, weights, anchors=400)
    assert vectors[0, 0] ** 2 > 0.99


def test_wide_tables_are_fitted_one_anchor_at_a_time_with_the_same_result(monkeypatch):
    Z = np.random.default_rng(3).standard_normal((200, 6))
    T = np.abs(Z[:, :1])
    values, vectors = run(Z, T, np.ones(200))
    monkeypatch.setattr(_local_gradients, "_WIDE", 3)
    again, others = run(Z, T, np.ones(200))
    np.testing.assert_allclose(again, values, rtol=1e-9)
    np.testing.assert_allclose((vectors.T @ others) ** 2, np.eye(6), atol=1e-9)
