"""Stages with the Mehler kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from learnability import LearnabilityError
from learnability.learners.deep import MehlerReadout, MehlerSecondLayer
from learnability.theory.mehler import mehler_values

RNG = np.random.default_rng(2)
U = RNG.standard_normal((300, 2))
Y = U[:, 0] * U[:, 1] + 1
FRESH = RNG.standard_normal((40, 2))


def solved(rows: NDArray[Any], ridge: float) -> NDArray[Any]:
    """Values at fresh inputs and at all samples of the fit to some of the samples, mean of all."""
    c = np.linalg.solve(mehler_values(U[rows], U[rows]) + ridge * np.eye(len(rows)),
                        Y[rows] - Y.mean())  # fmt: skip
    return np.asarray(Y.mean() + mehler_values(np.concatenate([FRESH, U]), U[rows]) @ c)


def test_the_readout_is_kernel_regression() -> None:
    expected = solved(np.arange(300), 0.3)[:40]
    trained = MehlerReadout(0.3).learn(lambda: [U[:100], U[100:]], Y, 0, 1)
    np.testing.assert_allclose(trained.forward(FRESH)[:, 0], expected, atol=1e-8)
    single = MehlerReadout(0.3).learn(lambda: [U.astype(np.float32)], Y, 0, 1)
    np.testing.assert_allclose(single.forward(FRESH)[:, 0], expected, atol=1e-3)


def test_a_ridge_that_single_precision_would_lose() -> None:
    small = MehlerReadout(1e-6).learn(lambda: [U.astype(np.float32)], Y, 0, 1)
    assert np.abs(small.left_out[:, 0] - Y).max() < 1e-3


def test_neurons_of_the_second_layer_are_one_function() -> None:
    trained = MehlerSecondLayer(width=7, ridge=0.5).learn(lambda: [U], Y, 0, 1)
    q = trained.functions(FRESH)
    np.testing.assert_allclose(q[:, 0], solved(np.arange(300), 0.5)[:40], atol=1e-8)
    neurons = trained.spread(q)
    assert neurons.shape == (40, 7)
    assert np.linalg.matrix_rank(neurons - neurons.mean(0), tol=1e-8) == 1
    # What is handed on at sample 5 comes from the fit without it.
    without = solved(np.delete(np.arange(300), 5), 0.5)[40 + 5]
    expected = trained.spread(np.array([[without]]))
    np.testing.assert_allclose(trained.left_out[5], expected[0], rtol=1e-4, atol=1e-4)


def test_sentences() -> None:
    with pytest.raises(LearnabilityError, match="above 0"):
        MehlerReadout(0)
    with pytest.raises(LearnabilityError, match="above 0"):
        MehlerSecondLayer(ridge=-1)
    with pytest.raises(LearnabilityError, match="`width` was given as 0"):
        MehlerSecondLayer(0)


def test_a_kernel_that_rounding_breaks_is_told() -> None:
    rng = np.random.default_rng(5)
    u = (rng.standard_normal((160, 1)) * rng.standard_normal((1, 100))).astype(np.float32)
    for size, words in ((1.5, "use a larger one"), (40, "too large for a Mehler kernel")):
        with pytest.raises(LearnabilityError, match=words):
            MehlerReadout(1.0).learn(lambda v=size * u: [v], u[:, 0], 0, 1)  # type: ignore[misc]
