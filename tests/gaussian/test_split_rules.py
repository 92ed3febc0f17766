"""Rules for planes in general position and for curved breaks, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability.gaussian._split_rules import line_rules, plane_rules
from learnability.gaussian.quadrature import rules_for
from learnability.gaussian.sections import Section
from learnability.labels import Link


@pytest.mark.parametrize(
    ("text", "variance"),
    [
        ("max(z1, z2, z3)", 1 + math.sqrt(3) / (2 * math.pi) - 9 / (4 * math.pi)),
        (
            "abs(z1 + z2) + abs(z1)",
            3 + 2 * (2 / math.pi) * (1 + math.pi / 4) - (2 / math.pi) * (1 + math.sqrt(2)) ** 2,
        ),
        ("sign(z1 + z2)*sign(z1)", 1 - 0.25),
    ],
)
def test_planes_in_general_position(text: str, variance: float) -> None:
    section = Section.whole(Link(text))
    rules, how = rules_for(section)
    assert how == "planes"
    values = rules[0].evaluate(section)
    assert rules[0].mean(values**2) - rules[0].mean(values) ** 2 == pytest.approx(
        variance, abs=1e-8
    )


def test_planes_given_the_first_coordinate() -> None:
    """E[sign(z1 + z2) | z1] = erf(z1 / sqrt(2))."""
    section = Section.whole(Link("sign(z1 + z2)*1"))
    rules = plane_rules(section, 1)
    assert rules is not None
    found = rules[0].hermite_moments(rules[0].evaluate(section), [0])[0][:, 0]
    exact = [math.erf(x / math.sqrt(2)) for x in rules[0].outer[:, 0]]
    assert np.allclose(found, exact, atol=1e-9)


def test_a_circle_by_lines() -> None:
    section = Section.whole(Link("sign(z1**2 + z2**2 - 1)"))
    rules = line_rules(section, 0)
    assert rules is not None
    mean = rules[0].mean(rules[0].evaluate(section))
    assert mean == pytest.approx(2 * math.exp(-0.5) - 1, abs=1e-11)


def test_unknown_breaks_have_no_such_rules() -> None:
    section = Section.whole(Link(lambda z: np.sign((z**2).sum(-1) - 1), r=2))
    assert plane_rules(section, 0) is None
    assert line_rules(section, 0) is None


@pytest.mark.parametrize("tilt", [1e-3, 0.01, 0.1])
def test_planes_that_almost_coincide(tilt: float) -> None:
    """Four planes through the origin: the mean is a sum of angles."""
    section = Section.whole(Link(f"sign(z1*(z1 + {tilt}*z2)*z2*(z1 - z2))"))
    rules, how = rules_for(section, constant=True)
    assert how == "planes"
    mean = [rule.mean(rule.evaluate(section)) for rule in rules]
    # Without the thin wedge the label is one between 0 and 45 degrees and their opposite only.
    expected = 2 * math.atan(tilt) / math.pi - 0.5
    assert mean[0] == pytest.approx(expected, abs=1e-9)
    assert mean[1] == pytest.approx(expected, abs=1e-9)


def test_lines_that_meet_dozens_of_breaks_are_left_to_sampled_points() -> None:
    assert line_rules(Section.whole(Link("floor(z1*z2)")), 0) is None
    assert line_rules(Section.whole(Link("sign(z1*z2 - 1)")), 0) is not None
