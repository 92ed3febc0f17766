"""Runs that do not settle, and the free entropy that chooses between runs."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from learnability import BayesAMP, MultiIndex
from learnability.learners.bayes._channel_step import ChannelStep
from learnability.learners.bayes._iteration import Run, Start, iterate, random_start
from learnability.learners.bayes._settled import free_entropy, settled
from learnability.statuses import Status

D = 300


def one(text: str, noise: float, seed: int, alpha: float) -> tuple[np.ndarray, ChannelStep, Run]:
    target = MultiIndex(text, noise=noise)
    X, y, W, _ = target.sample(seed, d=D, alpha=alpha, dtype=np.float32)
    step = ChannelStep(target.channel, y)
    start = random_start(np.random.default_rng(seed), target.r, D)
    return X, step, iterate(X, step, start, W, 0.5, 300, 1e-5)


@pytest.mark.parametrize(("noise", "alpha"), [(0.3, 1.5), (0.1, 3.0)])
def test_the_free_entropy_of_a_linear_link_is_the_evidence_of_its_data(noise, alpha) -> None:
    """Directions of a normal law make y normal, of covariance X X^T / d + noise."""
    X, step, run = one("z", noise, 4, alpha)
    y = MultiIndex("z", noise=noise).sample(4, d=D, alpha=alpha, dtype=np.float32).y
    covariance = X.astype(float) @ X.T.astype(float) / D + noise * np.eye(len(X))
    evidence = multivariate_normal.logpdf(y.astype(float), cov=covariance) / D
    assert free_entropy(X, step, run) == pytest.approx(evidence, abs=2e-2)


def test_a_run_that_settles_is_not_repeated() -> None:
    X, step, run = one("sign(z)", 0.0, 0, 2.0)
    start = Start(run.W, run.C[-1])

    def never(first: Start, damping: float) -> Run:
        assert first is start
        return run

    assert run.status is Status.CONVERGED
    assert settled(never, X, step, start, [start, start], 0.5) is run


def test_the_data_choose_between_runs() -> None:
    """A run that knows the labels better wins over one that stopped, or is inconsistent."""
    X, step, good = one("sign(z)", 0.0, 1, 3.0)
    poor = dataclasses.replace(
        good, W=0.3 * good.W, C=0.9 + 0 * good.C, length=0.09 * good.length, status=Status.STOPPED
    )
    lost = dataclasses.replace(poor, status=Status.INCONSISTENT)
    start = Start(good.W, good.C[-1])
    tried: list[float] = []

    def attempt(first: Start, damping: float) -> Run:
        tried.append(damping)
        return [lost, poor, good][len(tried) - 1]

    assert free_entropy(X, step, good) > free_entropy(X, step, poor)
    assert settled(attempt, X, step, start, [start] * 5, 0.5) is good
    assert tried == [0.5, 0.25, 0.125]


def test_a_run_that_wanders_goes_on_with_a_full_covariance() -> None:
    """It takes the place of the first random start, and a run that rests is taken before it."""
    X, step, good = one("sign(z)", 0.0, 1, 3.0)
    stopped = dataclasses.replace(good, C=0.2 + 0 * good.C, status=Status.STOPPED)
    further = dataclasses.replace(stopped, W=0.5 * good.W)
    start, starts = Start(good.W, good.C[-1]), []

    def go_on(first: Start) -> Run:
        starts.append(first)
        return further

    fresh = [Start(0 * good.W, good.C[-1])] * 2
    never = settled(lambda first, damping: stopped, X, step, start, fresh, 0.5, go_on=go_on)
    assert never is further
    np.testing.assert_array_equal(starts[0].W, stopped.W)
    np.testing.assert_array_equal(starts[0].held, stopped.held)
    tried: list[float] = []

    def second(first: Start, damping: float) -> Run:
        tried.append(damping)
        return stopped if len(tried) == 1 else good

    assert settled(second, X, step, start, fresh, 0.5, go_on=go_on) is good
    assert tried == [0.5, 0.25]
    assert settled(lambda first, damping: stopped, X, step, start, [], 0.5, go_on=go_on) is stopped
    # Where it has lost a direction that another run has, that one is taken.
    knows = dataclasses.replace(stopped, C=0.05 + 0 * good.C)
    attempt = iter([stopped, knows]).__next__
    assert settled(lambda *_: attempt(), X, step, start, fresh, 0.5, go_on=go_on) is knows


def test_a_run_that_has_lost_a_direction_is_started_again() -> None:
    X, step, good = one("sign(z)", 0.0, 1, 3.0)
    path = np.array([1.0, 0.05, 0.9])[:, None, None]
    lost = dataclasses.replace(good, W=0.3 * good.W, C=path, length=0.1 + 0 * path)
    start, runs = Start(good.W, good.C[-1]), iter([lost, good])
    assert lost.status is Status.CONVERGED
    assert settled(lambda *_: next(runs), X, step, start, [start, start], 0.5) is good


def test_a_direction_known_exactly_stays_beside_others() -> None:
    """z1**2 shows z1 exactly at this ratio; the run on these samples had lost it."""
    target = MultiIndex("z1**2 + sign(z1*z2*z3)")
    run = BayesAMP().simulate(target, d=200, alpha=5.2, seeds=[3])
    assert run.status.values.item() == "converged"
    assert run.overlap.values.squeeze()[0, 0] == pytest.approx(1, abs=1e-2)


def test_runs_close_to_a_threshold_settle() -> None:
    """sign(z1*z2) 30 % above it, on seeds that no development has seen."""
    alone = BayesAMP(restarts=0)
    runs = alone.simulate(MultiIndex("sign(z1*z2)"), d=D, alpha=3.2, seeds=range(700, 710))
    assert np.mean(runs.status.values == "converged") >= 0.8
    assert float(runs.subspace_overlap.mean()) > 0.2
