"""Activations, ridges and positive numbers: what is taken and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import LearnabilityError, Link
from learnability.learners.networks.activations import (
    checked_activation,
    checked_positive,
    checked_ridge,
    is_number,
)


def test_an_activation_is_a_link_of_one_variable() -> None:
    assert checked_activation("relu(z1)") == Link("relu(z)")
    cube = checked_activation(lambda z: z[..., 0] ** 3)
    np.testing.assert_allclose(cube(np.array([2.0, -1.0])), [8.0, -1.0])


@pytest.mark.parametrize("wrong", ["z1*z2", "relu(", 3, None])
def test_other_activations_end_in_a_sentence(wrong: object) -> None:
    with pytest.raises(LearnabilityError, match="`activation`"):
        checked_activation(wrong)  # type: ignore[arg-type]


def test_numbers() -> None:
    assert is_number(2) and is_number(np.float32(0.5))
    assert not is_number(True) and not is_number("2")
    assert checked_positive("width", np.int64(2)) == 2.0


@pytest.mark.parametrize("wrong", [0, -1.0, float("inf"), float("nan"), "1", True, None])
def test_what_is_not_positive_ends_in_a_sentence(wrong: object) -> None:
    with pytest.raises(LearnabilityError, match=r"`width`.*above 0"):
        checked_positive("width", wrong)


def test_ridges() -> None:
    assert checked_ridge(0) == 0.0 and checked_ridge([1, 0.5]) == (1.0, 0.5)


@pytest.mark.parametrize("wrong", [-1, float("nan"), [], [1.0, 1.0], [1.0, -2.0], None, "a"])
def test_other_ridges_end_in_a_sentence(wrong: object) -> None:
    with pytest.raises(LearnabilityError, match="`ridge`"):
        checked_ridge(wrong)
