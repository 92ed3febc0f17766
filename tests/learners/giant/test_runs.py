"""Runs: names, axes, and what a run tells."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import GiantSteps, RandomFeatures

TANH = {"activation": "tanh(z)", "step": 1.0, "batch": 2.0}


def test_runs_and_predictions_share_their_names() -> None:
    learner = GiantSteps(0.5, ridge=(0.01, 1.0), **TANH)
    runs = learner.simulate("tanh(z)", d=40, alpha=[0.5, 2.0], seeds=[4, 2])
    theory = learner.predict("tanh(z)", alpha=[0.5, 2.0])
    assert set(theory.data_vars) < set(runs.data_vars)
    assert runs.error.dims == ("alpha", "seed", "ridge") and theory.error.dims == ("alpha", "ridge")
    assert runs.overlap_trace.shape == (2, 2, 20, 1) and runs.gradient_cosine.shape == (2, 1, 20, 1)
    np.testing.assert_array_equal(runs.overlap, runs.overlap_trace[:, -1])
    assert np.abs(runs.cosine).max() <= 1 and ((runs.subspace_overlap <= 1 + 1e-6).all())
    again = GiantSteps(0.5, ridge=1.0, **TANH).simulate("tanh(z)", d=40, alpha=2.0, seeds=[2])
    expected = runs.sel(alpha=2.0, seed=2, ridge=1.0)
    assert float(again.error[0]) == pytest.approx(float(expected.error), rel=1e-4)
    np.testing.assert_array_equal(again.overlap[0], expected.overlap)


def test_a_tiny_step_is_no_step() -> None:
    runs = GiantSteps(1.5, "relu(z)", step=1e-9, ridge=0.1, batch=1.0)
    found = runs.simulate("z", d=30, alpha=2.0, seeds=1)
    lazy = RandomFeatures(1.5, "relu(z)", 0.1).simulate("z", d=30, alpha=2.0, seeds=1)
    assert float(found.error[0]) == pytest.approx(float(lazy.error[0]), rel=0.3)
    learner, plain = GiantSteps(1.5, "relu(z)", ridge=0.1), RandomFeatures(1.5, "relu(z)", 0.1)
    theory = learner.predict("z", alpha=2.0, parameters=(0.0, 0.0, 1.0))
    expected = float(plain.predict("z", alpha=2.0).error)
    assert float(theory.error) == pytest.approx(expected, rel=1e-6)


def test_divergence_is_a_status() -> None:
    learner = GiantSteps(0.5, "z**3", step=1e30, steps=3, batch=1.0)
    runs = learner.simulate("z", d=20, alpha=1.0, seeds=1)
    assert runs.status.values.tolist() == ["diverged"] and np.isnan(runs.error).all()
