"""Runs: names, axes, and what a run tells."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import GiantSteps, LearnabilityError, MultiIndex, SparseParity, SpikedIndex
from learnability.inputs import PowerLaw, Spiked

TANH = {"activation": "tanh(z)", "step": 1.0, "batch": 2.0}
SPIKED = SpikedIndex("He2(z)/sqrt(2)", spike_exponent=0.7)
INPUTS = (
    SpikedIndex("tanh(2*z)", spike=4.0, alignment=0.3),
    MultiIndex("z1 + z1*z2", inputs=Spiked((4.0, 2.0), alignment=(0.5, 0.3))),
    MultiIndex("z1 + z1*z2", inputs=PowerLaw(1.0)),
    SparseParity(2, 0.5),
)


def test_runs_and_predictions_share_their_names() -> None:
    learner = GiantSteps(0.5, ridge=(0.01, 1.0), **TANH)
    runs = learner.simulate("tanh(z)", d=40, alpha=[0.5, 2.0], seeds=[4, 2])
    theory = learner.predict("tanh(z)", alpha=[0.5, 2.0])
    assert set(theory.data_vars) < set(runs.data_vars)
    assert runs.error.dims == ("alpha", "seed", "ridge") and theory.error.dims == ("alpha", "ridge")
    assert runs.overlap_trace.dims == ("alpha", "seed", "time", "estimate", "index")
    assert runs.overlap_trace.shape == (2, 2, 2, 20, 1)
    assert runs.gradient_cosine.shape == (2, 2, 1, 20, 1)
    np.testing.assert_array_equal(runs.overlap, runs.overlap_trace[:, :, -1])
    assert np.abs(runs.cosine).max() <= 1 and ((runs.subspace_overlap <= 1 + 1e-6).all())
    again = GiantSteps(0.5, ridge=1.0, **TANH).simulate("tanh(z)", d=40, alpha=2.0, seeds=[2])
    expected = runs.sel(alpha=2.0, seed=2, ridge=1.0)
    assert float(again.error[0]) == pytest.approx(float(expected.error), rel=1e-4)
    np.testing.assert_array_equal(again.overlap[0], expected.overlap)


def test_a_tiny_step_is_no_step() -> None:
    from learnability import RandomFeatures

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


@pytest.mark.parametrize("fields", [{}, {"init": "symmetric", "steps": 2, "reuse": True}])
def test_a_spike_of_strength_zero_changes_no_bit(fields: dict[str, object]) -> None:
    """The same law of data is the same algorithm."""
    learner = GiantSteps(**fields)  # type: ignore[arg-type]
    plain = learner.simulate(MultiIndex("tanh(2*z)"), d=50, alpha=3.0, seeds=2)
    spiked = SpikedIndex("tanh(2*z)", spike=0, alignment=0.3)
    found = learner.simulate(spiked, d=50, alpha=3.0, seeds=2)
    for name in plain.data_vars:
        np.testing.assert_array_equal(found[name], plain[name], str(name))


@pytest.mark.parametrize("target", INPUTS)
def test_every_field_acts_on_every_law_of_inputs(target: MultiIndex) -> None:
    base = {"width": 0.5, "activation": "tanh(z)", "batch": 2.0, "steps": 2, "step": 0.5}
    other = {
        "width": 0.6, "activation": "relu(z)", "batch": 3.0, "steps": 3, "step": 0.7,
        "init": "symmetric", "reuse": True, "ridge": 0.1, "bias": 0.5,
    }  # fmt: skip
    errors = [float(GiantSteps(**base).simulate(target, d=40, alpha=2.0).error[0])]  # type: ignore[arg-type]
    for name, value in other.items():
        learner = GiantSteps(**{**base, name: value})  # type: ignore[arg-type]
        errors.append(float(learner.simulate(target, d=40, alpha=2.0).error[0]))
    replaced = GiantSteps(**{**base, "step": None, "update": "replace"})  # type: ignore[arg-type]
    errors.append(float(replaced.simulate(target, d=40, alpha=2.0).error[0]))
    assert np.isfinite(errors).all() and len(set(errors)) == len(errors)


def test_the_controls() -> None:
    learner = GiantSteps(0.3, "relu(z)", 2.0, init="signs", bias=1.0, ridge=0.1, update="replace")
    runs = learner.simulate(SPIKED, question="controls", d=200, alpha=[1.0, 2.0], seeds=2)
    assert runs.error.dims == ("alpha", "seed") and runs.permuted_error.shape == (2, 2)
    assert (runs.error < runs.none_error).all()
    trained, permuted, none = (
        runs.label_correlation.sel(control=c).mean() for c in ("labels", "permuted", "none")
    )
    assert trained > permuted > none
    assert (runs.status == "solved").all()
    values = learner.simulate(SPIKED, d=200, alpha=[1.0, 2.0], seeds=2)
    for name in ("error", "train_error"):
        np.testing.assert_array_equal(runs[name], values[name])


def test_a_given_step_and_dead_neurons() -> None:
    """A relu that no sample reaches has no gradient; its neuron stays and nothing is NaN."""
    dead = GiantSteps(0.2, "relu(z - 40)", 1.0, ridge=0.1, update="replace")
    runs = dead.simulate(SPIKED, question="controls", d=100, alpha=1.0)
    assert np.isfinite(runs.error).all() and np.isfinite(runs.label_correlation).all()
    small = GiantSteps(0.2, "relu(z)", 1.0, step=1e-6, ridge=0.1)
    runs = small.simulate(SPIKED, question="controls", d=100, alpha=1.0)
    np.testing.assert_allclose(runs.error, runs.none_error, rtol=1e-2)


def test_without_labels_nothing_is_learned() -> None:
    learner = GiantSteps(1.0, "tanh(z)", 4.0, 2, 1.0, "signs", ridge=0.1)
    runs = learner.simulate("sign(z)", question="controls", d=100, alpha=3.0, seeds=4)
    means = runs.mean("seed")
    assert float(means.error) < 0.7 * float(means.permuted_error)
    assert float(means.label_correlation.sel(control="permuted")) < 0.05
    assert float(means.label_correlation.sel(control="labels")) > 0.3
    with pytest.raises(LearnabilityError, match="has no answer: controls are runs"):
        learner.predict("sign(z)", question="controls", alpha=1.0)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(LearnabilityError, match="GiB"):
        GiantSteps(width=1e5).simulate("z", d=1000, alpha=100.0)
