"""The best way to spend samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from learnability import GiantSteps, KernelRidge, LearnabilityError, SpikedIndex
from learnability.learners.giant import best_split


def test_no_other_setting_is_better() -> None:
    learner, total = GiantSteps(0.5, "tanh(z)"), 4.0
    found = best_split(learner, "z", total, bulk="independent", evaluations=60)
    assert found.batch + found.alpha == pytest.approx(total)

    def error(batch: float, step: float, ridge: float) -> float:
        one = GiantSteps(0.5, "tanh(z)", batch, step=step, ridge=ridge)
        return float(one.predict("z", alpha=total - batch, bulk="independent").error)

    assert error(found.batch, found.step, found.ridge) == pytest.approx(found.error)
    for batch in (0.7, 1.0, 1.4):
        for step in (0.7, 1.0, 1.4):
            near = error(min(batch * found.batch, 3.9), step * found.step, found.ridge)
            assert near >= found.error - 1e-3


def test_refusals() -> None:
    with pytest.raises(LearnabilityError, match="a number above 0"):
        best_split(GiantSteps(), "z", 0.0)
    with pytest.raises(LearnabilityError, match="no linear part"):
        best_split(GiantSteps(), "He2(z)", 2.0)


@pytest.mark.parametrize(
    ("learner", "target", "words", "said"),
    [
        (GiantSteps(), SpikedIndex("z", spike=3.0), {}, "isotropic inputs"),
        (GiantSteps(steps=2), "z", {}, "`steps` was given as 2"),
        (KernelRidge(), "z", {}, "`learner` was given as"),
        (GiantSteps(), "z", {"bulk": "x"}, "`bulk` was given as"),
        (GiantSteps(), "z", {"alpha": None}, "`alpha` was given as"),
        (GiantSteps(), "z", {"alpha": np.array([1.0, 2.0])}, "`alpha` was given as"),
        (GiantSteps(), "z", {"evaluations": 0}, "`evaluations` was given as"),
        (GiantSteps(), "z", {"evaluations": 10**12}, "`evaluations` was given as"),
    ],
)
def test_what_it_cannot_search_is_refused(
    learner: Any, target: Any, words: dict[str, Any], said: str
) -> None:
    """Spikes, a second step and unknown words were ignored, and numbers printed."""
    with pytest.raises(LearnabilityError, match=said):
        best_split(learner, target, **{"alpha": 4.0, **words})
