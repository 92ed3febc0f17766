"""The learner as a record that answers questions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from learnability.errors import LearnabilityError
from learnability.fields import record
from learnability.learners.base import Found, Learner, Question, Side

from tests.learners.base.toys import VALUES, Toy


@record
class Bare(Learner):
    """It defines nothing but its question."""

    name: ClassVar[str] = "bare"
    questions: ClassVar[tuple[Question, ...]] = (VALUES,)


def test_a_learner_is_a_value() -> None:
    assert Toy() == Toy(shift=0) != Toy(shift=1.0) and hash(Toy()) == hash(Toy())
    with pytest.raises(dataclasses.FrozenInstanceError):
        Toy().shift = 1.0  # type: ignore[misc]
    assert "shift : float" in (Toy.__doc__ or "")


def test_a_learner_without_a_theory_says_so() -> None:
    with pytest.raises(LearnabilityError, match="bare has no known theory: `simulate` runs it"):
        Bare().predict("z", alpha=1.0)
    with pytest.raises(NotImplementedError):
        Bare().simulate("z", d=3, alpha=1.0)


def test_a_target_is_checked_before_any_work() -> None:
    @record
    class Careful(Toy):
        """It refuses what its support cannot say."""

        def check_target(
            self, question: str, verb: str, target: Any, at: Mapping[str, Any]
        ) -> None:
            raise LearnabilityError(f"No {question} of {verb} at {at['alpha'].shape}.")

        def run_one(self, question: str, target: Any, at: Mapping[str, Any], seed: int) -> Found:
            raise AssertionError("work was done")

    with pytest.raises(LearnabilityError, match=r"No values of simulate at \(1,\)"):
        Careful().simulate("z", d=3, alpha=1.0)


def test_sides_are_values() -> None:
    assert Side() == Side() and Side(needs=("d",)) != Side()
    assert VALUES.simulate is not None and VALUES.simulate.inputs is None
