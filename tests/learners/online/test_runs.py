"""Runs of many seeds."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import LearnabilityError, MultiIndex, OnlineSGD, SpikedIndex
from learnability.learners.networks.starts import Start
from learnability.learners.online import _runs
from learnability.learners.online._runs import Setting

LEARNER, TARGET = OnlineSGD(activation="z", step=0.3), MultiIndex("z")
FRAME = TARGET.inputs.frame(1, 30)
SETTING = Setting(
    LEARNER._recipe(TARGET, FRAME), LEARNER._rates, TARGET, FRAME, 30,
    Start(np.array([[0.99]]), np.array([[0.1]])), np.ones(1), "reduced",
)  # fmt: skip
SPIKES = SpikedIndex("z", spike_exponent=0.5)


@pytest.mark.parametrize("engine", ["reduced", "full"])
def test_groups_of_seeds_do_not_change_runs(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    setting = SETTING._replace(engine=engine)
    steps, seeds = np.array([0, 20, 60]), [5, 3, 9]
    whole = _runs.run(setting, steps, seeds)
    monkeypatch.setattr(_runs, "_MOST_SEEDS", 2)
    parts = _runs.run(setting, steps, seeds)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other)
    assert whole.overlap.shape == (3, 3, 1, 1)
    np.testing.assert_allclose(whole.overlap[:, 0], 0.1, rtol=1e-6)


def test_recoveries_are_first_passages_of_the_same_runs() -> None:
    seeds = list(range(12))
    reached, lost = _runs.recover(SETTING, 4000, seeds, 0.8)
    assert (reached > 0).all() and not lost.any()
    steps = np.unique(np.concatenate([reached - 1, reached]))
    runs = _runs.run(SETTING, steps, seeds)
    cosine = runs.overlap[..., 0, 0] / np.sqrt(runs.rest[..., 0, 0] + runs.overlap[..., 0, 0] ** 2)
    for k, step in enumerate(reached):
        before, after = np.searchsorted(steps, [step - 1, step])
        assert cosine[k, before] < 0.8 <= cosine[k, after]
    none, _ = _runs.recover(SETTING, 3, [0], 0.8)
    assert none[0] == -1


def test_runs_of_all_coordinates_go_in_groups_of_a_size_of_their_own() -> None:
    assert [_runs.side_by_side(d, b) for d, b in ((9, 2), (1000, 1), (1000, 16))] == [64, 8, 1]


# ---- inputs with spikes


def test_recovery_is_the_first_time_of_the_correlation() -> None:
    learner = OnlineSGD(activation="z", loss="correlation", step=0.5, normalisation="whitened")
    found = learner.simulate(SPIKES, question="recovery", d=100, time=50.0, seeds=5)
    assert (found.status == "recovered").all()
    for seed, time in enumerate(found.recovery_time.values):
        around = [max(time - 1 / 100, 0.0), time]
        path = learner.simulate(SPIKES, d=100, time=around, seeds=[seed]).correlation_trace
        before, after = np.abs(path.values[0, :, 0, 0])
        assert after >= 0.5 and (before < 0.5 or time == 0.01)


def test_runs_that_do_not_recover() -> None:
    slow = OnlineSGD(activation="z", step=1e-6).simulate(
        SpikedIndex("He3(z)", spike=1.0), question="recovery", d=50, time=1.0, seeds=2
    )
    assert (slow.status == "stopped").all() and np.isinf(slow.recovery_time).all()


@pytest.mark.parametrize("target", [TARGET, SPIKES])
@pytest.mark.parametrize("engine", ["reduced", "full"])
def test_divergence_is_told_of_paths_and_recoveries(engine: str, target: MultiIndex) -> None:
    learner = OnlineSGD(activation="z**3", step=500.0, engine=engine)
    wild = learner.simulate(target, d=50, time=2.0, seeds=2)
    assert (wild.status == "diverged").all() and np.isnan(wild.overlap).all()
    wild = learner.simulate(
        target, question="recovery", d=50, time=2.0, seeds=2, start=(1.0, 0.0), overlap=0.9999
    )
    assert (wild.status == "diverged").all() and np.isinf(wild.recovery_time).all()
    assert "2 of 2 runs diverged" in wild.attrs["note"]


def test_dimensions_without_room_end_in_a_sentence() -> None:
    with pytest.raises(LearnabilityError, match="at least 6: the 4 neurons and 2 axes"):
        OnlineSGD(width=4).simulate(SPIKES, d=5, time=1.0)
    with pytest.raises(LearnabilityError, match="are free: use smaller sizes"):
        OnlineSGD(engine="full").simulate("z", d=10**11, time=1.0)
