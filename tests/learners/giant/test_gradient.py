"""The first gradient of runs, and predictions for training sets."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import GiantSteps, LearnabilityError, MultiIndex, SparseParity, SpikedIndex
from learnability.inputs import PowerLaw, Spiked
from learnability.learners.giant._gradient import label_correlations

TARGET = SpikedIndex("He2(z)/sqrt(2)", spike_exponent=0.7)
TWO = MultiIndex("z1 + z1*z2", inputs=Spiked(9.0, alignment=((0.5, 0.4),)))


def test_predictions_for_training_sets() -> None:
    learner = GiantSteps(0.3, "tanh(z)", 2.0)
    typical = learner.predict(TARGET, question="gradient", d=300)
    given = learner.predict(TARGET, question="gradient", d=300, seeds=[5, 6])
    assert typical.gradient_alignment.dims == () and given.singular_values.dims == ("seed", "rank")
    assert float(given.gradient_alignment.std()) > 0


@pytest.mark.parametrize("target", [MultiIndex("z + He2(z)"), TARGET, TWO])
@pytest.mark.parametrize("init", ["ones", "signs", "symmetric"])
def test_runs_and_predictions(target: MultiIndex, init: str) -> None:
    """At d = 200 within 0.06 of the alignment and 15 % of the first singular value."""
    learner = GiantSteps(0.5, "relu(z)", 4.0, init=init, bias=0.3)
    runs = learner.simulate(target, question="gradient", d=200, seeds=2)
    theory = learner.predict(target, question="gradient", d=200, seeds=2)
    assert runs.singular_values.shape == (2, 100) and theory.singular_values.shape == (2, 4)
    np.testing.assert_allclose(runs.gradient_alignment, theory.gradient_alignment, atol=0.06)
    np.testing.assert_allclose(runs.gradient_correlation, theory.gradient_correlation, atol=0.06)
    np.testing.assert_allclose(runs.singular_values[:, 0], theory.singular_values[:, 0], rtol=0.15)


def test_several_directions_carry_a_standard_error() -> None:
    found = GiantSteps(0.5, "relu(z)", 4.0).predict(TWO, question="gradient", d=200)
    assert 0 < float(found.gradient_alignment_stderr) < 0.01 * float(found.gradient_alignment)


def test_permuted_labels_lose_the_direction() -> None:
    target, learner = MultiIndex("z"), GiantSteps(0.5, "relu(z)", 4.0, init="symmetric")
    found = {
        control: learner.simulate(target, question="gradient", d=100, control=control)
        for control in ("labels", "permuted")
    }
    plain = learner.simulate(target, question="gradient", d=100)
    np.testing.assert_array_equal(plain.singular_values, found["labels"].singular_values)
    assert float(found["permuted"].gradient_alignment[0]) < 0.1
    assert float(found["labels"].gradient_alignment[0]) > 0.5


@pytest.mark.parametrize(
    "target",
    [MultiIndex("z1 + z2"), TWO, MultiIndex("z1*z2", inputs=PowerLaw(1.0)), SparseParity(2, 0.5)],
)
def test_correlations_with_the_label(target: MultiIndex) -> None:
    """Against 200000 samples in dimension 12."""
    rng = np.random.default_rng(0)
    W = rng.standard_normal((3, 12))
    top, bottom = label_correlations(W, target.inputs, target.inputs.directions(2, 2, 12))
    X, _, _, h = target.sample(2, 200_000, 12)
    fields = X @ W.T
    covariance = fields.T @ h / len(h)
    np.testing.assert_allclose(bottom, fields.var(axis=0), rtol=0.02)
    np.testing.assert_allclose(top / bottom, np.sum(covariance**2, axis=1) / bottom, atol=0.01)


def test_bad_input_ends_in_a_sentence() -> None:
    def ask(learner: GiantSteps, target: MultiIndex = TARGET) -> None:
        learner.predict(target, question="gradient", d=50)

    with pytest.raises(LearnabilityError, match="whose slope is 0"):
        ask(GiantSteps(activation="1 + 0*z"))
    with pytest.raises(LearnabilityError, match="square-integrable"):
        ask(GiantSteps(activation="exp(z**2)"))
    with pytest.raises(LearnabilityError, match="isotropic and spiked inputs"):
        ask(GiantSteps(), MultiIndex("z", inputs=PowerLaw(1.0)))
    with pytest.raises(LearnabilityError, match="not finite"):
        GiantSteps().simulate("exp(exp(9*abs(z)))", question="gradient", d=50)
    with pytest.raises(LearnabilityError, match="at most one"):
        ask(GiantSteps(), MultiIndex("z", inputs=Spiked((4.0, 2.0))))
    for field, value in (("steps", 2), ("step", 0.5), ("ridge", 0.3), ("update", "replace")):
        with pytest.raises(LearnabilityError, match=rf"`{field}`.*does not depend on it"):
            ask(GiantSteps(**{field: value}))  # type: ignore[arg-type]
