"""Errors on fresh samples."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import MultiIndex
from learnability.inputs import Spiked
from learnability.learners.measurement.fresh_samples import FRESH, fresh_error


def test_constant_predictors() -> None:
    target = MultiIndex("z1 + 2*z2", noise=0.5)
    found = fresh_error(target, 3, 20, lambda X: np.array([[0.0], [1.0]]) * np.ones(len(X)))
    assert found == pytest.approx([5.5, 6.5], abs=5 * 5 * np.sqrt(2 / FRESH))
    assert found[0] >= 0.5


def test_the_samples_are_those_of_the_run_but_not_the_ones_it_learned_from() -> None:
    target = MultiIndex("tanh(z)", noise=0.3)
    seen = []

    def truth(X: np.ndarray) -> np.ndarray:
        seen.append(X)
        W = target.sample(4, n=1, d=15).W
        return np.tanh(X @ W.T).T

    assert fresh_error(target, 4, 15, truth) == pytest.approx([0.3], abs=1e-6)
    learned = target.sample(4, n=1000, d=15, dtype=np.float32).X
    assert sum(map(len, seen)) == FRESH
    assert not any(np.isin(X[:, 0], learned[:, 0]).any() for X in seen)


def test_heavy_tails_are_corrected() -> None:
    """Nothing is fitted, so the error is the energy, 57, where the plain mean is off by 40 %."""
    link = "z1 + He2(z2) + He2(z1)*z2 + He4(z1)*He2(z2)*z3 + He2(z2)*He2(z3)"
    target = MultiIndex(link)
    for predictor, expected in ((0.0, 57.0), (1.0, 58.0)):
        found = fresh_error(target, 0, 10, lambda X, c=predictor: np.full((1, len(X)), c))
        assert found == pytest.approx([expected], abs=2.0), predictor
    plain = target.sample(1, n=FRESH, d=10).y
    assert abs(np.mean(plain**2) - 57) > 5


def test_spiked_inputs_and_their_labels() -> None:
    """The error of the truth is the noise, and that of zero the energy of the label."""
    target = MultiIndex(
        "z1*z2 + z1", noise=0.2, inputs=Spiked((5.0, 2.0), alignment=((0.5, 0.1), (0.2, 0.6)))
    )
    frame, directions = target.inputs.frame(2, 15), target.inputs.directions(4, 2, 15)

    def predictors(X: np.ndarray) -> np.ndarray:
        z = (X @ directions.marked.T / frame.scale) @ frame.to_label.T
        return np.stack([target.link(z), 0 * z[:, 0]])

    truth, nothing = fresh_error(target, 4, 15, predictors)
    assert truth == pytest.approx(0.2, abs=1e-6) and nothing == pytest.approx(2.2, rel=0.02)


def test_a_constant_has_no_tails_to_correct() -> None:
    """Its square varies by rounding alone, by which the correction was divided."""
    for c in (0.7, 0.3, 1.1):
        target = MultiIndex(f"{c} + 0*z")
        found = fresh_error(target, 0, 5, lambda X: np.full((1, len(X)), 2.0))
        assert found == pytest.approx([(2 - c) ** 2], rel=1e-5)
