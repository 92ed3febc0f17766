"""Inputs whose covariance has a power-law spectrum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies

from learnability.errors import LearnabilityError
from learnability.inputs import PowerLaw

from tests.inputs.laws import sizes


@given(sizes(5), strategies.integers(1, 200))
def test_the_spectrum_is_a_power_of_the_rank_with_mean_one(exponent: float, d: int) -> None:
    found = PowerLaw(exponent).eigenvalues(d)
    assert found.shape == (d,) and found.mean() == pytest.approx(1.0)
    np.testing.assert_allclose(found / found[0], np.arange(1, d + 1.0) ** -exponent)


def test_no_axis_is_marked() -> None:
    inputs = PowerLaw()
    hidden, marked = inputs.directions(0, 2, 9)
    assert marked.shape == (0, 9) and hidden.shape == (2, 9)
    assert inputs.depends_on_dimension and inputs.normal and not inputs.has_frame


def test_an_exponent_of_zero_is_isotropic() -> None:
    directions = PowerLaw(0).directions(0, 2, 9)
    X, h = PowerLaw(0).draw(np.random.default_rng(0), 6, directions, np.float64)
    np.testing.assert_allclose(X, np.random.default_rng(0).standard_normal((6, 9)))
    np.testing.assert_allclose(h, X @ directions.hidden.T)


@pytest.mark.parametrize("exponent", [-0.1, 21, None, "steep"])
def test_bad_exponents_end_in_a_sentence(exponent: object) -> None:
    with pytest.raises(LearnabilityError, match="`exponent` was given as"):
        PowerLaw(exponent)  # type: ignore[arg-type]
