"""Scores of convex losses: the proximal step and its means over a normal variable."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from learnability import LinearModel
from learnability.learners.linear.losses import HUBER_REACH, LOSSES, _logistic_prox


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


@pytest.mark.parametrize("V", [0.1, 10.0, 80.0, 1e6])
def test_logistic_steps_are_roots_for_every_strength(V: float) -> None:
    """Newton's steps from rho jumped to and fro for ever at V = 80: no fit of ridge 0.01 ended."""
    rho = np.concatenate([np.linspace(-20, 20, 201), V * np.linspace(-3, 3, 201)])
    p = _logistic_prox(rho, V)
    found = p - V / (1 + np.exp(np.clip(p, -500, 500)))
    np.testing.assert_allclose(found, rho, atol=1e-11 * V + 1e-12)


def test_weakly_regularised_logistic_fits_are_found() -> None:
    """Eight runs at d = 300 have the overlap 1.569(27) and the cosine 0.593(8)."""
    theory = LinearModel("logistic", 0.01).predict("sign(z + 0.5)", alpha=0.7)
    assert float(theory.overlap.squeeze()) == pytest.approx(1.569, abs=0.08)
    assert float(theory.cosine.squeeze()) == pytest.approx(0.593, abs=0.024)


def test_wide_margins_have_nodes_enough() -> None:
    """The spread of the margin is 28: 48 nodes gave the overlap 12.527."""
    theory = LinearModel("logistic", 1e-4).predict("flip(sign(z), 0.2)", alpha=2.0)
    assert float(theory.overlap.squeeze()) == pytest.approx(12.469, abs=2e-3)
