"""The search for a fixed point, on linear labels with noise, whose overlap is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability.statuses import Status
from learnability.theory._relaxation import shut_error
from learnability.theory._search_end import iterated, search_end
from learnability.theory._slopes import Slopes

NOISE = 0.3


class Linear:
    """The information 1 / (1 - q + noise) of z + noise in each of two directions."""

    def __init__(self, heard: tuple[float, float] = (1.0, 1.0)) -> None:
        self.heard, self.calls = np.array(heard), 0

    def around(self, M, closely=False):
        def information(at):
            self.calls += 1
            return np.diag(self.heard / (1 - np.diag(at) + NOISE))

        return information

    def exact_at(self, M):
        return False

    def error_at(self, M):
        return 1e-3


def overlap(alpha: float) -> float:
    """The solution of q (1 - q + noise) = alpha (1 - q)."""
    half = 0.5 * (1 + NOISE + alpha)
    return half - math.sqrt(half * half - alpha)


def moves(alpha: float) -> float:
    """dq / dlog alpha."""
    return (overlap(alpha * 1.001) - overlap(alpha * 0.999)) / 0.002


def test_the_overlap_and_its_error():
    slopes, used = Slopes(), []
    for alpha in (0.8, 0.9, 1.0, 1.1):
        q, information = overlap(alpha), Linear()
        start, rate = (q + 2e-3) * np.eye(2), moves(alpha) * np.eye(2)
        point = search_end(information, lambda M: 1e-7, alpha, start, rate, slopes)
        assert point.status is Status.CONVERGED
        assert np.diag(point.M) == pytest.approx(q, abs=3e-7)
        assert np.diag(point.error) == pytest.approx(1e-3 * moves(alpha), rel=1e-2)
        used.append(information.calls)
    assert max(used) <= 4


def test_a_direction_that_would_open_is_not_left_shut():
    """The second label tells nothing at first, then much."""

    class Late(Linear):
        def around(self, M, closely=False):
            def information(at):
                q = np.diag(at)
                return np.diag([1 / (1 - q[0] + NOISE), 3 * q[1] / (1 - q[1])])

            return information

    alpha = 1.0
    start, rate = np.diag([overlap(alpha), 0.0]), np.diag([moves(alpha), 0.0])
    assert search_end(Late(), lambda M: 1e-7, alpha, start, rate, Slopes()) is None


def test_a_fixed_point_far_away_is_not_taken():
    start = (overlap(1.0) + 0.05) * np.eye(2)
    rate = moves(1.0) * np.eye(2)
    assert search_end(Linear(), lambda M: 1e-7, 1.0, start, rate, Slopes()) is None


def test_steps_without_an_end_tell_nothing():
    """Where steps go to and fro for ever, the error is that of not knowing: one."""

    class Swinging(Linear):
        def around(self, M, closely=False):
            return lambda at: np.diag(np.where(np.diag(at) > 0.3, 0.1, 2.0))

    point = iterated(Swinging(), lambda M: 1e-7, 1.0, 0.01 * np.eye(2))
    assert point.status is Status.STOPPED
    assert point.error == pytest.approx(np.ones((2, 2)))


def test_steps_end_at_the_overlap():
    point = iterated(Linear(), lambda M: 1e-7, 1.0, 0.01 * np.eye(2))
    assert point.status is Status.CONVERGED
    assert np.diag(point.M) == pytest.approx(overlap(1.0), abs=1e-6)
    assert np.diag(point.error) == pytest.approx(1e-3 * moves(1.0), rel=0.05)


def test_a_direction_that_may_be_open_has_an_error():
    """Its growth is alpha: within one percent of one an overlap is not excluded, else it is."""

    shut = np.diag([0.5, 0.0])
    falling = [
        lambda at, a=a: np.diag([0.5, a * at[1, 1] - 2 * at[1, 1] ** 2]) for a in (0.98, 1.0)
    ]
    assert shut_error(falling[0], shut, 0.01).max() == 0
    assert shut_error(falling[1], shut, 0.01)[1, 1] == pytest.approx(0.01 / 2, rel=0.1)
    assert shut_error(falling[1], np.diag([0.5, 0.3]), 0.01).max() == 0
