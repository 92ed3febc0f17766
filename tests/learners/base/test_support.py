"""What a learner supports, and the sentences of what it does not."""

from __future__ import annotations

from typing import Any

import pytest

from learnability import Hierarchical, MultiIndex, SparseParity, SpikedIndex
from learnability.errors import LearnabilityError
from learnability.learners.base import Side, check_support

from tests.learners.base.toys import Toy


def check(target: Any, side: Side | None = None, learner: Any = None) -> None:
    check_support(learner or Toy(), side or Side(), "simulate toy", target)


def test_what_is_supported_passes() -> None:
    check(MultiIndex("z"))
    check(MultiIndex("z1*z2"), learner=Toy(shift=1.0))
    check(SpikedIndex("z", spike=1.0), learner=Toy(spikiness=3.0))


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        (
            Hierarchical("z", "He2(z)"),
            "simulate toy was asked for a hierarchical target, but it accepts multi-index targets.",
        ),
        (
            SparseParity(2),
            "simulate toy was asked for signs inputs, but it accepts isotropic and spiked inputs.",
        ),
        (
            MultiIndex("z1*z2*z3"),
            "simulate toy was asked for r = 3 hidden directions, but it accepts at most 2.",
        ),
    ],
)
def test_a_target_that_is_not_supported(target: Any, sentence: str) -> None:
    with pytest.raises(LearnabilityError) as caught:
        check(target)
    assert str(caught.value) == sentence


def test_a_side_may_support_less() -> None:
    side = Side(inputs=("isotropic",))
    check(MultiIndex("z"), side)
    with pytest.raises(LearnabilityError, match="spiked inputs, but it accepts isotropic inputs"):
        check(SpikedIndex("z", spike=1.0), side)
    with pytest.raises(
        LearnabilityError, match="a multi-index target, but it accepts hierarchical"
    ):
        check(MultiIndex("z"), Side(targets=("hierarchical",)))


def test_a_field_that_does_not_act_on_the_inputs_is_refused() -> None:
    check(MultiIndex("z"), learner=Toy(spikiness=1.0))
    with pytest.raises(LearnabilityError) as caught:
        check(MultiIndex("z"), learner=Toy(spikiness=2.0))
    assert str(caught.value) == (
        "`spikiness` was given as 2.0, but it acts only on spiked inputs, and these are isotropic."
    )


def test_a_field_that_a_side_holds_at_its_default() -> None:
    side = Side(fixed={"shift": "nothing is known for others"})
    check(MultiIndex("z"), side, Toy(shift=0.0))
    with pytest.raises(LearnabilityError) as caught:
        check(MultiIndex("z"), side, Toy(shift=2.0))
    assert str(caught.value) == (
        "`shift` was given as 2.0, but simulate toy takes it at its default 0.0 only: nothing is "
        "known for others."
    )
