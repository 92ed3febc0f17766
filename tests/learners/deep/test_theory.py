"""Predictions of the stages at finite size."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import Hierarchical
from learnability.learners.deep._theory import (
    _feature_parts,
    _third,
    best_kernel_error,
    first_overlap,
    predicted_stages,
)
from learnability.learners.equivalent import effective_ridge, errors, shares
from learnability.learners.mehler import mehler_levels
from learnability.targets._composition import Composition


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


class Finer(Composition):
    """Degrees 7 and 8 too."""

    highest = 8  # type: ignore[assignment]


@pytest.mark.parametrize(("N", "n", "error", "overlap", "third", "spread"), TABLE)
def test_the_table(
    N: int, n: int, error: float, overlap: float, third: float, spread: float
) -> None:
    """One unit of the last place printed, for all rows with the same formula.

    The ridge is the one of 0.3, 1 and 3 with the least predicted error, and degrees up to 8 are
    resolved: those above 6, which `predicted_stages` leaves out, move II by what the formula says.
    The estimate of III is an upper one: no less than what was measured, up to 3 standard errors.
    """
    target = reference(N)
    ridge = min((0.3, 1.0, 3.0), key=lambda r: predicted_stages(target, 1.0, n, r).two_layer_error)
    found = predicted_stages(target, 1.0, n, ridge, third=True)
    assert found.three_layer_bound / target.variance > third - 3 * spread
    assert math.isnan(predicted_stages(target, 1.0, n, ridge).three_layer_bound)

    v = target.variance
    energies = Finer(target.link, target.polynomial, N // 2, N // 2, 1.0).energies.copy()
    energies[0] = 0
    np.testing.assert_allclose(energies[1:7], target.levels()[1:], atol=1e-9)
    levels = mehler_levels(N, energies, v - energies.sum())
    learned = shares(levels, effective_ridge(levels, n, math.inf, ridge))[1]
    noise = 1 - levels.sizes @ learned**2 / n
    finer = errors(levels, n, math.inf, ridge).test
    s = learned[:9]
    assert found.two_layer_error - finer == pytest.approx(
        energies[7:] @ (1 - (1 - s[7:]) ** 2) / noise, abs=1e-9
    )
    assert finer / v == pytest.approx(error, abs=0.001)
    spread_of_q = finer - v + 2 * s @ energies
    correlation = _feature_parts(target)[0] @ s[:7]
    assert correlation / math.sqrt(2 / 3 * spread_of_q) == pytest.approx(overlap, abs=0.001)


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
