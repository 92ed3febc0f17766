"""First layers: overlaps, ranks, sentences."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Hierarchical, LearnabilityError
from learnability.learners.deep import (
    OracleFirstLayer,
    RandomFirstLayer,
    SpectralFirstLayer,
    SphericalFirstLayer,
)
from learnability.learners.deep.first_layer import second_moment
from learnability.learners.deep.observables import first_layer_overlap, first_layer_rank
from learnability.learners.deep.samples import Samples

TARGET = Hierarchical("tanh(3*z)", "He2(z)/2 + He3(z)/6", normalisation="printed")


def hidden(d: int, seed: int = 0) -> np.ndarray:
    return next(TARGET.batches(seed, 1, d, dtype=np.float32)).W


def test_steps_recover_the_subspace_and_later_ones_collapse() -> None:
    d = 64
    samples = Samples(TARGET, 0, d, 5000)
    layer = SphericalFirstLayer(width=100, steps=12)
    path = layer.path(samples, every=True)
    overlaps = [first_layer_overlap(W, hidden(d)) for W in path]
    ranks = [first_layer_rank(W) for W in path]
    assert overlaps[0] == pytest.approx(np.sqrt(8 / 64), abs=0.03)
    assert overlaps[5] > 0.9 and overlaps[12] > overlaps[5]
    # The overlap grows while the rows lose directions.
    assert 7 < ranks[5] < 12 and ranks[12] < 0.8 * ranks[5]
    np.testing.assert_array_equal(layer.learn(samples), path[-1])
    assert len(SphericalFirstLayer(width=4).path(samples, every=True)) == 1 + 5


def test_projected_steps() -> None:
    d = 16
    samples = Samples(TARGET, 3, d, 2000)
    one = SphericalFirstLayer(width=6, steps=1).path(samples, every=True)
    two = SphericalFirstLayer(width=6, steps=1, projected=True).path(samples, every=True)
    np.testing.assert_array_equal(one[0], two[0])
    size = SphericalFirstLayer(width=6).step_size(samples)
    X = np.concatenate([X for X, _ in samples]).astype(np.float64)
    y = samples.labels - samples.labels.mean()
    signs = np.array([1, -1] * 3)[:, None]
    gradient = signs * ((np.tanh(one[0] @ X.T) * y) @ X) * size / 2000
    tangent = gradient - np.sum(gradient * one[0], axis=1)[:, None] * one[0]
    for step, found in ((gradient, one[1]), (tangent, two[1])):
        expected = one[0] + step
        expected /= np.linalg.norm(expected, axis=1)[:, None]
        np.testing.assert_allclose(found, expected, atol=1e-4)
    with pytest.raises(LearnabilityError, match="True or False"):
        SphericalFirstLayer(projected=1)  # type: ignore[arg-type]


def test_the_other_layers() -> None:
    d = 64
    samples = Samples(TARGET, 1, d, 4000)
    W = hidden(d, 1)
    assert first_layer_overlap(OracleFirstLayer(50).learn(samples), W) == pytest.approx(1, abs=1e-5)
    basis = SpectralFirstLayer(None).learn(samples)
    rows = SpectralFirstLayer(400).learn(samples)
    assert basis.shape == (8, d) and first_layer_rank(basis) == pytest.approx(8, abs=1e-3)
    expected = np.sqrt(1 - TARGET.n_star(d) / 4000)
    for layer in (basis, rows):
        assert first_layer_overlap(layer, W) == pytest.approx(expected, abs=0.03)
    random = RandomFirstLayer(300).learn(samples)
    assert first_layer_rank(random) > 45


def test_moments_over_blocks() -> None:
    samples = Samples(TARGET, 2, 16, 5000)
    X = np.concatenate([X for X, _ in samples])
    y = samples.labels - samples.labels.mean()
    np.testing.assert_allclose(second_moment(samples), (X * y[:, None]).T @ X / 5000, atol=1e-4)


def test_sentences() -> None:
    with pytest.raises(LearnabilityError, match="`width` was given as 0"):
        RandomFirstLayer(0)
    with pytest.raises(LearnabilityError, match='or "log" is'):
        SphericalFirstLayer(steps=0)
    with pytest.raises(LearnabilityError, match="use a smaller `step`"):
        SphericalFirstLayer(width=4, step=1e39).learn(Samples(TARGET, 0, 16, 10))
    with pytest.raises(LearnabilityError, match="no part of degree 2"):
        SphericalFirstLayer(width=4, activation="tanh(z)").learn(Samples(TARGET, 0, 16, 10))
