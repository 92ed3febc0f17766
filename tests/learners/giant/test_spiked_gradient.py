"""The first gradient on spiked inputs."""

from __future__ import annotations

from typing import Any

import pytest

from learnability import Link, SpikedIndex
from learnability.learners.giant._spiked_gradient import gradient_on_spikes, law_of_inputs

from tests.structured_values import ALIGNMENTS, CORRELATIONS, LINKS


@pytest.mark.parametrize("row", ALIGNMENTS)
def test_reference_values(row: tuple[Any, ...]) -> None:
    """Values with heavy labels and strong spikes are known to 3e-4."""
    activation, link, bias, d, n, p, gamma, alignment = row
    target = SpikedIndex(LINKS[link], spike_exponent=gamma)
    spike = target.at(d)
    inputs = law_of_inputs(target, spike)
    found = gradient_on_spikes(inputs, Link(f"{activation}(z)"), bias, spike, n, p, d)
    assert found.alignment == pytest.approx(alignment, rel=1e-4 if gamma < 0.8 else 3e-4)
    assert 0 < found.correlation <= 1 and (found.outliers[:-1] >= found.outliers[1:]).all()


@pytest.mark.parametrize(("link", "gamma", "correlation"), CORRELATIONS)
def test_reference_correlations(link: str, gamma: float, correlation: float) -> None:
    target = SpikedIndex(LINKS[link], spike_exponent=gamma)
    spike = target.at(1000)
    inputs = law_of_inputs(target, spike)
    found = gradient_on_spikes(inputs, Link("relu(z)"), 1.0, spike, 1000, 200, 1000)
    assert found.correlation == pytest.approx(correlation, rel=1e-5)


def test_noise_of_the_labels_lowers_the_alignment() -> None:
    found = []
    for noise in (0.0, 2.0):
        target = SpikedIndex("z", spike=3.0, alignment=0.8, noise=noise)
        spike = target.at(400)
        inputs = law_of_inputs(target, spike)
        found.append(gradient_on_spikes(inputs, Link("relu(z)"), 0.0, spike, 800, 200, 400))
    assert found[1].alignment < found[0].alignment and found[1].norm > found[0].norm
