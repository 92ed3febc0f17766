"""The channel step on level sets and cells, against the posterior on fine lines."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from learnability import BayesAMP, Channel
from learnability.learners.bayes._level_step import CellStep, LevelStep, step_on_levels


@pytest.mark.parametrize(
    ("text", "kind"),
    [("z1*z2", LevelStep), ("sign(z2 - z1**2)", CellStep)],
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


def test_runs_of_curved_cells_settle_at_state_evolution() -> None:
    """sign(z2 - z1^2) at alpha = 2: 0.5028 for z2 and nothing of z1, from state evolution."""
    found = BayesAMP().simulate("sign(z2 - z1**2)", d=200, alpha=2.0, seeds=range(6))
    assert set(found.status.values.ravel().tolist()) == {"converged"}
    overlap = found.overlap.values.reshape(-1, 2, 2)
    scatter = overlap[:, 1, 1].std(ddof=1) / np.sqrt(6)
    assert overlap[:, 1, 1].mean() == pytest.approx(0.5028, abs=3 * scatter + 0.5 / np.sqrt(200))
    assert np.abs(overlap[:, 0, 0]).max() < 0.05


def test_which_links_are_left_to_lines() -> None:
    y = np.zeros(3)
    for channel in (Channel("z1*z2", 0.1), Channel("z1*z2*z3"), Channel("sign(z1*z2)")):
        assert step_on_levels(channel, y) is None
