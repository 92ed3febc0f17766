"""Several steps, and what they have learned."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Link, MultiIndex
from learnability.learners.giant._network import Network, blocks, drawn, gradient
from learnability.learners.giant._training import leading, take_steps

TARGET, RELU = MultiIndex("z1 + z1*z2"), Link("relu(z)")


def test_two_steps_are_a_step_after_a_step() -> None:
    network = drawn("symmetric", 2, 6, 20)
    trained = take_steps(TARGET, RELU, network, [0.5, 2.0], 100, 2, reuse=False)
    move = gradient(network, RELU, blocks(TARGET, 2, 100, 20, 0), 100)
    once = Network(network.W + np.float32(0.5) * move, network.a)
    again = gradient(once, RELU, blocks(TARGET, 2, 100, 20, 1), 100)
    np.testing.assert_allclose(trained.network.W, once.W + 2 * again, rtol=1e-6)
    np.testing.assert_allclose(trained.overlaps[1], once.W @ trained.hidden.T, atol=1e-6)
    lengths = np.linalg.norm(again, axis=1, keepdims=True)
    np.testing.assert_allclose(trained.cosines[1], again @ trained.hidden.T / lengths, atol=1e-6)
    assert trained.used == 2 and trained.overlaps.shape == (3, 6, 2)


def test_a_reused_batch() -> None:
    network = drawn("symmetric", 2, 6, 20)
    fresh = take_steps(TARGET, RELU, network, [0.5, 2.0], 100, 2, reuse=False)
    reused = take_steps(TARGET, RELU, network, [0.5, 2.0], 100, 2, reuse=True)
    np.testing.assert_array_equal(fresh.overlaps[1], reused.overlaps[1])
    assert not np.allclose(fresh.network.W, reused.network.W)
    assert reused.used == 1


@pytest.mark.parametrize("shape", [(40, 30), (3, 30), (30, 3)])
def test_leading_directions(shape: tuple[int, int]) -> None:
    update = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    found = leading(update, 2, 0).astype(float)
    expected = np.linalg.svd(update)[2][:2]
    np.testing.assert_allclose(found.T @ found, expected.T @ expected, atol=1e-4)
