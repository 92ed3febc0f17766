"""The work of a worker."""

from __future__ import annotations

from concurrent.futures import CancelledError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from learnability import LearnabilityError, MultiIndex, __version__
from learnability.learners.base import Learner
from learnability.studies.compute import compute, compute_on_worker
from learnability.studies.encoding import decode
from learnability.studies.points import plan

from tests.learners.base.toys import Toy
from tests.studies.learners import Clock, Short, value_of


def points(learner, seeds=(0, 1), **grid):  # type: ignore[no-untyped-def]
    return plan(learner, MultiIndex("z"), learner.questions[0], seeds, grid, stored=True)[0]


def test_a_run() -> None:
    point = points(Short(), alpha=2.0)[1]
    (outcome,) = compute([point])
    assert outcome.key == point.key and outcome.error == "" and outcome.seconds > 0
    assert outcome.result is not None
    found = decode(outcome.result).variables["length"][1]
    assert found.tolist() == value_of(2.0, 1.0, 0.0, 1).tolist()


def test_an_error_is_an_outcome() -> None:
    (outcome, _) = compute(points(Short(broken_at=2.0), alpha=2.0))
    assert outcome.result is None
    assert outcome.error == "RuntimeError: alpha = 2.0 is out of order"
    assert "Traceback" in outcome.details and "learners.py" in outcome.details


def test_an_interruption_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    group = points(Short(), alpha=2.0)
    monkeypatch.setattr(Short, "run_one", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compute(group)


def worker_with(monkeypatch: pytest.MonkeyPatch, **tasks: str) -> None:
    """Stand in for the worker of this process: its tasks and their states."""
    found = {key: SimpleNamespace(state=state) for key, state in tasks.items()}
    worker = SimpleNamespace(state=SimpleNamespace(tasks=found))
    monkeypatch.setattr("distributed.get_worker", lambda: worker)


def test_versions_are_not_mixed(monkeypatch: pytest.MonkeyPatch) -> None:
    worker_with(monkeypatch, mine="executing")
    group = points(Short(), alpha=[1.0, 2.0])
    assert [o.key for o in compute_on_worker(group, __version__, "mine")] == [p.key for p in group]
    with pytest.raises(LearnabilityError, match=r"this process has 9\.9"):
        compute_on_worker(group, "9.9", "mine")


def test_a_group_that_nobody_waits_for_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker died after its result was taken: another one computed all of the group again."""
    log = tmp_path / "log.txt"
    group = points(Short(log=str(log)), alpha=[1.0, 2.0])
    worker_with(monkeypatch, mine="cancelled")
    for key in ("mine", "forgotten"):
        with pytest.raises(CancelledError):
            compute_on_worker(group, __version__, key)
    assert not log.exists()


def asked(log: Path) -> list[list[int]]:
    return [[int(word) for word in line.split()[2:]] for line in log.read_text().splitlines()]


def test_seeds_of_a_cell_go_together_and_are_kept_apart(tmp_path: Path) -> None:
    learner = Clock(log=str(tmp_path / "log"))
    group = points(learner, seeds=(0, 1, 2), d=[4, 8], time=[0.0, 1.0])
    outcomes = compute(group)
    assert asked(tmp_path / "log") == [[4, 0, 1, 2], [8, 0, 1, 2]]
    assert [outcome.key for outcome in outcomes] == [point.key for point in group]
    for point, outcome in zip(group, outcomes, strict=True):
        (alone,) = compute([point])  # To the last byte.
        assert outcome.result == alone.result is not None
        path = decode(outcome.result).variables["error_trace"][1]
        np.testing.assert_array_equal(path, 1 - np.exp(-0.1 * (1 + point.seed) * np.array([0, 1])))


def test_a_bad_seed_does_not_lose_the_others(tmp_path: Path) -> None:
    learner = Clock(bad_seed=1, log=str(tmp_path / "log"))
    outcomes = compute(points(learner, seeds=(0, 1, 2), d=4, time=1.0))
    assert asked(tmp_path / "log") == [[4, 0, 1, 2], [4, 0], [4, 1], [4, 2]]
    assert [outcome.error for outcome in outcomes] == [
        "", "RuntimeError: seed 1 is out of order", "",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("learner", "at"), [(Toy(), {"d": 4, "alpha": [1.0, 2.0]}), (Short(), {"alpha": [1.0, 2.0]})]
)
def test_runs_in_turn_are_those_alone(learner: Learner, at: dict[str, Any]) -> None:
    group = points(learner, seeds=(3, 0, 1, 2), **at)
    outcomes = compute(group)
    assert [outcome.key for outcome in outcomes] == [point.key for point in group]
    assert all(outcome.result for outcome in outcomes)
    for point, outcome in zip(group, outcomes, strict=True):
        (alone,) = compute([point])
        assert outcome.result == alone.result


def test_a_bad_seed_among_those_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    group = points(Short(), seeds=(0, 1, 2), alpha=2.0)
    expected = [outcome.result for outcome in compute(group)]
    good = Short.run_one

    def sometimes(self, question, target, at, seed):  # type: ignore[no-untyped-def]
        if seed == 1:
            raise RuntimeError("seed 1 is out of order")
        return good(self, question, target, at, seed)

    monkeypatch.setattr(Short, "run_one", sometimes)
    outcomes = compute(group)
    assert [outcome.error for outcome in outcomes] == [
        "", "RuntimeError: seed 1 is out of order", "",
    ]  # fmt: skip
    assert [outcome.result for outcome in outcomes] == [expected[0], None, expected[2]]
