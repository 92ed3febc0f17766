"""Plain steps on a second layer."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import LearnabilityError
from learnability.learners import PlainSecondLayer
from learnability.learners.deep.stages import Features


def test_the_filter_is_gradient_descent() -> None:
    rng = np.random.default_rng(1)
    u, y = rng.standard_normal((80, 5)), rng.standard_normal(80)
    layer = PlainSecondLayer(width=3, steps=7)
    trained = layer.learn(lambda: [u[:30], u[30:]], y, 2, 1)
    phi = Features(layer.activation, layer.bias, 2, 1)(u)
    centre = phi[:40].mean(axis=0)
    gram = (phi[:40] - centre).T @ (phi[:40] - centre)
    weights = np.zeros(5)
    for _ in range(7):
        residual = y[:40] - y[:40].mean() - (phi[:40] - centre) @ weights
        weights += (phi[:40] - centre).T @ residual / np.linalg.eigvalsh(gram)[-1]
    expected = y[:40].mean() + (phi - centre) @ weights
    np.testing.assert_allclose(trained.functions(u)[:, 0], expected, rtol=1e-8)
    assert trained.used == 40 and trained.left_out.shape == (40, 3)


def test_many_steps_are_the_regression() -> None:
    rng = np.random.default_rng(3)
    u, y = rng.standard_normal((200, 4)), rng.standard_normal(200)
    layer = PlainSecondLayer(steps=10**7)
    phi = Features(layer.activation, layer.bias, 0, 1)(u)
    system = np.column_stack([phi[:100], np.ones(100)])
    best = np.column_stack([phi, np.ones(200)]) @ np.linalg.lstsq(system, y[:100], rcond=None)[0]
    found = layer.learn(lambda: [u], y, 0, 1).functions(u)[:, 0]
    np.testing.assert_allclose(found, best, atol=1e-6)


def test_sentences() -> None:
    with pytest.raises(LearnabilityError, match="finite features of at least 2 samples"):
        PlainSecondLayer().learn(lambda: [np.full((4, 2), np.inf)], np.ones(4), 0, 1)
    with pytest.raises(LearnabilityError, match="`steps` was given"):
        PlainSecondLayer(steps=0)
