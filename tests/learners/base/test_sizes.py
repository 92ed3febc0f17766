"""What a run takes, before anything is computed."""

from __future__ import annotations

import pytest

import learnability as lb
from learnability import LearnabilityError, MultiIndex
from learnability.learners import LEARNERS
from learnability.learners.base.sizes import LONGEST, size_of, spelled

TARGET = MultiIndex("z1*z2")


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_has_an_estimate_that_grows(name: str) -> None:
    """With the dimension, and with the samples or the time."""
    for question in LEARNERS[name].questions:
        if question.simulate is not None:
            axis = "time" if "time" in question.simulate.needs else "alpha"
            learner = LEARNERS[name]()
            small, wide, long = (
                size_of(learner, TARGET, {"d": d, axis: value})
                for d, value in ((100, 1.0), (10_000, 1.0), (100, 1e6))
            )
            assert 0 < small.seconds < 60 and 0 < small.bytes < 1e9
            assert wide.seconds >= small.seconds and wide.bytes >= small.bytes
            assert long.seconds > 100 * small.seconds


@pytest.mark.parametrize(
    ("learner", "at", "said"),
    [
        (lb.OnlineSGD(), {"d": 10, "time": 1e12}, "for one run, but at most 30 days"),
        (lb.GradientFlow(), {"d": 10, "time": 1e9}, "for one run, but at most 30 days"),
        (lb.BatchGD(steps=10**14), {"d": 10, "alpha": 1.0}, "for one run, but at most 30 days"),
        (lb.BayesAMP(), {"d": 10**9, "alpha": 1.0}, "GiB"),
        (lb.OnlineSGD(width=10**9), {"d": 10**10, "time": 1.0}, "GiB"),
        (lb.KernelRidge(), {"d": 100, "alpha": 1e12}, "GiB"),
    ],
    ids=lambda one: getattr(one, "name", None),
)
def test_what_cannot_end_is_refused(learner, at, said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(LearnabilityError, match=said):
        learner.simulate("z", **at)


def test_a_study_that_takes_too_long_is_refused(tmp_path) -> None:  # type: ignore[no-untyped-def]
    grid = {"d": 1000, "alpha": [1.0, 1000.0], "seeds": 100, "workers": 2}
    with pytest.raises(LearnabilityError, match=r"The 200 runs would take about .* hours"):
        lb.study(lb.BatchGD(steps=1000), "z", **grid, longest=3600.0, store=tmp_path / "runs")
    assert lb.study(lb.Spectral(), "z", d=10, alpha=2.0, longest=3600.0).sizes["seed"] == 1


def test_times_in_words() -> None:
    assert [spelled(s) for s in (0.1, 90, 600, 7200, LONGEST, 1e10)] == [
        "1 second", "90 seconds", "10 minutes", "2 hours", "30 days", "3.2e+02 years",
    ]  # fmt: skip
