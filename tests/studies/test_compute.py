"""The work of a worker."""

from __future__ import annotations

import pytest

from learnability import LearnabilityError, MultiIndex, __version__
from learnability.studies.compute import compute, compute_group
from learnability.studies.encoding import decode
from learnability.studies.points import plan

from tests.studies.learners import Short, value_of


def points(learner, **grid):  # type: ignore[no-untyped-def]
    return plan(learner, MultiIndex("z"), [0, 1], grid, stored=True)[0]


def test_a_run() -> None:
    point = points(Short(), alpha=2.0)[1]
    outcome = compute(point)
    assert outcome.key == point.key and outcome.error == "" and outcome.seconds > 0
    assert outcome.result is not None
    found = decode(outcome.result).variables["value"][1]
    assert found.tolist() == value_of(2.0, 1.0, 0.0, 1).tolist()


def test_an_error_is_an_outcome() -> None:
    outcome = compute(points(Short(broken_at=2.0), alpha=2.0)[0])
    assert outcome.result is None
    assert outcome.error == "RuntimeError: alpha = 2.0 is out of order"
    assert "Traceback" in outcome.details and "learners.py" in outcome.details


def test_an_interruption_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    (point, _) = points(Short(), alpha=2.0)
    monkeypatch.setattr(Short, "simulate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compute(point)


def test_versions_are_not_mixed() -> None:
    group = points(Short(), alpha=[1.0, 2.0])
    assert [o.key for o in compute_group(group, __version__)] == [p.key for p in group]
    with pytest.raises(LearnabilityError, match=r"this process 9\.9"):
        compute_group(group, "9.9")
