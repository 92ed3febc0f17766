"""Averages over nodes of what a rule does with a sample of a batch."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import OnlineSGD
from learnability.learners.online import _averages


@pytest.mark.parametrize("drawn", [8, 32])
def test_a_few_drawn_samples_stand_for_a_long_batch(
    monkeypatch: pytest.MonkeyPatch, drawn: int
) -> None:
    """The length that SAM divides by keeps its mean and its spread."""
    learner = OnlineSGD(rule="sam", batch=48, step=0.3, look_ahead=2.0, activation="tanh(z)")
    whole = learner.predict("tanh(2*z)", time=2.0, d=100)
    monkeypatch.setattr(_averages, "_DRAWN", drawn)
    few = learner.predict("tanh(2*z)", time=2.0, d=100)
    np.testing.assert_allclose(few["overlap"], whole["overlap"], atol=1e-3)


def test_a_batch_of_any_size_takes_bounded_memory() -> None:
    learner = OnlineSGD(rule="sam", batch=10**12, activation="tanh(z)")
    assert np.isfinite(learner.predict("z", time=0.1, d=6)["overlap"]).all()
