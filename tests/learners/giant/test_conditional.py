"""Features and labels given the coordinate along the spike."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import erf
from scipy.stats import norm

from learnability import LearnabilityError, Link, MultiIndex
from learnability.learners.giant._conditional import features_given, labels_given
from learnability.learners.giant._network import Parameters


def test_an_error_function() -> None:
    """E erf(z + a k) = erf(a k / sqrt(3)) and E erf' = 2 / sqrt(3 pi) exp(-(a k)^2 / 3)."""
    found = features_given(Link("erf(z)"), Parameters(0.8, 0.5, 1.0))
    k = 0.8 * found.kappa
    np.testing.assert_allclose(found.mean, erf(k / np.sqrt(3)), atol=1e-9)
    slope = 2 / np.sqrt(3 * np.pi) * np.exp(-(k**2) / 3)
    np.testing.assert_allclose(found.linear, slope, atol=1e-9)
    assert found.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("spike", [0.0, 0.5, 20.0])
def test_relu(spike: float) -> None:
    found = features_given(Link("relu(z)"), Parameters(spike, 0.5, 1.3))
    shift = spike * found.kappa / 1.3
    mean = 1.3 * (shift * norm.cdf(shift) + norm.pdf(shift))
    np.testing.assert_allclose(found.mean, mean, atol=1e-9 * (1 + spike))
    np.testing.assert_allclose(found.linear, norm.cdf(shift), atol=1e-9)
    second = 1.69 * ((1 + shift**2) * norm.cdf(shift) + shift * norm.pdf(shift))
    rest = second - mean**2 - 1.69 * norm.cdf(shift) ** 2
    np.testing.assert_allclose(found.rest, rest, atol=1e-8 * (1 + spike**2))
    step = 1e-4
    up, down = (
        features_given(Link("relu(z)"), Parameters(spike, 0.5, 1.3 + e)) for e in (step, -step)
    )
    if spike < 1:  # The same nodes.
        difference = (up.mean - down.mean) / (4 * step * 1.3)
        np.testing.assert_allclose(found.stretch, difference, atol=1e-6)


def test_labels() -> None:
    kappa = np.linspace(-2, 2, 9)
    gamma, left = 0.6, 0.8
    found = labels_given(MultiIndex("z**2", noise=0.3), np.ones(1), gamma, kappa)
    mean = (gamma * kappa) ** 2 + left**2
    np.testing.assert_allclose(found.mean, mean, rtol=1e-9)
    np.testing.assert_allclose(found.linear, [2 * gamma * kappa * left], atol=1e-9)
    fourth = (gamma * kappa) ** 4 + 6 * (gamma * kappa * left) ** 2 + 3 * left**4
    np.testing.assert_allclose(found.square, fourth + 0.3, rtol=1e-9)


def test_labels_with_a_break_and_a_second_direction() -> None:
    kappa = np.linspace(-2, 2, 9)
    found = labels_given(MultiIndex("sign(z1)*(1 + z2)"), np.array([1.0, 0.0]), 0.6, kappa)
    sign = 2 * norm.cdf(0.6 * kappa / 0.8) - 1
    np.testing.assert_allclose(found.mean, sign, atol=1e-6)
    np.testing.assert_allclose(found.linear[1], sign, atol=1e-6)
    np.testing.assert_allclose(found.square, 2.0, atol=1e-6)


@pytest.mark.parametrize("gamma", [0.3, 0.97, 0.9999])
@pytest.mark.parametrize("link", ["z1**2", "z1**2 + 0*z2", "z1**2 + 0*z2*z3", "z1**2 + 0*z2*z3*z4"])
def test_narrow_laws_of_the_label(link: str, gamma: float) -> None:
    """A large batch: the label is almost a function of kappa, with any number of directions."""
    target, kappa = MultiIndex(link), np.linspace(-3, 3, 7)
    found = labels_given(target, np.eye(target.r)[0], gamma, kappa)
    left = np.sqrt(1 - gamma**2)
    np.testing.assert_allclose(found.mean, (gamma * kappa) ** 2 + left**2, rtol=1e-6)
    np.testing.assert_allclose(found.linear[0], 2 * gamma * kappa * left, atol=1e-6)


def test_what_cannot_be_resolved_is_refused() -> None:
    target, kappa = MultiIndex("sign(z1)*z2 + z1 + 0*z3"), np.linspace(-3, 3, 7)
    assert labels_given(target, np.eye(3)[0], 0.9, kappa).mean.shape == (7,)
    with pytest.raises(LearnabilityError, match="too close to 1"):
        labels_given(target, np.eye(3)[0], 0.99999, kappa)


@pytest.mark.parametrize("text", ["bernoulli(sigmoid(2*z))", "z1 + abs(z2)*xi"])
def test_moments_of_a_random_label(text: str) -> None:
    """E[y | kappa] and E[y^2 | kappa] against sums over a plain grid of the other coordinates."""
    target = MultiIndex(text)
    direction, kappa = np.eye(target.r)[0], np.array([-1.0, 0.3, 2.0])
    found = labels_given(target, direction, 0.6, kappa)
    s = np.linspace(-8, 8, 801)
    w = norm.pdf(s) / norm.pdf(s).sum()
    z = 0.6 * kappa[:, None] + 0.8 * s
    points = z[..., None]
    weights = np.broadcast_to(w, z.shape)
    if target.r == 2:
        points = np.stack([np.repeat(z, len(s), 1), np.tile(s, (len(z), len(s)))], axis=-1)
        weights = np.broadcast_to(np.outer(w, w).ravel(), points.shape[:-1])
    mean = np.asarray(target.link(points))
    square = mean**2 + target.channel.variance(points)
    np.testing.assert_allclose(found.mean, (weights * mean).sum(axis=1), atol=1e-7)
    np.testing.assert_allclose(found.square, (weights * square).sum(axis=1), atol=1e-6)
