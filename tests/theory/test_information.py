"""The stated error of the information of a label, where it is taken from a limit law."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Channel, Link
from learnability.theory.information import LabelInformation

ERROR = 0.01


def information(text: str, noise: float) -> LabelInformation:
    """With an error of the resolved overlaps that is given, to spare its two integrals."""
    found = LabelInformation(Channel(Link(text), noise))
    found.__dict__["error"] = ERROR
    return found


@pytest.mark.parametrize(("text", "noise"), [("z1*z2", 0.01), ("z1*z2", 0.0), ("z1*z2*z3", 0.3)])
def test_the_error_is_continuous_at_the_last_resolved_overlap(text: str, noise: float) -> None:
    found = information(text, noise)
    eye, q = np.eye(found.r), found.resolved
    assert not found.exact_at(q * eye)
    assert found.error_at(0.5 * eye) == found.error_at(q * eye) == ERROR
    assert found.error_at((q + 1e-6) * eye) == pytest.approx(ERROR, abs=1e-4)
    beyond = [found.error_at((1 - (1 - q) / k) * eye) for k in (1, 2, 4, 8)]
    assert np.all(np.diff(beyond) > 0)


def test_the_error_of_noisy_labels_covers_a_growth_of_one_over_the_variance() -> None:
    """Grids do not resolve z1 z2 with little noise: I(M) may stay, or grow as 1 / V does."""
    found = information("z1*z2", 0.01)
    for times in (2, 5):
        M = (1 - (1 - found.resolved) / times) * np.eye(2)
        assert found.error_at(M) == pytest.approx(ERROR + times - 1)


@pytest.mark.parametrize(
    ("text", "noise", "exact", "largest"),
    [
        ("z", 0.2, lambda q: 1 / (1 - q + 0.2), 1e-5),
        ("z", 1.5, lambda q: 1 / (1 - q + 1.5), 1e-5),
        ("z**3", 0.0, lambda q: 1 / (1 - q), 1e-5),
        ("exp(z)", 0.0, lambda q: 1 / (1 - q), 1e-5),
        ("z1 + z2", 0.3, None, 0.05),
    ],
)
def test_the_stated_error_covers_closed_forms(text, noise, exact, largest) -> None:
    """A linear label is a normal one; a label that can be solved for z has I(q) = 1 / (1 - q)."""
    found = LabelInformation(Channel(Link(text), noise))
    assert 0 < found.error < largest
    for q in (0.05, 0.35, 0.6, 0.9):
        M = q * np.eye(found.r)
        if exact is None:  # Of the sum alone, of variance 2, along (1, 1) / sqrt(2).
            expected = np.ones((2, 2)) / (2 * (1 - q) + 0.3)
        else:
            expected = np.array([[exact(q)]])
        off = np.abs(found(M) - expected).max() / np.abs(expected).max()
        assert off <= found.error_at(M) + 1e-12


@pytest.mark.parametrize("text", ["-z2**2*cos(z1) + exp(-z2**2)", "2*sign(z1*z2) + cos(z2)"])
def test_what_the_fine_rule_adds_vanishes_with_the_information(text: str) -> None:
    """The rough rule, corrected at an overlap of .01, told less than nothing at 1e-4."""
    found = LabelInformation(Channel(Link(text)))
    around = found.around(0.01 * np.eye(2))
    for q in (1e-4, 1e-3):
        near, fine = around(q * np.eye(2)), found.finely(q * np.eye(2))
        assert np.abs(near - fine).max() < 1e-2 * np.abs(fine).max()
        assert np.linalg.eigvalsh(near)[0] > 0
