"""Where a later step opens beside a direction that is only partly known."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Channel, MultiIndex, hardness
from learnability.theory._quadrature_information import QuadratureInformation


def opens(text: str) -> tuple[float, float | None]:
    """The alpha of the second step with the first known exactly, and as well as it can be."""
    step = hardness(text).staircase[1]
    return step.alpha, step.alpha_self_consistent


def test_a_step_opens_no_earlier_than_with_everything_known():
    """A node at zero had the label of the flat piece: 1.611 was printed for 1.906."""
    idealised, own = opens("sin(z1)*step(abs(z2) - 0.5)")
    assert own == pytest.approx(idealised, rel=1e-6)


def test_a_direction_that_is_all_but_known_is_not_taken_for_known():
    """The relu hides half of z1, which is known exactly above alpha = 2 only."""
    idealised, own = opens("relu(z1)*(2 + sign(abs(z2) - 1))")
    assert idealised < 2
    assert own is None


def test_what_does_not_matter_need_not_be_known():
    idealised, own = opens("relu(z1)*sign(abs(z2) - 1)")
    assert own == pytest.approx(idealised, rel=1e-6)


def test_rules_that_do_not_agree_tell_nothing():
    """With 17, 18 and 34 nodes for each variable it was .9487, .9487 and .9483."""
    assert opens("relu(z1) + sign(abs(z2) - 1)")[1] is None


@pytest.mark.parametrize("nodes", [5000, 10_000, 20_000, 40_000])
def test_no_node_has_the_label_of_a_flat_piece_by_chance(nodes: int):
    """At z1 = 0 the label of sin(z1) step(z2) is that of all z2 < 0: .71 and .74 for .81."""
    found = QuadratureInformation(Channel("sin(z1)*step(z2)"), nodes)(np.diag([0.5, 0.0]))
    assert found[0, 0] == pytest.approx(0.8126, rel=0.02)
    assert found[1, 1] == pytest.approx(2 / np.pi, rel=1e-6)


def test_labels_of_many_breaks_have_a_bound_at_once() -> None:
    """floor has sixteen breaks where z lives, and its posteriors took minutes."""
    for text, noise in (("floor(2*z1) + abs(z2)", 0.1), ("floor(z1) + z2**2", 0.0)):
        last = hardness(MultiIndex(text, noise=noise)).staircase[-1]
        assert last.kind == "easy" and last.alpha is not None
        assert last.alpha_self_consistent is None


def test_a_direction_that_the_label_tells_as_well_as_it_can_costs_nothing():
    """Rounding made the ratio smaller than with everything known, by 1e-6 of it."""
    idealised, own = opens("sign(z1**2 - 0.7)*step(z2 + 0.3)")
    assert own is not None
    assert idealised <= own <= idealised * (1 + 1e-5)
