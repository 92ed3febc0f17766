"""The deterministic equivalent: reference values, limits and identities."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability.theory.equivalent import Levels, errors, shares

LINEAR = Levels(np.array([np.inf, 1.0]), np.array([0.0, 1.0]), np.array([0.3, 1.0]), 0.0, 0.25)
BENT = LINEAR._replace(tail=0.6, eigenvalues=np.array([np.inf, 0.4]))


def ridge_regression(alpha: float, ridge: float, energy: float, noise: float) -> float:
    """Error of ridge regression on Gaussian inputs x / sqrt(d), by Marchenko and Pastur."""
    step = 1e-6 * max(ridge, 1e-3)

    def trace(r: float) -> float:  # (1/d) Tr (X^T X / d + r)^-1
        b = r + alpha - 1
        return (-b + math.sqrt(b**2 + 4 * r)) / (2 * r)

    m, dm = trace(ridge), (trace(ridge + step) - trace(ridge - step)) / (2 * step)
    return energy * ridge**2 * -dm + noise * (m + ridge * dm) + noise


@pytest.mark.parametrize("alpha", [0.4, 1.0, 3.0])
@pytest.mark.parametrize("ridge", [0.05, 1.0])
def test_a_linear_kernel_is_ridge_regression(alpha: float, ridge: float) -> None:
    found = errors(LINEAR, alpha, math.inf, ridge)
    assert found.test == pytest.approx(ridge_regression(alpha, ridge, 1.0, 0.25), rel=1e-5)


def test_endless_features_are_the_kernel() -> None:
    for alpha in (0.5, 1.0, 4.0):
        kernel = errors(BENT, alpha, math.inf, 0.1)
        assert errors(BENT, alpha, 1e7, 0.1) == pytest.approx(kernel, rel=1e-5)


def test_endless_samples_and_features_leave_the_noise() -> None:
    assert errors(BENT, 1e12, 1e6, 0.1).test == pytest.approx(0.25, rel=1e-5)
    assert errors(BENT, 1e12, 1e6, 0.1).train == pytest.approx(0.25, rel=1e-5)


@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 2.0), (2.0, 0.5)])
def test_no_ridge_is_the_limit_of_small_ones(alpha: float, beta: float) -> None:
    for levels in (LINEAR, BENT):
        none, small = errors(levels, alpha, beta, 0.0), errors(levels, alpha, beta, 1e-9)
        assert none.test == pytest.approx(small.test, rel=1e-5)
        assert none.train == pytest.approx(small.train, abs=1e-6)
    if alpha < beta:
        assert errors(BENT, alpha, beta, 0.0).train == pytest.approx(0.0, abs=1e-12)


def test_the_interpolation_peak() -> None:
    assert math.isinf(errors(BENT, 1.5, 1.5, 0.0).test)
    near = [errors(BENT, 1.5, 1.5, ridge).test for ridge in (1e-2, 1e-4, 1e-6)]
    assert near[0] < near[1] < near[2]


def test_a_level_that_is_not_seen_stays() -> None:
    blind = BENT._replace(eigenvalues=np.array([0.0, 0.4]))
    assert errors(blind, 1e12, 1e6, 0.1).test == pytest.approx(0.55, rel=1e-5)
    nothing = Levels(np.zeros(2), np.array([0.0, 1.0]), np.array([0.3, 1.0]), 0.0, 0.25)
    assert errors(nothing, 2.0, 1.0, 0.1) == pytest.approx((1.55, 1.55))
    assert errors(nothing, 2.0, 1.0, 0.0) == pytest.approx((1.55, 1.55))


def test_the_same_ratios_give_the_same_errors() -> None:
    big = BENT._replace(sizes=BENT.sizes * 500, eigenvalues=BENT.eigenvalues / 500)
    assert errors(big, 1000, 750, 0.2) == pytest.approx(errors(BENT, 2.0, 1.5, 0.2), rel=1e-10)


def test_without_a_ridge_what_the_kernel_has_is_learned_and_the_rest_is_not() -> None:
    levels = Levels(np.array([np.inf, 0.4, 0.0]), np.ones(3), np.ones(3), 0.0, 0.0)
    left, learned = shares(levels, 0.0)
    assert left.tolist() == [0.0, 0.0, 1.0] and learned.tolist() == [1.0, 1.0, 0.0]
    for rest, part in zip(*shares(levels, 0.1), strict=True):
        assert rest + part == pytest.approx(1.0)
