"""The curve of fixed points, for informations whose curve is known by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability.theory._overlap_curve import OverlapCurve


def curve(alpha: str, weak: float) -> OverlapCurve:
    """The curve with given alpha(q): I(q) = q / ((1 - q) alpha(q))."""
    functions = {
        "rising": lambda q: 1 + q / (1 - q),
        "wave": lambda q: 1 + 4 * q - 10 * q**2 + 7 * q**3,
        "falling": lambda q: 2 - q,
    }
    return OverlapCurve(lambda q: q / ((1 - q) * functions[alpha](q)), weak)


def test_a_curve_that_rises_has_one_fixed_point() -> None:
    rising = curve("rising", 1.0)
    assert math.isnan(rising.spinodal) and math.isnan(rising.information_threshold)
    assert rising.full == math.inf
    assert rising.smallest(0.9) == 0.0
    for alpha in (1.1, 2.0, 10.0):
        q = 1 - 1 / alpha
        assert rising.smallest(alpha) == pytest.approx(q, abs=1e-9)
        assert rising.largest(alpha) == pytest.approx(q, abs=1e-9)
        assert rising.gain(alpha) == pytest.approx(0.0, abs=1e-9)


def test_a_curve_that_falls_jumps_to_one() -> None:
    """alpha(q) = 2 - q: perfect recovery from 1 on if informed, from 2 on if not."""
    falling = curve("falling", 2.0)
    assert falling.full == pytest.approx(1.0, abs=1e-3)
    assert falling.smallest(1.9) == 0.0
    assert falling.smallest(2.1) == 1.0
    assert falling.largest(1.5) == 1.0


def test_a_wave_has_two_fixed_points_and_a_jump() -> None:
    wave = curve("wave", 1.0)
    q = np.linspace(1e-4, 0.9, 200_001)
    alpha = 1 + 4 * q - 10 * q**2 + 7 * q**3
    peak = int(np.argmax(alpha[: len(q) // 2]))
    assert wave.spinodal == pytest.approx(alpha[peak], abs=1e-7)
    below = wave.spinodal - 1e-3
    assert wave.smallest(below) < q[peak] < wave.largest(below)
    assert wave.smallest(wave.spinodal + 1e-3) > q[peak] + 0.2
    # At the information threshold the two have the same free entropy.
    between = wave.information_threshold
    assert alpha[peak:].min() < between < wave.spinodal
    assert wave.gain(between) == pytest.approx(0.0, abs=1e-6)
    assert wave.gain(between - 0.01) < 0 < wave.gain(between + 0.01)


def test_the_turning_points_of_a_wave() -> None:
    """d alpha / dq = 4 - 20 q + 21 q^2 vanishes at 2/7, a maximum, and at 2/3, a minimum."""
    wave = curve("wave", 1.0)
    assert wave.jumps_from == pytest.approx(2 / 7, abs=1e-4)
    assert wave.spinodal == pytest.approx(511 / 343, abs=1e-9)
    assert wave._lowest == pytest.approx(35 / 27, abs=1e-9)


def test_ratios_beyond_the_curve_need_no_turning_point() -> None:
    """The wave ends at alpha = 2, above its maximum 511 / 343."""
    wave = curve("wave", 1.0)
    q = np.linspace(1e-4, 1 - 1e-4, 4001)
    assert 2 < wave._bound < 3
    assert max(wave.alpha(float(x)) for x in q) < wave._bound
    assert wave.smallest(3.0) == 1.0
    assert "_turn" not in vars(wave) and "points" not in vars(wave)
    assert wave.smallest(1.4) < 2 / 7 < wave.smallest(1.6)
