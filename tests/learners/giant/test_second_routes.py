"""Parts of the theory of giant steps against naive loops and measured memory."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from scipy.stats import norm

from learnability import Channel, LearnabilityError, Link, MultiIndex
from learnability.learners.giant._conditional import _blurred
from learnability.learners.giant._given_layer import _length_share
from learnability.learners.giant._parameters import Bends
from learnability.learners.giant._subspace_chain import chain_bytes, chained_correlation
from learnability.learners.giant._theory import batch_of


@pytest.mark.parametrize("paired", [False, True])
def test_the_length_that_all_neurons_see(paired: bool) -> None:
    """Its variance is the mean covariance of (f_i / l_i)^2 of two neurons that are no pair."""
    rng = np.random.default_rng(1)
    W = rng.standard_normal((6, 12)) + 1.5 * rng.standard_normal(12)
    gram = W @ W.T
    lengths = np.linalg.norm(W, axis=1)
    cosine = gram / np.outer(lengths, lengths)
    own = [(i, j) for i in range(6) for j in range(6) if i != j and (not paired or j % 3 != i % 3)]
    exact = math.sqrt(np.mean([2 * cosine[i, j] ** 2 for i, j in own]))
    correlation = np.array([cosine[i, i + 3] for i in range(3)]) if paired else None
    assert _length_share(gram, lengths, correlation) == pytest.approx(min(exact, 0.5))
    apart = np.eye(6) + 0.1 * (1 - np.eye(6))
    ones = np.full(3, 0.1) if paired else None
    assert _length_share(apart, np.ones(6), ones) == pytest.approx(math.sqrt(0.02))
    fields = np.random.default_rng(2).standard_normal((200_000, 12)) @ W.T / lengths
    squares = np.cov((fields**2).T)
    assert np.mean([squares[i, j] for i, j in own]) == pytest.approx(exact**2, rel=0.05)


def test_the_memory_of_a_chain_is_what_it_takes() -> None:
    channel, activation = Channel("tanh(2*z)"), Link("tanh(z)")
    for n, d, count in ((40_000, 60, 20), (40_000, 12, 40)):
        tracemalloc.start()
        rng = np.random.default_rng(3)
        chained_correlation(channel, activation, (n, d), 0.3, 0.1, count, rng)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert chain_bytes(n, d, count) == pytest.approx(most, rel=0.25)


def test_nodes_must_be_closer_than_the_law_that_they_average() -> None:
    """Even nodes a distance h apart miss 2 exp(-2 (pi w / h)^2) of a normal law of width w."""
    t = np.arange(-9, 9, 0.1)
    weights = norm.pdf(t) * 0.1
    moments = np.vstack([np.ones_like(t), t**2, t])
    kappa, target = np.linspace(-3, 3, 7), MultiIndex("z1*z2")
    for width in (0.05, 0.06):  # 1.4 and 0.16 percent.
        with pytest.raises(LearnabilityError, match="too close to 1"):
            _blurred(t, weights, moments, math.sqrt(1 - width**2), width, kappa, target)
    gamma = math.sqrt(1 - 0.2**2)
    found = _blurred(t, weights, moments, gamma, 0.2, kappa, target)
    np.testing.assert_allclose(found.mean, 1, atol=1e-6)
    np.testing.assert_allclose(found.square, (gamma * kappa) ** 2 + 0.04, atol=1e-6)
    np.testing.assert_allclose(found.linear[1], gamma * kappa, atol=1e-6)
    np.testing.assert_allclose(found.linear[0], 0, atol=1e-6)


def test_the_noise_of_a_step_is_what_the_slopes_leave_beside_two_terms() -> None:
    """E[sigma'^2] = slope^2 + bend^2 + rest in Hermite polynomials, of which a step keeps two."""
    known = Bends(0.3, 0.7, 0.4, 0.9)
    z, y, weights = np.zeros((3, 1)), np.array([1.0, 2.0, -1.0]), np.full(3, 1 / 3)
    batch = batch_of(z, y, weights, known, "ones", 2.0, 5.0)
    assert batch.noise == pytest.approx(4 * (0.9 - 0.49 - 0.16) / 5)
    assert batch.pull == pytest.approx(0.8)
    np.testing.assert_allclose(batch.e, y - 0.3)
    np.testing.assert_allclose(batch_of(z, y, weights, known, "gaussian", 2.0, 5.0).e, y)
