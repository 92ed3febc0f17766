"""Equations of motion on random frames of marked axes, against means of steps drawn at random."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability.learners.networks.starts import start_of
from learnability.learners.online._averages import direction_of
from learnability.learners.online._equations import Equations
from learnability.learners.online._motion import Point

from tests.learners.online.random_frames import random_case

COUNT = 300_000


@pytest.mark.parametrize("seed", range(6))
def test_the_drift_is_the_mean_of_steps(seed: int) -> None:
    """All rules of the generator: |z| < 4.5 beside 0.3 % for averages over sampled nodes."""
    learner, target = case = random_case(seed)
    frame = target.inputs.frame(target.r, 1000)
    recipe = learner._recipe(target, frame)
    equations = Equations(recipe, target.noise, learner._rates, frame)
    rates = equations._at(0.0)
    start = start_of(case.start(seed, 1000), learner.width, frame)
    at = Point(start.rest, start.overlap, learner._second)
    rng, (p, k) = np.random.default_rng([31, seed]), start.overlap.shape
    g, u = rng.standard_normal((k, COUNT)), rng.standard_normal((p, COUNT))
    W = np.hstack([at.overlap, np.linalg.cholesky(at.rest + 1e-12 * np.eye(p))])
    long = np.concatenate([frame.scale, np.ones(p)])
    X = long[:, None] * np.concatenate([g, u])
    y = np.asarray(target.link((frame.to_label @ g).T))
    y = y + math.sqrt(target.noise) * rng.standard_normal(COUNT)
    tau = np.sqrt(np.sum((W * long) ** 2, axis=1))
    tau = np.ones(p) if recipe.normalisation == "none" else tau
    v = W @ X / tau[:, None]
    U, V = direction_of(recipe, at, v, y, rates)
    along, own = X, np.zeros_like(W)
    if recipe.normalisation == "whitened":
        along, own = X / long[:, None] ** 2, W
    elif recipe.normalisation == "normalised":
        own = W * long**2
    moves = (tau[:, None] * U)[:, None] * along - (U * v)[:, None] * own[:, :, None]
    grown = np.einsum("jan,la->jln", moves[:, k:], W[:, k:])
    pairs = rates.step / recipe.batch * (tau[:, None] * U)[:, None] * (tau[:, None] * U)
    found = equations.drifts[0](at, rates)
    each = (
        (found.rest, rates.step * (grown + np.swapaxes(grown, 0, 1) + pairs)),
        (found.overlap, rates.step * moves[:, :k]),
        (found.second, rates.second_step * V),
    )
    for value, drawn in each:
        mean, error = drawn.mean(axis=-1), drawn.std(axis=-1) / math.sqrt(COUNT)
        assert (np.abs(value - mean) <= 4.5 * error + 3e-3 * np.abs(mean).max()).all()
