"""The finders that are tried on a table."""

import numpy as np
import pytest

from learnability.errors import LearnabilityError
from learnability.estimators._candidates import CANDIDATES, candidate, candidate_names
from learnability.estimators._whitening import Whitening


def _white(rank: int) -> Whitening:
    return Whitening(np.zeros(rank), np.ones(rank), rank, 0.0, np.eye(rank))


@pytest.mark.parametrize(
    ("rows", "rank", "tried"),
    [
        (400, 10, {"message_passing", "dr", "sir", "agop", "opg"}),
        (80, 10, {"message_passing", "dr", "sir", "agop", "opg", "sparse"}),
        (29, 5, {"message_passing", "dr", "sir", "agop", "opg"}),
        (5000, 100, {"message_passing", "dr", "sir"}),
        (40, 20, {"sir", "sparse"}),
        (20, 20, {"sir"}),
    ],
)
def test_what_is_tried_follows_from_rows_and_columns(rows, rank, tried):
    assert set(candidate_names("auto", rows, float(rows), _white(rank))) == tried


def test_names_that_are_given_are_kept_unless_rows_are_few():
    assert candidate_names(["opg", "save"], 400, 400.0, _white(10)) == ["opg", "save"]
    assert candidate_names("phd", 400, 400.0, _white(10)) == ["phd"]
    assert candidate_names(["opg", "sparse"], 20, 20.0, _white(10)) == ["sparse"]
    assert candidate_names(["opg"], 20, 20.0, _white(10)) == ["sir"]


@pytest.mark.parametrize("asked", [[], ["opg", "mave"], "mave"])
def test_other_names_are_refused(asked):
    with pytest.raises(LearnabilityError, match="candidates"):
        candidate_names(asked, 400, 400.0, _white(10))


@pytest.mark.parametrize("name", CANDIDATES)
def test_each_name_makes_a_finder_of_so_many_directions(name):
    assert candidate(name, 3, 0).get_params()["n_components"] == 3
