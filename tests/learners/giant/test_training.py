"""The sizes of steps, several of them, and what they have learned."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import GiantSteps, Link, MultiIndex, SpikedIndex
from learnability.inputs import PowerLaw, Signs
from learnability.learners.giant import train
from learnability.learners.giant._network import Network, blocks, drawn, gradient
from learnability.learners.giant._training import leading, neurons, step_size

TARGET, RELU = MultiIndex("z1 + z1*z2"), Link("relu(z)")


def test_the_default_step_comes_from_the_leap() -> None:
    linear = GiantSteps(0.1).simulate("z1 + z1*z2", d=40, alpha=1.0)
    square = GiantSteps(0.1).simulate("z1*z2", d=40, alpha=1.0)
    assert linear.attrs["step_size"] == 1.0
    assert square.attrs["step_size"] == pytest.approx(np.sqrt(40))
    assert "spike" in linear and "spike" not in square


def test_pairs_are_even() -> None:
    learner = GiantSteps(0.5, init="symmetric", ridge=0.3)
    assert [neurons(learner, d) for d in (1, 6, 10, 11)] == [2, 4, 4, 6]
    assert neurons(GiantSteps(0.5), 10) == 5 and neurons(GiantSteps(0.01), 10) == 1
    assert learner.ridges == (0.3,) and GiantSteps(ridge=(1.0, 2.0)).ridges == (1.0, 2.0)
    assert step_size(GiantSteps(step=3.0), MultiIndex("z1*z2"), None) == 3.0


def two_steps(reuse: bool) -> GiantSteps:
    return GiantSteps(0.3, "relu(z)", 5.0, 2, 0.5, "symmetric", reuse)


def test_two_steps_are_a_step_after_a_step() -> None:
    network = drawn("symmetric", 2, 6, 20)
    trained = train(two_steps(False), TARGET, 20, 2)
    move = gradient(network, RELU, blocks(TARGET, 2, 100, 20, 0), 100)
    once = Network(network.W + np.float32(0.5) * move, network.a)
    again = gradient(once, RELU, blocks(TARGET, 2, 100, 20, 1), 100)
    np.testing.assert_allclose(trained.network.W, once.W + 0.5 * again, rtol=1e-6)
    np.testing.assert_allclose(trained.overlaps[1], once.W @ trained.hidden.T, atol=1e-6)
    lengths = np.linalg.norm(again, axis=1, keepdims=True)
    np.testing.assert_allclose(trained.cosines[1], again @ trained.hidden.T / lengths, atol=1e-6)
    assert trained.used == 2 and trained.overlaps.shape == (3, 6, 2)


def test_a_reused_batch() -> None:
    fresh, reused = (train(two_steps(reuse), "z1 + z1*z2", 20, 2) for reuse in (False, True))
    np.testing.assert_array_equal(fresh.overlaps[1], reused.overlaps[1])
    assert not np.allclose(fresh.network.W, reused.network.W)
    assert reused.used == 1
    permuted = train(two_steps(True), TARGET, 20, 2, permute=True)
    assert not np.allclose(permuted.network.W, reused.network.W)


@pytest.mark.parametrize(
    "target",
    [
        MultiIndex("z1 + z1*z2"),
        SpikedIndex("tanh(z)", spike=8.0, alignment=0.5),
        MultiIndex("z1 + z1*z2", inputs=PowerLaw(1.0)),
        MultiIndex("z1*z2", inputs=Signs(0.5)),
    ],
)
def test_a_layer_that_is_its_gradient(target: MultiIndex) -> None:
    """Fields of unit variance on fresh samples; along the gradient of the layer that was drawn."""
    learner = GiantSteps(0.2, "tanh(z)", 4.0, update="replace", bias=0.3)
    found = train(learner, target, 60, 1)
    move = gradient(found.start, Link("tanh(z)"), blocks(target, 1, 240, 60, 0), 240)
    cosine = np.sum(move * found.network.W, axis=1) / (
        np.linalg.norm(move, axis=1) * np.linalg.norm(found.network.W, axis=1)
    )
    np.testing.assert_allclose(cosine, 1.0, atol=1e-5)
    fresh = next(target.batches(1, 40_000, 60, first=9))
    np.testing.assert_allclose(np.var(fresh.X @ found.network.W.T, axis=0), 1.0, rtol=0.05)


def test_neurons_that_no_sample_reaches_stay() -> None:
    found = train(GiantSteps(0.2, "relu(z - 40)", update="replace"), "z", 30, 0)
    np.testing.assert_array_equal(found.network.W, found.start.W)


@pytest.mark.parametrize("shape", [(40, 30), (3, 30), (30, 3)])
def test_leading_directions(shape: tuple[int, int]) -> None:
    update = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    found = leading(update, 2, 0).astype(float)
    expected = np.linalg.svd(update)[2][:2]
    np.testing.assert_allclose(found.T @ found, expected.T @ expected, atol=1e-4)
