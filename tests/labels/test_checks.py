"""What a user's function may and may not do."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Link, LinkError
from learnability.labels._checks import as_points, call_function, checked_r, orthogonal


def test_a_function_sees_rows_of_points_and_may_write_to_them() -> None:
    def in_place(z: np.ndarray) -> np.ndarray:
        z *= 2
        return z[:, 0] * z[:, 1]

    points = np.arange(12.0).reshape(2, 3, 2)
    kept = points.copy()
    assert np.array_equal(call_function(in_place, points), 4 * kept[..., 0] * kept[..., 1])
    assert np.array_equal(points, kept)


@pytest.mark.parametrize(
    "function",
    [
        lambda z: z,
        lambda z: z[:, 0] + 1j,
        lambda z: 1.0,
        lambda z: z[:, 7],
        lambda z: None,
        lambda z: np.array(["a"] * len(z)),
    ],
)
def test_wrong_answers_end_in_one_sentence(function) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(LinkError) as error:
        call_function(function, np.zeros((4, 2)))
    assert "\n" not in str(error.value)


def test_a_function_that_fails_later() -> None:
    def late(z: np.ndarray) -> np.ndarray:
        if len(z) > 100:
            raise RuntimeError("too\nmany")
        return z[:, 0]

    link = Link(late, r=1)
    with pytest.raises(LinkError, match="RuntimeError") as error:
        link(np.zeros((200, 1)))
    assert "\n" not in str(error.value)


def test_points_sizes_and_rotations() -> None:
    assert as_points(3, 1, np).shape == (1,)
    assert as_points(np.zeros((0, 2)), 2, np).shape == (0, 2)
    for bad in (0, 10, 1.5, True, "2", None):
        with pytest.raises(LinkError):
            checked_r(bad)
    for matrix in (np.eye(3), 2 * np.eye(2), np.full((2, 2), np.nan)):
        with pytest.raises(LinkError):
            orthogonal(matrix, 2)
