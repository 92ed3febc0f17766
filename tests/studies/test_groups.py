"""Points in groups."""

from __future__ import annotations

from learnability import BayesAMP, MultiIndex
from learnability.studies.groups import Groups, side_by_side
from learnability.studies.points import Point, plan

from tests.studies.learners import Clock, Short


def points(learner, seeds, **grid):  # type: ignore[no-untyped-def]
    seeds = range(seeds)
    return plan(learner, MultiIndex("z"), learner.questions[0], seeds, grid, stored=False)[0]


def taken(groups: Groups, room: int = 1) -> list[list[Point]]:
    found = []
    while groups:
        found.append(groups.take(room))
    return found


def test_who_runs_seeds_side_by_side() -> None:
    assert side_by_side(Clock())
    assert not side_by_side(Short()) and not side_by_side(BayesAMP())


def test_the_seeds_of_a_cell_are_one_group() -> None:
    every = points(Clock(), 128, d=[4, 8], time=1.0)
    found = taken(Groups(every, 1))
    assert [len(group) for group in found] == [128, 128]
    assert [point for group in found for point in group] == every
    assert [{point.cell for point in group} for group in found] == [{0}, {1}]


def test_many_seeds_are_cut_into_equal_parts() -> None:
    assert [len(g) for g in taken(Groups(points(Clock(), 300, d=4, time=1.0), 1))] == [100] * 3
    # Three workers, and something for each of them to do.
    parts = [len(g) for g in taken(Groups(points(Clock(), 10, d=4, time=1.0), 3))]
    assert sorted(parts) == [3, 3, 4]


def test_short_runs_are_gathered_once_their_time_is_known() -> None:
    groups = Groups(points(Short(), 40, alpha=[1.0, 2.0]), 1)
    assert len(groups.take(1)) == 1
    for _ in range(12):
        groups.took(0.01, 1)
    assert groups.seconds < 0.0102 and len(groups.take(1)) == 34
    assert len(groups.take(room=5)) == 9 and len(groups) == len(groups.rest()) == 36
    groups.took(100.0, 1)
    assert {len(group) for group in taken(groups)} == {1}
