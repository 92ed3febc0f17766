"""The landscape of a flow does not depend on the unit of the label."""

from __future__ import annotations

import pytest

from learnability import Link
from learnability.learners.flow._landscape import landscape
from learnability.learners.networks.population import Population


@pytest.mark.parametrize("unit", [1e-4, 1e4])
@pytest.mark.parametrize("link", ["-z", "z**3 - 4*z"])
def test_extrema_are_those_of_the_unit_label(unit: float, link: str) -> None:
    """Both have their lower loss at a negative overlap with tanh."""
    one = landscape(Population(Link(link), Link("tanh(z)")))
    other = landscape(Population(Link(f"{unit}*({link})"), Link(f"{unit}*tanh(z)")))
    assert len(one.minima) > 0
    assert other.minima == pytest.approx(one.minima, rel=1e-6)
    assert other.maxima == pytest.approx(one.maxima, rel=1e-6)
