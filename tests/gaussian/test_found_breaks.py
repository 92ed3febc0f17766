"""Jumps and kinks that are found from values, and the planes through them: positions and limits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability.gaussian.break_search import (
    Plane,
    _located,
    _parallel_planes,
    _plane,
    _plane_through_many,
    detected_breaks,
    distinct,
)


def test_a_plane_is_its_normal_and_offset() -> None:
    plane = Plane((0.6, 0.8), 0.5)
    np.testing.assert_allclose(plane(np.array([[0.0, 0.0], [1.0, 2.0]])), [-0.5, 1.7])


@pytest.mark.parametrize("at", [-6.4321, -0.1234567, 0.0312, 3.3, 8.7])
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e5])
def test_a_jump_is_found_to_all_digits_and_a_kink_to_eight(at: float, scale: float) -> None:
    def jump(z: np.ndarray) -> np.ndarray:
        return np.asarray(scale * (np.sign(z - at) + 0.3 * np.sin(z)))

    def kink(z: np.ndarray) -> np.ndarray:
        return np.asarray(scale * (np.abs(z - at) + 0.3 * np.sin(z)))

    np.testing.assert_allclose(detected_breaks(jump), [at], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(detected_breaks(kink), [at], atol=1e-8)


@pytest.mark.parametrize(
    "smooth", [np.sin, np.exp, np.tanh, lambda z: np.tanh(20 * z), lambda z: z**7, np.ones_like]
)
def test_what_is_smooth_has_no_break(smooth) -> None:  # type: ignore[no-untyped-def]
    assert detected_breaks(smooth).size == 0


def test_weak_kinks_and_small_jumps_stand_out_from_what_is_smooth() -> None:
    """A slope that changes by a percent; a jump of a hundredth."""
    kink = detected_breaks(lambda z: z + 0.01 * np.abs(z - 0.7))
    np.testing.assert_allclose(kink, [0.7], atol=1e-6)
    jump = detected_breaks(lambda z: np.cos(z) + 1e-2 * (z > 1.3))
    np.testing.assert_allclose(jump, [1.3], atol=1e-12)


def test_several_breaks_come_in_order_and_once() -> None:
    marks = np.array([-2.2, -0.35, 1.17, 4.01])
    found = detected_breaks(lambda z: sum(np.sign(z - m) * (1 + 0.1 * m) for m in marks))
    np.testing.assert_allclose(found, marks, atol=1e-12)
    assert detected_breaks(lambda z: np.abs(np.abs(z) - 1)).tolist() == pytest.approx([-1, 0, 1])


@pytest.mark.parametrize("left", [0.11, 0.5])
def test_a_kink_is_where_two_parabolas_meet(left: float) -> None:
    """The values on both sides are continued as parabolas, which is exact for these."""
    at = 0.2 + 3e-6

    def pieces(z: np.ndarray) -> np.ndarray:
        return np.asarray(np.where(z < at, left * (z - at), 2 * (z - at) + 0.7 * (z - at) ** 2))

    low = 0.2 - 1e-5
    assert _located(pieces, low, low + 4e-5, False) == pytest.approx(at, abs=1e-11)
    stair = _located(lambda z: np.where(z < at, 1.0, 4.0), low, low + 4e-5, True)
    assert stair == pytest.approx(at, abs=1e-13)


def test_points_closer_than_a_billionth_are_one() -> None:
    points = np.array([-1.0, -1.0 + 5e-10, 0.0, 2e-9, 0.05])
    np.testing.assert_array_equal(distinct(points), [-1.0, 0.0, 2e-9, 0.05])


def scattered(count: int, normal: np.ndarray, offset: float, seed: int = 0) -> np.ndarray:
    """Points on a plane of three dimensions."""
    points = np.random.default_rng(seed).standard_normal((count, 3))
    return np.asarray(points - np.outer(points @ normal - offset, normal))


def test_planes_of_one_normal_need_six_points_each() -> None:
    normal = np.eye(3)[1]
    points = np.concatenate(
        [scattered(6, normal, 0.5, 1), scattered(5, normal, 2.0, 2), scattered(9, normal, -1.0, 3)]
    )
    planes, left = _parallel_planes(points, normal)
    assert [plane.offset for plane in planes] == [-1.0, 0.5]
    np.testing.assert_array_equal(left, points[6:11])


def test_a_plane_is_turned_to_points_that_ask_for_it_and_rounded_within_their_scatter() -> None:
    tilted = np.array([3e-7, 1.0, 0.0]) / math.hypot(3e-7, 1.0)
    plane = _plane(np.eye(3)[1], scattered(12, tilted, 0.25))
    np.testing.assert_allclose(plane.normal, tilted, atol=1e-12)
    assert plane.offset == 0.25
    kept = _plane(np.eye(3)[1], scattered(12, np.eye(3)[1], 0.25 + 1e-11))
    assert kept == Plane((0.0, 1.0, 0.0), 0.25)
    off = _plane(np.eye(3)[1], scattered(12, np.eye(3)[1], 0.25 + 5e-10))
    assert off.offset == pytest.approx(0.25 + 5e-10, abs=1e-15) and off.offset != 0.25
    noisy = scattered(12, np.eye(3)[1], 0.25 + 2e-7)
    noisy[:, 1] += 4e-7 * np.random.default_rng(4).uniform(-1, 1, 12)
    assert _plane(np.eye(3)[1], noisy).offset == 0.25


def test_a_plane_through_many_points_is_found_among_others() -> None:
    normal = np.array([2.0, -1.0, 2.0]) / 3
    on = scattered(20, normal, 0.7)
    off = np.random.default_rng(5).standard_normal((10, 3))
    plane = _plane_through_many(np.concatenate([on, off]), np.random.default_rng(0))
    assert plane is not None
    np.testing.assert_allclose(plane.normal, normal, atol=1e-12)
    assert plane.offset == pytest.approx(0.7, abs=1e-12)
    assert _plane_through_many(off, np.random.default_rng(0)) is None
    assert _plane_through_many(on[:5], np.random.default_rng(0)) is None
