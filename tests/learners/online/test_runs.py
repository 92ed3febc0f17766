"""Runs of many seeds."""

from __future__ import annotations

import numpy as np

from learnability import MultiIndex, OnlineSGD
from learnability.learners.online import _runs
from learnability.learners.online._starts import Start

LEARNER, TARGET = OnlineSGD(activation="z", step=0.3), MultiIndex("z")
RECIPE, WATCHED = LEARNER._recipe(TARGET), LEARNER._recipe(TARGET, watched=True)
START = (Start(np.array([[0.99]]), np.array([[0.1]])), np.ones(1))


def test_groups_of_seeds_do_not_change_runs(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    arguments = (RECIPE, LEARNER._rates, TARGET, 30, np.array([0, 20, 60]), [5, 3, 9], START)
    whole = _runs.run(*arguments, "reduced")
    monkeypatch.setattr(_runs, "_MOST_SEEDS", 2)
    parts = _runs.run(*arguments, "reduced")
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    assert whole.overlap.shape == (3, 3, 1, 1) and (whole.overlap[:, 0] == 0.1).all()


def test_recoveries_are_first_passages_of_the_same_runs() -> None:
    seeds = list(range(12))
    reached, lost = _runs.recover(
        WATCHED, LEARNER._rates, TARGET, 30, 4000, seeds, START, "reduced", 0.8
    )
    assert (reached > 0).all() and not lost.any()
    steps = np.unique(np.concatenate([reached - 1, reached]))
    runs = _runs.run(RECIPE, LEARNER._rates, TARGET, 30, steps, seeds, START, "reduced")
    cosine = runs.overlap[..., 0, 0] / np.sqrt(runs.rest[..., 0, 0] + runs.overlap[..., 0, 0] ** 2)
    for k, step in enumerate(reached):
        before, after = np.searchsorted(steps, [step - 1, step])
        assert cosine[k, before] < 0.8 <= cosine[k, after]
    none, _ = _runs.recover(WATCHED, LEARNER._rates, TARGET, 30, 3, [0], START, "reduced", 0.8)
    assert none[0] == -1
