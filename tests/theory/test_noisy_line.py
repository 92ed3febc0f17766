"""The information of noisy labels of one direction: closed forms, finer rules, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Channel
from learnability.theory._noisy_line import NARROWEST, NoisyLine, noisy_line
from learnability.theory.information import label_information


@pytest.mark.parametrize("q", [0.0, 0.3, 0.97, 1 - NARROWEST])
@pytest.mark.parametrize("noise", [0.01, 2.0])
def test_a_linear_label_has_its_closed_form(q: float, noise: float) -> None:
    """y = 2 z + noise: the slope of log p has the second moment 4 / (4 V + Delta)."""
    line = noisy_line(Channel("2*z", noise))
    assert line is not None
    found, mass = line.with_mass(np.array([[q]]))
    assert found[0, 0] == pytest.approx(4 / (4 * (1 - q) + noise), rel=1e-9)
    assert mass == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("text", ["sin(5*z)", "abs(z) + sin(3*z)", "sign(z) + z/3", "z**2/2 + z"])
@pytest.mark.parametrize("q", [0.2, 0.8, 0.95, 0.985])
def test_a_finer_rule_gives_the_same(text: str, q: float) -> None:
    channel, M = Channel(text, 0.2), np.array([[q]])
    finer = NoisyLine(channel, 0.3)(M)[0, 0]
    assert NoisyLine(channel)(M)[0, 0] == pytest.approx(finer, rel=3e-6)


def test_other_labels_are_left_to_level_sets() -> None:
    assert noisy_line(Channel("z1*z2", 0.1)) is None
    assert noisy_line(Channel("tanh(z)")) is None
    assert noisy_line(Channel("exp(z)", 1e-4)) is None


@pytest.mark.parametrize(
    ("part", "noise"), [("tanh(2*z)", 0.0), ("sin(2*z)", 0.0), ("tanh(2*z)", 0.5), ("z**2/2", 0.5)]
)
@pytest.mark.parametrize("q", [0.0, 0.6])
def test_a_second_direction_that_nobody_knows_is_noise(part: str, noise: float, q: float) -> None:
    """g(z1) + z2 at zero overlap of z2; product rules said 1e-6 and were off by 2e-3."""
    M, one = np.diag([q, 0.0]), NoisyLine(Channel(part, 1 + noise))(np.array([[q]]))[0, 0]
    both = label_information(Channel(part.replace("z", "z1") + " + z2", noise))
    found = both(M)
    assert abs(found[0, 0] - one) <= both.error_at(M) * np.abs(found).max() + 1e-6
