"""Levels of a tree and their values."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import LearnabilityError
from learnability.targets.tree import climb, level_sizes, sign_counts


def test_sizes() -> None:
    assert level_sizes(64, 0.5, 3) == (8,)
    assert level_sizes(256, 0.5, 4) == (16, 4)
    assert level_sizes(300, 0.5, 4) == (16, 4)  # 17 is no multiple of 4.
    with pytest.raises(LearnabilityError, match="cannot hold"):
        level_sizes(64, 0.5, 6)
    assert sign_counts("balanced", 5) == (3, 2) and sign_counts("ones", 5) == (5, 0)


def test_climbing() -> None:
    z = np.arange(8.0).reshape(1, 1, 8)
    levels = climb(z, (8, 2), "balanced", lambda x: x, (1.0, 2.0))
    first = np.array([0 + 1 - 2 - 3, 4 + 5 - 6 - 7]) / 2
    np.testing.assert_allclose(levels[1][0, 0], first)
    np.testing.assert_allclose(levels[2][0, 0], 2 * (first[0] - first[1]) / np.sqrt(2))
