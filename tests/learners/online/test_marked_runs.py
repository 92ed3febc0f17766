"""Runs on spiked data as labelled results."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import LearnabilityError, OnlineSGD, SpikedIndex

TARGET = SpikedIndex("z", spike_exponent=0.5)


def test_recovery_is_the_first_time_of_the_correlation() -> None:
    learner = OnlineSGD(activation="z", loss="correlation", step=0.5, normalisation="whitened")
    found = learner.simulate_recovery(TARGET, d=100, time=50.0, seeds=5)
    assert (found.status == "recovered").all()
    for seed, time in enumerate(found.recovery_time.values):
        around = [max(time - 1 / 100, 0.0), time]
        path = learner.simulate(TARGET, d=100, time=around, seeds=[seed]).correlation_trace
        before, after = np.abs(path.values[0, :, 0])
        assert after >= 0.5 and (before < 0.5 or time == 0.01)


def test_runs_that_do_not_recover_or_diverge() -> None:
    slow = OnlineSGD(activation="z", step=1e-6).simulate_recovery(
        SpikedIndex("He3(z)", spike=1.0), d=50, time=1.0, seeds=2
    )
    assert (slow.status == "stopped").all() and np.isinf(slow.recovery_time).all()
    for engine in ("reduced", "full"):
        learner = OnlineSGD(activation="z**3", step=500.0, engine=engine)
        wild = learner.simulate(TARGET, d=50, time=2.0, seeds=2)
        assert (wild.status == "diverged").all() and np.isnan(wild.overlap).all()


def test_bad_input_ends_in_a_sentence() -> None:
    with pytest.raises(LearnabilityError, match="normalised steps use a sample once"):
        OnlineSGD(rule="sam", normalisation="whitened").simulate(TARGET, d=50, time=1.0)
    with pytest.raises(LearnabilityError, match="at least width"):
        OnlineSGD(width=4).simulate(TARGET, d=5, time=1.0)
    with pytest.raises(LearnabilityError, match="it is for spiked data"):
        OnlineSGD(normalisation="whitened").simulate("z", d=50, time=1.0)
    with pytest.raises(LearnabilityError, match=r"for spiked data \(Q, m, s\) are accepted"):
        OnlineSGD().simulate(TARGET, d=50, time=1.0, start=(1.0, 0.1))
    with pytest.raises(LearnabilityError, match="no weights have these"):
        OnlineSGD().simulate(TARGET, d=50, time=1.0, start=(0.1, 0.9, 0.9))  # type: ignore[arg-type]
    with pytest.raises(LearnabilityError, match="weights on the sphere have length 1"):
        OnlineSGD(spherical=True).simulate(TARGET, d=50, time=1.0, start=(2.0, 0.1, 0.1))  # type: ignore[arg-type]
