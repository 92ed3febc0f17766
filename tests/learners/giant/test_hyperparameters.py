"""What the fields of the learner mean in dimension d."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import GiantSteps, MultiIndex
from learnability.learners.giant._hyperparameters import neurons, ridge_path, step_size


def test_the_default_step_comes_from_the_leap() -> None:
    linear = GiantSteps(0.1).simulate("z1 + z1*z2", d=40, alpha=1.0)
    square = GiantSteps(0.1).simulate("z1*z2", d=40, alpha=1.0)
    assert linear.attrs["step_size"] == 1.0
    assert square.attrs["step_size"] == pytest.approx(np.sqrt(40))
    assert "spike" in linear and "spike" not in square


def test_pairs_are_even_and_paths_are_tuples() -> None:
    learner = GiantSteps(0.5, init="symmetric", ridge=0.3)
    assert [neurons(learner, d) for d in (1, 6, 10, 11)] == [2, 4, 4, 6]
    assert neurons(GiantSteps(0.5), 10) == 5 and neurons(GiantSteps(0.01), 10) == 1
    assert ridge_path(learner) == (0.3,) and ridge_path(GiantSteps(ridge=(1.0, 2.0))) == (1.0, 2.0)
    assert step_size(GiantSteps(step=3.0), MultiIndex("z1*z2"), None) == 3.0
