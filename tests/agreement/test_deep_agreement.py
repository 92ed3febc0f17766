"""Layer-wise learning against its finite-size theory, at stated sizes and seeds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from learnability import Hierarchical
from learnability.figures.function_staircase import measured
from learnability.learners import (
    JointAdamW,
    Layerwise,
    MehlerReadout,
    OracleFirstLayer,
    PreconditionedSecondLayer,
    RidgeReadout,
    SpectralFirstLayer,
    SphericalFirstLayer,
)
from learnability.learners.deep._blocks import Samples
from learnability.learners.deep._theory import best_kernel_error, predicted_stages
from learnability.learners.deep.observables import first_layer_overlap

pytestmark = pytest.mark.agreement

G, P = "tanh(3*z)", "He2(z)/2 + He3(z)/6"
TARGET = Hierarchical(G, P, normalisation="printed")


@pytest.mark.parametrize(("ratio", "expected", "tolerance"), [(4, 0.750, 0.03), (16, 0.9375, 0.01)])
def test_the_first_layer_follows_its_transition(
    ratio: float, expected: float, tolerance: float
) -> None:
    d, seeds = 196, 4
    n = round(ratio * TARGET.n_star(d))
    found = []
    for seed in range(seeds):
        W = SpectralFirstLayer(None).learn(Samples(TARGET, seed, d, n))
        found.append(first_layer_overlap(W, next(TARGET.batches(seed, 1, d)).W) ** 2)
    assert np.mean(found) == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize(("d", "ratios"), [(64, (4, 8, 12, 16)), (100, (4, 6, 10, 16))])
def test_spectral_and_mehler_follow_the_theory(d: int, ratios: tuple[int, ...]) -> None:
    """Ridge 1, eight seeds, n from 4 n* to 16 n*: within 3 standard errors and 0.03 of Var y.

    At 4 n* the squared overlap of the first layer varies by 0.02 from seed to seed and the error by
    1.7 times as much. Given the overlap of each run the theory is sharper, and so is the test.
    """
    learner = Layerwise((SpectralFirstLayer(None), MehlerReadout(1.0)), fresh=True)
    alphas = [ratio * TARGET.n_star(d) / d for ratio in ratios]
    runs = learner.simulate(TARGET, d=d, alpha=alphas, seeds=8)
    theory = learner.predict(TARGET, d=d, alpha=alphas)
    v = theory.attrs["label_variance"]

    def agree(found: NDArray[Any], expected: NDArray[Any]) -> None:
        gap = found - np.broadcast_to(expected, found.T.shape).T
        allowed = 3 * gap.std(axis=1, ddof=1) / math.sqrt(8) + 0.03
        assert (np.abs(gap.mean(axis=1)) < allowed).all(), (gap.mean(axis=1), allowed)

    error = runs.error.values / v
    agree(error, theory.error.values / v)
    agree(runs.feature_overlap.values[..., 0], theory.feature_overlap.values[:, 0])
    given = np.array(
        [
            [predicted_stages(TARGET.at(d), m, round(alpha * d), 1.0).two_layer_error for m in row]
            for alpha, row in zip(alphas, runs.first_layer_overlap.values, strict=True)
        ]
    )
    agree(error, (given / v).T)


@pytest.mark.parametrize("link", [G, "tanh(z)", "sign(z)"])
def test_ridge_on_exact_directions(link: str) -> None:
    """N = 12, n = 2048, ridge 1, four seeds: II within 0.02 of Var y and M_h within 0.03."""
    target = Hierarchical(link, P, N=12, normalisation="printed")
    learner = Layerwise((OracleFirstLayer(None), MehlerReadout(1.0)))
    runs = learner.simulate(target, d=12, alpha=2048 / 12, seeds=4)
    theory = predicted_stages(target, 1.0, 2048, 1.0)
    error = float(runs.error.mean()) / target.variance
    assert error == pytest.approx(theory.two_layer_error / target.variance, abs=0.02)
    overlap = float(runs.feature_overlap.mean())
    assert overlap == pytest.approx(float(theory.feature_overlap[0]), abs=0.03)
    if link == G:
        assert error == pytest.approx(0.277, abs=0.02)
        assert overlap == pytest.approx(0.916, abs=0.03)


def test_three_layers_learn_more_than_two() -> None:
    """d = 64, n = 9410 in total, three seeds: III <= II - 0.05 and II <= 0.30; a kernel 0.468."""
    learner = Layerwise((SphericalFirstLayer(steps=5), PreconditionedSecondLayer(), RidgeReadout()))
    runs = learner.simulate(TARGET, d=64, alpha=9410 / 64, seeds=3)
    here = TARGET.at(64)
    two = float(runs.two_layer_error.mean()) / here.variance
    three = float(runs.error.mean()) / here.variance
    assert two <= 0.30 and three <= two - 0.05
    assert best_kernel_error(here, 64, 9410) / here.variance == pytest.approx(0.468, abs=0.003)
    # The upper estimate of III is one.
    assert three < float(learner.predict(TARGET, d=64, alpha=9410 / 64).error) / here.variance


def test_joint_training_separates_depths() -> None:
    """d = 64, n = 4096 in total, two seeds: three layers at least 0.10 below two."""
    found = {
        depth: JointAdamW(depth, first_steps=5).simulate(TARGET, d=64, alpha=64.0, seeds=2)
        for depth in (2, 3)
    }
    errors = {k: float(v.error.mean()) / v.attrs["label_variance"] for k, v in found.items()}
    assert errors[3] <= errors[2] - 0.10


def test_a_committee_is_out_of_reach_of_one_step() -> None:
    target = Hierarchical("(tanh(3*z1) + tanh(3*z2))/sqrt(2)", P, N=8, normalisation="printed")
    errors, overlaps = measured(target, 2000, 1000, seed=0)
    assert errors[1] > 0.25 and errors[3] < 0.02
    assert abs(overlaps[0, 0] - overlaps[0, 1]) < 0.1  # Both features alike.
    climbing = Hierarchical("tanh(z1)*(1 + tanh(z2))", P, N=8, normalisation="printed")
    _, overlaps = measured(climbing, 2000, 1000, seed=0)
    assert overlaps[0, 0] > 0.7 > 0.2 > overlaps[0, 1]
    assert overlaps[1, 1] > 0.25 and overlaps[1, 1] > 3 * overlaps[0, 1]
