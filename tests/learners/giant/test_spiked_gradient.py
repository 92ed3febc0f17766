"""The first gradient on spiked inputs."""

from __future__ import annotations

import pytest

from learnability import Link, SpikedIndex
from learnability.learners.giant._spiked_gradient import gradient_on_spikes, law_of_inputs

HE2, HE3 = "He2(z)/sqrt(2)", "He3(z)/sqrt(6)"
# Values computed apart from this library, d = 1000, n = 2000, p = 500.
REFERENCE = [
    ("relu(z)", "z", 0.0, 0.0, 0.667443), ("relu(z)", "z", 0.0, 0.7, 0.992208),
    ("relu(z)", HE2, 1.0, 0.0, 0.0127636), ("relu(z)", HE2, 1.0, 0.7, 0.89877),
    ("relu(z)", "sign(z)", 1.0, 0.0, 0.629535), ("relu(z)", "sign(z)", 1.0, 0.7, 0.990501),
    ("tanh(z)", HE3, 0.0, 0.0, 0.0138014), ("tanh(z)", HE3, 0.0, 0.7, 0.721034),
]  # fmt: skip


@pytest.mark.parametrize(("activation", "link", "bias", "gamma", "alignment"), REFERENCE)
def test_reference_values(
    activation: str, link: str, bias: float, gamma: float, alignment: float
) -> None:
    target = SpikedIndex(link, spike_exponent=gamma)
    spike = target.at(1000)
    inputs = law_of_inputs(target, spike)
    found = gradient_on_spikes(inputs, Link(activation), bias, spike, 2000, 500, 1000)
    assert found.alignment == pytest.approx(alignment, rel=1e-4)
    assert 0 < found.correlation <= 1 and (found.outliers[:-1] >= found.outliers[1:]).all()


def test_noise_of_the_labels_lowers_the_alignment() -> None:
    found = []
    for noise in (0.0, 2.0):
        target = SpikedIndex("z", spike=3.0, alignment=0.8, noise=noise)
        spike = target.at(400)
        inputs = law_of_inputs(target, spike)
        found.append(gradient_on_spikes(inputs, Link("relu(z)"), 0.0, spike, 800, 200, 400))
    assert found[1].alignment < found[0].alignment and found[1].norm > found[0].norm
