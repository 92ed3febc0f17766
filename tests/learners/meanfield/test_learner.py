"""The learner of mean-field Langevin dynamics."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import (
    Hierarchical,
    LearnabilityError,
    MeanFieldLangevin,
    MultiIndex,
    SparseParity,
)
from learnability.inputs import Inputs, Isotropic, PowerLaw, Signs, Spiked


def test_a_small_run() -> None:
    learner = MeanFieldLangevin(width=200, steps=600, looks=3)
    runs = learner.simulate(SparseParity(2, 0.5), d=12, alpha=[2.0, 12.0], seeds=1)
    assert runs.accuracy.dims == ("alpha", "seed") and runs.accuracy_trace.dims[-1] == "look"
    assert (runs.accuracy[1] >= 0.99).all() and (runs.status[1] == "learned").all()
    np.testing.assert_allclose(runs.misclassification, 1 - runs.accuracy)
    assert set(np.unique(runs.status)) <= {"learned", "stationary", "moving"}
    assert runs.attrs["temperature"] == pytest.approx(0.1 / 12)


def test_a_product_of_signs_is_a_parity_and_squared_loss_learns_it_too() -> None:
    learner = MeanFieldLangevin(width=200, steps=500, looks=2, loss="squared", scale=4.0)
    product = MultiIndex("z1*z2", inputs=Signs())
    runs = learner.simulate(product, d=10, alpha=10.0, seeds=1)
    assert runs.attrs["link"] == "z1*z2" and float(runs.accuracy[0]) > 0.8
    again = learner.simulate(SparseParity(2), d=10, alpha=10.0, seeds=1)
    np.testing.assert_array_equal(runs.accuracy_trace, again.accuracy_trace)


@pytest.mark.parametrize("inputs", [Isotropic(), Spiked(4.0), PowerLaw(0.5)], ids=repr)
def test_signs_of_gaussian_coordinates_are_learned_too(inputs: Inputs) -> None:
    learner = MeanFieldLangevin(width=200, steps=300, looks=3)
    target = MultiIndex("sign(z)", inputs=inputs)
    runs = learner.simulate(target, d=10, alpha=20.0, seeds=1)
    assert float(runs.accuracy[0]) > 0.85 and float(runs.train_accuracy[0]) > 0.95
    fresh = next(target.batches(0, 2000, 10, first=1))
    assert np.mean(fresh.y == 1) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {"loss": "hinge"},
            "`loss` was given as 'hinge', but one of logistic, squared is accepted",
        ),
        ({"target_accuracy": 0.3}, "`target_accuracy` was given as 0.3"),
    ],
)
def test_bad_settings_end_in_a_sentence(fields: dict[str, object], sentence: str) -> None:
    with pytest.raises(LearnabilityError, match=sentence):
        MeanFieldLangevin(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("z1*z2", r"inputs=Signs\(\)"),
        (MultiIndex("sign(z)", noise=0.1), "without noise"),
        (MultiIndex("z1 + z2", inputs=Signs()), "take their sign"),
        (Hierarchical("tanh(z)"), "without noise"),
    ],
)
def test_other_labels_end_in_a_sentence(target: MultiIndex | str, sentence: str) -> None:
    with pytest.raises(LearnabilityError, match=sentence):
        MeanFieldLangevin().simulate(target, d=10, alpha=1.0)


def test_there_is_no_theory_and_it_says_so() -> None:
    with pytest.raises(LearnabilityError, match="No theory of noisy gradient descent"):
        MeanFieldLangevin().predict(SparseParity(2), alpha=1.0)
