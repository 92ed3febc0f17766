"""Predictions of one-pass SGD on spiked data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from learnability import GradientFlow, LearnabilityError, OnlineSGD, SpikedIndex

TARGET = SpikedIndex("He2(z)/sqrt(2) + z/2", spike_exponent=0.4, alignment_exponent=0.2)


@pytest.mark.parametrize("flow", ["spherical", "normalised", "whitened"])
def test_small_steps_are_the_gradient_flow(flow: str) -> None:
    """Half the squared loss at steps / d = t is the flow of the whole at step t / 2."""
    step, time = 1e-3, 2000.0
    fields: dict[str, Any] = {"spherical": True} if flow == "spherical" else {"normalisation": flow}
    learner = OnlineSGD(activation="tanh(z) + z/2", step=step, **fields)
    found = learner.predict(TARGET, d=2000, time=[0.0, time], start=(1.0, 0.2, 0.1))  # type: ignore[arg-type]
    wanted = GradientFlow("tanh(z) + z/2", flow).predict(
        TARGET, d=2000, time=[0.0, step * time / 2], start=(0.2, 0.1, 1.0)
    )
    assert abs(float(wanted.correlation_trace[1] - wanted.correlation_trace[0])) > 0.2
    np.testing.assert_allclose(found.correlation_trace[:, 0], wanted.correlation_trace, atol=2e-3)
    np.testing.assert_allclose(
        found.spike_overlap_trace[:, 0], wanted.spike_overlap_trace, atol=2e-3
    )


def test_names_and_starts_are_those_of_runs() -> None:
    learner = OnlineSGD(width=2, activation="tanh(z)", step=0.3, second_step=0.1)
    theory = learner.predict(TARGET, d=3000, time=[0.0, 0.5], seeds=[4, 2])
    runs = learner.simulate(TARGET, d=3000, time=[0.0, 0.5], seeds=[4, 2])
    assert set(theory) == set(runs) and (theory.status == "solved").all()
    np.testing.assert_allclose(theory.gram_trace[:, 0], runs.gram_trace[:, 0], atol=1e-12)


def test_recovery() -> None:
    learner = OnlineSGD(activation="z", loss="correlation", step=0.5, normalisation="whitened")
    target = SpikedIndex("z", spike=20.0, alignment=0.3)
    start: Any = (1.0, 0.05, 0.02)
    found = learner.predict_recovery(target, d=2000, time=50.0, start=start, overlap=0.7)
    assert str(found.status.values) == "recovered"
    there = learner.predict(target, d=2000, time=float(found.recovery_time), start=start)
    assert float(there.correlation[0]) == pytest.approx(0.7, abs=1e-3)
    several = learner.predict_recovery(target, d=2000, time=1e-3, seeds=3)
    assert np.isinf(several.recovery_time).all() and (several.status == "stopped").all()


@pytest.mark.parametrize(
    ("fields", "arguments", "sentence"),
    [
        ({}, {}, "give `d`"),
        ({}, {"d": 500, "start": (1.0, 0.1)}, r"for spiked data \(Q, m, s\)"),
        ({"rule": "sam", "normalisation": "whitened"}, {"d": 500}, "use a sample once"),
        ({"spherical": True}, {"d": 500, "start": (4.0, 0.1, 0.1)}, "have length 1"),
    ],
)
def test_bad_input_ends_in_a_sentence(
    fields: dict[str, Any], arguments: dict[str, Any], sentence: str
) -> None:
    learner = OnlineSGD(**fields)
    for call in (learner.predict, learner.predict_recovery):
        with pytest.raises(LearnabilityError, match=sentence):
            call(TARGET, time=1.0, **arguments)


def test_strong_spikes_are_left_to_the_chain() -> None:
    with pytest.raises(LearnabilityError, match="`simulate`, whose chain is exact at every d"):
        OnlineSGD().predict(SpikedIndex("z", spike_exponent=0.9), d=500, time=1.0)
