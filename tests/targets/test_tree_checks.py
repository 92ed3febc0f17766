"""Checks of the parts of a hierarchical target."""

from __future__ import annotations

import pytest

from learnability import LearnabilityError
from learnability.targets._tree_checks import (
    checked_choice,
    checked_depth,
    checked_epsilon,
    checked_polynomial,
)


def test_what_is_accepted() -> None:
    assert checked_polynomial("He2(z) + z").text is not None
    assert checked_epsilon(None) == 0.5 and checked_epsilon(0.25) == 0.25
    assert checked_depth(3, None) == 3 and checked_depth(3, (16, 4)) == 4
    assert checked_choice("signs", "ones", ("balanced", "ones")) == "ones"


@pytest.mark.parametrize("source", ["z**2", "He2(z) + 1", "He4(z) + 0.1"])
def test_a_constant_term(source: str) -> None:
    with pytest.raises(LearnabilityError, match="with a constant term"):
        checked_polynomial(source)


@pytest.mark.parametrize("epsilon", [0, 1, -0.2, 1.5, True, "half"])
def test_exponents_outside_the_unit_interval(epsilon: object) -> None:
    with pytest.raises(LearnabilityError, match="a number between 0 and 1"):
        checked_epsilon(epsilon)


def test_other_sentences() -> None:
    for source in ("tanh(z)", "He5(z)", "z1*z2", "z ++* 2"):
        with pytest.raises(LearnabilityError, match="`polynomial`"):
            checked_polynomial(source)
    for depth in (2, 9, 3.5, True):
        with pytest.raises(LearnabilityError, match="from 3 to 8"):
            checked_depth(depth, None)
    with pytest.raises(LearnabilityError, match="has depth 4"):
        checked_depth(5, (16, 4))
    with pytest.raises(LearnabilityError, match="balanced and ones are accepted"):
        checked_choice("signs", "random", ("balanced", "ones"))
