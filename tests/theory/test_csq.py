"""Correlational staircases of giant steps, leaps and risk floors."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import LearnabilityError
from learnability.labels import Link, expand
from learnability.theory import Staircase, Step, csq_staircase, leap_staircase, risk_floors

from tests.geometry import axes, projector, spanned_by
from tests.reports.shared import opened

PI = math.pi
FIVE = "z1 + He2(z2) + He2(z1)*z2 + He4(z1)*He2(z2)*z3 + He2(z2)*He2(z3)"

# Hand calculation of Hermite coefficients: the subspace that each giant step with n of order d
# adds, and the risk floors for kappa = 0, 1, 2 after 0, 1, 2, ... steps.
TABLE = {
    "z1 + z2 + z1**2 - z2**2": (
        [spanned_by((1, 1)), spanned_by((1, -1))],
        [(6, 4, 0), (4, 0, 0), (0, 0, 0)],
        1,
    ),
    "z1 + z2 + z1**2 + z2**2 - 2": ([spanned_by((1, 1))], [(6, 4, 0), (2, 2, 0)], 2),
    "z1 + z1*z2 + z1*z3": (
        [axes(3, 1), spanned_by((0, 1, 1))],
        [(3, 2, 0), (2, 0, 0), (0, 0, 0)],
        1,
    ),
    "z1 + z1*z2 + He3(z1)*z3": (
        [axes(3, 1), axes(3, 2, 3)],
        [(8, 7, 6), (7, 0, 0), (0, 0, 0)],
        1,
    ),
    FIVE: (
        [axes(3, 1), axes(3, 2), axes(3, 3)],
        [(57, 56, 54), (56, 54, 52), (52, 4, 0), (0, 0, 0)],
        1,
    ),
    "z1 + He3(z1)*z2 + He3(z2)*z3": (
        [axes(3, 1), axes(3, 2), axes(3, 3)],
        [(13, 12, 12), (12, 6, 6), (6, 0, 0), (0, 0, 0)],
        1,
    ),
    "z1 + 2*z2 + z1*z2 + 3*z2**2": (
        [spanned_by((1, 2)), spanned_by((2, -1))],
        [(24, 19, 0), (3.32, 0.08, 0), (0, 0, 0)],
        1,
    ),
    "z1 + abs(z2)": (
        [axes(2, 1)],
        [(2 - 2 / PI, 1 - 2 / PI, 1 - 3 / PI), (1 - 2 / PI, 1 - 2 / PI, 1 - 3 / PI)],
        2,
    ),
    "z1**2 + sign(z1*z2*z3)": ([], [(3, 3, 1)], 2),
    "He4(z1) + sign(z1*z2*z3)": ([], [(25, 25, 25)], 3),
    "sign(z1*z2)": ([], [(1, 1, 1 - 4 / PI**2)], 2),
    "z1*z2*z3": ([], [(1, 1, 1)], 3),
    "sign(z1*z2*z3)": ([], [(1, 1, 1)], 3),
    "z1*z2*z3*z4": ([], [(1, 1, 1)], 4),
}


@pytest.mark.parametrize("text", TABLE)
def test_the_table_of_giant_steps(text: str) -> None:
    link = Link(text)
    directions, floors, leap = TABLE[text]
    found = csq_staircase(link)
    assert found.doubts == ()
    assert len(found.steps) == len(directions)
    for span, expected in zip(opened(found.steps), directions, strict=True):
        np.testing.assert_allclose(span, expected, atol=1e-6)
    assert all(s.kind == "csq" and s.alpha is None and s.order == 1 for s in found.steps)
    values = np.array(risk_floors(link, found))[:, :3]
    np.testing.assert_allclose(values, floors, atol=1e-6 * max(1.0, floors[0][0]))
    greedy = leap_staircase(link)
    assert max(s.order for s in greedy.steps if s.order) == leap
    r = link.r
    total = sum(opened(greedy.steps), np.zeros((r, r)))
    expected = sum(directions, np.zeros((r, r))) if text == "z1 + z1*z2 + z1*z3" else np.eye(r)
    np.testing.assert_allclose(total, expected, atol=1e-6)


def test_larger_batches_see_higher_orders() -> None:
    two = csq_staircase(Link("z1**2 + sign(z1*z2*z3)"), order=2)
    np.testing.assert_allclose(opened(two.steps), [axes(3, 1), axes(3, 2, 3)], atol=1e-6)
    assert [s.order for s in two.steps] == [2, 2]
    floors = np.array(risk_floors(Link("z1**2 + sign(z1*z2*z3)"), two))
    np.testing.assert_allclose(floors[1][:3], [1, 1, 1 - 4 / PI**2], atol=1e-6)
    np.testing.assert_array_equal(floors[2], 0)
    assert csq_staircase(Link("He4(z1) + sign(z1*z2*z3)"), order=2).steps == ()
    three = csq_staircase(Link("He4(z1) + sign(z1*z2*z3)"), order=3)
    np.testing.assert_allclose(opened(three.steps), [np.eye(3)], atol=1e-6)


def test_one_step_of_order_two_finds_two_directions() -> None:
    first = csq_staircase(Link(FIVE), order=2).steps[0]
    np.testing.assert_allclose(projector(first.directions), axes(3, 1, 2), atol=1e-9)


def test_the_bowl_needs_order_two() -> None:
    link = Link("z1 + z2 + z1**2 + z2**2 - 2")
    greedy = leap_staircase(link)
    assert [s.order for s in greedy.steps] == [1, 2]
    expected = [spanned_by((1, 1)), spanned_by((1, -1))]
    np.testing.assert_allclose(opened(greedy.steps), expected, atol=1e-9)


@pytest.mark.parametrize("order", [0, 9, -1, 1.0, True, "1"])
def test_a_bad_order_ends_in_a_sentence(order: object) -> None:
    with pytest.raises(
        LearnabilityError, match=r"`order` was given as .* from 1 to 8 is accepted\."
    ):
        csq_staircase(Link("z1*z2"), order=order)  # type: ignore[arg-type]


# ---- floors


@pytest.mark.parametrize("text", ["tanh(z1) + z1*z2", "abs(z1)*z2 + z1", "z1 + z1*z2*z3"])
def test_floors_fall_with_steps_and_degrees(text: str) -> None:
    link = Link(text)
    floors = np.array(risk_floors(link, leap_staircase(link)))
    assert floors.shape[1] == 5
    assert np.all(np.diff(floors, axis=0) <= 1e-9) and np.all(np.diff(floors, axis=1) <= 1e-9)
    np.testing.assert_array_equal(floors[-1], 0)


def test_the_first_floor_is_the_variance_less_low_orders() -> None:
    link = Link("exp(z1/2)*z2 + abs(z1)")
    expansion = expand(link, 4)
    floors = risk_floors(link, Staircase(()))
    left = expansion.energy - np.cumsum([expansion.power(k) for k in range(5)])
    np.testing.assert_allclose(floors[0], left, atol=1e-9)


def test_floors_of_a_known_direction() -> None:
    # f = |z1| z2^2: given z1, Var = 2 z1^2, all of it at order 2.
    step = Step(np.array([[1.0, 0.0]]), "csq", None, 1)
    floors = risk_floors(Link("abs(z1)*z2**2"), Staircase((step,)))
    np.testing.assert_allclose(floors[1], [2, 2, 0, 0, 0], atol=1e-9)


def test_floors_do_not_feel_the_mean_of_the_label() -> None:
    """A mean of 1e5 has an energy of 1e10, beside which He3(z) / 60 is small but no rounding."""
    link = Link("100000 + z + He3(z)/60")
    floors = risk_floors(link, csq_staircase(link))
    assert floors[0] == pytest.approx((1 + 1 / 600, 1 / 600, 1 / 600, 0, 0), abs=1e-4)
