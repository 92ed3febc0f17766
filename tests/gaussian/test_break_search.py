"""Breaks found from the values of a function."""

from __future__ import annotations

import numpy as np
import pytest

from learnability.gaussian.break_search import broken_planes, zero_planes
from learnability.labels import Link


def planes_of(found) -> set[tuple[float, ...]]:  # type: ignore[no-untyped-def]
    assert found is not None
    return {tuple(np.round([*plane.normal, plane.offset], 9) + 0.0) for plane in found}


def test_planes_of_axes_diagonals_and_any_other() -> None:
    axes = Link(lambda z: z[..., 0] ** 2 + np.sign(z[..., 0] * z[..., 1] * z[..., 2]), r=3)
    assert planes_of(broken_planes(axes)) == {(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0)}
    root = round(0.5**0.5, 9)
    assert planes_of(broken_planes(Link(lambda z: z.max(-1), r=2))) == {(root, -root, 0)}
    slanted = Link(lambda z: np.abs(3 * z[..., 0] + 4 * z[..., 1] - 1), r=2)
    assert planes_of(broken_planes(slanted)) == {(0.6, 0.8, 0.2)}


def test_what_is_smooth_has_no_break_and_what_is_curved_is_not_known() -> None:
    assert broken_planes(Link(lambda z: np.tanh(z[..., 0] * z[..., 1]), r=2)) == ()
    assert broken_planes(Link(lambda z: np.sign((z**2).sum(-1) - 1), r=2)) is None
    assert broken_planes(Link(lambda z: np.abs(z[..., 0]), r=5)) is None


@pytest.mark.parametrize(("text", "count"), [("z1**2 - z2**2", 2), ("z1**2 + z2**2 - 1", None)])
def test_forms_that_vanish_on_planes(text: str, count: int | None) -> None:
    found = zero_planes(Link(text))
    assert (None if found is None else len(found)) == count


@pytest.mark.parametrize("angle", [1e-8, 1e-6, 1e-5])
def test_planes_that_are_turned_a_little_are_told_from_the_usual_ones(angle: float) -> None:
    """A diamond turned by less than 1e-5 once had the planes of the straight one."""
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    link = Link(lambda z: np.sign(np.abs(z @ turn.T).sum(axis=-1) - 1), r=2)
    planes = broken_planes(link)
    assert planes is not None and len(planes) == 4
    for plane in planes:
        there = turn @ np.array(plane.normal)
        np.testing.assert_allclose(np.abs(there), np.sqrt(0.5), atol=1e-9)
        assert abs(plane.offset) == pytest.approx(np.sqrt(0.5), abs=1e-9)


def test_offsets_close_to_round_numbers_are_not_rounded() -> None:
    planes = broken_planes(Link(lambda z: np.sign(z[..., 0] * (z[..., 1] - 0.3000015)), r=2))
    assert planes is not None
    assert sorted(plane.offset for plane in planes) == pytest.approx([0.0, 0.3000015], abs=1e-10)
