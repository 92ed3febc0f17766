"""Which averages the equations take, their error, and the solutions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from learnability import MultiIndex, OnlineSGD
from learnability.learners.online._equations import Equations
from learnability.learners.online._starts import Start
from learnability.targets import Spike


def equations(link: str, spike: Spike | None = None, **fields: Any) -> Equations:
    learner = OnlineSGD(step=0.4, **fields)
    recipe = learner._recipe(MultiIndex(link))
    return Equations(recipe, 0.0, learner._rates, learner._schedule, spike)


@pytest.mark.parametrize(
    ("link", "fields", "method"),
    [
        ("erf(z/sqrt(2))", {"activation": "erf(z/sqrt(2))"}, "closed form"),
        ("He2(z)", {"activation": "He2(z)", "loss": "correlation", "spherical": True},
         "Hermite series"),
        ("He2(z1) + sign(z1*z2)", {"activation": "tanh(z)"},
         "one coordinate between its breaks, Gauss rules and even grids"),
        ("tanh(z)", {"activation": "tanh(z)"}, "Gauss rules"),
        ("tanh(z)", {"activation": "relu(z)"}, "Gauss rules and even grids"),
        ("tanh(z)", {"activation": "relu(z)", "width": 3},
         "pairs of fields, squared terms by Sobol points"),
    ],
)  # fmt: skip
def test_the_best_averages_are_taken(link: str, fields: dict[str, Any], method: str) -> None:
    assert equations(link, **fields).method == method


def test_two_routes_have_one_solution() -> None:
    """A linear network on a linear label: dm/dt = step (1 - m) and dQ/dt are known."""
    made = equations("z", activation="z")
    times = np.array([0.0, 1.0, 3.0])
    found = made.solve(Start(np.array([[0.96]]), np.array([[0.2]])), np.ones(1), times)
    m = 1 - 0.8 * np.exp(-0.4 * times)
    np.testing.assert_allclose(found.overlap[:, 0, 0], m, rtol=1e-5)
    # E(f - y)^2 = Q - 2 m + 1 decays with the rate 2 step - step^2.
    error = found.rest[:, 0, 0] + (1 - m) ** 2
    np.testing.assert_allclose(error, error[0] * np.exp(-(0.8 - 0.16) * times), rtol=1e-4)
    assert found.status == "solved" and not found.overlap_error.any()


def test_a_spike_that_is_none_changes_nothing() -> None:
    """The frame has one direction more; the label's is the first."""
    times = np.array([0.0, 1.0, 2.0])
    plain = equations("tanh(2*z)", activation="tanh(z)").solve(
        Start(np.array([[0.91]]), np.array([[0.3]])), np.ones(1), times
    )
    framed = equations("tanh(2*z)", Spike(0.0, 1.0), activation="tanh(z)")
    found = framed.solve(Start(np.array([[0.75]]), np.array([[0.3, 0.4]])), np.ones(1), times)
    np.testing.assert_allclose(found.overlap[:, :, :1], plain.overlap, atol=1e-6)
    rest = found.rest + found.overlap[:, :, 1:] ** 2
    np.testing.assert_allclose(rest, plain.rest, atol=1e-6)
    start = Start(np.array([[0.75]]), np.array([[0.3, 0.4]]))
    time = framed.recovery(start, np.ones(1), 50.0, 0.6)
    at = framed.solve(start, np.ones(1), np.array([time]))
    m, Q = float(at.overlap[0, 0, 0]), float(at.rest[0, 0, 0] + (at.overlap[0] ** 2).sum())
    assert m / np.sqrt(Q) == pytest.approx(0.6, abs=1e-3)
