"""Monotone and flat pieces of functions of one variable."""

from __future__ import annotations

import numpy as np
import pytest

from learnability.gaussian.sections import REACH, Section
from learnability.labels import Link
from learnability.labels.level_sets import LevelSets
from learnability.labels.monotone_pieces import Pieces, monotone_pieces


def pieces(link: Link) -> Pieces:
    levels = LevelSets(Section.whole(link))
    return monotone_pieces(levels.section, levels.value, levels.slope)


@pytest.mark.parametrize(
    ("text", "folds"),
    [
        ("z", []),
        ("z**2", [0.0]),
        ("He3(z)", [-1.0, 1.0]),
        ("abs(z) - z**2", [-0.5, 0.0, 0.5]),
        ("z**2*exp(-z**2)", [-1.0, 0.0, 1.0]),
    ],
)
def test_pieces_end_at_folds_and_kinks(text: str, folds: list[float]) -> None:
    found = pieces(Link(text))
    inner = found.branches.low[found.branches.low > -REACH + 1e-3]
    np.testing.assert_allclose(inner, folds, atol=1e-8)
    assert len(found.branches) == len(folds) + 1
    assert (found.branches.bottom < found.branches.top).all()


def test_a_function_without_a_slope_folds_at_the_same_places() -> None:
    known = pieces(Link("He3(z)")).branches
    seen = pieces(Link(lambda z: z[..., 0] ** 3 - 3 * z[..., 0], r=1, breaks=[])).branches
    np.testing.assert_allclose(seen.low, known.low, atol=1e-6)


def test_flat_pieces_are_apart() -> None:
    found = pieces(Link("relu(z) - relu(z - 1)"))
    assert len(found.branches) == 1 and len(found.flats) == 2 and not len(found.saturated)
    np.testing.assert_allclose(found.flats, [[-REACH, 0], [1, REACH]], atol=1e-9)
    np.testing.assert_allclose(found.branches.low, 0, atol=1e-9)
    # What is flat only to rounding is flat, and known to be so.
    steep = pieces(Link("erf(z)"))
    assert len(steep.saturated) == len(steep.flats) == 2
    assert 5 < steep.branches.high[0] < REACH
