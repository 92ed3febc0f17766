"""Predictions of the stages at finite size."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import Hierarchical
from learnability.learners.deep.stage_theory import (
    _feature_parts,
    _third,
    best_kernel_error,
    first_overlap,
    predicted_stages,
)


def reference(N: int) -> Hierarchical:
    return Hierarchical("tanh(3*z)", "He2(z)/2 + He3(z)/6", N=N, normalisation="printed")


# N, n, II and M_h of an independent calculation, III as measured with its standard error.
TABLE = (
    (8, 512, 0.306, 0.880, 0.157, 0.009),
    (8, 1024, 0.241, 0.897, 0.102, 0.002),
    (8, 2048, 0.197, 0.896, 0.079, 0.003),
    (12, 2048, 0.277, 0.916, 0.123, 0.006),
    (12, 4096, 0.235, 0.924, 0.086, 0.003),
    (16, 256, 0.659, 0.637, 0.584, 0.011),
    (16, 1024, 0.398, 0.852, 0.264, 0.010),
)


@pytest.mark.parametrize(("N", "n", "error", "overlap", "third", "spread"), TABLE)
def test_the_table(
    N: int, n: int, error: float, overlap: float, third: float, spread: float
) -> None:
    """One unit of the last place printed; the ridge is 0.3, 1 or 3, of the least predicted error.

    The estimate of III is an upper one: no less than what was measured, up to 3 standard errors.
    """
    target = reference(N)
    ridge = min((0.3, 1.0, 3.0), key=lambda r: predicted_stages(target, 1.0, n, r).two_layer_error)
    found = predicted_stages(target, 1.0, n, ridge, third=True)
    assert found.two_layer_error / target.variance == pytest.approx(error, abs=0.001)
    assert found.feature_overlap[0] == pytest.approx(overlap, abs=0.001)
    assert found.three_layer_bound / target.variance > third - 3 * spread
    assert math.isnan(predicted_stages(target, 1.0, n, ridge).three_layer_bound)


# d, n; I in d dimensions and II of an estimated first layer, of the same calculation.
SCENARIOS = (
    (64, 512, 0.980, 0.997),
    (64, 776, 0.926, 0.912),
    (64, 1782, 0.781, 0.618),
    (64, 4096, 0.604, 0.384),
    (64, 9410, 0.468, 0.244),
    (100, 1000, 0.988, 0.996),
    (100, 3981, 0.789, 0.565),
    (144, 2840, 0.942, 0.865),
)


@pytest.mark.parametrize(("d", "n", "kernel", "two"), SCENARIOS)
def test_the_scenarios(d: int, n: int, kernel: float, two: float) -> None:
    """One unit of the last place printed, with the best ridge and the best of 0.3, 1, 3 ... 300."""
    target = reference(math.isqrt(d))
    assert best_kernel_error(target, d, n) / target.variance == pytest.approx(kernel, abs=0.001)
    m = first_overlap(target, d, n)
    tried = [
        predicted_stages(target, m, n, ridge).two_layer_error / target.variance
        for ridge in (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
    ]
    assert min(tried) == pytest.approx(two, abs=0.001)
    # The best of all ridges is no worse.
    assert predicted_stages(target, m, n, None).two_layer_error <= min(tried) * target.variance


def test_the_upper_estimate_ends_at_the_floor() -> None:
    """With the exact cubic fit and no noise it is the floor, found from other samples."""
    target = reference(8)
    low = target.levels(3)
    exact = _third(target, 1.0, (0.0, 1.0, 1.0, 1.0), 0.0, float(low[1:].sum()))
    assert exact == pytest.approx(target.feature_floor, rel=0.05)
    assert _third(target, 1.0, (0.0, 1.0, 1.0, 1.0), 1.0, target.variance) < 0.01 * exact


# d, n, M_W of the same law, three places printed.
OVERLAPS = (
    (64, 512, 0.428),
    (64, 1782, 0.875),
    (64, 4096, 0.948),
    (64, 9410, 0.978),
    (100, 1585, 0.699),
    (100, 2512, 0.823),
    (100, 3981, 0.892),
)


@pytest.mark.parametrize(("d", "n", "expected"), OVERLAPS)
def test_the_law_of_the_first_layer(d: int, n: int, expected: float) -> None:
    """One unit of the last place, and what 0.002 in the share of degree 2 does to n*."""
    found = first_overlap(reference(8 if d == 64 else 10), d, n)
    allowed = 0.001 + (1 - found**2) / (2 * found) * 0.002 / 0.612
    assert found == pytest.approx(expected, abs=allowed)


def test_limits() -> None:
    target = reference(8)
    nothing = predicted_stages(target, 0.0, 500, None)
    assert nothing.two_layer_error == pytest.approx(target.variance, rel=0.02)
    assert nothing.feature_overlap[0] == pytest.approx(0, abs=1e-6)
    endless = predicted_stages(target, 1.0, 1e12, 1.0)
    left = target.variance - target.levels()[1:].sum()
    assert endless.two_layer_error == pytest.approx(left, rel=1e-3)
    known = predicted_stages(target, 1.0, 4000, 1.0, third=True)
    assert target.feature_floor < known.three_layer_bound < known.two_layer_error
    assert first_overlap(target, 64, 2 * target.n_star(64)) == pytest.approx(math.sqrt(0.5))
    errors = [best_kernel_error(target, 64, n) for n in (100, 1000, 10_000, 100_000)]
    assert errors == sorted(errors, reverse=True)


def test_the_feature_splits_by_degree() -> None:
    target = Hierarchical("tanh(z1)*(1 + tanh(z2))", "z + He2(z)/2", N=6)
    parts = _feature_parts(target)
    np.testing.assert_allclose(parts.sum(axis=1), target.composition.feature_correlation, atol=1e-6)
