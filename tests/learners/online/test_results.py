"""Names and axes of results."""

import numpy as np
import pytest

from learnability import MultiIndex
from learnability.learners.online import OnlineSGD
from learnability.learners.online._equations import Solution
from learnability.learners.online._results import divergence, labelled_paths, labelled_runs
from learnability.learners.online._runs import Runs


def runs(seeds, times):
    overlap = np.full((seeds, times, 1, 1), 0.6)
    rest = np.full((seeds, times, 1, 1), 0.64)
    overlap[0, -1] = rest[0, -1] = np.nan
    lost = np.zeros(seeds, dtype=bool)
    lost[0] = True
    return Runs(rest, overlap, np.ones((seeds, times, 1)), lost)


def test_runs_have_the_fixed_names_and_a_status_each():
    learner, target = OnlineSGD(activation="z"), MultiIndex("z")
    found = labelled_runs(learner, target, np.array([0.0, 1.0]), runs(2, 2), [3, 5], 40)
    assert found.status.values.tolist() == ["diverged", "finished"]
    assert "1 of 2 runs diverged" in found.attrs["note"] and found.attrs["d"] == 40
    assert found.overlap_trace.dims == ("seed", "time", "estimate", "index")
    assert found.seed.values.tolist() == [3, 5]
    np.testing.assert_allclose(found.gram_trace.values[1], 1.0)
    assert found.subspace_overlap.values[1] == pytest.approx(0.36)
    assert found.error.values[1] == pytest.approx(0.8)
    assert divergence(0, 4) == ""


def test_one_time_and_one_start_have_no_axes():
    one = np.full((1, 1, 1), 0.5)
    path = Solution(0.75 * np.ones((1, 1, 1)), one, np.ones((1, 1)), 0.1 * one, one, "solved")
    learner, target = OnlineSGD(activation="z"), MultiIndex("z")
    found = labelled_paths(learner, target, np.array(2.0), [path], None, method="exact")
    assert found.overlap_trace.dims == ("estimate", "index") and found.time.item() == 2.0
    assert found.overlap_error.item() == pytest.approx(0.05)
    assert found.attrs["verb"] == "predict" and found.attrs["method"] == "exact"
