"""How a run is said to have ended, from its last accuracy and its losses."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import MeanFieldLangevin, MultiIndex
from learnability.inputs import Signs
from learnability.statuses import Status

RUN = MeanFieldLangevin(target_accuracy=0.9)


@pytest.mark.parametrize(
    ("accuracy", "losses", "status"),
    [
        (0.95, [1.0, 0.5, 0.4, 0.1], Status.LEARNED),
        (0.9, [1.0, 0.5, 0.4, 0.1], Status.LEARNED),
        (0.5, [1.0, 0.5, 0.4, np.nan], Status.DIVERGED),
        (0.95, [1.0, 0.5, 0.4, np.inf], Status.DIVERGED),
        (0.5, [3.0, 2.0, 1.0, 1.0, 0.304, 0.304, 0.3, 0.3], Status.STATIONARY),
        (0.5, [3.0, 2.0, 1.0, 1.0, 0.306, 0.306, 0.3, 0.3], Status.MOVING),
        (0.5, [3.0, 2.0, 1.0, 1.0, 0.3, 0.3, 0.31, 0.31], Status.MOVING),
        (0.5, [0.3], Status.MOVING),
        (0.5, [0.3, 0.3], Status.STATIONARY),
    ],
)
def test_a_run_is_still_when_its_last_two_quarters_agree(
    accuracy: float, losses: list[float], status: Status
) -> None:
    assert RUN._ended(accuracy, losses) is status


def test_looks_are_even_and_losses_those_of_their_name() -> None:
    run = MeanFieldLangevin(steps=100, looks=4, loss="squared")
    assert run._looks().tolist() == [25, 50, 75, 100]
    assert MeanFieldLangevin(steps=3, looks=3)._looks().tolist() == [1, 2, 3]
    f, y = np.array([0.5, -2.0]), np.array([1.0, 1.0])
    assert run._loss(f, y) == pytest.approx((0.25 + 9) / 4)
    logistic = MeanFieldLangevin(loss="logistic")
    exact = np.mean(np.log(1 + np.exp(-y * f)))
    assert logistic._loss(f, y) == pytest.approx(exact)


def test_a_run_that_diverges_has_no_accuracy() -> None:
    """Neurons that are no numbers had the accuracy 0."""
    target = MultiIndex("z1*z2", inputs=Signs())
    learner = MeanFieldLangevin(width=4, steps=4, looks=2, step=1e50)
    run = learner.simulate(target, d=5, alpha=4.0, seeds=1)
    assert run.status.item() == str(Status.DIVERGED)
    for name in ("accuracy", "misclassification", "train_accuracy", "train_loss"):
        assert np.isnan(run[name]).all(), name
