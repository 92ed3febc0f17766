"""Unit variance of the features of every level."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import Hierarchical, LearnabilityError, Link
from learnability.targets._tree_moments import level_scales
from learnability.targets.tree import climb


def test_squares_of_squares_by_hand() -> None:
    # x = sum of 4 He2 / sqrt(8) has excess kurtosis 12 / 4, and Var He2(x) = 2 + 3.
    first, second = level_scales(Link("He2(z)"), (16, 4), "ones")
    assert first == pytest.approx(1 / math.sqrt(2)) and second == pytest.approx(1 / math.sqrt(5))
    # With many variables under a feature it is Gaussian.
    assert level_scales(Link("He2(z)"), (40_000, 4), "ones")[1] == pytest.approx(
        1 / math.sqrt(2), rel=1e-3
    )


@pytest.mark.parametrize("signs", ["balanced", "ones"])
@pytest.mark.parametrize(
    ("polynomial", "sizes"),
    [("He2(z)", (12, 4)), ("He2(z)/2 + He3(z)/6", (128, 4)), ("z + He2(z)/3", (16, 8, 2))],
)
def test_against_samples(polynomial: str, sizes: tuple[int, ...], signs: str) -> None:
    link = Link(polynomial)
    scales = level_scales(link, sizes, signs)
    z = np.random.default_rng(0).standard_normal((80_000, 1, sizes[0]), dtype=np.float32)
    levels = climb(z, sizes, signs, lambda x: link(x[..., None]), scales)
    for values in levels[1:]:
        blocks = values.reshape(100, -1).astype(np.float64)
        found = blocks.var(axis=1)
        error = found.std(ddof=1) / 10
        assert found.mean() == pytest.approx(1, abs=4 * error) and error < 0.1


def test_a_tree_too_deep_for_its_moments() -> None:
    with pytest.raises(LearnabilityError, match="moments of order 486"):
        level_scales(Link("He3(z)"), (32, 16, 8, 4, 2), "ones")
    tree = Hierarchical("tanh(z)", "He2(z)", N=(16, 4))
    features = tree.features(*tree.sample(0, n=40_000, d=16)[0:3:2])
    assert features[-1].var() == pytest.approx(1, abs=0.1)
