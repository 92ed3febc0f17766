"""Inputs of random signs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability.errors import LearnabilityError
from learnability.inputs import Signs


@pytest.mark.parametrize("anisotropy", [0.0, 0.5, 1.0])
def test_the_support_is_longer_by_the_anisotropy(anisotropy: float) -> None:
    inputs = Signs(anisotropy)
    long, short = inputs.lengths(25)
    assert long == pytest.approx(25 ** ((anisotropy - 1) / 2)) and short == pytest.approx(0.2)
    directions = inputs.directions(1, 3, 25)
    X, h = inputs.draw(np.random.default_rng(0), 40, directions, np.float64)
    on = directions.hidden.sum(axis=0) > 0
    np.testing.assert_allclose(np.abs(X[:, on]), long)
    np.testing.assert_allclose(np.abs(X[:, ~on]), short)
    np.testing.assert_array_equal(h, np.sign(X @ directions.hidden.T))


def test_the_directions_are_axes() -> None:
    hidden, marked = Signs().directions(4, 3, 10)
    np.testing.assert_array_equal(hidden, marked)
    assert set(hidden.ravel()) == {0.0, 1.0} and (hidden.sum(axis=1) == 1).all()
    supports = [tuple(Signs().directions(k, 1, 3).hidden.argmax(axis=1)) for k in range(300)]
    for axis in range(3):
        share = supports.count((axis,)) / 300
        assert share == pytest.approx(1 / 3, abs=4.5 * math.sqrt(2 / 9 / 300))


def test_signs_are_no_normal_coordinates() -> None:
    assert not Signs().normal and not Signs().has_frame and Signs().depends_on_dimension


@pytest.mark.parametrize("anisotropy", [-0.1, 1.5, math.nan, None])
def test_bad_anisotropies_end_in_a_sentence(anisotropy: object) -> None:
    with pytest.raises(LearnabilityError, match="`anisotropy` was given as"):
        Signs(anisotropy)  # type: ignore[arg-type]
