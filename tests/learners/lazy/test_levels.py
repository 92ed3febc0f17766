"""Weights of kernels by degree, and levels."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import LearnabilityError, Link, MultiIndex
from learnability.learners.lazy._levels import (
    activation_weights,
    kernel_weights,
    limit_levels,
)


def test_weights_of_relu() -> None:
    weights, rest = activation_weights(Link("relu(z)"))
    pi = math.pi
    np.testing.assert_allclose(weights[:5], [1 / (2 * pi), 1 / 4, 1 / (4 * pi), 0, 1 / (48 * pi)])
    assert weights.sum() + rest == pytest.approx(0.5, abs=1e-10)


def test_an_exponential_activation_has_an_exponential_kernel() -> None:
    features, kernel = activation_weights(Link("exp(z - 1/2)")), kernel_weights(Link("exp(z)"))
    np.testing.assert_allclose(features[0], kernel[0], rtol=1e-9)
    assert features[1] == pytest.approx(kernel[1], rel=1e-6)
    np.testing.assert_allclose(kernel[0], [1 / math.factorial(k) for k in range(8)])


@pytest.mark.parametrize("text", ["tanh(z)", "abs(z)", "z - z**2", "cos(z)", "-exp(z)", "0", "1/z"])
def test_what_is_no_kernel_ends_in_a_sentence(text: str) -> None:
    with pytest.raises(LearnabilityError, match="not positive definite"):
        kernel_weights(Link(text))


def test_levels_in_the_proportional_limit() -> None:
    target = MultiIndex("2 + z1 + 3*z2 + z1*z2", noise=0.1)
    levels = limit_levels(*kernel_weights(Link("(1 + z)**3")), target, 1)
    np.testing.assert_array_equal(levels.eigenvalues, [math.inf, 3.0])
    np.testing.assert_allclose(levels.energies, [4.0, 10.0])
    np.testing.assert_array_equal(levels.sizes, [0.0, 1.0])
    assert (levels.tail, levels.noise) == pytest.approx((4.0, 1.1))


def test_a_degree_that_is_missing_is_seen_through_that_two_above() -> None:
    target = MultiIndex("1 + z + z**2")
    kernel = (np.array([0.0, 0.0, 0.5, 0.2, 0.3]), 0.0)
    np.testing.assert_allclose(limit_levels(*kernel, target, 1).eigenvalues, [0.5, 0.0])
    np.testing.assert_allclose(limit_levels(*kernel, target, 2).eigenvalues, [math.inf, 0.3, 0.5])
    # The share of t^3 that is linear, for inner products t of points of a sphere.
    t = np.random.default_rng(0).standard_normal((200_000, 50))
    t = t[:, 0] / np.linalg.norm(t, axis=1)
    assert np.mean(t**4) / np.mean(t**2) == pytest.approx(3 / 50, rel=0.06)


def test_floors() -> None:
    target = MultiIndex("z1 + z1*z2 + He3(z1)*z3", noise=0.5)
    kernel = kernel_weights(Link("exp(z)"))
    assert [limit_levels(*kernel, target, k).noise for k in range(5)] == pytest.approx(
        [8.5, 7.5, 6.5, 6.5, 0.5]
    )
