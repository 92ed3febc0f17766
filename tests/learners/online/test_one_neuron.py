"""The series of one neuron on the sphere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from learnability.learners.online._motion import Point, Rates
from learnability.learners.online._one_neuron import growth, series_averages

from tests.learners.online.recipes import drift_of, recipe_of


def test_he3_on_he3_is_known() -> None:
    """g = s = He3: dm/dt = 18 step m^2 (1 - m^2) before the noise of the steps."""
    own = recipe_of("He3(z)", activation="He3(z)", loss="correlation", spherical=True)
    drift = drift_of(own, series_averages(own, 0.0))
    for m in (0.1, -0.4, 0.8):
        at = Point(np.array([[1 - m * m]]), np.array([[m]]), np.ones(1))
        found = drift(at, Rates(1e-6, 0.0, 0.0))
        assert found.overlap[0, 0] / 1e-6 == pytest.approx(18 * m**2 * (1 - m**2))
        # E[U^2] = E[He3(h)^2 9 He2(l)^2] adds to the length with the square of the step.
        twice = drift(at, Rates(2e-6, 0.0, 0.0))
        squared = (twice.rest - 2 * found.rest)[0, 0] / 2e-12
        h, weights = np.polynomial.hermite_e.hermegauss(12)
        x, y = np.meshgrid(h, h)
        share = np.outer(weights, weights) / weights.sum() ** 2
        field = m * x + np.sqrt(1 - m * m) * y
        exact = np.sum(share * (x**3 - 3 * x) ** 2 * 9 * (field**2 - 1) ** 2)
        assert squared == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize(
    ("link", "rule", "scaling"),
    [
        ("z", "plain", "d"), ("He2(z)", "plain", "d log d"), ("He4(z)", "plain", "d^3"),
        ("1 + 0*z", "plain", ""),
    ],
)  # fmt: skip
def test_growth(link: str, rule: str, scaling: str) -> None:
    own = recipe_of(link, activation="exp(z)", loss="correlation", spherical=True, rule=rule)
    drift = drift_of(own, series_averages(own, 0.0))
    assert growth(own, drift, Rates(0.1, 0.0, 0.0), np.ones(1)) == scaling


def test_other_learners_have_none() -> None:
    others: list[dict[str, Any]] = [
        {"width": 2}, {"loss": "squared"}, {"spherical": False}, {"rule": "sam"},
        {"normalisation": "normalised"},
    ]  # fmt: skip
    for fields in others:
        merged = {"activation": "He2(z)", "loss": "correlation", "spherical": True} | fields
        assert series_averages(recipe_of("He2(z)", **merged), 0.0) is None
    own = recipe_of("He2(z)", activation="He2(z)", loss="correlation", spherical=True)
    assert series_averages(own._replace(isotropic=False), 0.0) is None
