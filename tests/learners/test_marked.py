"""Weights in the frame of spiked inputs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import LearnabilityError
from learnability.learners.marked import (
    checked_weights,
    correlations,
    order_parameters,
    random_weights,
)
from learnability.targets import Spike


def test_random_weights_are_uniform_on_the_sphere() -> None:
    draws = np.array([random_weights(seed, 10) for seed in range(4000)])
    np.testing.assert_allclose(np.sum(draws**2, axis=1), 1)
    assert draws[:, 0].var() == pytest.approx(0.1, rel=0.12)
    assert abs(draws[:, :2].mean()) < 0.02 and (draws[:, 2] > 0).all()


@pytest.mark.parametrize("a", [0.6, -0.3, 1.0])
def test_there_and_back(a: float) -> None:
    spike = Spike(4.0, a)
    given = (0.3 * (a if abs(a) == 1 else 1), 0.3, 1.2)
    weights = checked_weights(given, spike)
    np.testing.assert_allclose(order_parameters(weights, spike), given)
    beta = np.array([a, math.sqrt(1 - a * a), 0])
    covariance = np.diag([5.0, 1, 1])
    rho = weights @ covariance @ beta
    rho /= math.sqrt((weights @ covariance @ weights) * (beta @ covariance @ beta))
    assert float(correlations(np.array(given), spike)) == pytest.approx(rho)


def test_what_no_weights_have_ends_in_a_sentence() -> None:
    with pytest.raises(LearnabilityError, match="the spike is the hidden direction"):
        checked_weights((0.5, 0.2, 1.0), Spike(4.0, 1.0))
    for start in ((1.0, 0.0), "abc", (2.0, 0.0, 1.0)):
        with pytest.raises(LearnabilityError, match="`start` was given"):
            checked_weights(start, Spike(4.0, 0.5))
