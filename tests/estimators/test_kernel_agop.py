import numpy as np

from learnability.estimators import _kernel_agop
from learnability.estimators._kernel_agop import kernel_agop, target_functions
from learnability.estimators._labels import read_labels


def test_the_metric_concentrates_on_what_matters():
    Z = np.random.default_rng(0).standard_normal((500, 12))
    T = (np.sin(2 * Z[:, 0]) + Z[:, 1] ** 2)[:, None]
    rng = np.random.default_rng(1)
    values, vectors = kernel_agop(Z, T, weights=np.ones(500), rounds=4, most=500, rng=rng)
    assert (vectors[:2, :2] ** 2).sum() / 2 > 0.95
    assert values[:2].sum() / values.sum() > 0.8


def test_leave_one_out_is_what_leaving_one_out_gives():
    rng = np.random.default_rng(2)
    Z, T, weights = rng.standard_normal((30, 2)), rng.standard_normal((30, 1)), rng.random(30) + 0.5
    K = np.exp(-_kernel_agop._distances(Z))
    error, ridge = _kernel_agop._leave_one_out(K, T, weights)
    left = 0.0
    for i in range(30):
        rest = np.arange(30) != i
        machine = _kernel_agop._solve(K[np.ix_(rest, rest)], T[rest], weights[rest], ridge)
        left += weights[i] * float((T[i] - K[i, rest] @ machine).item()) ** 2
    np.testing.assert_allclose(error, left / weights.sum(), rtol=1e-8)


def test_gradients_are_those_of_the_machine():
    rng = np.random.default_rng(3)
    R, T, ones = rng.standard_normal((40, 3)), rng.standard_normal((40, 1)), np.ones(40)

    def value(x):
        return np.exp(-np.linalg.norm(R - x, axis=1) / 2.0) @ machine[:, 0]

    distances = _kernel_agop._distances(R)
    kernel = np.exp(-distances / 2.0)
    machine = _kernel_agop._solve(kernel, T, ones, 0.1)
    found = _kernel_agop._gradients(R, kernel.copy(), distances, machine, ones, np.eye(3))
    h = 1e-6
    # The kink of the row's own term has no gradient, and its two sides cancel.
    slopes = [[(value(x + h * e) - value(x - h * e)) / (2 * h) for e in np.eye(3)] for x in R]
    G = np.array(slopes) * 2.0
    np.testing.assert_allclose(found, G.T @ G, rtol=1e-4)


def test_classes_are_regressed_by_their_indicators():
    labels = read_labels(np.array(["a", "b", "c", "a"]), np.array([1.0, 1.0, 1.0, 3.0]))
    T = target_functions(labels)
    assert T.shape == (4, 3)
    np.testing.assert_allclose(labels.weights @ T, 0, atol=1e-12)
