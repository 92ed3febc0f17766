"""A giant step on spiked data and its controls."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import GiantSteps, LearnabilityError, SpikedIndex

TARGET = SpikedIndex("He2(z)/sqrt(2)", spike_exponent=0.7)


def test_the_controls() -> None:
    runs = GiantSteps(0.3, "relu(z)", 2.0, bias=1.0, ridge=0.1).simulate(
        TARGET, d=200, alpha=[1.0, 2.0], seeds=2
    )
    assert runs.error.dims == ("alpha", "seed") and runs.permuted_error.shape == (2, 2)
    assert (runs.error < runs.none_error).all()
    trained, permuted, none = (
        runs.label_correlation.sel(control=c).mean() for c in ("labels", "permuted", "none")
    )
    assert trained > permuted > none
    assert runs.gradient_alignment.sel(control="none").isnull().all()
    assert (runs.status == "solved").all()


def test_a_given_step_and_dead_neurons() -> None:
    """A relu that no sample reaches has no gradient; its neuron stays and nothing is NaN."""
    dead = GiantSteps(0.2, "relu(z - 40)", 1.0, ridge=0.1)
    runs = dead.simulate(TARGET, d=100, alpha=1.0)
    assert np.isfinite(runs.error).all() and np.isfinite(runs.label_correlation).all()
    small = GiantSteps(0.2, "relu(z)", 1.0, step=1e-6, ridge=0.1)
    runs = small.simulate(TARGET, d=100, alpha=1.0)
    np.testing.assert_allclose(runs.error, runs.none_error, rtol=1e-2)


def test_predictions_for_training_sets() -> None:
    learner = GiantSteps(0.3, "tanh(z)", 2.0)
    typical = learner.predict_gradient(TARGET, d=300)
    given = learner.predict_gradient(TARGET, d=300, seeds=[5, 6])
    assert typical.gradient_alignment.dims == () and given.singular_values.dims == ("seed", "rank")
    assert float(given.gradient_alignment.std()) > 0


def test_bad_input_ends_in_a_sentence() -> None:
    with pytest.raises(LearnabilityError, match="have no known formula"):
        GiantSteps().predict(TARGET, alpha=1.0)  # type: ignore[arg-type]
    with pytest.raises(LearnabilityError, match="one step is taken"):
        GiantSteps(steps=2).simulate(TARGET, d=50, alpha=1.0)
    with pytest.raises(LearnabilityError, match="biases belong to spiked data"):
        GiantSteps(bias=1.0).simulate("z", d=50, alpha=1.0)
    with pytest.raises(LearnabilityError, match="`bias` was given as -1"):
        GiantSteps(bias=-1)
    with pytest.raises(LearnabilityError, match="whose slope is 0"):
        GiantSteps(activation="1 + 0*z").predict_gradient(TARGET, d=50)
    with pytest.raises(LearnabilityError, match="square-integrable"):
        GiantSteps(activation="exp(z**2)").predict_gradient(TARGET, d=50)
    with pytest.raises(LearnabilityError, match="for a SpikedIndex"):
        GiantSteps().predict_gradient("z", d=50)  # type: ignore[arg-type]
