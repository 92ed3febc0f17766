"""The estimate does not depend on how the eigenvectors were turned."""

from __future__ import annotations

import numpy as np
import pytest

from learnability.labels.channel import Channel
from learnability.learners.linear_algebra.eigenvectors import preprocessing
from learnability.learners.measurement import resolved
from learnability.learners.spectral._frame import combinations
from learnability.learners.spectral._label_law import label_law
from learnability.learners.spectral._transition import Transition, symmetric_transition


@pytest.fixture(scope="module")
def parity() -> Transition:
    law = label_law(Channel("sign(z1*z2)"), False)
    return symmetric_transition(law.weights, law.G, preprocessing(law.G, -10.0), 5.0)


@pytest.mark.parametrize("seed", range(5))
def test_a_rotation_of_degenerate_eigenvectors_is_undone(parity: Transition, seed: int) -> None:
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((2, 2)))[0]
    both = np.kron(turn, np.eye(2))
    estimate = combinations(parity, both @ parity.gram @ both.T)[0]
    overlap = resolved(estimate @ both @ parity.signal, Channel("sign(z1*z2)").link)
    straight = combinations(parity)[0] @ parity.signal
    straight = resolved(straight, Channel("sign(z1*z2)").link)
    np.testing.assert_allclose(overlap, straight, atol=1e-4)
    np.testing.assert_allclose(overlap, overlap[0, 0] * np.eye(2), atol=1e-4)


def test_the_estimate_beats_every_row(parity: Transition) -> None:
    """Of all combinations of rows none is closer to a direction than the filtered one."""
    estimate = combinations(parity)[0]
    best = estimate @ parity.signal
    np.testing.assert_allclose(best, estimate @ parity.gram @ estimate.T, atol=1e-9)
    squares = parity.signal[:, 0] ** 2 / np.diag(parity.gram)
    assert best[0, 0] > squares.max() - 1e-9


def test_outliers_apart_are_not_mixed() -> None:
    rng = np.random.default_rng(0)
    shapes = np.array([np.diag([1.0, 0]), np.diag([0, 1.0])])
    noise = 0.5 * np.diag([1.0, 0, 0, 1.0])
    apart = Transition(0.0, np.array([1.0, 0.5]), shapes, np.array([0.5, 0.5]), noise)
    turn = np.kron(np.linalg.qr(rng.standard_normal((2, 2)))[0], np.eye(2))
    for C in combinations(apart, turn @ apart.gram @ turn.T):
        # Only signs: the first row of the estimate is made of the first eigenvector.
        assert np.abs(C[0, 2:]).max() < 1e-9 < np.abs(C[0, 0])
