"""What is measured of a network."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Hierarchical, LearnabilityError, Link
from learnability.learners.deep import OracleFirstLayer, RandomFirstLayer
from learnability.learners.deep.observables import (
    first_layer_overlap,
    first_layer_rank,
    kernel_spectrum,
    on_fresh_samples,
)
from learnability.learners.deep.samples import Samples
from learnability.learners.deep.stages import Features

TARGET = Hierarchical("tanh(3*z)", "He2(z)/2 + He3(z)/6", normalisation="printed")


def test_errors_and_overlaps_on_fresh_samples() -> None:
    noisy = Hierarchical("tanh(z1)", "He2(z)", N=4, noise=0.3)
    W = next(noisy.batches(2, 1, 9, dtype=np.float32)).W

    def outputs(X: np.ndarray) -> np.ndarray:
        h = noisy.features(X, W)[-1][..., 0]
        return np.concatenate([np.tanh(h), -h, 0 * h], axis=1)

    found = on_fresh_samples(noisy, 2, 9, outputs)
    assert found.error[0] == pytest.approx(0.3, abs=1e-5)  # float32
    assert found.error[2] == pytest.approx(noisy.label_variance + noisy.mean**2, rel=0.05)
    np.testing.assert_allclose(found.overlap[1:, 0], [1, 0], atol=1e-5)
    np.testing.assert_allclose(found.robust_overlap[1:, 0], [1, 0], atol=1e-5)
    assert found.robust_overlap[0, 0] > found.overlap[0, 0]  # Tails weigh less.


def test_overlap_and_rank() -> None:
    hidden = np.eye(4)[:2]
    W = np.array([[1.0, 0, 0, 0], [0, 0, 3.0, 0]])
    assert first_layer_overlap(W, hidden) == pytest.approx(np.sqrt(0.5))
    assert first_layer_rank(W) == pytest.approx(2)
    assert first_layer_rank(np.ones((5, 4))) == pytest.approx(1)


def test_sentences() -> None:
    assert first_layer_overlap([[1.0, 0.0]], [[1.0, 0.0]]) == 1  # type: ignore[arg-type]
    for W in (np.zeros((3, 4)), np.ones(4), np.zeros((0, 4))):
        with pytest.raises(LearnabilityError, match="`W` was given with shape"):
            first_layer_overlap(W, np.eye(4)[:2])
        with pytest.raises(LearnabilityError, match="not zero"):
            first_layer_rank(W)
    with pytest.raises(LearnabilityError, match="rows of one length"):
        first_layer_overlap(np.ones((3, 4)), np.eye(5)[:2])
    for h in (np.ones(3), np.arange(2.0)):
        with pytest.raises(LearnabilityError, match="`features` and `h`"):
            kernel_spectrum(np.ones((3, 4)), h)


def test_the_spectrum_shows_the_dimension() -> None:
    d, N, n = 32, 6, 900
    samples = Samples(TARGET, 0, d, 10)
    batch = next(TARGET.batches(0, n, d, first=9, dtype=np.float32))
    features = Features(Link("relu(z)"), 2.0, 0, 1)
    ratios, shares = [], []
    for layer in (RandomFirstLayer(1200), OracleFirstLayer(1200)):
        W = layer.learn(samples)
        values, share = kernel_spectrum(features(batch.X @ W.T), batch.h[:, 0])
        ratios.append(values[:-1] / values[1:])
        shares.append(share)
    assert 1 + np.argmax(ratios[0][1:100]) + 1 == 1 + d
    assert 1 + np.argmax(ratios[1][1:100]) + 1 == 1 + N
    assert ratios[1][N + N * (N + 1) // 2] > 2
    last = N + N * (N + 1) // 2
    assert shares[1][last] > 0.6 > 0.3 > shares[0][last]
    assert shares[0][-1] == pytest.approx(1)
