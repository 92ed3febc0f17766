"""Weights in the frame of spiked inputs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import LearnabilityError, SpikedIndex
from learnability.learners.marked import (
    checked_weights,
    correlations,
    order_parameters,
    random_weights,
    typical_correlation,
)
from learnability.targets import Spike

from tests.structured_values import FINITE_SLOPES, STARTS


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


@pytest.mark.parametrize("row", STARTS)
def test_random_starts_have_the_exponent_of_the_theory(row: tuple[float, ...]) -> None:
    """Medians within the sampling error (3 %) of the reference, exponents within 0.03."""
    gamma_1, gamma_2, *medians, x = row
    target = SpikedIndex("z", spike_exponent=gamma_2, alignment_exponent=gamma_1)
    found = [typical_correlation(target.at(d), d) for d in (10**4, 10**6, 10**8)]
    np.testing.assert_allclose(found, medians, rtol=0.03)
    assert -2 * math.log(found[2] / found[0]) / math.log(10**4) == pytest.approx(x, abs=0.03)


@pytest.mark.parametrize(("gamma_1", "gamma_2", "slope"), FINITE_SLOPES)
def test_slopes_at_finite_dimension(gamma_1: float, gamma_2: float, slope: float) -> None:
    target = SpikedIndex("z", spike_exponent=gamma_2, alignment_exponent=gamma_1)
    d = np.array([128, 256, 512, 1024])
    starts = [typical_correlation(target.at(int(k)), int(k)) for k in d]
    found = np.polyfit(np.log(d), np.log(d / np.square(starts)), 1)[0]
    assert found == pytest.approx(slope, abs=0.005)


def test_the_typical_start_is_a_median() -> None:
    """Against 40000 random weights, at a spike that is neither weak nor aligned."""
    spike, d = Spike(30.0, 0.4), 500
    weights = np.array([random_weights(seed, d) for seed in range(40_000)])
    rho = np.abs(correlations(order_parameters(weights, spike), spike))
    assert np.mean(rho < typical_correlation(spike, d)) == pytest.approx(0.5, abs=0.01)
