"""Errors on fresh samples, cosines and subspaces from order parameters."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import Channel, Link
from learnability.learners.batch._generalisation import error_path, explained
from learnability.learners.batch._network import Network
from learnability.learners.measurement import subspace_overlap

Q = np.array([[1.0, 0.3], [0.3, 0.5]])
M = np.array([[0.4, -0.2], [0.1, 0.3]])


def test_a_linear_network() -> None:
    a, teacher = np.array([0.7, -1.1]), np.array([2.0, 1.0])
    network = Network(Link("z"), tuple(a), "squared")
    channel = Channel(Link("2*z1 + z2"), 0.25)
    found = error_path(channel, network, Q[None], M[None], 3)
    exact = a @ Q @ a - 2 * a @ M @ teacher + teacher @ teacher + 0.25
    assert found[0] == pytest.approx(exact, abs=1e-3)


def test_a_relu_network_and_a_discontinuous_link() -> None:
    """E relu(lambda)^2 = Q / 2 and E relu(lambda) sign(z) = M / sqrt(2 pi)."""
    network = Network(Link("relu(z)"), (1.0,), "squared")
    grams, overlaps = np.array([[[1.0]], [[0.8]]]), np.array([[[0.0]], [[0.6]]])
    found = error_path(Channel(Link("sign(z)")), network, grams, overlaps, 0)
    exact = grams.ravel() / 2 - overlaps.ravel() * math.sqrt(2 / math.pi) + 1
    np.testing.assert_allclose(found, exact, atol=1e-3)


def test_seeds_differ_and_are_repeatable() -> None:
    network = Network(Link("tanh(z)"), (1.0, 1.0), "squared")
    channel = Channel(Link("sign(z1*z2)"))
    first, again, other = (
        float(error_path(channel, network, Q[None], M[None], seed)[0]) for seed in (1, 1, 2)
    )
    assert first == again != other
    assert first == pytest.approx(other, abs=2e-3)


def test_what_is_not_finite_has_no_error() -> None:
    network = Network(Link("tanh(z)"), (1.0, 1.0), "squared")
    grams = np.stack([Q, np.full((2, 2), np.inf)])
    found = error_path(Channel(Link("z1*z2")), network, grams, np.stack([M, M]), 0)
    assert np.isfinite(found[0]) and np.isnan(found[1])


def test_cosines_and_subspaces_are_those_of_weights() -> None:
    rng = np.random.default_rng(0)
    W = rng.standard_normal((3, 6))
    W[2] = W[0] - W[1]  # A neuron that adds nothing to the span.
    hidden = np.eye(6)[:2]
    gram, overlap = np.stack([W @ W.T, np.full((3, 3), np.nan)]), np.stack([W @ hidden.T] * 2)
    cosine, share = explained(gram, overlap)
    unit = W / np.linalg.norm(W, axis=1, keepdims=True)
    np.testing.assert_allclose(cosine[0], unit @ hidden.T)
    assert share[0] == pytest.approx(subspace_overlap(W, hidden))
    assert np.isnan(share[1])


def test_heavy_tails_of_the_label_are_known() -> None:
    """E y^2 of exp(2 z) is e^8, of which 2^15 points saw 2300 to 3500."""
    network = Network(Link("tanh(z)"), (1.0,), "squared")
    channel, gram, overlap = Channel(Link("exp(2*z)")), np.ones((1, 1, 1)), np.zeros((1, 1, 1))
    x, w = np.polynomial.hermite_e.hermegauss(80)
    exact = math.exp(8) + float(w @ np.tanh(x) ** 2) / w.sum()
    for seed in range(3):
        found = error_path(channel, network, gram, overlap, seed)[0]
        assert found == pytest.approx(exact, rel=2e-4)
