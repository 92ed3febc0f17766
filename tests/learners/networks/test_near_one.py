"""Averages of broken functions at correlations near one."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from learnability import Link
from learnability.learners.networks._near_one import smoothed
from learnability.learners.networks.population import Population

JUMP, BEND = 0.5, 0.3


def exact(rho: float, tau: float) -> tuple[float, float, float]:
    """E[f sigma(h)], E[f' sigma'(h)], E[f h sigma'(h)] of sign(z - 1/2) and relu(z - 0.3)."""
    c = math.sqrt((1 - rho) * (1 + rho))
    turns = [JUMP / rho + k * c / rho for k in (-6, -1, 0, 1, 6)]
    edges = [-9.0, *sorted({BEND / tau, *turns}), 9.0]

    def mean(g: Callable[[float], float]) -> float:
        parts = zip(edges[:-1], edges[1:], strict=True)
        return sum(
            quad(lambda v: g(v) * norm.pdf(v), *ends, epsabs=1e-13, epsrel=1e-12, limit=200)[0]
            for ends in parts
        )

    def known(v: float) -> float:
        return float(2 * norm.cdf((rho * v - JUMP) / c) - 1)

    return (
        mean(lambda v: max(tau * v - BEND, 0.0) * known(v)),
        mean(lambda v: float(tau * v > BEND) * 2 * norm.pdf((rho * v - JUMP) / c) / c),
        mean(lambda v: tau * v * float(tau * v > BEND) * known(v)),
    )


@pytest.mark.parametrize(
    ("rho", "tau"), [(0.5, 1.0), (0.9, 1.7), (0.99, 1.3), (0.9999, 0.8), (-0.99, 2.5)]
)
def test_a_jump_and_a_bend(rho: float, tau: float) -> None:
    """By the series at 0.5, by split integrals beyond; adaptive integrals are the reference."""
    population = Population(Link("sign(z - 0.5)"), Link("relu(z - 0.3)"))
    found = population.averages(rho, tau)
    cross, slope, radial = exact(rho, tau)
    assert found.cross == pytest.approx(cross, abs=1e-11)
    assert found.slope == pytest.approx(slope, abs=1e-11)
    own = population._series(tau).mixed
    assert own - found.radial == pytest.approx(radial, abs=1e-11)


def test_at_one_the_two_are_the_same_variable() -> None:
    population = Population(Link("abs(z - 0.2)"), Link("relu(z) + sign(z - 1)"))
    z = np.linspace(-9, 9, 2_000_001)
    weights = np.exp(-0.5 * z**2) / np.exp(-0.5 * z**2).sum()
    exact = float(weights @ (np.abs(z - 0.2) * (np.maximum(z, 0) + np.sign(z - 1))))
    assert population.averages(1.0, 1.0).cross == pytest.approx(exact, abs=2e-5)


def test_steep_activations_are_resolved() -> None:
    """tanh(1000 v) is sign(v), whose averages with sign are known: (2 / pi) arcsin(rho)."""
    population = Population(Link("sign(z)"), Link("tanh(z)"))
    for rho in (0.3, 0.95, 0.999):
        found = population.averages(rho, 1000.0)
        assert found.cross == pytest.approx(2 / math.pi * math.asin(rho), abs=2e-4)
        assert found.own == pytest.approx(1 - 2 / 1000 * norm.pdf(0), abs=1e-6)


@pytest.mark.parametrize("tau", [1.0, 4.0, 30.0, 300.0])
def test_oscillations_are_resolved(tau: float) -> None:
    """E[cos(h)^2], E[h cos cos'] and E[z sin(h)] at lengths of hundreds of turns."""
    found = Population(Link("He2(z)"), Link("cos(z)"))._series(tau)
    assert found.own == pytest.approx((1 + math.exp(-2 * tau**2)) / 2, abs=1e-12)
    assert found.mixed == pytest.approx(-(tau**2) * math.exp(-2 * tau**2), abs=1e-12 * tau)
    assert found.turned == pytest.approx(tau**2 / 2, rel=1e-12, abs=0.6 * tau**2 * (tau < 3))
    odd = Population(Link("z"), Link("sin(z)")).averages(1.0, tau)
    assert odd.cross == pytest.approx(tau * math.exp(-(tau**2) / 2), abs=1e-12)


def test_smoothing() -> None:
    known = smoothed(Link("sign(z)"), np.zeros(1), 0.8, np.zeros(0))
    np.testing.assert_allclose(known.value, 2 * norm.cdf(0.8 * known.v / 0.6) - 1, atol=1e-12)
    np.testing.assert_allclose(known.slope, 2 * norm.pdf(0.8 * known.v / 0.6) / 0.6, atol=1e-11)
    assert known.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("rho", [0.3, 0.8, 0.99])
def test_waves_that_jump_are_resolved_beside_the_jump(rho: float) -> None:
    """E[f | v] and its slope, of sin(12 z) sign(z - 1/2), from the two sides of the jump."""
    c = math.sqrt(1 - rho**2)
    found = smoothed(Link("sin(12*z)*sign(z - 0.5)"), np.array([JUMP]), rho, np.zeros(0))
    middle = np.nonzero(np.abs(found.v) < 3)[0][::40]
    for k in middle:
        v = float(found.v[k])
        cut = min(max((JUMP - rho * v) / c, -9.0), 9.0)
        for got, scale in ((found.value[k], 0), (found.slope[k], 1)):

            def integrand(t: float, v: float = v, scale: int = scale) -> float:
                return math.sin(12 * (rho * v + c * t)) * norm.pdf(t) * (t / c) ** scale

            parts = [
                sign * quad(integrand, *ends, epsabs=1e-12, limit=200)[0]
                for sign, ends in ((-1, (-9.0, cut)), (1, (cut, 9.0)))
            ]
            assert got == pytest.approx(sum(parts), abs=1e-5)
