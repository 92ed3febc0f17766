"""Weights under which labels have the mean and the variance that they are known to have."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability.learners.networks.known_moments import knowing_weights


def test_moments_are_the_known_ones_and_errors_follow() -> None:
    """Of exp(2 z) some thousand samples have a small part of E[y^2]."""
    z, t = np.random.default_rng(0).standard_normal((2, 4000))
    y, even = np.exp(2 * z), np.full(4000, 1 / 4000)
    mean, square = math.exp(2), math.exp(8)
    weights = knowing_weights(y, mean, square - mean**2, even)
    assert weights.sum() == pytest.approx(1) and weights @ y == pytest.approx(mean)
    assert weights @ y**2 == pytest.approx(square) and even @ y**2 < 0.8 * square
    exact = square + np.tanh(1.0) ** 2  # f = +-tanh(1), independent of the label.
    assert weights @ (np.sign(t) * np.tanh(1.0) - y) ** 2 == pytest.approx(exact, rel=1e-2)


@pytest.mark.parametrize("values", [(3.0, 3.0), (-1.0, 1.0), (0.0, 1e-3), (1e6, 1e6 + 1)])
def test_labels_of_one_or_two_values_have_weights_too(values: tuple[float, float]) -> None:
    y = np.repeat(values, [30, 70])
    mean = 0.4 * values[0] + 0.6 * values[1]
    variance = 0.24 * (values[1] - values[0]) ** 2
    weights = knowing_weights(y, mean, variance, np.full(100, 0.01))
    assert weights.sum() == pytest.approx(1)
    assert weights @ (y - mean) ** 2 == pytest.approx(variance, rel=1e-6)
    if values[0] == values[1]:
        np.testing.assert_array_equal(weights, 0.01)
    else:
        assert weights[0] == pytest.approx(0.4 / 30, rel=1e-6)
