"""Cells with curved boundaries, against integrals in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

from learnability.gaussian.sections import Section
from learnability.labels import Link
from learnability.labels.curved_cells import CurvedCells

NOTHING = np.zeros((0, 2))
LABELS = np.array([-1.0, 1.0])


@pytest.mark.parametrize(
    ("link", "digits"),
    [
        (Link("sign(z1**2 + z2**2 - 1)"), 1e-7),
        (Link(lambda z: np.sign((z**2).sum(-1) - 1), r=2), 2e-6),
    ],
)
def test_a_disc(link: Link, digits: float) -> None:
    mass, moments = CurvedCells(Section.whole(link), LABELS, NOTHING).moments([1, 2], 1e-9)
    np.testing.assert_allclose(mass, [1 - math.exp(-0.5), math.exp(-0.5)], atol=digits)
    # E[(z1^2 - 1) 1_disc] = -exp(-1/2) / 2.
    expected = -0.5 * math.exp(-0.5) / math.sqrt(2) * np.array([1, 0, 1])
    np.testing.assert_allclose(moments[2][0], expected, atol=digits)
    np.testing.assert_allclose(moments[1], 0.0, atol=1e-9)


def test_what_is_left_given_a_direction() -> None:
    # Given z1, the label tells on which side of z1^2 the other coordinate is.
    section = Section.whole(Link("sign(z2 - z1**2)"))
    found = CurvedCells(section, LABELS, np.array([[1.0, 0.0]])).grams([1], 1e-9)[1]
    x = np.linspace(-9, 9, 20001)
    density = np.exp(-0.5 * x**2) / math.sqrt(2 * math.pi)
    edge = np.exp(-(x**4)) / (2 * math.pi)  # phi(x^2)^2
    share = edge / np.maximum(ndtr(x**2) * ndtr(-(x**2)), 1e-300)
    assert found[0, 0] == pytest.approx(np.trapezoid(share * density, x), abs=1e-7)


def test_close_roots_of_a_thin_shell_are_found() -> None:
    thin = Link("sign((z1**2 + z2**2 - 1)**2 - 0.0001)")
    mass, _ = CurvedCells(Section.whole(thin), LABELS, NOTHING).moments([1], 1e-9)
    assert mass[0] == pytest.approx(math.exp(-0.495) - math.exp(-0.505), abs=1e-6)
