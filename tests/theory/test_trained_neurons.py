"""The law of neurons after giant steps."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Link, MultiIndex
from learnability.learners.giant._network import blocks, drawn, gradient
from learnability.theory.trained_neurons import drawn_neurons, knowing_neurons, trained_neurons


def test_the_law_after_one_step_is_that_of_a_network() -> None:
    """Lengths along the hidden directions, of the shared noise and of the rest, within 10 %."""
    target, sigma = MultiIndex("z1 + He2(z2)", noise=0.3), Link("relu(z - 1/2)")
    d, n, p, step = 60, 40_000, 500, 1.5
    squares, others = [], []
    for seed in range(4):
        network = drawn("gaussian", seed, p, d)
        moved = gradient(network, sigma, blocks(target, seed, n, d, 1), n)
        W = network.W.astype(float) + step * moved
        hidden = target.inputs.directions(seed, 2, d).hidden.astype(float)
        along = W @ hidden.T
        squares.append(np.mean(along**2, axis=0))
        others.append(np.mean(np.sum(W**2, axis=1) - np.sum(along**2, axis=1)))
    law = trained_neurons(target.link, sigma, (d, n), step, 1, target.noise)
    assert np.mean(law.hidden**2, axis=0) == pytest.approx(np.mean(squares, axis=0), rel=0.1)
    length = np.mean(law.rest**2 + np.sum(law.shared**2, axis=1))
    assert length == pytest.approx(np.mean(others), rel=0.05)
    assert law.shared.shape == (256, 1)
    draws = [drawn_neurons(target.link, sigma, (d, n, p), step, 1, 0.3, seed) for seed in range(2)]
    found = np.mean([np.mean(one.hidden**2, axis=0) for one in draws], axis=0)
    assert found == pytest.approx(np.mean(squares, axis=0), rel=0.15)
    lengths = [np.mean(one.rest**2 + np.sum(one.shared**2, axis=1)) for one in draws]
    assert np.mean(lengths) == pytest.approx(np.mean(others), rel=0.07)


def test_neurons_that_know_a_subspace() -> None:
    known = np.array([[0.6, 0.8, 0.0]])
    law = knowing_neurons(known, 400, 2.0)
    assert np.mean((law.hidden @ known[0]) ** 2) == pytest.approx(4.0, rel=0.02)
    assert np.mean(law.hidden[:, 2] ** 2) == pytest.approx(1 / 400, rel=0.1)
    assert np.mean((law.hidden @ [0.8, -0.6, 0.0]) ** 2) == pytest.approx(1 / 400, rel=0.1)
