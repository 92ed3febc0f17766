"""The learner of mean-field Langevin dynamics."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import LearnabilityError, MeanFieldLangevin, SparseParity


def test_a_small_run() -> None:
    learner = MeanFieldLangevin(width=200, steps=600, looks=3)
    runs = learner.simulate(SparseParity(2, 0.5), d=12, alpha=[2.0, 12.0], seeds=1)
    assert runs.accuracy.dims == ("alpha", "seed") and runs.accuracy_trace.dims[-1] == "look"
    assert (runs.accuracy[1] >= 0.99).all() and (runs.status[1] == "learned").all()
    np.testing.assert_allclose(runs.misclassification, 1 - runs.accuracy)
    assert set(np.unique(runs.status)) <= {"learned", "stationary", "moving"}
    assert runs.attrs["temperature"] == pytest.approx(0.1 / 12)


def test_a_product_stands_for_a_parity_and_squared_loss_learns_it_too() -> None:
    learner = MeanFieldLangevin(width=200, steps=500, looks=2, loss="squared", scale=4.0)
    runs = learner.simulate("z1*z2", d=10, alpha=10.0, seeds=1)
    assert runs.attrs["link"] == "z1*z2" and float(runs.accuracy[0]) > 0.8


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"width": 0}, "`width` was given as 0"),
        ({"loss": "hinge"}, "`loss` was given as 'hinge', but logistic, squared are accepted"),
        ({"temperature": -1.0}, "`temperature` was given as -1.0"),
        ({"target_accuracy": 0.3}, "`target_accuracy` was given as 0.3"),
    ],
)
def test_bad_settings_end_in_a_sentence(fields: dict[str, object], sentence: str) -> None:
    with pytest.raises(LearnabilityError, match=sentence):
        MeanFieldLangevin(**fields)  # type: ignore[arg-type]


def test_bad_targets_and_predictions_end_in_a_sentence() -> None:
    with pytest.raises(LearnabilityError, match="a product such as"):
        MeanFieldLangevin().simulate("z1 + z2", d=10, alpha=1.0)
    with pytest.raises(LearnabilityError, match="no theory at finite width"):
        MeanFieldLangevin().predict(SparseParity(2), alpha=1.0)
