"""Compositional information exponents."""

from __future__ import annotations

import math

import pytest

from learnability import Hierarchical, LearnabilityError
from learnability.theory import compositional_exponent

# g, P, exponent of the directions; (degree, slope from N = 64 to 1024), and (degree, share at 1024)
# or (degree, share at 64, share at 1024), as printed.
TABLE = (
    ("tanh(3*z)", "He2(z)", 2, [(4, "-.99")], [(2, ".784")]),
    ("tanh(3*z)", "He3(z)", 3, [(1, "-1.95")], [(3, ".780")]),
    ("tanh(3*z)", "He2(z)/2 + He3(z)/6", 2, [(1, "-2.09")], [(2, ".589"), (3, ".195")]),
    ("tanh(3*z)", "z + He2(z)", 1, [], [(1, ".262")]),
    ("z**2", "He2(z)", 4, [(2, "-.97")], [(4, ".996")]),
    ("cos(z)", "He2(z)", 4, [], [(2, ".025", ".0016"), (4, ".92")]),
    ("cos(z)", "He2(z)/2 + He3(z)/6", 4, [], [(2, ".022", ".0015"), (4, ".51")]),
    ("tanh(z) + He2(z)/2", "He2(z)", 2, [], [(2, ".57", ".45")]),
)


def as_printed(found: float, text: str) -> bool:
    """Whether a number is the printed one, up to one unit of its last place."""
    return abs(found - float(text)) <= 10.0 ** -len(text.split(".")[1])


@pytest.mark.parametrize(("g", "P", "value", "slopes", "shares"), TABLE)
def test_the_table(g, P, value, slopes, shares) -> None:  # type: ignore[no-untyped-def]
    """All numbers of the table up to one unit of the last place printed; signs are 1."""
    found = compositional_exponent(Hierarchical(g, P, signs="ones"))
    assert found.value == value and not found.undecided and str(found) == str(value)
    assert found.sizes == (64, 256, 1024)
    for degree, slope in slopes:
        assert found.verdicts[degree - 1] == "vanishing"
        ends = found.shares[[0, 2], degree]
        assert as_printed(math.log(ends[1] / ends[0]) / math.log(16), slope)
    for degree, *printed in shares:
        for row, text in zip((2, 0), reversed(printed), strict=False):
            assert as_printed(found.shares[row, degree], text)


def test_no_ceiling() -> None:
    found = compositional_exponent(Hierarchical("He3(z)", "He2(z)"))
    assert found.value == 6 and found.by_feature == (6,)
    assert found.shares[-1, 6] > 0.9 and found.verdicts[5] == "of order one"
    deep = Hierarchical("cos(z)", "He2(z)", depth=5)
    assert [compositional_exponent(deep, k).value for k in (1, 2, 3, 4)] == [16, 8, 4, 2]
    several = compositional_exponent(Hierarchical("z1 + z1*z2 + z1*z2*z3", "He2(z)"))
    assert several.value == 2 and several.by_feature == (2, 4, 6)


def test_one_size_leaves_it_undecided() -> None:
    found = compositional_exponent(Hierarchical("z**2", "He2(z)"), sizes=(16,))
    assert found.value is None and found.undecided and str(found) == "undecided"
    assert as_printed(found.shares[0, 2], ".182")  # A threshold would say 2.


@pytest.mark.parametrize("sizes", [(), 3, "ab", (64, 16), (4.5, 16)])
def test_sizes_that_cannot_be(sizes) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(LearnabilityError, match="accepted"):
        compositional_exponent(Hierarchical("tanh(z)", "He2(z)"), sizes=sizes)


def test_the_feature_itself_and_trees() -> None:
    assert compositional_exponent(Hierarchical("cos(z)", "He2(z)"), level=2).value == 2
    assert compositional_exponent(Hierarchical("tanh(z)", "He2(z)"), level=2).value == 1
    tree = Hierarchical("tanh(z)", "He2(z)", depth=4)
    assert [compositional_exponent(tree, level).value for level in (1, 2, 3)] == [4, 2, 1]
    with pytest.raises(LearnabilityError, match="at least 1 and of at most 3"):
        compositional_exponent(tree, 4)
