"""What is reported of order parameters, against weights that have them."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import MultiIndex, OnlineSGD
from learnability.inputs import Isotropic, Spiked
from learnability.inputs.base import Inputs
from learnability.labels.link import Link
from learnability.learners.online._equations import Solution
from learnability.learners.online._observables import (
    divergence,
    observed_runs,
    observed_solutions,
    symmetry_of,
)
from learnability.learners.online._runs import Runs

SPIKES = Spiked((3.0, 8.0), ((0.6, 0.3), (-0.2, 0.5)))


@pytest.mark.parametrize("normalisation", ["none", "whitened"])
@pytest.mark.parametrize("inputs", [Isotropic(), SPIKES])
def test_observables_are_those_of_weights_and_samples(inputs: Inputs, normalisation: str) -> None:
    """Two neurons at d = 12: cosines and spans exactly, errors and correlations by samples."""
    target = MultiIndex("z1*z2 + sign(z1)", noise=0.3, inputs=inputs)
    W = np.random.default_rng(0).standard_normal((2, 12)) / 2
    a, frame, directions = np.array([0.4, -0.6]), inputs.frame(2, 12), inputs.directions(0, 2, 12)
    learner = OnlineSGD(width=2, activation="tanh(z)", normalisation=normalisation)
    M = W @ directions.marked.T
    runs = Runs(
        (W @ W.T - M @ M.T)[None, None], M[None, None], a[None, None], np.zeros(1, dtype=bool)
    )
    found = observed_runs(target, learner._recipe(target, frame), frame, runs)
    overlap = W @ directions.hidden.T
    np.testing.assert_allclose(found["overlap"][0], overlap)
    np.testing.assert_allclose(found["gram"][0], W @ W.T)
    np.testing.assert_allclose(
        found["cosine"][0], overlap / np.linalg.norm(W, axis=1, keepdims=True)
    )
    P = np.linalg.pinv(W) @ W
    share = float(np.sum((P @ directions.hidden.T) ** 2)) / 2
    assert found["subspace_overlap"][0] == pytest.approx(share)
    X, y, _, h = target.sample(0, n=400_000, d=12)
    field = X @ W.T
    error = 4.5 / np.sqrt(len(y))
    np.testing.assert_allclose(
        found["correlation"][0], (field.T @ h / len(h)) / field.std(axis=0)[:, None], atol=error
    )
    field = field / (1.0 if normalisation == "none" else np.sqrt(np.mean(field**2, axis=0)))
    each = (np.tanh(field) @ a - y) ** 2
    assert found["error"][0] == pytest.approx(each.mean(), abs=5 * each.std() / 632 + 1e-3)
    assert ("spike_overlap" in found) == (frame.spikes > 0)
    if frame.spikes:
        np.testing.assert_allclose(found["spike_overlap"][0], W @ directions.marked[:2].T)


def runs(seeds: int, times: int) -> Runs:
    overlap = np.full((seeds, times, 1, 1), 0.6)
    rest = np.full((seeds, times, 1, 1), 0.64)
    overlap[0, -1] = rest[0, -1] = np.nan
    lost = np.zeros(seeds, dtype=bool)
    lost[0] = True
    return Runs(rest, overlap, np.ones((seeds, times, 1)), lost)


def test_runs_have_the_fixed_names_and_a_status_each() -> None:
    learner, target, frame = OnlineSGD(activation="z"), MultiIndex("z"), Isotropic().frame(1, 40)
    found = observed_runs(target, learner._recipe(target, frame), frame, runs(2, 2))
    assert found["status"].tolist() == ["diverged", "finished"]
    assert found["overlap_trace"].shape == (2, 2, 1, 1)
    np.testing.assert_allclose(found["gram_trace"][1], 1.0)
    assert found["subspace_overlap"][1] == pytest.approx(0.36)
    assert found["error"][1] == pytest.approx(0.8)
    for name in ("overlap", "error", "subspace_overlap", "correlation"):
        assert np.isnan(found[name][0]).all()


def test_divergence_is_a_sentence() -> None:
    assert divergence(np.zeros(4, dtype=bool)) is None
    assert "1 of 2 runs diverged" in str(divergence(np.array([True, False])))


def test_the_spread_of_rules_is_the_standard_error() -> None:
    """Two rules whose overlaps are 0.4 and 0.6: mean 0.5, standard error 0.1; turned by -1."""
    overlap = -np.array([0.4, 0.6])[:, None, None, None] * np.ones((1, 3, 1, 1))
    solution = Solution(1 - overlap**2, overlap, np.ones((2, 3, 1)), False)
    learner, target, frame = OnlineSGD(activation="z"), MultiIndex("z**2"), Isotropic().frame(1, 9)
    found = observed_solutions(target, learner._recipe(target, frame), frame, [solution])
    assert found["overlap"].item() == pytest.approx(0.5)
    assert found["overlap_stderr"].item() == pytest.approx(0.1)
    np.testing.assert_allclose(found["gram_trace_stderr"], 0.0, atol=1e-12)
    assert found["status"].tolist() == ["solved"]


def test_paths_are_turned_by_symmetries_of_the_link() -> None:
    path = np.array([[[0.1, 0.2]], [[-0.9, 0.3]]])
    even = path @ symmetry_of(path, Link("z1**2 + z2"))
    np.testing.assert_allclose(even[-1], [[0.9, 0.3]])
    odd = path @ symmetry_of(path, Link("z1 + z2**2"))
    np.testing.assert_allclose(odd[-1], path[-1])


@pytest.mark.parametrize(
    ("text", "activation"),
    [
        ("2*sin(20*z)", "relu(z)"),
        ("2*sin(9*z1) + z2", "tanh(z)"),
        ("sign(sin(20*z))", "tanh(z)"),
    ],
)
def test_errors_on_fast_labels_are_those_of_samples(text: str, activation: str) -> None:
    """Runs and theory had the same nodes, and both said 4.43 instead of 2.50, 1.04 of 3.03."""
    target = MultiIndex(text)
    learner = OnlineSGD(activation=activation, step=0.1)
    start = (1.0, np.full((1, target.r), 0.3))
    z = np.random.default_rng(0).standard_normal((400_000, target.r + 1))
    field = 0.3 * z[:, : target.r].sum(axis=1) + np.sqrt(1 - 0.09 * target.r) * z[:, -1]
    error = (Link(activation)(field[:, None]) - target.link(z[:, : target.r])) ** 2
    for found in (
        learner.predict(target, time=[0.0], start=start).error,
        learner.simulate(target, d=50, time=[0.0], start=start, seeds=1).error[0],
    ):
        assert float(found) == pytest.approx(float(error.mean()), rel=0.01)


def test_a_label_of_heavy_tails_has_its_known_variance_in_the_error() -> None:
    """The link is a function of unknown breaks, whose nodes are points."""
    target = MultiIndex(lambda z: np.exp(0.9 * z[..., 0]), r=1)
    learner = OnlineSGD(activation="tanh(z)", step=0.1)
    found = learner.predict(target, time=[0.0], start=(1.0, 0.0)).error
    x, w = np.polynomial.hermite_e.hermegauss(80)
    own = float(w @ np.tanh(x) ** 2) / np.sqrt(2 * np.pi)
    assert float(found) == pytest.approx(np.exp(1.62) + own, rel=1e-3)


@pytest.mark.parametrize(
    ("text", "exact"), [("z1*abs(z2)", 1.3334), ("floor(z1) + z2**2/2", 1.8803)]
)
def test_errors_of_several_neurons_have_enough_nodes(text: str, exact: float) -> None:
    """Means of 1e8 samples, to 3e-4: these were 1.3157 and 1.8602, in theory and in runs alike."""
    learner, target = OnlineSGD(2, "relu(z)", second_layer=(1.0, -0.5)), MultiIndex(text, noise=0.2)
    start = [[1.0, 0.2], [0.2, 1.0]], [[0.3, -0.2], [-0.1, 0.5]]
    theory = learner.predict(target, time=0.0, start=start)
    assert abs(float(theory.error) - exact) < 3 * float(theory.error_stderr) + 1e-3
    assert float(theory.error_stderr) < 3e-3 * exact
    run = learner.simulate(target, d=20, time=0.0, start=start, seeds=1)
    assert float(run.error.squeeze()) == pytest.approx(exact, rel=2e-3)
