"""The channel step on level sets and cells, against the posterior on fine lines."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from learnability import BayesAMP, Channel
from learnability.learners.bayes import _surface_step
from learnability.learners.bayes._channel_step import ChannelStep
from learnability.learners.bayes._level_step import CellStep, LevelStep, step_on_levels
from learnability.learners.bayes._surface_step import SurfaceStep


@pytest.mark.parametrize(
    ("text", "kind"),
    [("z1*z2", SurfaceStep), ("z1*z2 + abs(z1)", LevelStep), ("sign(z2 - z1**2)", CellStep)],
)
@pytest.mark.parametrize("scale", [0.9, 0.1])
def test_scores_are_those_of_fine_posteriors(text, kind, scale) -> None:
    channel, rng = Channel(text), np.random.default_rng(2)
    V = scale * np.array([[1.0, 0.3], [0.3, 0.8]])
    root = np.linalg.cholesky(V)
    omega = np.sqrt(1 - scale) * rng.standard_normal((60, 2))
    y = np.asarray(channel.link(omega + rng.standard_normal((60, 2)) @ root.T))
    step = step_on_levels(channel, y)
    assert isinstance(step, kind)
    expected = channel.posterior(y, omega, V).g
    found = step(omega.T, V).T
    off = np.abs(found - expected) / (1 + np.abs(expected))
    assert np.median(off) < 2e-3
    assert np.quantile(off, 0.95) < 2e-2


def test_scores_of_the_larger_of_two_have_a_closed_form() -> None:
    rng, spread = np.random.default_rng(2), np.sqrt([0.5, 0.3])
    omega = 0.7 * rng.standard_normal((400, 2))
    y = (omega + rng.standard_normal((400, 2)) * spread).max(axis=1)
    t = (y[:, None] - omega) / spread
    law = norm.pdf(t) / spread
    below = norm.cdf(t)[:, ::-1]
    both = law.prod(axis=1)[:, None]
    expected = (law * t / spread * below - both) / (law * below).sum(axis=1)[:, None]
    found = LevelStep(Channel("max(z1,z2)"), y)(omega.T, np.diag(spread**2)).T
    off = np.abs(found - expected) / (1 + np.abs(expected))
    assert np.median(off) < 2e-3
    assert np.quantile(off, 0.95) < 1.3e-2
    assert np.abs((found - expected).mean(axis=0)).max() < 1e-3


@pytest.mark.parametrize("text", ["z1*z2*z3", "tanh(z1)*z2 + z3**2", "abs(z1)*z2 + z3"])
def test_scores_of_three_directions_are_those_of_a_sample(text) -> None:
    """E[t | y] from the draws of N(omega, V) whose label falls next to y, by their own scatter."""
    channel, rng = Channel(text), np.random.default_rng(4)
    V = 0.4 * np.array([[1.0, 0.3, 0.1], [0.3, 0.8, 0.2], [0.1, 0.2, 0.9]])
    root = np.linalg.cholesky(V)
    omega = np.sqrt(0.6) * rng.standard_normal((12, 3))
    y = np.asarray(channel.link(omega + rng.standard_normal((12, 3)) @ root.T))
    found = root.T @ SurfaceStep(channel, y)(omega.T, V)
    draws = rng.standard_normal((400_000, 3))
    pulls = []
    for i in range(12):
        labels = np.asarray(channel.link(omega[i] + draws @ root.T))
        near = draws[np.argsort(np.abs(labels - y[i]))[:4000]]
        pulls.append((found[:, i] - near.mean(axis=0)) / (near.std(axis=0) / np.sqrt(4000) + 5e-3))
    assert np.abs(pulls).max() < 4


@pytest.mark.parametrize(
    ("text", "tolerance"),  # Beside a kink the error of either is of first order in the step.
    [("z1*z2", 0.04), ("tanh(z1)*z2 + z3**2", 0.04), ("max(z1,z2,z3)", 0.1)],
)
def test_points_that_stay_give_the_scores_of_new_ones(text, tolerance) -> None:
    channel, rng = Channel(text), np.random.default_rng(5)
    r = channel.link.r
    omega = 0.7 * rng.standard_normal((r, 100))
    y = np.asarray(channel.link((omega + 0.7 * rng.standard_normal((r, 100))).T))
    moving = SurfaceStep(channel, y)
    V = 0.7 * np.eye(r)
    for _ in range(8):  # Means move half a standard deviation, variances fall to a third.
        g = moving(omega, V)
        fresh = SurfaceStep(channel, y)(omega, V)
        assert np.linalg.norm(g - fresh) < tolerance * np.linalg.norm(fresh)
        omega, V = omega + 0.5 * np.sqrt(V[0, 0]) * rng.standard_normal((r, 100)) / r, 0.87 * V


@pytest.mark.parametrize(
    "text",
    ["max(z1,z2) + z1**2", "z1*z2", "tanh(z1)*z2 + z3**2", "z**3 - z", "z1**2 + step(z2 - 0.5)"],
)
def test_information_is_minus_the_sum_of_the_derivatives(text) -> None:
    channel, rng = Channel(text), np.random.default_rng(8)
    r = channel.link.r
    V = 0.3 * (np.eye(r) + 0.3)
    omega = 0.7 * rng.standard_normal((r, 600))
    noise = np.linalg.cholesky(V) @ rng.standard_normal((r, 600))
    step = ChannelStep(channel, np.asarray(channel.link((omega + noise).T)))
    g, information = step.with_information(omega, V)
    np.testing.assert_allclose(g, step(omega, V), rtol=1e-3, atol=1e-4)
    moved = [
        (step(omega - shift[:, None], V) - step(omega + shift[:, None], V)).sum(axis=1, dtype=float)
        for shift in 0.02 * np.eye(r)
    ]
    np.testing.assert_allclose(
        information, np.array(moved) / 0.04, atol=0.03 * abs(information).max()
    )


def test_scores_beside_an_inflection_see_its_level_set() -> None:
    """max(z1, z2 + sin(2 z2) / 2), whose slope vanishes at pi / 2: the label there tells z2."""
    channel = Channel("max(z1, z2 + sin(2*z2)/2)")
    omega, V = np.array([[-0.5], [1.55]]), np.diag([0.02, 0.002])
    for label in (1.5707937, 1.57079):
        g = LevelStep(channel, np.array([label]))(omega, V)[:, 0]
        root = math.pi / 2 - (1.5 * (math.pi / 2 - label)) ** (1 / 3)
        np.testing.assert_allclose(g, [0.0, (root - 1.55) / 0.002], atol=0.02)


def test_points_far_from_the_mean_are_left_out_and_come_back() -> None:
    channel, rng = Channel("max(z1,z2) + z1**2"), np.random.default_rng(9)
    omega, y = np.zeros((2, 300)), rng.standard_normal(300)
    kept = LevelStep(channel, y)
    for spread, shift in ((0.5, 0.0), (0.02, 0.0), (0.02, 0.5), (0.02, 0.55), (0.3, -0.5)):
        V = spread * np.eye(2)
        fresh = LevelStep(channel, y)(omega + shift, V)
        np.testing.assert_allclose(kept(omega + shift, V), fresh, rtol=1e-3, atol=1e-2)


def test_a_label_far_away_is_found_and_an_impossible_one_says_nothing() -> None:
    step = SurfaceStep(Channel("z1 + z2 + z3**2"), np.array([9.0, -50.0, 0.3]))
    g = step(np.zeros((3, 3)), 0.2 * np.eye(3))
    assert np.abs(g[:2, 0]).min() > 1 and not g[:, 1].any() and g[:, 2].any()


def test_points_that_are_not_kept_change_nothing(monkeypatch) -> None:
    channel, rng = Channel("z1*z2"), np.random.default_rng(6)
    omega, V = 0.5 * rng.standard_normal((2, 700)), 0.5 * np.eye(2)
    y = np.asarray(channel.link(rng.standard_normal((700, 2))))
    expected = SurfaceStep(channel, y)(omega, V)
    monkeypatch.setattr(_surface_step, "_MOST_KEPT", 100_000)
    step = SurfaceStep(channel, y)
    for _ in range(2):
        np.testing.assert_array_equal(step(omega, V), expected)
    kept = [len(part.points.weight) > 0 for part in step._parts]
    assert kept[0] and not kept[-1] and kept == sorted(kept, reverse=True)


def test_runs_of_curved_cells_settle_at_state_evolution() -> None:
    """sign(z2 - z1^2) at alpha = 2: 0.5028 for z2 and nothing of z1, from state evolution."""
    found = BayesAMP().simulate("sign(z2 - z1**2)", d=200, alpha=2.0, seeds=range(6))
    assert set(found.status.values.ravel().tolist()) == {"converged"}
    overlap = found.overlap.values.reshape(-1, 2, 2)
    scatter = overlap[:, 1, 1].std(ddof=1) / np.sqrt(6)
    assert overlap[:, 1, 1].mean() == pytest.approx(0.5028, abs=3 * scatter + 0.5 / np.sqrt(200))
    assert np.abs(overlap[:, 0, 0]).max() < 0.05


@pytest.mark.parametrize("text", ["z2 - He3(z1)", "0.5*sin(2*z2) + max(z1,z2)"])
def test_runs_keep_the_directions_that_they_find_exactly(text) -> None:
    """At d = 1000 both were lost again, or inconsistent, when A was the square of g alone."""
    found = BayesAMP(restarts=0).simulate(text, d=300, alpha=3.0, seeds=range(2))
    assert set(found.status.values.ravel().tolist()) == {"converged"}
    assert found.iterations.values.max() < 100
    overlap = np.einsum("...ii->...i", found.overlap.values.reshape(-1, 2, 2))
    assert np.abs(overlap - 1).max() < 0.5 / np.sqrt(300)


def test_which_links_are_left_to_lines() -> None:
    y = np.zeros(3)
    for channel in (Channel("z1*z2", 0.1), Channel("z1*z2*z3", 0.1), Channel("sign(z1*z2)")):
        assert step_on_levels(channel, y) is None
