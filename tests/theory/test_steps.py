"""Steps as values."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from learnability.theory import Step


def test_steps_as_plain_numbers() -> None:
    easy = Step(np.array([[0.6, 0.8]]), "easy", 0.5, 2, 1e-3)
    assert easy.to_dict() == {
        "directions": [[0.6, 0.8]],
        "kind": "easy",
        "alpha": 0.5,
        "order": 2,
        "alpha_error": 1e-3,
        "alpha_self_consistent": None,
    }
    hard = Step(np.eye(2), "hard", math.inf, 3)
    assert hard.to_dict()["alpha"] is None and hard.to_dict()["alpha_error"] is None


def test_steps_are_immutable() -> None:
    step = Step(np.eye(2), "hard", math.inf, 3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        step.alpha = 0.0  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        step.directions[0, 0] = 2.0
