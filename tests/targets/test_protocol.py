"""What every target offers."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import LearnabilityError, MultiIndex
from learnability.targets import Sample, Target
from learnability.targets.protocol import checked_seed, checked_sizes, hidden_directions


def test_multi_index_is_a_target() -> None:
    assert isinstance(MultiIndex("z1*z2"), Target)
    assert not isinstance("z1*z2", Target)
    assert Sample._fields == ("X", "y", "W", "h")


def test_sizes() -> None:
    assert checked_sizes(2, 10, 5, None, np.float64) == (10, 5)
    assert checked_sizes(2, np.int64(10), np.int32(5), None, np.float32) == (10, 5)
    assert checked_sizes(2, None, 7, 0.5, np.float64) == (round(3.5), 7)
    assert checked_sizes(2, None, 7, 1e-6, np.float64) == (1, 7)
    assert all(type(n) is int for n in checked_sizes(1, np.int64(3), np.int64(4), None, float))


def test_the_memory_needed_is_named() -> None:
    with pytest.raises(LearnabilityError, match=r"need 745058059\.7 GiB, but .* GiB are free"):
        checked_sizes(1, 10**9, 10**8, None, np.float64)


def test_seeds() -> None:
    assert checked_seed(0) == 0 and type(checked_seed(np.int64(3))) is int
    assert checked_seed(10**30) == 10**30


@pytest.mark.parametrize(("r", "d"), [(1, 1), (1, 5), (3, 3), (4, 60)])
def test_hidden_directions_are_orthonormal(r: int, d: int) -> None:
    W = hidden_directions(np.random.default_rng(0), r, d)
    assert W.shape == (r, d)
    np.testing.assert_allclose(W @ W.T, np.eye(r), atol=1e-13)


def test_hidden_directions_are_uniform() -> None:
    rows = np.concatenate([hidden_directions(np.random.default_rng(k), 2, 3) for k in range(4000)])
    np.testing.assert_allclose(rows.mean(axis=0), 0, atol=5 / np.sqrt(3 * len(rows)))
    np.testing.assert_allclose(rows.T @ rows / len(rows), np.eye(3) / 3, atol=0.02)
