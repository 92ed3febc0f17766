"""Curves of fixed points whose information is a formula: overlaps, turns, jumps and free entropy.

With alpha(q) given, I(q) = q / ((1 - q) alpha(q)), so that everything about the curve is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq, minimize_scalar

from learnability.theory._overlap_curve import OverlapCurve

Curve = Callable[[float], float]


def curve_of(alpha: Curve, start: float, **options) -> OverlapCurve:  # type: ignore[no-untyped-def]
    return OverlapCurve(lambda q: q / ((1 - q) * alpha(q)), start, **options)


def rising(q: float) -> float:
    return 0.5 + 1.5 * q**2 + 0.25 / math.sqrt(1 - q)


def bent(q: float) -> float:
    """Up to a local maximum, down to a local minimum, and up again without end."""
    return 1 + 2 * q * math.exp(-6 * q) + 0.4 * q**4 + 0.01 / math.sqrt(1 - q)


def sunk(q: float) -> float:
    """A curve that falls from its start, so that the overlap jumps at once."""
    return 2 - 3 * q * (1 - q) + 0.01 / math.sqrt(1 - q)


@pytest.mark.parametrize("alpha", [0.8, 1.0, 1.7, 2.9])
def test_overlaps_of_a_rising_curve_are_its_inverse(alpha: float) -> None:
    curve = curve_of(rising, 0.75)
    exact = brentq(lambda q: rising(q) - alpha, 1e-9, 1 - 1e-9, xtol=1e-15)
    assert curve.alpha(0.3) == pytest.approx(rising(0.3), rel=1e-14)
    for found in (curve.smallest(alpha), curve.largest(alpha)):
        assert found == pytest.approx(exact, rel=1e-10)
    for found in (curve.smallest(alpha, roughly=True), curve.largest(alpha, roughly=True)):
        assert found == pytest.approx(exact, rel=1e-4)
    assert math.isnan(curve.spinodal) and math.isnan(curve.information_threshold)
    assert curve.jumps_from == 1.0 and curve.full == math.inf


def test_below_the_threshold_there_is_nothing() -> None:
    curve = curve_of(rising, 0.75)
    assert curve.smallest(0.75) == curve.smallest(0.3) == 0.0
    assert curve.largest(0.3) == 0.0
    just = curve.smallest(0.75 + 1e-9)
    assert 0 <= just < 1e-6
    assert curve.smallest(1e9) == curve.largest(1e9) == pytest.approx(1 - 1e-6, abs=2e-12)


def test_errors_of_overlaps_are_those_of_the_ratio() -> None:
    """dq = q' d alpha, with d alpha = alpha times the relative error of I."""
    q = 0.4
    alpha = rising(q)
    step = 1e-6
    slope = (rising(q + step) - rising(q - step)) / (2 * step)
    for curve in (
        curve_of(rising, 0.75, error=1e-3),
        curve_of(rising, 0.75, error=0.5, error_at=lambda q: 1e-3),
    ):
        for informed in (False, True):
            found, error = curve.reached(alpha, informed)
            assert found == pytest.approx(q, rel=1e-9)
            assert error == pytest.approx(1e-3 * alpha / slope, rel=0.02)
    assert curve_of(rising, 0.75).reached(0.5, False) == (0.0, 0.0)
    last, beyond = curve_of(rising, 0.75).reached(1e9, True)
    assert beyond == pytest.approx(1 - last)


def turns(alpha: Curve, low: float, high: float) -> tuple[float, float]:
    """Local maximum and minimum of a curve, by a fine search."""
    q = np.linspace(low, high, 20001)
    values = np.array([alpha(float(x)) for x in q])
    k = 1 + np.nonzero((values[1:-1] > values[:-2]) & (values[1:-1] >= values[2:]))[0]
    j = 1 + np.nonzero((values[1:-1] < values[:-2]) & (values[1:-1] <= values[2:]))[0]
    return (
        float(q[k[np.argmax(values[k])]]) if len(k) else math.nan,
        float(q[j[np.argmin(values[j])]]) if len(j) else math.nan,
    )


def test_a_bent_curve_jumps_at_its_maximum_and_ends_at_its_minimum() -> None:
    curve = curve_of(bent, 1.01)
    top, bottom = turns(bent, 0.01, 0.99)
    assert curve.spinodal == pytest.approx(bent(top), rel=1e-8)
    assert curve.jumps_from == pytest.approx(top, abs=1e-3)
    assert curve._lowest == pytest.approx(bent(bottom), rel=1e-8)
    between = 0.5 * (bent(top) + bent(bottom))
    low = brentq(lambda q: bent(q) - between, 1e-6, top)
    high = brentq(lambda q: bent(q) - between, bottom, 1 - 1e-9)
    assert curve.smallest(between) == pytest.approx(low, rel=1e-9)
    assert curve.largest(between) == pytest.approx(high, rel=1e-9)
    above = 1.01 * bent(top)
    after = brentq(lambda q: bent(q) - above, bottom, 1 - 1e-12)
    assert curve.smallest(above) == curve.largest(above) == pytest.approx(after, rel=1e-9)
    # The turning point is a point of the curve, which stays sorted.
    q, alpha = curve.points
    assert len(q) == 97 and (np.diff(q) > 0).all() and np.isin(curve.spinodal, alpha)


