import numpy as np
import pytest

from learnability.errors import LearnabilityError
from learnability.estimators import (
    BlindnessDisplay,
    IndexSubspace,
    LandingsDisplay,
    MessagePassingSubspace,
    MomentSubspace,
)

from tests.estimators.problems import planted


def test_landings_show_each_climb_and_the_run_of_all_at_once():
    drawn = LandingsDisplay([(3, 0.2), (1, 0.3), (3, 0.9), (2, 0.4), (3, 0.8)]).plot()
    *climbs, once = drawn.ax_.lines
    assert [line.get_xydata().tolist() for line in climbs] == [
        [[0, 0], [1, 0.3], [3, 0.9]],
        [[0, 0], [2, 0.4], [3, 0.8]],
    ]
    assert once.get_xydata().tolist() == [[3, 0.2]]


def test_landings_are_those_of_message_passing():
    X, y, _ = planted(lambda z: z[0], 1, 120, 4, 0)
    found = MessagePassingSubspace(1, random_state=0).fit(X, y)
    assert LandingsDisplay.from_estimator(found).landings == found.landings_
    with pytest.raises(LearnabilityError, match="MomentSubspace climbs no staircase"):
        LandingsDisplay.from_estimator(MomentSubspace("sir", 1).fit(X, y))


def test_the_table_says_who_is_blind():
    X, y, _ = planted(lambda z: z[0] ** 2, 1, 600, 4, 0)
    drawn = BlindnessDisplay.from_estimator(MomentSubspace("dr", 1).fit(X, y), X, y)
    said = [text.get_text().split()[0] for text in drawn.ax_.texts]
    assert said == ["blind", "sees", "sees", "sees"]
    assert drawn.strengths["phd"][0] > 10 and np.all(drawn.strengths["sir"] < 1)


def test_new_rows_have_coordinates_of_their_own():
    """As many new rows as the fit had: they were paired with the coordinates of the fit."""
    X, y, _ = planted(lambda z: z[0] ** 2, 1, 1200, 4, 0)
    found = IndexSubspace(1, candidates="dr", folds=2, random_state=0).fit(X[:600], y[:600])
    new = BlindnessDisplay.from_estimator(found, X[600:], y[600:])
    assert new.strengths["phd"][0] > 10
    own = BlindnessDisplay.from_estimator(found, X[:600], y[:600])
    within = BlindnessDisplay.from_estimator(found.estimator_, X[:600], y[:600])
    assert own.strengths["phd"][0] != within.strengths["phd"][0]
