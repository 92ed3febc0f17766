"""Iterations to fixed points, on maps whose fixed points are known by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from learnability.statuses import Status
from learnability.theory._relaxation import (
    _extrapolated,
    ended,
    opened,
    pushed,
    relaxed,
    response,
    updated,
)

Array = NDArray[np.float64]
TARGET = np.array([[0.6, 0.1], [0.1, 0.3]])


class Counted:
    """A map that counts its calls."""

    def __init__(self, one_step: Callable[[Array], Array]) -> None:
        self.one_step, self.calls = one_step, 0

    def __call__(self, M: Array) -> Array:
        self.calls += 1
        return self.one_step(M)


def towards(ratios: tuple[float, float]) -> Counted:
    """A linear map to the target whose two directions shrink by their own ratios."""
    turn = np.array([[0.8, 0.6], [-0.6, 0.8]])
    root = turn.T @ np.diag(np.sqrt(ratios)) @ turn
    return Counted(lambda M: TARGET + root @ (M - TARGET) @ root)


def small(size: float) -> Callable[[Array], float]:
    return lambda M: size


@pytest.mark.parametrize("ratios", [(0.5, 0.5), (0.9, 0.3), (0.98, 0.6)])
def test_a_linear_map_is_followed_to_its_fixed_point(ratios: tuple[float, float]) -> None:
    one_step = towards(ratios)
    found, status = relaxed(one_step, small(1e-9), 0.05 * np.eye(2))
    assert status == Status.CONVERGED
    np.testing.assert_allclose(found, TARGET, atol=1e-6)
    # Plain steps of ratio 0.98 would take a thousand.
    assert one_step.calls < 60


@pytest.mark.parametrize("ratios", [(0.9, 0.3), (0.98, 0.6)])
def test_mixed_steps_reach_the_end_of_a_linear_map(ratios: tuple[float, float]) -> None:
    one_step = towards(ratios)
    M = TARGET + 1e-3 * np.array([[1.0, 0.4], [0.4, -1.0]])
    found = _extrapolated(one_step, small(1e-10), M, one_step(M) - M)
    assert found is not None
    np.testing.assert_allclose(found, TARGET, atol=1e-8)
    assert one_step.calls <= 13


def test_mixed_steps_that_stray_are_given_up() -> None:
    """A map that goes beyond perfect recovery, one below nothing, and one that moves for ever."""
    for M, step in (
        (np.diag([0.99, 0.5]), np.diag([0.02, 0.0])),
        (np.diag([0.001, 0.5]), np.diag([-0.01, 0.0])),
    ):
        assert _extrapolated(lambda A, s=step: A + s, small(1e-10), M, step) is None
    M, step = np.diag([0.2, 0.3]), np.diag([1e-4, 1e-4])
    one_step = Counted(lambda A: A + step * (1 + np.sin(1e4 * A[0, 0])))
    assert _extrapolated(one_step, small(1e-10), M, step) is None


@pytest.mark.parametrize("ratio", [0.3, 0.9])
def test_where_even_steps_would_end(ratio: float) -> None:
    one_step = towards((ratio, ratio))
    M = TARGET - 0.05 * np.eye(2)
    found, error = ended(one_step, M)
    np.testing.assert_allclose(found, TARGET, atol=1e-9)
    np.testing.assert_allclose(error, 0.5 * np.abs(TARGET - M), atol=1e-9)
    still, none = ended(one_step, TARGET)
    np.testing.assert_allclose(still, TARGET, atol=1e-12)
    assert none.max() < 1e-9
    # Steps that turn back do not end where a line would.
    back = Counted(lambda A: TARGET - ratio * (A - TARGET))
    kept, wide = ended(back, M)
    np.testing.assert_array_equal(kept, M)
    step = (1 + ratio) * 0.05
    np.testing.assert_allclose(np.diag(wide), step / (1 - ratio), rtol=1e-9)


def test_directions_at_zero_are_tried_again() -> None:
    """x -> a x / (1 + a x) keeps zero; above a = 1 a push leaves it, for 1 - 1 / a."""

    def one_step(a: float) -> Callable[[Array], Array]:
        return lambda M: np.diag([0.5, a * M[1, 1] / (1 + a * M[1, 1])])

    shut = np.diag([0.5, 0.0])
    assert pushed(one_step(0.9), shut) is None
    assert pushed(one_step(1.0), shut) is None
    start = pushed(one_step(1.5), shut)
    assert start is not None
    np.testing.assert_allclose(start, np.diag([0.5, 1e-3]), atol=1e-12)
    assert pushed(one_step(1.5), np.diag([0.5, 0.4])) is None
    for a in (0.9, 1.02, 1.5, 3.0):
        found, status = opened(one_step(a), small(1e-9), shut)
        assert status == Status.CONVERGED
        np.testing.assert_allclose(found, np.diag([0.5, max(1 - 1 / a, 0.0)]), atol=1e-7)


@pytest.mark.parametrize("rest", [0.0, 1.2e-3])
def test_slow_directions_open_or_end_at_zero(rest: float) -> None:
    """Steps of a x / (1 + a x) - x are all below the tolerance for a close to one."""

    def one_step(a: float) -> Callable[[Array], Array]:
        return lambda M: np.diag([0.5, a * M[1, 1] / (1 + a * M[1, 1])])

    start = np.diag([0.5, rest])
    for a in (0.95, 1.05, 1.08):
        found, status = opened(one_step(a), small(1e-4), start, 0)
        assert status == Status.CONVERGED
        np.testing.assert_allclose(found, np.diag([0.5, max(1 - 1 / a, 0.0)]), atol=4e-3)
        assert a > 1 or found[1, 1] == 0


@pytest.mark.parametrize("power", [0.3, 0.6])
def test_the_response_is_that_of_a_map_with_more_information(power: float) -> None:
    """M = A / (1 + A), A = 3 (1 + e) q^power: the fixed point moves by e times the response."""

    def one_step(e: float) -> Callable[[Array], Array]:
        return lambda M: updated(np.array([[3 * (1 + e) * M[0, 0] ** power]]))

    ends = []
    for e in (0.0, 1e-5):
        M = np.array([[0.5]])
        for _ in range(2000):
            M = one_step(e)(M)
        ends.append(float(M[0, 0]))
    moved = (ends[1] - ends[0]) / 1e-5
    found = response(one_step(0.0), np.array([[ends[0]]]))
    assert found[0, 0] == pytest.approx(moved, rel=5e-3)
    assert response(one_step(0.0), np.zeros((1, 1)))[0, 0] == 0.0


def test_the_next_overlap() -> None:
    A = np.array([[2.0, 0.5], [0.5, 1.0]])
    np.testing.assert_allclose(updated(A), np.linalg.inv(np.eye(2) + A) @ A)
    known = updated(np.diag([np.inf, 3.0]))
    np.testing.assert_allclose(known, np.diag([1.0, 0.75]))
