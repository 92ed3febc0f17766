"""Spectra of runs and of theory."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import GiantSteps, LearnabilityError, SpikedIndex

TANH = {"activation": "tanh(z)", "step": 1.0, "batch": 2.0}


def test_spectra() -> None:
    learner = GiantSteps(1.0, **TANH)
    found = learner.simulate("tanh(z)", question="spectrum", d=60, alpha=3.0).isel(seed=0)
    theory = learner.predict("tanh(z)", question="spectrum", d=60, alpha=3.0, points=9)
    s = found.layer_singular_values.values
    assert s.shape == (2, 60) and (np.diff(s, axis=1) <= 0).all()
    assert s[1, 0] > 1.2 * s[1, 1] and s[0, 0] < 1.1 * float(theory.edge)
    assert float(theory.outlier) == pytest.approx(s[1, 0], rel=0.25)
    assert found.feature_eigenvalues.values[1, 0] > 2 * found.feature_eigenvalues.values[1, 1]
    assert found.feature_eigenvalues.values.min() > -1e-4
    assert 0 <= float(found.layer_alignment[1, 0]) <= 1.001
    assert float(found.outlier) == s[1, 0]
    assert float(found.outlier_alignment) == float(found.layer_alignment[1, 0])
    small = GiantSteps(1.0, "tanh(z)", step=1e-3, batch=2.0)
    weak = small.predict("tanh(z)", question="spectrum", d=60, alpha=3.0, points=9)
    assert float(weak.outlier) == float(weak.edge) and float(weak.outlier_alignment) == 0.0


def test_densities() -> None:
    learner = GiantSteps(0.5, **TANH)
    found = learner.predict("tanh(z)", question="spectrum", d=60, alpha=4.0, points=120)
    axes = (("layer_density", "singular_value"), ("feature_density", "eigenvalue_at"))
    for density, axis in axes:
        for time in (0, 1):
            mass = np.trapezoid(found[density][time], found[axis])
            assert mass == pytest.approx(1.0, abs=0.03), (density, time)
    few = GiantSteps(0.5, **TANH).predict(
        "z", question="spectrum", d=60, alpha=[1.0, 4.0], points=9
    )
    assert few.feature_density.dims == ("alpha", "time", "eigenvalue_at")
    assert few.layer_density.shape == (2, 2, 9)


def test_neurons_that_share_a_batch() -> None:
    """Not the edge 2.91 of independent rows: the second singular values of runs are 6.0 to 6.8."""
    learner = GiantSteps(1.0, batch=1.0, step=2.0)
    found = learner.predict("z + 0.5*He2(z)", question="spectrum", d=300, alpha=0.5, points=9)
    assert 6 < float(found.edge) < 9 and float(found.edge_stderr) > 0
    assert float(found.outlier) == pytest.approx(27.1, rel=0.06)
    for init in ("symmetric", "signs", "gaussian"):
        with pytest.raises(LearnabilityError, match="all neurons have one law"):
            GiantSteps(init=init).predict("z", question="spectrum", d=60, alpha=1.0)


def test_spectra_on_other_inputs() -> None:
    learner = GiantSteps(0.5, "tanh(z)", steps=2, bias=0.5, step=1.0)
    target = SpikedIndex("z", spike=9.0)
    found = learner.simulate(target, question="spectrum", d=50, alpha=[1.0, 2.0], seeds=2)
    assert found.layer_singular_values.dims == ("alpha", "seed", "time", "rank")
    assert found.feature_eigenvalues.dims == ("alpha", "seed", "time", "feature_rank")
    assert (found.outlier_alignment > 0.5).all() and found.time.values.tolist() == [0, 2]
    with pytest.raises(LearnabilityError, match="accepts isotropic inputs"):
        learner.predict(target, question="spectrum", d=50, alpha=1.0)
    with pytest.raises(LearnabilityError, match="grew without bound"):
        GiantSteps(0.5, "z**3", step=1e30, steps=3).simulate("z", question="spectrum", d=9, alpha=1)
    with pytest.raises(LearnabilityError, match=r"`ridge` was given as 0.3"):
        GiantSteps(ridge=0.3).simulate("z", question="spectrum", d=50, alpha=1.0)
