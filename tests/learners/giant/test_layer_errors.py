"""The readout of a given first layer: limits with a closed form, and invariances."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import GiantSteps, Link, MultiIndex
from learnability.learners.giant._conditional import features_given
from learnability.learners.giant._layer_errors import given_layer, layer_errors
from learnability.learners.giant._network import Network, Parameters, measured

D = 300


def spiked(activation: str, target: MultiIndex, spike: float, seed: int = 0) -> tuple:  # type: ignore[type-arg]
    """Independent normal rows with a spike, and the first layer as the theory sees it."""
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((D, D)) / math.sqrt(D)
    hidden = np.eye(D)[: target.r]
    W += spike * (0.8 * hidden[0] + 0.6 * np.eye(D)[-1])
    network = Network(W.astype(np.float32), np.ones(D, dtype=np.float32))
    return network, given_layer(network, Link(activation), target, hidden, False), hidden


@pytest.mark.parametrize(
    ("activation", "link"), [("tanh(z)", "sign(z)"), ("relu(z)", "z1 + He2(z1)/2 + z1*z2")]
)
def test_independent_rows_agree_with_the_limit(activation: str, link: str) -> None:
    """Five draws in dimension 300: finite sizes are 1 / sqrt(d) for one of them."""
    target, gaps = MultiIndex(link, noise=0.1), []
    learner = GiantSteps(1.0, activation, ridge=0.1)
    for seed in range(5):
        network, layer, hidden = spiked(activation, target, 1.2, seed)
        parameters = measured(network, hidden[0])
        assert parameters.spread == pytest.approx(2.0, rel=0.3)
        theory = learner.predict(target, alpha=2.0, parameters=parameters)
        found = layer_errors(layer, 2 * D, 0.1)
        assert found.status == "converged"
        gaps.append([found.test / theory.error - 1, found.train / theory.train_error - 1])
    np.testing.assert_allclose(np.mean(gaps, axis=0), 0.0, atol=0.02)


def test_signs_of_an_odd_activation_do_not_matter() -> None:
    target = MultiIndex("sign(z)")
    network, layer, hidden = spiked("tanh(z)", target, 1.2)
    a = np.random.default_rng(1).choice([-1.0, 1.0], D).astype(np.float32)
    turned = Network(network.W * a[:, None], a)
    other = given_layer(turned, Link("tanh(z)"), target, hidden, False)
    expected = layer_errors(layer, D, 0.1)
    # The two groups have slightly different spikes and bulks of their own.
    assert layer_errors(other, D, 0.1)[:2] == pytest.approx(expected[:2], rel=5e-3)


def test_equal_pairs_count_once() -> None:
    """Neurons that all come twice are the same features, at the same ridge."""
    target = MultiIndex("sign(z)")
    network, _, hidden = spiked("tanh(z)", target, 1.2)
    half = D // 2
    once = Network(network.W[:half], network.a[:half])
    twice = Network(np.vstack([once.W, once.W]), np.ones(2 * half, dtype=np.float32))
    # In one group the rests of two equal neurons are one: all of it is shared.
    one = given_layer(once, Link("tanh(z)"), target, hidden, False)
    both = given_layer(twice, Link("tanh(z)"), target, hidden, False)
    swap = np.roll(np.eye(2 * half), half, axis=0)
    whole = both._replace(
        coefficients=np.vstack([both.coefficients, both.coefficients[:1]]),
        matrices=np.concatenate([both.matrices, swap[None]]),
    )
    expected = layer_errors(one, D, 0.1)
    assert layer_errors(whole, D, 0.1)[:2] == pytest.approx(expected[:2], rel=1e-6)


def test_pairs_of_a_symmetric_start() -> None:
    """The rest that two neurons share, against sampling."""
    from learnability.learners.giant._conditional import paired_rest

    sizes = (Parameters(0.7, 0.5, 1.2), Parameters(-0.7, 0.5, 0.9))
    shared = 0.8
    relu = Link("relu(z)")
    found = [features_given(relu, one) for one in sizes]
    rest = paired_rest(relu, sizes, found, shared)
    rng = np.random.default_rng(0)
    z = rng.multivariate_normal([0, 0], [[1.44, shared], [shared, 0.81]], 400_000)
    for kappa in (-1.0, 0.5):
        u = np.maximum(z + kappa * np.array([0.7, -0.7]), 0.0)
        slopes = [np.interp(kappa, one.kappa, one.linear) for one in found]
        sampled = np.cov(u.T)[0, 1] - shared * slopes[0] * slopes[1]
        assert np.interp(kappa, found[0].kappa, rest) == pytest.approx(sampled, abs=6e-3)
