"""Gradient descent in a few coordinates and in all."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Link, MultiIndex, SpikedIndex
from learnability.inputs import Spiked
from learnability.learners.flow._descent import Rule, descend_fresh, descend_reused

ONE = SpikedIndex("He2(z)/sqrt(2)", spike=5.0, alignment=0.6, noise=0.1)
TWO = MultiIndex("He2(z)/sqrt(2)", noise=0.1, inputs=Spiked((5.0, 2.0), (0.6, -0.3)))
NONE = MultiIndex("He2(z)/sqrt(2)", noise=0.1)
STARTS = {
    ONE: np.array([0.3, 0.4, np.sqrt(0.75)]),
    TWO: np.array([0.3, 0.1, 0.4, np.sqrt(0.74)]),
    NONE: np.array([0.5, np.sqrt(0.75)]),
}


@pytest.mark.parametrize("target", [ONE, TWO, NONE], ids=["one spike", "two spikes", "none"])
@pytest.mark.parametrize("flow", ["spherical", "normalised", "whitened"])
def test_one_step_in_the_frame_is_one_in_all_coordinates(flow: str, target: MultiIndex) -> None:
    """Means over seeds of both programs after a step, |z| < 4."""
    arguments = (target, 9, Rule(flow, Link("tanh(z)"), 0.3, 20), STARTS[target], np.array([1]))
    both = []
    for descend in (descend_fresh, descend_reused):
        found = np.array([descend(*arguments, seed)[0] for seed in range(400)])
        both.append(np.column_stack([found, np.sum(found**2, axis=1), found[:, 0] * found[:, 1]]))
    x, y = both
    spread = np.sqrt((x.var(axis=0) + y.var(axis=0)) / 400) + 1e-12
    assert np.abs((x.mean(axis=0) - y.mean(axis=0)) / spread).max() < 4


def test_a_step_is_that_of_the_formula() -> None:
    """The whitened step on given samples, written out with matrices."""
    X, y, _, _ = TWO.sample(3, n=50, d=12)
    directions = TWO.inputs.directions(3, 1, 12)
    spikes = directions.marked[:2]
    Sigma = np.eye(12) + spikes.T @ np.diag([5.0, 2.0]) @ spikes
    w = np.random.default_rng(0).standard_normal(12)
    tau = np.sqrt(w @ Sigma @ w)
    h = X @ w / tau
    gradient = (
        -2 / 50 * ((y - np.tanh(h)) / np.cosh(h) ** 2) @ (X / tau - np.outer(h / tau**2, Sigma @ w))
    )
    wanted = w - 0.1 * tau**2 * np.linalg.solve(Sigma, gradient)
    found, _ = Rule("whitened", Link("tanh(z)"), 0.1, 50).move(
        X, y, w, lambda v, power: TWO.inputs.apply(v[None], directions, power)[0]
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-10)


def test_looks_do_not_change_the_path() -> None:
    rule, start = Rule("normalised", Link("relu(z)"), 0.1, 50), STARTS[ONE]
    whole = descend_fresh(ONE, 30, rule, start, np.array([0, 3, 3, 8]), 1)
    np.testing.assert_array_equal(whole[0], start)
    np.testing.assert_array_equal(whole[1], whole[2])
    end = descend_fresh(ONE, 30, rule, start, np.array([8]), 1)
    np.testing.assert_array_equal(whole[3], end[0])


def test_divergence_is_nan() -> None:
    rule = Rule("normalised", Link("z**5"), 1e6, 5)
    found = descend_fresh(ONE, 30, rule, STARTS[ONE], np.array([0, 50]), 0)
    assert np.isfinite(found[0]).all() and np.isnan(found[1]).all()
