"""Spectra of runs and of theory."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import GiantSteps, LearnabilityError

TANH = {"activation": "tanh(z)", "step": 1.0, "batch": 2.0}


def test_spectra() -> None:
    learner = GiantSteps(1.0, **TANH)
    found = learner.spectrum("tanh(z)", d=60, alpha=3.0)
    theory = learner.predict_spectrum("tanh(z)", d=60)
    s = found.singular_values.values
    assert s.shape == (2, 60) and (np.diff(s, axis=1) <= 0).all()
    assert s[1, 0] > 1.2 * s[1, 1] and s[0, 0] < 1.1 * float(theory.edge)
    assert float(theory.outlier) == pytest.approx(s[1, 0], rel=0.25)
    assert found.feature_eigenvalues.values[1, 0] > 2 * found.feature_eigenvalues.values[1, 1]
    assert found.feature_eigenvalues.values.min() > -1e-4
    assert 0 <= float(found.alignment[1, 0]) <= 1.001
    weak = GiantSteps(1.0, "tanh(z)", step=1e-3, batch=2.0).predict_spectrum("tanh(z)", d=60)
    assert float(weak.outlier) == float(weak.edge) and float(weak.alignment) == 0.0


def test_densities() -> None:
    found = GiantSteps(0.5, **TANH).predict_bulk("tanh(z)", alpha=4.0)
    for density, axis in (("layer_density", "singular_value"), ("feature_density", "eigenvalue")):
        for time in (0, 1):
            mass = np.trapezoid(found[density][time], found[axis])
            assert mass == pytest.approx(1.0, abs=0.03), (density, time)
    with pytest.raises(LearnabilityError, match="share more of the batch"):
        GiantSteps(0.5).predict_bulk("z", alpha=4.0)
