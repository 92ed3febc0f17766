"""Layers over the first."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import LearnabilityError, Link
from learnability.learners.deep import PreconditionedSecondLayer, RidgeReadout
from learnability.learners.deep.stages import Features


@pytest.mark.parametrize(("n", "p"), [(200, 60), (60, 200)])
def test_a_preconditioned_step_from_zero_is_ridge_regression(n: int, p: int) -> None:
    rng = np.random.default_rng(4)
    u, y = rng.standard_normal((n, p)), rng.standard_normal(n)
    layer = PreconditionedSecondLayer(width=7, ridge=0.3)
    trained = layer.learn(lambda: [u], y, 0, 1)
    phi = Features(Link("relu(z)"), 2.0, 0, 1)(u)
    # The step itself, on all weights: W2 = (Phi^T Phi / n + epsilon)^-1 Phi^T [y (x) w3] / n.
    epsilon, w3, step = trained.ridge / n, rng.standard_normal(7), 1.7
    centred = y - y.mean()
    gradient = phi.T @ np.outer(centred, w3) / n
    W2 = step * np.linalg.solve(phi.T @ phi / n + epsilon * np.eye(p), gradient)
    assert np.linalg.matrix_rank(W2, tol=1e-9 * np.linalg.norm(W2)) == 1
    fresh = rng.standard_normal((50, p))
    h = Features(Link("relu(z)"), 2.0, 0, 1)(fresh) @ W2
    q = trained.functions(fresh)[:, 0] - y.mean()
    assert np.abs(h / (step * w3) - q[:, None]).max() < 1e-9
    # The layer's neurons are multiples of that function too.
    assert np.linalg.matrix_rank(trained.forward(fresh) - trained.forward(fresh).mean(0)) == 1


def test_two_steps_find_two_functions() -> None:
    rng = np.random.default_rng(0)
    u = rng.standard_normal((3000, 3)) @ rng.standard_normal((3, 300)) / np.sqrt(3)
    a, b = u[:, 0], u[:, 1]
    y = np.tanh(a) * (1 + np.tanh(b))
    layer = PreconditionedSecondLayer(width=20, steps=2)
    q = layer.learn(lambda: [u], y, 0, 1).functions(u)
    assert q.shape == (3000, 2)
    assert abs(np.corrcoef(q[:, 0], q[:, 1])[0, 1]) < 0.95


def test_readouts() -> None:
    rng = np.random.default_rng(2)
    u = rng.standard_normal((500, 2))
    y = u[:, 0] * u[:, 1] + 1
    fresh = rng.standard_normal((40, 2))
    wide = rng.standard_normal((2, 300))
    deep = RidgeReadout().learn(lambda: [u @ wide], y, 0, 1)
    assert np.mean((deep.forward(fresh @ wide)[:, 0] - fresh.prod(1) - 1) ** 2) < 0.1
    assert np.mean((deep.left_out[:, 0] - y) ** 2) < 0.1


def test_sentences() -> None:
    with pytest.raises(LearnabilityError, match="of at least 1 and of at most 2"):
        PreconditionedSecondLayer(steps=3)
    with pytest.raises(LearnabilityError, match="`ridge` was given as -1"):
        RidgeReadout(-1)
    dependent = np.ones((40, 3))
    with pytest.raises(LearnabilityError, match="`ridge` is 0"):
        RidgeReadout(0).learn(lambda: [dependent], np.arange(40.0), 0, 1)