def free_entropy(alpha_of: Curve, alpha: float, low: float, high: float) -> float:
    """Half of the integral of alpha I(q) - q / (1 - q) between two fixed points."""

    def slope(q: float) -> float:
        return q / (1 - q) * (alpha / alpha_of(q) - 1)

    return 0.5 * quad(slope, low, high, epsabs=1e-13, limit=200)[0]


def test_the_gain_is_an_integral_and_vanishes_at_the_information_threshold() -> None:
    curve = curve_of(bent, 1.01)
    top, bottom = turns(bent, 0.01, 0.99)
    for share in (0.2, 0.5, 0.9):
        alpha = (1 - share) * bent(bottom) + share * bent(top)
        low, high = curve.smallest(alpha), curve.largest(alpha)
        exact = free_entropy(bent, alpha, low, high)
        assert curve.gain(alpha) == pytest.approx(exact, rel=1e-7, abs=1e-10)
    threshold = curve.information_threshold
    assert bent(bottom) < threshold < bent(top)
    assert curve.gain(threshold) == pytest.approx(0.0, abs=1e-8)
    assert curve.gain(0.999 * threshold) < 0 < curve.gain(1.001 * threshold)
    assert curve.gain(2 * bent(top)) == 0.0
    assert curve.coarser() is curve


def test_a_curve_that_ends_below_itself_recovers_everything() -> None:
    """alpha(q) = 3 - sqrt(1 - q) ends at 3, linearly in sqrt(1 - q)."""
    curve = curve_of(lambda q: 3 - math.sqrt(1 - q), 2.0)
    assert curve.full == pytest.approx(3.0, rel=1e-9)
    assert curve.largest(3.01) == curve.smallest(3.01) == 1.0
    assert curve.gain(3.01) == 0.0 or math.isinf(curve.gain(3.01))
    near = curve.smallest(2.5)
    assert near == pytest.approx(0.75, rel=1e-9)
    told = curve_of(rising, 0.75, full_recovery=2.0)
    assert told.full == 2.0 and told.largest(2.1) == 1.0 and told.largest(1.9) < 1
    diverging = curve_of(lambda q: 1 / (1 - q), 1.0)
    assert diverging.full == math.inf


def test_a_falling_curve_jumps_at_its_start() -> None:
    """Its first point is its highest: below, the largest overlap is that of the rising end."""
    curve = curve_of(sunk, 2.0)
    lowest = minimize_scalar(sunk, bounds=(0.2, 0.9), method="bounded", options={"xatol": 1e-10})
    assert curve.largest(0.999 * lowest.fun) == 0.0
    alpha = 1.02 * lowest.fun
    exact = brentq(lambda q: sunk(q) - alpha, lowest.x, 1 - 1e-9)
    assert curve.largest(alpha) == pytest.approx(exact, rel=1e-9)


def test_a_hard_curve_has_a_jump_out_of_reach() -> None:
    """I(q) ~ q^2: alpha(0+) is infinite, and yet a larger overlap is a fixed point."""

    def hard(q: float) -> float:
        return 0.3 / q + 1 + 0.5 / math.sqrt(1 - q)

    curve = curve_of(hard, math.inf)
    lowest = minimize_scalar(hard, bounds=(0.05, 0.95), method="bounded", options={"xatol": 1e-10})
    assert curve.spinodal == math.inf and curve.smallest(50.0) == 0.0
    assert curve._lowest == pytest.approx(lowest.fun, rel=1e-9)
    exact = brentq(lambda q: hard(q) - 2.5, lowest.x, 1 - 1e-9)
    assert curve.largest(2.5) == pytest.approx(exact, rel=1e-9)
    threshold = curve.information_threshold
    assert threshold > lowest.fun
    high = curve.largest(threshold)
    assert free_entropy(hard, threshold, 1e-9, high) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(("error", "seen"), [(0.0, True), (2e-4, True), (2e-3, False)])
def test_bends_smaller_than_the_error_are_none(error: float, seen: bool) -> None:
    """A dip of a thousandth of the curve."""

    def dip(q: float) -> float:
        return 1 + 0.2 * q - 0.033 * math.exp(-(((q - 0.5) / 0.12) ** 2)) + 5 * max(q - 0.8, 0) ** 2

    top, bottom = turns(dip, 0.01, 0.7)
    depth = (dip(top) - dip(bottom)) / dip(top)
    assert 4e-4 < depth < 4e-3, depth
    assert math.isfinite(curve_of(dip, 1.0, error=error).spinodal) is seen
