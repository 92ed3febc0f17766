"""The first gradient in theory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from learnability import Link, MultiIndex, SpikedIndex
from learnability.inputs import Spiked
from learnability.learners.giant._gradient_theory import (
    Prediction,
    gradient_theory,
    law_of_inputs,
    seen_axes,
)

from tests.structured_values import ALIGNMENTS, CORRELATIONS, LINKS


def typical(
    target: MultiIndex, activation: str, bias: float, n: int, p: int, d: int, init: str = "signs"
) -> Prediction:
    frame = seen_axes(target.inputs.frame(target.r, d)).frame
    found = [
        gradient_theory(points, Link(activation), bias, init, frame, n, p, d)
        for points in law_of_inputs(target, frame)
    ]
    return Prediction(*(np.mean([one[k] for one in found], axis=0) for k in range(5)))  # type: ignore[arg-type]


@pytest.mark.parametrize("row", ALIGNMENTS)
def test_reference_values(row: tuple[Any, ...]) -> None:
    """Values with heavy labels and strong spikes are known to 3e-4."""
    activation, link, bias, d, n, p, gamma, alignment = row
    target = SpikedIndex(LINKS[link], spike_exponent=gamma)
    found = typical(target, f"{activation}(z)", bias, n, p, d)
    assert found.alignment == pytest.approx(alignment, rel=1e-4 if gamma < 0.8 else 3e-4)
    assert 0 < found.correlation <= 1 and (found.outliers[:-1] >= found.outliers[1:]).all()


@pytest.mark.parametrize(("link", "gamma", "correlation"), CORRELATIONS)
def test_reference_correlations(link: str, gamma: float, correlation: float) -> None:
    target = SpikedIndex(LINKS[link], spike_exponent=gamma)
    found = typical(target, "relu(z)", 1.0, 1000, 200, 1000)
    assert found.correlation == pytest.approx(correlation, rel=1e-5)


def test_noise_of_the_labels_lowers_the_alignment() -> None:
    found = []
    for noise in (0.0, 2.0):
        target = SpikedIndex("z", spike=3.0, alignment=0.8, noise=noise)
        found.append(typical(target, "relu(z)", 0.0, 800, 200, 400))
    assert found[1].alignment < found[0].alignment and found[1].norm > found[0].norm


def test_a_direction_that_does_not_matter_changes_little() -> None:
    """By quadrature for one hidden direction, by quasi-random points for two."""
    one = typical(
        SpikedIndex("z + He2(z)", spike=9.0, alignment=0.6), "relu(z)", 0.0, 800, 200, 400
    )
    inputs = Spiked(9.0, alignment=((0.6, 0.0),))
    two = typical(MultiIndex("z1 + He2(z1) + 0*z2", inputs=inputs), "relu(z)", 0.0, 800, 200, 400)
    # The second direction has the share of any one direction of noise.
    assert one.alignment < two.alignment < one.alignment + 3 / 400
    assert two.norm == pytest.approx(one.norm, rel=5e-3)
    assert two.outliers[0] == pytest.approx(one.outliers[0], rel=2e-2)


def test_a_spike_of_strength_zero_changes_nothing() -> None:
    target = MultiIndex("z + He2(z)")
    spiked = MultiIndex("z + He2(z)", inputs=Spiked(0.0, 0.4))
    for init in ("ones", "signs"):
        wanted = typical(target, "relu(z)", 0.5, 800, 200, 400, init)
        found = typical(spiked, "relu(z)", 0.5, 800, 200, 400, init)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9)


def test_a_small_spike_is_close_to_none() -> None:
    """The dependence of a field on the spike's coordinate: by nodes for it, to first order else."""
    none = typical(MultiIndex("He2(z)"), "relu(z)", 0.0, 8000, 200, 4000)
    small = typical(SpikedIndex("He2(z)", spike=1e-6), "relu(z)", 0.0, 8000, 200, 4000)
    assert small.alignment == pytest.approx(none.alignment, rel=2e-3)


def test_equal_pairs_have_the_outliers_of_all() -> None:
    """Pairs of rows of opposite sign: the same strengths, through noise of half as many rows."""
    target = SpikedIndex("z", spike=20.0)
    signs = typical(target, "relu(z)", 0.0, 800, 200, 400)
    pairs = typical(target, "relu(z)", 0.0, 800, 200, 400, "symmetric")
    assert pairs.alignment == pytest.approx(signs.alignment, rel=1e-12)
    assert pairs.outliers[0] == pytest.approx(signs.outliers[0], rel=1e-2)


def test_a_linear_activation_has_one_outlier_without_noise() -> None:
    found = typical(SpikedIndex("z", spike=20.0), "z", 0.0, 800, 200, 400)
    assert found.outliers[0] == pytest.approx(np.sqrt(200 * found.norm), rel=2e-3)
    assert found.outliers[1] < 1e-6 * found.outliers[0]
    assert found.overlaps[0] == pytest.approx(found.alignment, rel=2e-3)
