"""The readout of a given first layer: limits with a closed form, and invariances."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import GiantSteps, Link, MultiIndex
from learnability.inputs.base import Directions
from learnability.learners.giant._given_layer import Layer, _without_length, given_layer
from learnability.learners.giant._layer_errors import layer_errors
from learnability.learners.giant._network import Network, measured

from tests.audit.__main__ import judged

D = 300


def seen(network: Network, activation: str, target: MultiIndex, paired: bool = False) -> Layer:
    """The first layer as the theory sees it; the hidden directions are the first axes."""
    hidden = np.eye(D)[: target.r]
    return given_layer(network, Link(activation), target, Directions(hidden, hidden), paired)


def spiked(target: MultiIndex, spike: float, seed: int = 0) -> Network:
    """Independent normal rows with a spike."""
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((D, D)) / math.sqrt(D)
    W += spike * (0.8 * np.eye(D)[0] + 0.6 * np.eye(D)[-1])
    return Network(W.astype(np.float32), np.ones(D, dtype=np.float32))


@pytest.mark.parametrize(
    ("activation", "link"), [("tanh(z)", "sign(z)"), ("relu(z)", "z1 + He2(z1)/2 + z1*z2")]
)
def test_independent_rows_agree_with_the_limit(activation: str, link: str) -> None:
    """Five draws in dimension 300: finite sizes are 1 / sqrt(d) for one of them."""
    target, gaps = MultiIndex(link, noise=0.1), []
    learner = GiantSteps(1.0, activation, ridge=0.1)
    for seed in range(5):
        network = spiked(target, 1.2, seed)
        parameters = measured(network, np.eye(D)[0])
        assert parameters.spread == pytest.approx(2.0, rel=0.3)
        theory = learner.predict(target, alpha=2.0, parameters=parameters)
        found = layer_errors(seen(network, activation, target), 2 * D, 0.1)
        assert found.status == "converged"
        gaps.append([found.test / theory.error - 1, found.train / theory.train_error - 1])
    np.testing.assert_allclose(np.mean(gaps, axis=0), 0.0, atol=0.02)


def test_signs_of_an_odd_activation_do_not_matter() -> None:
    target = MultiIndex("sign(z)")
    network = spiked(target, 1.2)
    a = np.random.default_rng(1).choice([-1.0, 1.0], D).astype(np.float32)
    turned = Network(network.W * a[:, None], a)
    expected = layer_errors(seen(network, "tanh(z)", target), D, 0.1)
    assert layer_errors(seen(turned, "tanh(z)", target), D, 0.1)[:2] == pytest.approx(
        expected[:2], rel=1e-4
    )


@pytest.mark.parametrize("activation", ["tanh(z)", "relu(z)"])
def test_equal_pairs_count_once(activation: str) -> None:
    """Neurons that all come twice are the same features, at the same ridge."""
    target, half = MultiIndex("sign(z)"), D // 2
    network = spiked(target, 1.2)
    once = Network(network.W[:half], network.a[:half])
    twice = Network(np.vstack([once.W, once.W]), np.ones(2 * half, dtype=np.float32))
    expected = layer_errors(seen(once, activation, target), D, 0.1)
    both = layer_errors(seen(twice, activation, target, paired=True), D, 0.1)
    # Without what the pairs share of their rest the error would be another.
    apart = layer_errors(seen(twice, activation, target), D, 0.1)
    assert both[:2] == pytest.approx(expected[:2], rel=1e-5)
    assert abs(apart.test / expected.test - 1) > 1e-3


def test_moments_of_neurons_and_pairs_against_sampling() -> None:
    """Rows with a bias and pairs of several correlations, at a spike that is kept."""
    rng = np.random.default_rng(0)
    half = 60
    W = rng.standard_normal((half, D)) / math.sqrt(D)
    other = 0.8 * W + 0.5 * rng.standard_normal((half, D)) / math.sqrt(D)
    rows = np.vstack([W, other])
    rows[:, 0] += 1.5
    b = rng.standard_normal(2 * half).astype(np.float32)
    network = Network(rows.astype(np.float32), np.ones(2 * half, dtype=np.float32), b)
    layer = seen(network, "relu(z)", MultiIndex("z"), paired=True)
    assert layer.shared is not None
    j, node = 3, int(np.argmin(np.abs(layer.label - 0.7)))
    kappa = float(layer.label[node])
    (gram, slopes), (square, curves) = layer.orders
    lengths = np.sqrt(np.diag(gram))
    pair = gram[np.ix_([j, j + half], [j, j + half])]
    z = rng.multivariate_normal([0, 0], pair, 400_000)
    shift = rows[[j, j + half], 0] * kappa + b[[j, j + half]]
    u = np.maximum(z + shift, 0.0)
    mean = layer.means.left[node] @ layer.means.right
    slope, curve = (part.left[node] @ part.right for part in (slopes, curves))
    assert mean[j] == pytest.approx(u[:, 0].mean(), abs=5e-3)
    variance = layer.rest[node, j] + (slope[j] * lengths[j]) ** 2 + square[j, j] * curve[j] ** 2
    assert variance == pytest.approx(u[:, 0].var(), abs=1e-2)
    shared = layer.shared[node, j] + slope[j] * slope[j + half] * pair[0, 1]
    shared += square[j, j + half] * curve[j] * curve[j + half]
    assert shared == pytest.approx(np.cov(u.T)[0, 1], abs=1e-2)


def test_what_moves_with_the_length_is_taken_from_the_squares() -> None:
    """What is left is a covariance, and what is taken is one direction as large as the length."""
    rng = np.random.default_rng(2)
    rows = rng.standard_normal((40, 30)) * np.geomspace(3, 0.1, 30) * rng.uniform(0.5, 2, (40, 1))
    gram, lengths = rows @ rows.T, np.linalg.norm(rows, axis=1)
    taken = 0.5 * gram**2 - _without_length(0.5 * gram**2, lengths, 0.3)
    assert np.linalg.eigvalsh(0.5 * gram**2 - taken).min() > -1e-9
    assert np.abs(np.linalg.eigvalsh(taken)[:-1]).max() < 1e-9
    assert np.mean(taken / np.outer(lengths, lengths) ** 2) == pytest.approx(0.3**2 / 4)


def test_squares_of_neurons_covary_as_in_samples() -> None:
    """All covariances of z**2 - 1, where the rest of the rows has five long dimensions.

    Two nodes 1 +- s of the length, s^2 = 0.03 here, raise squares by the share s^2.
    """
    rng = np.random.default_rng(3)
    W = rng.standard_normal((30, D)) * np.where(np.arange(D) < 60, 1.0, 0.05) / math.sqrt(60)
    W[:, 0] = 0
    layer = seen(
        Network(W.astype(np.float32), np.ones(30, np.float32)), "z**2 - 1", MultiIndex("z")
    )
    assert len(layer.weights) > len(np.unique(layer.label))
    x = rng.standard_normal((200_000, D)) @ W.T
    sampled = np.cov((x**2 - 1).T)
    mean = layer.means.left @ layer.means.right
    found = np.cov(mean.T, aweights=layer.weights, ddof=0) + np.diag(layer.weights @ layer.rest)
    for kernel, factors in layer.orders:
        at = factors.left @ factors.right
        found += kernel * ((at.T * layer.weights) @ at)
    np.testing.assert_allclose(found.sum(), sampled.sum(), rtol=0.05)
    np.testing.assert_allclose(found, sampled, atol=0.25)


def test_features_that_are_long_beside_the_ridge_settle() -> None:
    """Features of size 1e6 with 1.2 samples a neuron: their scale takes 160 plain steps."""
    found = judged("uneven", 7)
    assert found["verdict"] == "right", found
