"""What the rules do with a sample, against weights moved by hand."""

import numpy as np
import pytest

from learnability import Link
from learnability.learners.online._reuse import directions, network_gradient

P, B, D = 3, 2, 7
TANH = Link("tanh(z)")


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    W, X = rng.standard_normal((P, D)), rng.standard_normal((B, D))
    return W, X, rng.standard_normal(P), rng.standard_normal(B)


def gradient_of(W, X, a, y, loss):
    """minus the gradient of the mean loss over the batch, by differences of the loss itself."""

    def value(weights):
        f = a @ np.tanh(weights @ X.T)
        return np.sum(0.5 * (f - y) ** 2 if loss == "squared" else -f * y)

    shift = 1e-6
    found = np.zeros_like(W)
    for index in np.ndindex(*W.shape):
        step = np.zeros_like(W)
        step[index] = shift
        found[index] = -(value(W + step) - value(W - step)) / (2 * shift)
    return found


def moved(rule, sample, loss, inner, repetitions=3):
    W, X, a, y = sample
    gradient = network_gradient(a, y, TANH, TANH.derivative(), loss)
    gram = X @ X.T / D
    U, V = directions(rule, gradient, W @ X.T, lambda u: u @ gram, np.sum, inner, repetitions)
    return U @ X, V


@pytest.mark.parametrize("loss", ["squared", "correlation"])
def test_every_rule_is_a_walk_of_the_weights(sample, loss):
    W, X, a, y = sample
    inner = 0.7

    def g(weights):
        return gradient_of(weights, X, a, y, loss)

    ahead = g(W + inner / D * g(W))
    climb = g(W)
    expected = {
        "plain": climb,
        "extragradient": ahead,
        "sam": g(W - inner / np.sqrt(D) * climb / np.linalg.norm(climb)),
        "repetition": climb + ahead + g(W + inner / D * (climb + ahead)),
    }
    expected["lookahead"] = expected["repetition"]
    for rule, direction in expected.items():
        np.testing.assert_allclose(moved(rule, sample, loss, inner)[0], direction, atol=1e-7)


def test_the_second_layer_follows_its_own_gradient(sample):
    W, X, a, y = sample
    _, V = moved("plain", sample, "squared", 0.0)
    value = np.tanh(W @ X.T)
    np.testing.assert_allclose(V.sum(axis=1), value @ (y - a @ value))


def test_a_gradient_of_zero_is_no_division_by_zero_in_single_precision():
    """relu neurons that no sample reaches: SAM climbs nowhere."""
    from learnability.learners.online._reuse import directions

    field = np.full((2, 3), -1.0, dtype=np.float32)

    def gradient(field):
        return np.zeros_like(field), np.zeros_like(field)

    with np.errstate(all="raise"):
        first, _ = directions("sam", gradient, field, lambda u: u, np.sum, np.float32(0.5), 1)
    assert (first == 0).all()
