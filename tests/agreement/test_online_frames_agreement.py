"""One-pass SGD on random frames of marked axes: two engines, and runs against equations of motion.

Frames, links and rules are drawn by the generator of the unit tests, with seeds that were fixed
before anything was run; none is left out.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import ks_2samp, norm

from learnability.learners.online._runs import run

from tests.learners.online.random_frames import random_case

pytestmark = pytest.mark.agreement

SEEDS = range(12)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_chain_has_the_law_of_all_coordinates(seed: int) -> None:
    """4000 runs of d steps, d five more than neurons and axes.

    Kolmogorov-Smirnov tests of all order parameters that move: the smallest p-value times their
    number is above 0.001.
    """
    case, both = random_case(seed), []
    inputs, r, p = case.target.inputs, case.target.r, case.learner.width
    d = inputs.least_dimension(r) + p + 4
    for engine in ("reduced", "full"):
        learner = dataclasses.replace(case.learner, engine=engine)
        setting = learner._setting(case.target, {"d": d, "start": case.start(seed, d)})
        first = 4000 * (engine == "full")
        found = run(setting, np.array([d]), list(range(first, first + 4000)))
        M = found.overlap[:, 0]
        Q = found.rest[:, 0] + M @ np.swapaxes(M, 1, 2)
        upper = np.triu_indices(p)
        parts = [M.reshape(4000, -1), Q[:, upper[0], upper[1]], found.second[:, 0]]
        both.append(np.concatenate(parts, axis=1))
    moving = [k for k in range(both[0].shape[1]) if np.ptp(both[0][:, k]) > 1e-3]
    least = min(ks_2samp(both[0][:, k], both[1][:, k]).pvalue for k in moving)
    assert least * len(moving) > 1e-3, (case, least, len(moving))


@pytest.mark.parametrize("seed", SEEDS)
def test_runs_follow_the_equations_of_motion(seed: int) -> None:
    """Means of 48 runs at d = 6000, t = 1: within the level 0.0027 over the number of comparisons.

    The equations are those of large d; their own error, of order (1 + theta) / d, is given 0.002.
    """
    case, d, count = random_case(seed), 6000, 48
    start = case.start(seed, d)
    theory = case.learner.predict(case.target, d=d, time=[0.5, 1.0], start=start)
    runs = case.learner.simulate(case.target, d=d, time=[0.5, 1.0], start=start, seeds=count)
    assert theory.status.item() == "solved" and (runs.status == "finished").all()
    names = ("overlap", "spike_overlap", "correlation", "gram", "second_layer", "error")
    excess = []
    for name in names:
        values, wanted = runs[f"{name}_trace"], theory[f"{name}_trace"]
        deviation = values.std("seed", ddof=1) / math.sqrt(count)
        own = theory.get(f"{name}_trace_stderr", 0.0)
        gap = np.abs(values.mean("seed") - wanted) - 2e-3 * np.maximum(1.0, np.abs(wanted))
        excess.append((gap / np.hypot(deviation, own).clip(1e-9)).values.ravel())
    worst = np.concatenate(excess)
    assert worst.max() < norm.isf(0.00135 / worst.size), (case, worst.max(), worst.size)
