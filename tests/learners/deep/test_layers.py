"""Checks of the deep learners."""

from __future__ import annotations

import pytest

from learnability import Hierarchical, LearnabilityError, MultiIndex
from learnability.learners.deep import (
    MehlerReadout,
    MehlerSecondLayer,
    OracleFirstLayer,
    PreconditionedSecondLayer,
    RidgeReadout,
)
from learnability.learners.deep._checks import (
    checked_hierarchical,
    checked_layers,
    checked_samples,
)

FIRST, SECOND, LAST = OracleFirstLayer(), PreconditionedSecondLayer(), RidgeReadout()


def test_layers_in_their_order() -> None:
    for found in ((FIRST, LAST), [FIRST, MehlerSecondLayer(), SECOND, LAST]):
        assert checked_layers(found) == tuple(found)
    for above in ((SECOND, MehlerReadout()), (SECOND, MehlerSecondLayer(), LAST)):
        with pytest.raises(LearnabilityError, match="next to the first layer"):
            checked_layers((FIRST, *above))
    for wrong in ((FIRST,), (SECOND, LAST), (FIRST, LAST, LAST), (FIRST, SECOND), 3, (LAST, LAST)):
        with pytest.raises(LearnabilityError, match="a first layer, any number of"):
            checked_layers(wrong)


def test_numbers_of_samples() -> None:
    target = Hierarchical("tanh(z)", "He2(z)")
    assert checked_samples(target, 9, [1.0, 2.5])[1] == [9, 22]
    with pytest.raises(LearnabilityError, match="but 2 are needed"):
        checked_samples(target, 9, 0.1)
    assert checked_hierarchical(target) is target
    with pytest.raises(LearnabilityError, match="layers learn a Hierarchical"):
        checked_hierarchical(MultiIndex("z"))
