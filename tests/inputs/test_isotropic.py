"""Standard normal inputs."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import MultiIndex
from learnability.inputs import Isotropic


@pytest.mark.parametrize("r", [1, 3])
def test_the_hidden_directions_are_the_marked_axes(r: int) -> None:
    inputs = Isotropic()
    frame = inputs.frame(r, 20)
    assert frame.isotropic and frame.spikes == 0 and inputs.least_dimension(r) == r
    for matrix in (frame.to_label, frame.hidden):
        np.testing.assert_array_equal(matrix, np.eye(r))
    hidden, marked = inputs.directions(0, r, 20)
    np.testing.assert_array_equal(hidden, marked)
    assert not inputs.depends_on_dimension and inputs.normal and inputs.has_frame


def test_the_covariance_does_nothing() -> None:
    V = np.random.default_rng(0).standard_normal((4, 9))
    directions = Isotropic().directions(0, 2, 9)
    for power in (-1.0, 0.5, 2.0):
        np.testing.assert_array_equal(Isotropic().apply(V, directions, power), V)


def test_all_isotropic_laws_are_one() -> None:
    assert Isotropic() == Isotropic() == MultiIndex("z").inputs
    assert hash(Isotropic()) == hash(Isotropic()) and repr(Isotropic()) == "Isotropic()"
