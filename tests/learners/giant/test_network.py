"""The network, its gradient and the parameters of a first layer."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Link, MultiIndex
from learnability.learners.giant._network import (
    Network,
    blocks,
    drawn,
    gradient,
    measured,
    permuted,
    readout_data,
)
from learnability.learners.networks.features import ROWS


def test_initial_networks() -> None:
    ones, signs, pairs = (drawn(init, 3, 40, 30) for init in ("ones", "signs", "symmetric"))
    assert set(ones.a) == {1.0} and set(signs.a) == {-1.0, 1.0}
    np.testing.assert_array_equal(ones.W, signs.W)
    np.testing.assert_array_equal(pairs.W[:20], pairs.W[20:])
    np.testing.assert_array_equal(pairs.a[:20], -pairs.a[20:])
    assert ones.b is None
    biased = drawn("symmetric", 3, 40, 30, bias=0.5)
    assert biased.b is not None and 0.3 < biased.b.std() < 0.7
    np.testing.assert_array_equal(biased.b[:20], biased.b[20:])


def test_blocks_are_fresh_and_repeatable() -> None:
    target = MultiIndex("z", noise=0.1)
    n = ROWS + 10
    sizes = [len(block.X) for block in blocks(target, 0, n, 3, 5)]
    assert sizes == [ROWS, 10]
    first, second = blocks(target, 0, n, 3, 5)
    assert not np.isin(second.X[:, 0], first.X[:, 0]).any()
    again = next(blocks(target, 0, n, 3, 5))
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.W, second.W)


@pytest.mark.parametrize("bias", [0.0, 0.7])
@pytest.mark.parametrize("init", ["ones", "signs", "symmetric"])
def test_the_gradient_is_that_of_the_loss(init: str, bias: float) -> None:
    """Against differences of the loss (p / 2n) sum (y - f)^2 in float64."""
    target, activation = MultiIndex("z1*z2 + z1"), Link("tanh(z) + z**2/3")
    W, a, b = drawn(init, 1, 6, 5, bias)
    shift = 0.0 if b is None else b.astype(float)
    sample = next(blocks(target, 1, 50, 5, 0))

    def loss(weights: np.ndarray) -> float:
        f = activation((sample.X.astype(float) @ weights.T + shift)[..., None]) @ a / len(a)
        return float(len(a) / 2 * np.mean((sample.y - f) ** 2))

    found = gradient(Network(W, a, b), activation, blocks(target, 1, 50, 5, 0), 50)
    for j, k in ((0, 0), (2, 4), (5, 1)):
        up, down = W.astype(float), W.astype(float)
        up[j, k] += 1e-5
        down[j, k] -= 1e-5
        assert found[j, k] == pytest.approx(-(loss(up) - loss(down)) / 2e-5, rel=1e-3, abs=1e-5)


def test_permuted_labels_are_the_same_labels() -> None:
    target = MultiIndex("z", noise=0.1)
    plain = list(blocks(target, 0, ROWS + 10, 3, 5))
    for _ in range(2):  # The same permutation for the same batch.
        mixed = list(permuted(blocks(target, 0, ROWS + 10, 3, 5), 0, 5))
        for one, other in zip(plain, mixed, strict=True):
            np.testing.assert_array_equal(one.X, other.X)
            np.testing.assert_array_equal(np.sort(one.y), np.sort(other.y))
            assert np.mean(one.y == other.y) < 0.5
    again = list(permuted(blocks(target, 0, ROWS + 10, 3, 5), 0, 5))
    np.testing.assert_array_equal(mixed[0].y, again[0].y)


def test_the_features_of_blocks() -> None:
    target, activation = MultiIndex("z"), Link("relu(z)")
    network = drawn("ones", 0, 4, 3)
    W = network.W
    F, y = readout_data(network, activation, blocks(target, 0, ROWS + 3, 3, 2), ROWS + 3)
    parts = list(blocks(target, 0, ROWS + 3, 3, 2))
    np.testing.assert_allclose(F[ROWS:], np.maximum(parts[1].X @ W.T, 0) / 2, rtol=1e-5)
    np.testing.assert_array_equal(y[:ROWS], parts[0].y)
    biased = drawn("ones", 0, 4, 3, bias=2.0)
    np.testing.assert_array_equal(biased.W, W)
    G, _ = readout_data(biased, activation, blocks(target, 0, ROWS + 3, 3, 2), ROWS + 3)
    np.testing.assert_allclose(G[ROWS:], np.maximum(parts[1].X @ W.T + biased.b, 0) / 2, rtol=1e-5)


def test_parameters_of_a_spiked_layer() -> None:
    rng = np.random.default_rng(0)
    p, d = 600, 500
    a = rng.choice([-1.0, 1.0], p)
    v = np.eye(d)[0]
    W = 1.3 * rng.standard_normal((p, d)) / np.sqrt(d) + 0.7 * a[:, None] * v
    linear = 0.6 * v + 0.8 * np.eye(d)[1]
    found = measured(Network(W.astype(np.float32), a.astype(np.float32)), linear)
    assert found.spike == pytest.approx(0.7, rel=0.02)
    assert found.alignment == pytest.approx(0.6, abs=0.01)
    assert found.bulk == pytest.approx(1.3, rel=0.01)


def test_the_rest_of_a_layer_is_what_its_spike_leaves() -> None:
    """Rows of W - spike a v^T, as matrices: in few dimensions every part of them shows."""
    rng = np.random.default_rng(4)
    a = rng.choice([-1.0, 1.0], 9)
    W = rng.standard_normal((9, 3)) + 0.4 * a[:, None]
    found = measured(Network(W.astype(np.float32), a.astype(np.float32)), np.eye(3)[1])
    common = a @ W / 9
    rest = np.sum((W - a[:, None] * common) ** 2, axis=1)
    assert found.spike == pytest.approx(np.linalg.norm(common), rel=1e-6)
    assert found.alignment == pytest.approx(common[1] / np.linalg.norm(common), rel=1e-6)
    assert found.bulk == pytest.approx(np.sqrt(rest.mean()), rel=1e-6)
    assert found[3] == pytest.approx(3 * rest.var() / rest.mean() ** 2, rel=1e-6)
