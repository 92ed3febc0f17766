"""Ridge regression with leverages that depend on lengths."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability.theory.equivalent import Levels, errors
from learnability.theory.length_equivalent import Blocks, Parts, length_errors

SIZES, XI, ENERGIES = np.array([1.0, 40.0, 800.0]), np.array([0.5, 0.02, 0.001]), (2.0, 1.0, 0.7)
LEVELS = Levels(XI, SIZES, np.array(ENERGIES), 0.3, 0.2)
COSINES = np.array([1.0]), np.zeros((3, 1))


def same_lengths(neurons: bool) -> tuple[Blocks, Parts]:
    """Three nodes at which nothing differs."""
    weights, one = np.array([0.2, 0.5, 0.3]), np.ones((3, 3))
    if neurons:
        radial = np.sqrt(XI)[:, None, None] * one
        blocks = Blocks(weights, SIZES, radial, weights, 0.3 * one, COSINES)
    else:
        radial = np.sqrt(XI)[:, None, None] * one[:, :1]
        blocks = Blocks(weights, SIZES, radial, None, 0.3 * one[:, :1], COSINES)
    along = np.sqrt(ENERGIES)[:, None, None] * one[:, :1]
    return blocks, Parts(along, np.full(3, 0.2))


@pytest.mark.parametrize("features", [60.0, 300.0, 3000.0, math.inf])
@pytest.mark.parametrize("ridge", [0.0, 0.01, 3.0])
@pytest.mark.parametrize("samples", [20.0, 200.0, 5000.0])
def test_equal_lengths_have_the_usual_equivalent(
    samples: float, ridge: float, features: float
) -> None:
    blocks, parts = same_lengths(math.isfinite(features))
    found = length_errors(blocks, parts, samples, features, ridge)
    test, train = errors(LEVELS, samples, features, ridge)
    assert found.test == pytest.approx(test, rel=1e-6)
    assert found.train == pytest.approx(train, rel=1e-6, abs=1e-12)
    assert 0 < found.test_stderr < 0.2 * found.test


def test_the_interpolation_peak_is_infinite_without_a_ridge() -> None:
    blocks, parts = same_lengths(True)
    assert math.isinf(length_errors(blocks, parts, 300.0, 300.0, 0.0).test)
    assert math.isfinite(length_errors(blocks, parts, 300.0, 300.0, 0.01).test)


def test_longer_inputs_have_smaller_weights() -> None:
    """A linear kernel on two lengths: leverage grows as the square of the length."""
    weights, r = np.array([0.5, 0.5]), np.array([0.5, 1.3])
    blocks = Blocks(
        weights, np.array([100.0]), r[None, :, None] / 10, None, np.zeros((2, 1)), COSINES_ONE
    )
    parts = Parts(np.zeros((1, 2, 1)), np.ones(2))
    found = length_errors(blocks, parts, 150.0, math.inf, 0.1)
    rng, sets = np.random.default_rng(0), 60
    test, train = [], []
    for _ in range(sets):
        lengths = rng.choice(r, 150)
        X = rng.standard_normal((150, 100)) * lengths[:, None] / 10
        y = rng.standard_normal(150)
        w = np.linalg.solve(X.T @ X + 0.1 * np.eye(100), X.T @ y)
        test.append(1 + np.mean(r**2) / 100 * w @ w)
        train.append(np.mean((y - X @ w) ** 2))
    for value, values in ((found.test, test), (found.train, train)):
        assert abs(value - np.mean(values)) < 3 * np.std(values) / math.sqrt(sets) + 0.01 * value


COSINES_ONE = np.array([1.0]), np.zeros((1, 1))
