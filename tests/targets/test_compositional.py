"""Compositional information exponents."""

from __future__ import annotations

import pytest

from learnability import Hierarchical, LearnabilityError

# g, P, exponent of the directions, a vanishing degree with its slope, a share at N = 64.
TABLE = (
    ("tanh(3*z)", "He2(z)", 2, (4, -0.99), (2, 0.782)),
    ("tanh(3*z)", "He3(z)", 3, (1, -1.95), None),
    ("tanh(3*z)", "He2(z)/2 + He3(z)/6", 2, (1, -2.09), None),
    ("tanh(3*z)", "z + He2(z)", 1, None, (1, 0.262)),
    ("z**2", "He2(z)", 4, (2, -0.97), None),
    ("cos(z)", "He2(z)", 4, (2, -1.0), (2, 0.025)),
    ("cos(z)", "He2(z)/2 + He3(z)/6", 4, (2, -1.0), (2, 0.022)),
    ("tanh(z) + He2(z)/2", "He2(z)", 2, None, (2, 0.57)),
)


@pytest.mark.parametrize(("g", "P", "value", "vanishing", "share"), TABLE)
def test_the_table(g, P, value, vanishing, share) -> None:  # type: ignore[no-untyped-def]
    found = Hierarchical(g, P, signs="ones").cie()
    assert found.value == value and not found.undecided and str(found) == str(value)
    if vanishing:
        degree, slope = vanishing
        assert found.verdicts[degree - 1] == "vanishing"
        assert found.slopes[degree - 1] == pytest.approx(slope, abs=0.12)
    if share:
        assert found.shares[0, share[0]] == pytest.approx(share[1], abs=0.01)


def test_one_size_leaves_it_undecided() -> None:
    found = Hierarchical("z**2", "He2(z)").cie(sizes=(16,))
    assert found.value is None and found.undecided and str(found) == "undecided"
    assert found.shares[0, 2] == pytest.approx(0.182, abs=0.005)  # A threshold would say 2.


def test_the_feature_itself_and_trees() -> None:
    assert Hierarchical("cos(z)", "He2(z)").cie(level=2).value == 2
    assert Hierarchical("tanh(z)", "He2(z)").cie(level=2).value == 1
    tree = Hierarchical("tanh(z)", "He2(z)", depth=4)
    assert [tree.cie(level).value for level in (1, 2, 3)] == [4, 2, 1]
    with pytest.raises(LearnabilityError, match="from 1 to 3"):
        tree.cie(4)
