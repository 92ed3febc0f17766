"""Spike, alignment and bulk after one step."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import LearnabilityError, Link, MultiIndex
from learnability.inputs import PowerLaw, Signs, Spiked
from learnability.learners.giant._parameters import (
    checked_parameters,
    linear_direction,
    linear_part,
    one_step,
)

TANH = Link("tanh(z)")


@pytest.mark.parametrize(
    ("link", "step", "batch", "expected"),
    [
        ("tanh(z)", 1.0, 2.0, (0.45490, 0.80651, 1.00957)),
        ("sign(z)", 3.0, 2.0, (1.93727, 0.74840, 1.19952)),
        ("tanh(z)", 1.0, 0.5, (0.651089, 0.563485, 1.03774)),
    ],
)
def test_reference_values(
    link: str, step: float, batch: float, expected: tuple[float, ...]
) -> None:
    """Computed elsewhere; the last pair from a published table."""
    found = one_step(MultiIndex(link), TANH, "ones", step, batch)
    assert found[:3] == pytest.approx(expected, abs=1e-5) and found.spread == 0.0


def test_a_large_batch_finds_the_direction() -> None:
    found = one_step(MultiIndex("3*z1 + 4*z2", noise=2.0), Link("relu(z)"), "symmetric", 0.5, 1e8)
    assert found.alignment == pytest.approx(1.0, abs=1e-6)
    assert found.spike == pytest.approx(0.5 * 0.5 * 5, rel=1e-6)
    length, direction = linear_direction(MultiIndex("3*z1 + 4*z2"))
    assert length == pytest.approx(5.0)
    np.testing.assert_allclose(direction, [0.6, 0.8])


def test_a_mean_of_the_label_stretches_the_neurons() -> None:
    relu, target = Link("relu(z)"), MultiIndex("z + 2 + 1/sqrt(2*pi)")
    curved = math.sqrt(1 / (2 * math.pi))
    assert one_step(target, relu, "ones", 0.5, 1e9).bulk == pytest.approx(1 + curved, rel=1e-6)
    mean = 2 + curved
    expected = math.sqrt(1 + (0.5 * mean * curved) ** 2)
    assert one_step(target, relu, "signs", 0.5, 1e9).bulk == pytest.approx(expected, rel=1e-6)


def test_a_falling_activation_turns_the_spike() -> None:
    up, down = (one_step(MultiIndex("z"), Link(t), "ones", 1.0, 2.0) for t in ("erf(z)", "-erf(z)"))
    assert down.alignment == pytest.approx(-up.alignment) and down.spike == pytest.approx(up.spike)


@pytest.mark.parametrize(
    "inputs",
    [None, Spiked(0.0, 0.3), Spiked((5.0, 2.0), alignment=((0.5, 0.2), (0.3, 0.4))), PowerLaw(1.0)],
)
def test_the_linear_part_in_the_space_of_the_inputs(inputs: object) -> None:
    """Against the mean of y x over 400000 samples in dimension 8."""
    target = MultiIndex("z1 + 2*z2 + z1*z2", inputs=inputs)  # type: ignore[arg-type]
    X, y, _, _ = target.sample(3, 400_000, 8)
    mean = X.T @ y
    found = linear_part(target, target.inputs.directions(3, 2, 8))
    assert found is not None
    np.testing.assert_allclose(found, mean / np.linalg.norm(mean), atol=0.01)


def test_no_linear_part() -> None:
    for target in (MultiIndex("z1*z2"), MultiIndex("z1 + z2", inputs=Signs(0.5))):
        assert linear_part(target, target.inputs.directions(0, 2, 8)) is None


def test_refusals() -> None:
    with pytest.raises(LearnabilityError, match="no linear part"):
        one_step(MultiIndex("z**2"), TANH, "ones", 1.0, 2.0)
    with pytest.raises(LearnabilityError, match="jumps"):
        one_step(MultiIndex("z"), Link("sign(z)"), "ones", 1.0, 2.0)
    for wrong in ((1, 1.0, 1), (1, 0.5), (-1, 0, 1), (1, 0, 1, -1), (1, 0, 1, 2, 3), None, "abc"):
        with pytest.raises(LearnabilityError, match="`parameters`"):
            checked_parameters(wrong)  # type: ignore[arg-type]
    assert checked_parameters([1, 0.5, 2]) == (1.0, 0.5, 2.0, 0.0)
    assert checked_parameters([1, 0.5, 2, 3]).spread == 3.0
