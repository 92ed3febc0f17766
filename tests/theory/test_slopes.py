"""Fixed points close to known ones, on maps whose fixed points are known."""

from __future__ import annotations

import numpy as np
import pytest

from learnability.theory._slopes import Slopes, cleaned, followed, physical

RATES = np.array([[0.9, 0.3], [0.3, 0.5]])


def counted(at):
    """A map that shrinks entries at different rates towards an overlap; and how often it is used.

    The slowest one takes fifty plain steps to come close.
    """
    calls = []

    def one_step(M):
        calls.append(M)
        gap = M - at
        return at + RATES * gap + 0.3 * gap * gap

    return one_step, calls


def near(shift):
    """An overlap between zero and one."""
    return np.array([[0.5, 0.1], [0.1, 0.4]]) + shift


def test_slopes_that_one_map_told_end_the_next_one_at_once():
    slopes, used = Slopes(), []
    for k in range(4):
        at = near(0.01 * k)
        one_step, calls = counted(at)
        found = followed(one_step, lambda M: 1e-6, at + 0.01, slopes)
        assert found == pytest.approx(at, abs=3e-6)
        used.append(len(calls))
    assert used[-1] < used[0]
    assert used[-1] <= 4


def test_what_a_ratio_does_is_learnt_without_a_step():
    slopes = Slopes()
    slopes.learn(np.ones((2, 2)), -0.1 * np.ones((2, 2)))
    assert slopes.rest(0.01 * np.ones((2, 2))) == pytest.approx(0.1 * np.ones((2, 2)))
    assert slopes.rest(np.diag([0.01, -0.01])) == pytest.approx(np.diag([0.01, -0.01]))
    slopes.learn(np.zeros((2, 2)), np.ones((2, 2)))  # No change tells nothing.
    slopes.forget()
    assert slopes.rest(np.ones((2, 2))) == pytest.approx(np.ones((2, 2)))


def test_a_map_that_leads_away_is_not_followed():
    away = lambda M: near(0.0) + 3 * (M - near(0.0))  # noqa: E731
    bad = Slopes()
    bad.learn(np.ones((2, 2)), -np.ones((2, 2)))
    assert followed(away, lambda M: 1e-9, near(0.01), bad) is None
    out = lambda M: M + 1.0  # noqa: E731
    assert followed(out, lambda M: 1e-9, near(0.0), Slopes()) is None


def test_overlaps_are_kept_between_zero_and_one():
    M = physical(np.array([[1.2, 0.0], [0.0, -0.1]]))
    assert np.linalg.eigvalsh(M) == pytest.approx([0.0, 1.0], abs=1e-9)
    assert cleaned(np.array([[0.5, 1e-7], [1e-7, 0.2]]))[0, 1] == 0
