"""What all learners share: checks of their arguments and the shape of results."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

import learnability
from learnability import Link, MultiIndex
from learnability.errors import LearnabilityError
from learnability.learners.protocol import (
    checked_alphas,
    checked_seeds,
    checked_target,
    dataset,
    subspace_overlap,
)


@dataclass(frozen=True)
class Settings:
    """Stands for a learner."""

    damping: float = 0.5
    start: str = "auto"


def test_alphas() -> None:
    assert checked_alphas(2).shape == ()
    np.testing.assert_array_equal(checked_alphas([1, 2.5]), [1.0, 2.5])
    np.testing.assert_array_equal(checked_alphas(np.array([3])), [3.0])


@pytest.mark.parametrize("alpha", [0, -1.0, math.nan, math.inf, [1.0, 0.0], [2.0, math.nan]])
def test_alphas_out_of_range(alpha: object) -> None:
    with pytest.raises(LearnabilityError, match=r"`alpha` holds .* above 0 are accepted"):
        checked_alphas(alpha)  # type: ignore[arg-type]


@pytest.mark.parametrize("alpha", [[], "much", None, [[1.0]], {"a": 1}])
def test_alphas_that_are_no_numbers(alpha: object) -> None:
    with pytest.raises(LearnabilityError, match="`alpha` "):
        checked_alphas(alpha)  # type: ignore[arg-type]


def test_seeds() -> None:
    assert checked_seeds(3) == [0, 1, 2]
    assert checked_seeds(np.int64(2)) == [0, 1]
    assert checked_seeds([7, 0]) == [7, 0]
    assert checked_seeds(range(2, 4)) == [2, 3]
    found = checked_seeds(np.array([5, 6]))
    assert found == [5, 6] and all(type(s) is int for s in found)


@pytest.mark.parametrize("seeds", [0, -1, True, 2.0, "12", [], [-1], [1.5], [True], None])
def test_bad_seeds(seeds: object) -> None:
    with pytest.raises(LearnabilityError, match=r"`seeds` was given as .* is accepted"):
        checked_seeds(seeds)  # type: ignore[arg-type]


def test_a_seed_twice() -> None:
    with pytest.raises(LearnabilityError, match=r"\[3, 4, 3\], but one of them twice"):
        checked_seeds([3, 4, 3])


def test_targets() -> None:
    target = MultiIndex("z1*z2", noise=0.1)
    assert checked_target(target) is target
    assert checked_target("z1*z2").link == Link("z2*z1")
    assert checked_target(Link("abs(z)")).r == 1
    with pytest.raises(LearnabilityError):
        checked_target(3)


def test_subspace_overlap() -> None:
    W = np.eye(6)[:2]
    assert subspace_overlap(W, W) == pytest.approx(1)
    assert subspace_overlap([[1, 1, 0, 0, 0, 0], [3, -1, 0, 0, 0, 0]], W) == pytest.approx(1)
    assert subspace_overlap(np.eye(6)[2:4], W) == pytest.approx(0)
    assert subspace_overlap([[1, 0, 1, 0, 0, 0]], W) == pytest.approx(0.25)
    # A row twice spans one direction, and nothing spans none.
    assert subspace_overlap([[1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]], W) == pytest.approx(0.5)
    assert subspace_overlap(np.zeros((2, 6)), W) == pytest.approx(0)


def test_a_result_says_where_it_comes_from() -> None:
    variables = {"overlap": (("alpha", "seed"), [[0.1, 0.2], [0.3, 0.4]])}
    found = dataset(
        Settings(),
        MultiIndex("abs(z)", noise=0.1),
        "simulate",
        np.array([1.0, 2.0]),
        variables,
        {"seed": ("seed", [4, 9])},
        d=10,
    )
    assert found.overlap.dims == ("alpha", "seed")
    assert float(found.overlap.sel(alpha=2.0, seed=9)) == 0.4
    assert found.attrs == {
        "learner": "Settings(damping=0.5, start='auto')",
        "verb": "simulate",
        "link": "abs(z)",
        "r": 1,
        "noise": 0.1,
        "version": learnability.__version__,
        "d": 10,
    }


def test_a_scalar_alpha_has_no_axis() -> None:
    variables = {"overlap": (("alpha", "seed"), [[0.1, 0.2]]), "level": (("seed",), [1, 2])}
    target = MultiIndex(lambda z: z[..., 0], r=1)
    found = dataset(Settings(), target, "simulate", np.array(3.0), variables)
    assert found.overlap.dims == ("seed",) and found.level.dims == ("seed",)
    assert found.alpha.shape == () and float(found.alpha) == 3.0
    assert "lambda" in found.attrs["link"]
