"""Points of a study: homes of names, axes, keys."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import BayesAMP, LearnabilityError, MultiIndex
from learnability.inputs import Spiked
from learnability.learners.base.driver import the_question
from learnability.studies.points import plan

from tests.studies.learners import Clock, Short

TARGET = MultiIndex("z1*z2")


def points(learner, stored=True, seeds=(0, 1), target=TARGET, question=None, **grid):  # type: ignore[no-untyped-def]
    return plan(learner, target, the_question(learner, question), seeds, grid, stored=stored)


def test_names_of_the_learner_the_target_and_the_call() -> None:
    found, layout = points(Short(), alpha=[1.0, 2.0], shift=[1.0, 3.0], noise=0.5, mood="calm")
    assert len(found) == 8 and len(set(layout.keys)) == 8
    assert list(layout.axes) == ["alpha", "shift", "seed"]
    assert layout.scalars == {"noise": 0.5, "mood": "calm"}
    first, last = found[0], found[-1]
    assert (first.learner.shift, last.learner.shift) == (1.0, 3.0)
    assert last.target.noise == 0.5 and last.arguments == {"alpha": 2.0} and last.seed == 1
    assert layout.keys == tuple(point.key for point in found)


def test_a_key_is_of_the_point_alone() -> None:
    small, _ = points(Short(), alpha=[1.0], seeds=(1,))
    large, _ = points(Short(), shift=[2.0, 1.0], alpha=np.array([0.5, 1]), seeds=(0, 1, 2), d=None)
    assert small[0].key in {point.key for point in large}  # Also: 1 is 1.0, and None is not given.
    assert small[0].key not in {p.key for p in large if p.learner.shift == 2.0 or p.seed != 1}


def test_times_belong_to_one_run() -> None:
    found, layout = points(Clock(), d=[4, 8], time=[0.0, 1.0, 2.0])
    assert list(layout.axes) == ["d", "seed"] and len(found) == 4
    np.testing.assert_array_equal(found[0].arguments["time"], [0.0, 1.0, 2.0])
    other, _ = points(Clock(), d=[4, 8], time=[0.0, 1.0, 3.0])
    assert not set(layout.keys) & {point.key for point in other}


def test_a_start_of_matrices_is_one_value_and_names_of_starts_are_several() -> None:
    matrices = (1.0, [[0.1, 0.2, 0.3]])
    grid = {"d": 9, "time": [0.0, 1.0]}
    found, layout = points(Clock(), **grid, start=matrices)
    assert found[0].arguments["start"] == matrices and list(layout.axes) == ["seed"]
    other, _ = points(Clock(), **grid, start=(1.0, [[0.1, 0.2, 0.4]]))
    assert not set(layout.keys) & {point.key for point in other}
    _, layout = points(BayesAMP(), alpha=1.0, d=9, start=["random", "spectral"])
    assert layout.axes["start"] == ["random", "spectral"]
    _, layout = points(BayesAMP(), alpha=1.0, d=9, start="spectral")
    assert layout.scalars["start"] == "spectral"


def test_links_can_vary() -> None:
    found, layout = points(Short(), alpha=1.0, link=["z", "abs(z)"])
    assert layout.axes["link"] == ["z", "abs(z)"]
    assert {point.target.link.text for point in found} == {"z", "abs(z)"}


def test_unstored_points_need_no_identity() -> None:
    hidden = object()
    target = MultiIndex(lambda z: z[..., 0] + (hidden is None), r=1)
    found, _ = points(Short(), stored=False, target=target, alpha=[1.0, 2.0])
    assert len({point.key for point in found}) == 4
    with pytest.raises(LearnabilityError, match="leave out `store`"):
        points(Short(), target=target, alpha=[1.0, 2.0])


BAD = {
    "an unknown name": ({"alpha": 1.0, "dampin": 0.5}, "`dampin` was given.*damping"),
    "a missing argument": ({"alpha": 1.0}, "simulate bayes-amp needs `d`, which was not given"),
    "no value": ({"alpha": [], "d": 5}, "`alpha` was given as an empty list"),
    "a value twice": ({"alpha": [1.0, 1.0], "d": 5}, "twice"),
    "a table": ({"alpha": np.ones((2, 2)), "d": 5}, "shape"),
    "a value out of bounds": ({"alpha": 1.0, "d": 5, "damping": [0.5, 2.0]}, "at most 1"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_grids_end_in_a_sentence(case: str) -> None:
    grid, words = BAD[case]
    with pytest.raises(LearnabilityError, match=words):
        points(BayesAMP(), **grid)


def test_fields_of_the_inputs() -> None:
    target = MultiIndex("z", inputs=Spiked(strength=1.0))
    grid = {"alpha": 1.0, "strength": [1.0, 4.0], "alignment": 0.5, "noise": 0.1}
    found, layout = points(Short(), target=target, **grid)
    assert list(layout.axes) == ["strength", "seed"] and layout.scalars["alignment"] == 0.5
    assert found[-1].target == MultiIndex("z", noise=0.1, inputs=Spiked(4.0, 0.5))
    assert "strength" not in layout.target and "alignment=0.5" in layout.target
    two, _ = points(Short(), target=target, alpha=1.0, strength=[(1.0, 2.0)], seeds=(0,))
    assert two[0].target.inputs == Spiked((1.0, 2.0))
    with pytest.raises(LearnabilityError, match=r"`exponents` was given.*Spiked: strength"):
        points(Short(), target=target, alpha=1.0, exponents=1.0)


def test_a_question_has_its_own_key_and_may_have_no_runs() -> None:
    path, _ = points(BayesAMP(), question="path", alpha=1.0, d=9)
    values, _ = points(BayesAMP(), alpha=1.0, d=9)
    assert path[0].question == "path" and path[0].key != values[0].key
    with pytest.raises(LearnabilityError, match=r"'theory' by runs: It was not run\."):
        points(Short(), question="theory", alpha=1.0)
