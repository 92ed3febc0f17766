"""Scores of convex losses: the proximal step and its means over a normal variable."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from learnability.learners.linear.losses import HUBER_REACH, LOSSES


def plain(name: str, p: float, scale: float) -> float:
    """The loss as it is defined."""
    if name == "squared":
        return 0.5 * p**2
    if name == "huber":
        t = abs(p) / scale
        return 0.5 * scale * (t**2 if t < HUBER_REACH else 2 * HUBER_REACH * t - HUBER_REACH**2)
    return max(0.0, 1 - p) if name == "hinge" else float(np.logaddexp(0, -p))


def score(name: str, rho: float, V: float, scale: float) -> float:
    """The score by a minimisation of its definition."""
    found = minimize_scalar(
        lambda p: plain(name, p, scale) + (p - rho) ** 2 / (2 * V),
        bounds=(rho - 20, rho + 20),
        method="bounded",
        options={"xatol": 1e-11},
    )
    return (rho - float(found.x)) / V


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize(("V", "spread", "scale"), [(0.7, 0.9, 0.6), (4.0, 0.3, 1.5)])
def test_the_means_are_those_of_the_minimiser(
    name: str, V: float, spread: float, scale: float
) -> None:
    centres = np.array([-0.2, 1.6])
    x = np.linspace(-8, 8, 1601)
    weights = np.exp(-0.5 * x**2)
    weights /= weights.sum()
    found = LOSSES[name].means(centres, spread, V, scale)
    for k, centre in enumerate(centres):
        f = np.array([score(name, centre + spread * t, V, scale) for t in x])
        assert found.first[k] == pytest.approx(weights @ f, abs=2e-5)
        assert found.second[k] == pytest.approx(weights @ f**2, abs=2e-5)
        # Stein: the mean slope is that of t f(centre + spread t) over the spread.
        assert found.slope[k] == pytest.approx(weights @ (x * f) / spread, abs=5e-5)
