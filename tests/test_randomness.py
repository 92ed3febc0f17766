"""Streams of random numbers and the seeds that name them."""

from __future__ import annotations

import numpy as np
import pytest

from learnability.errors import LearnabilityError
from learnability.randomness import checked_seed, checked_seeds, stream


def test_streams_of_different_parts_differ() -> None:
    paths = [(1, 0), (1, 1, 0), (1, 2, 0), (1, 1, 1), (2, 0)]
    assert len({float(stream(*path).standard_normal()) for path in paths}) == len(paths)


def test_a_stream_can_be_drawn_again() -> None:
    np.testing.assert_array_equal(stream(3, 1).standard_normal(5), stream(3, 1).standard_normal(5))


def test_one_seed() -> None:
    assert checked_seed(0) == 0 and type(checked_seed(np.int64(3))) is int  # type: ignore[arg-type]
    assert checked_seed(10**30) == 10**30


@pytest.mark.parametrize("seed", [-1, 1.0, True, None, "1", [1]])
def test_a_bad_seed(seed: object) -> None:
    with pytest.raises(LearnabilityError, match=r"`seed` was given as .* a whole number from 0"):
        checked_seed(seed)  # type: ignore[arg-type]


def test_seeds() -> None:
    assert checked_seeds(3) == [0, 1, 2]
    assert checked_seeds(np.int64(2)) == [0, 1]  # type: ignore[arg-type]
    assert checked_seeds([7, 0]) == [7, 0]
    assert checked_seeds(range(2, 4)) == [2, 3]
    found = checked_seeds(np.array([5, 6]))  # type: ignore[arg-type]
    assert found == [5, 6] and all(type(s) is int for s in found)


@pytest.mark.parametrize("seeds", [0, -1, True, 2.0, "12", [], [-1], [1.5], [True], None, 10**9])
def test_bad_seeds(seeds: object) -> None:
    with pytest.raises(LearnabilityError, match=r"`seeds` was given as .* is accepted"):
        checked_seeds(seeds)  # type: ignore[arg-type]


def test_a_seed_twice() -> None:
    with pytest.raises(LearnabilityError, match=r"\[3, 4, 3\], but one of them twice"):
        checked_seeds([3, 4, 3])
