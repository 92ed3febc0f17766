"""Roots along lines, against roots that are known."""

from __future__ import annotations

import numpy as np
import pytest

from learnability.gaussian.functions import REACH
from learnability.gaussian.line_roots import roots_on_lines, roots_together

AXIS = np.array([1.0])


def on_axis(function, **options):  # type: ignore[no-untyped-def]
    return roots_on_lines(lambda z: function(z[..., 0]), np.zeros((1, 1)), AXIS, **options)[0]


@pytest.mark.parametrize("close_pairs", [False, True])
def test_roots_of_smooth_functions_have_all_digits(close_pairs: bool) -> None:
    roots = np.array([-7.3, -1.1, 0.2, 0.25, 3.7, 8.9])
    found = on_axis(lambda z: np.prod([z - r for r in roots], axis=0), close_pairs=close_pairs)
    np.testing.assert_allclose(found, roots, rtol=2e-14)
    wave = on_axis(np.sin, close_pairs=close_pairs)
    np.testing.assert_allclose(wave, np.pi * np.arange(-3, 4), atol=1e-14)


def test_jumps_and_steep_functions_are_found_by_bisection() -> None:
    found = on_axis(lambda z: np.sign(z - 0.123456789))
    np.testing.assert_allclose(found, [0.123456789], rtol=1e-14)
    steep = on_axis(lambda z: np.cbrt(z - 2.5))
    np.testing.assert_allclose(steep, [2.5], rtol=1e-13)
    flat = on_axis(lambda z: (z + 1.25) ** 7)
    np.testing.assert_allclose(flat, [-1.25], rtol=1e-12)


@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6])
def test_two_roots_between_two_points_of_the_scan(gap: float) -> None:
    """z^2 - gap^2 turns back below zero; without looking for pairs, nothing changes sign."""
    centre = 0.3141

    def well(z: np.ndarray) -> np.ndarray:
        return np.asarray((z - centre) ** 2 - gap**2)

    assert on_axis(well, scan=97).size in (0, 2)
    for sign in (1.0, -1.0):
        found = on_axis(lambda z, sign=sign: sign * well(z), scan=97, close_pairs=True)
        np.testing.assert_allclose(found, [centre - gap, centre + gap], rtol=1e-10)
    above = on_axis(lambda z: well(z) + 2 * gap**2, scan=97, close_pairs=True)
    assert above.size == 0


def test_each_line_has_its_own_roots_in_order_padded_with_infinity() -> None:
    """|z - centre|^2 = 4 on lines at distance h: positions +- sqrt(4 - h^2) from the middle."""
    heights = np.array([0.0, 1.0, 1.9, 2.5])
    origins = np.column_stack([0.3 * np.ones(4), heights])
    direction = np.array([1.0, 0.0])
    found = roots_on_lines(lambda z: (z**2).sum(axis=-1) - 4, origins, direction)
    assert found.shape == (4, 2)
    half = np.sqrt(4 - heights[:3] ** 2)
    np.testing.assert_allclose(found[:3], np.column_stack([-half, half]) - 0.3, rtol=1e-12)
    assert np.isinf(found[3]).all()


def test_many_lines_are_scanned_in_blocks() -> None:
    count = 2500
    origins = np.column_stack([np.zeros(count), np.linspace(-3, 3, count)])
    found = roots_on_lines(lambda z: z[..., 0] - np.sin(z[..., 1]), origins, np.array([1.0, 0.0]))
    np.testing.assert_allclose(found[:, 0], np.sin(origins[:, 1]), atol=1e-14)


def test_the_scan_sees_as_far_as_the_reach_and_no_further() -> None:
    ends = REACH - 1e-3
    inside = on_axis(lambda z: (z - ends) * (z + ends))
    np.testing.assert_allclose(inside, [-ends, ends], rtol=1e-13)
    assert on_axis(lambda z: z - REACH - 1e-3).size == 0


def test_scans_of_many_lines_miss_what_a_fine_scan_tells_apart() -> None:
    """Two roots .04 apart: 769 points are .023 apart, 193 points are .094 apart."""
    middle = 0.047 + np.sqrt(2) * 1e-6

    def pair(z: np.ndarray) -> np.ndarray:
        return np.asarray((z - middle) ** 2 - 0.02**2)

    np.testing.assert_allclose(on_axis(pair), [middle - 0.02, middle + 0.02], rtol=1e-12)
    many = roots_on_lines(lambda z: pair(z[..., 0]), np.zeros((513, 1)), AXIS)
    assert many.size == 0
    few = roots_on_lines(lambda z: pair(z[..., 0]), np.zeros((512, 1)), AXIS)
    assert few.shape == (512, 2)


def test_a_kink_is_looked_for_at_the_roots_of_the_other_function() -> None:
    """|z - 3| - 1e-6 has its pair of roots beside the root of z - 3, which a scan passes over."""
    width = 1e-6
    functions = [lambda z: np.abs(z[..., 0] - 3.001) - width, lambda z: z[..., 0] - 3.001]
    first, second = roots_together(functions, np.zeros((1, 1)), AXIS)
    np.testing.assert_allclose(first[0], [3.001 - width, 3.001 + width], rtol=1e-12)
    np.testing.assert_allclose(second[0], [3.001], rtol=1e-14)
    (alone,) = roots_together(functions[1:], np.zeros((1, 1)), AXIS)
    np.testing.assert_array_equal(alone, second)
