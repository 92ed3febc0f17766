"""Parities of a few signs of anisotropic inputs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from learnability import LearnabilityError, SparseParity


@pytest.mark.parametrize(("k", "anisotropy"), [(1, 0.0), (3, 0.5), (4, 1.0)])
def test_samples(k: int, anisotropy: float) -> None:
    target = SparseParity(k, anisotropy)
    X, y, W, h = target.sample(2, n=4000, d=25)
    assert W.shape == (k, 25) and h.shape == (4000, k) and target.r == k
    np.testing.assert_array_equal(y, np.sign(X @ W.T).prod(axis=1))
    np.testing.assert_array_equal(y, target.link(h))
    on = W.sum(axis=0) > 0
    np.testing.assert_allclose(np.abs(X[:, on]), 25 ** ((anisotropy - 1) / 2))
    np.testing.assert_allclose(np.abs(X[:, ~on]), 0.2)
    assert abs(y.mean()) < 4.5 / math.sqrt(4000)
    fresh = next(target.batches(2, 4000, 25, first=1))
    np.testing.assert_array_equal(fresh.W, W)
    assert not np.array_equal(fresh.X, X)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((0,), "`k` was given as 0"),
        ((2.5,), "`k` was given as 2.5"),
        ((3, -0.1), "`anisotropy` was given as -0.1, but the parity is defined for numbers from 0"),
        ((3, 1.5), "`anisotropy` was given as 1.5"),
        ((3, math.nan), "`anisotropy` was given as nan"),
    ],
)
def test_bad_parities_end_in_a_sentence(arguments: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(LearnabilityError, match=sentence):
        SparseParity(*arguments)


def test_the_support_fits_into_the_dimension() -> None:
    with pytest.raises(LearnabilityError, match="at least r = 5"):
        SparseParity(5).sample(0, n=3, d=4)
