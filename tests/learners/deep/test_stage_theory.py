"""Predictions of the stages at finite size."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import Hierarchical
from learnability.learners.deep.stage_theory import (
    _fitted,
    best_kernel_error,
    predicted_stages,
)
from learnability.theory.recovered_directions import exact_directions


def reference(N: int, signs: str = "balanced") -> Hierarchical:
    return Hierarchical(
        "tanh(3*z)", "He2(z)/2 + He3(z)/6", N=N, normalisation="printed", signs=signs
    )


# N, n; II and III of runs on exact directions with their standard errors, and M_h.
TABLE = (
    (8, 512, 0.294, 0.009, 0.900, 0.157, 0.009),
    (8, 1024, 0.247, 0.007, 0.917, 0.102, 0.002),
    (8, 2048, 0.204, 0.005, 0.906, 0.079, 0.003),
    (12, 2048, 0.285, 0.005, 0.931, 0.123, 0.006),
    (12, 4096, 0.242, 0.005, 0.940, 0.086, 0.003),
    (16, 1024, 0.395, 0.007, 0.865, 0.264, 0.010),
)


@pytest.mark.parametrize(("N", "n", "error", "own", "overlap", "third", "spread"), TABLE)
def test_the_table(
    N: int, n: int, error: float, own: float, overlap: float, third: float, spread: float
) -> None:
    """Ridge 0.3, 1 or 3, of the least error that is predicted: within 3 standard errors + 0.03.

    III is too, and lies between its bounds, up to 3 standard errors.
    """
    target = reference(N)
    tried = [predicted_stages(target, 1.0, n, ridge) for ridge in (0.3, 1.0, 3.0)]
    given = [one for one in tried if math.isfinite(one.two_layer_error)]
    found = min(given, key=lambda s: s.two_layer_error)
    v = target.variance
    assert found.two_layer_error / v == pytest.approx(error, abs=3 * own + 0.03)
    assert found.feature_overlap[0] == pytest.approx(overlap, abs=0.03)
    assert found.three_layer_error / v == pytest.approx(third, abs=3 * spread + 0.03)
    assert found.three_layer_floor / v - 3 * spread < third
    assert third < found.three_layer_bound / v + 3 * spread


def test_leverage_of_radial_targets() -> None:
    """Signs 1, N = 8, n = 2048, ridge 1: 0.302 in runs, where no dependence on |x| has 0.194."""
    target = reference(8, "ones")
    found = predicted_stages(target, 1.0, 2048, 1.0).two_layer_error / target.variance
    assert found == pytest.approx(0.302, abs=0.03)


# d, n; I in d dimensions.
@pytest.mark.parametrize(
    ("d", "n", "kernel"),
    [(64, 512, 0.980), (64, 1782, 0.781), (64, 9410, 0.468), (100, 3981, 0.789)],
)
def test_the_best_kernel(d: int, n: int, kernel: float) -> None:
    """One unit of the last place printed, of an independent calculation."""
    target = reference(math.isqrt(d))
    assert best_kernel_error(target, d, n) / target.variance == pytest.approx(kernel, abs=0.001)


def test_limits() -> None:
    target = reference(16)
    nothing = predicted_stages(target, 0.0, 500, None)
    assert nothing.two_layer_error == pytest.approx(target.variance, rel=0.05)
    assert np.isnan(nothing.feature_overlap[0]) and "random function" in nothing.reason
    assert nothing.three_layer_floor > 0.95 * target.variance
    known = predicted_stages(target, 1.0, 4000, 1.0)
    assert known.three_layer_floor < target.feature_floor < known.three_layer_bound
    errors = [best_kernel_error(target, 64, n) for n in (100, 1000, 10_000, 100_000)]
    assert errors == sorted(errors, reverse=True)


def test_degrees_that_are_not_resolved_are_told() -> None:
    found = predicted_stages(Hierarchical("sign(z)", "He2(z)", N=2), 1.0, 20_000, 1.0)
    assert math.isnan(found.two_layer_error) and "not resolved" in found.reason
    assert np.isnan(found.feature_overlap).all()


def test_rare_labels_leave_no_number() -> None:
    """Var f is 10, and ten thousand samples of the label have a variance of 1 to 3."""
    target = Hierarchical("tanh(z) + He2(z)/4", "0.63*He2(z) + 0.06*He5(z) - 0.27*He3(z)", N=1)
    found = predicted_stages(target, 1.0, 256)
    assert math.isnan(found.three_layer_floor) and math.isnan(found.three_layer_bound)
    assert math.isnan(found.two_layer_error) and "rarer than one in 10000" in found.reason


def test_no_more_is_unknown_than_the_degrees_that_are_not_resolved_hold() -> None:
    """Of sign(z), at most the energy above the resolved degrees: all of it, once it is learned."""
    target = Hierarchical("sign(z)", "He2(z)", N=6)
    exact = exact_directions(target)
    above = target.variance - float(target.levels()[1:].sum())
    found = [_fitted(target, exact, exact.share, n, 1.0) for n in (1e4, 1e6, 1e9)]
    assert all("degrees above" in one.reason for one in found)
    told = [one.unknown / above for one in found]
    assert 0 < told[0] < told[1] < told[2] < 1
    assert told[2] == pytest.approx(1, abs=1e-4)
