"""Giant steps as a learner: its fields."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import GiantSteps, LearnabilityError
from learnability.learners.base import Learner


def test_it_is_a_learner() -> None:
    assert isinstance(GiantSteps(), Learner)
    assert GiantSteps(activation="relu(z1)", steps=np.int64(1)) == GiantSteps()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("width", 0), ("batch", -1.0), ("step", 0.0), ("steps", 0), ("steps", 1.5),
        ("init", "zeros"), ("reuse", 1), ("ridge", -1.0), ("activation", "z1*z2"), ("bias", -1),
        ("update", "subtract"),
    ],
)  # fmt: skip
def test_bad_fields_end_in_a_sentence(name: str, value: object) -> None:
    with pytest.raises(LearnabilityError, match=f"`{name}`"):
        GiantSteps(**{name: value})  # type: ignore[arg-type]


def test_fields_that_do_not_act_are_refused() -> None:
    with pytest.raises(LearnabilityError, match=r"`reuse`.*acts only with `steps` above 1"):
        GiantSteps(reuse=True)
    with pytest.raises(LearnabilityError, match=r"`step`.*acts only with `update` = 'add'"):
        GiantSteps(step=1.0, update="replace")
