"""Flows and the landscape of the spherical one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from learnability import Link
from learnability.learners.flow._equations import landscape, solve
from learnability.learners.flow._population import Population, geometry
from learnability.targets import Spike

from tests.structured_values import FLOWS, HE2, HE3, LINKS, REPELLED

ACTIVATIONS = {"relu": "relu(z)", "he3": "He3(z)"}


@pytest.mark.parametrize("row", FLOWS)
def test_reference_values(row: tuple[Any, ...]) -> None:
    flow, activation, link, d, g1, g2, m0, s0, time, *wanted, rho = row
    population = Population(Link(LINKS[link]), Link(ACTIVATIONS[activation]))
    spike = Spike(d**g2, d**-g1)
    found = solve(population, spike, flow, (m0, s0, 1.0), np.array([time]))
    np.testing.assert_allclose(found[0], wanted, atol=1e-4)
    assert geometry(spike, *found[0])[0] == pytest.approx(rho, abs=1e-4)


@pytest.mark.parametrize(("d", "gamma", "rho"), REPELLED)
def test_he3_is_repelled_from_every_start(d: int, gamma: float, rho: float) -> None:
    spike, m = Spike(d**gamma, 1.0), d**-0.5
    assert geometry(spike, m, m, 1.0)[0] == pytest.approx(rho, abs=2e-9)
    population = Population(Link(HE3), Link("He3(z)"))
    end = solve(population, spike, "spherical", (m, m, 1.0), np.array([0.1, 50.0]))
    assert abs(end[1, 0]) < 1e-6 * m and abs(end[0, 0]) < m


def test_whitened_correlations_follow_their_own_equation() -> None:
    """d rho / dt = 2 zeta'(rho) (1 - rho^2), whatever the spike."""
    population = Population(Link("tanh(2*z)"), Link("tanh(z)"))
    times = np.linspace(0, 1, 5)
    paths = [
        [geometry(spike, *x)[0] for x in solve(population, spike, "whitened", start, times)]
        for spike, start in ((Spike(0.0, 1.0), (0.2, 0.2, 1.0)), (Spike(15.0, 0.3), None))
        for start in [start or _with_correlation(Spike(15.0, 0.3), 0.2)]
    ]
    np.testing.assert_allclose(paths[0], paths[1], atol=1e-6)


def _with_correlation(spike: Spike, rho: float) -> tuple[float, float, float]:
    from scipy.optimize import brentq

    m = brentq(lambda m: geometry(spike, m, 0.05, 1.0)[0] - rho, -1, 1)
    return float(m), 0.05, 1.0


@pytest.mark.parametrize(
    ("activation", "link", "maxima", "minima"),
    [
        ("tanh(z)", HE3, [0.213886], [0.0, 15.3662]),
        ("relu(z)", HE2, [], [0.130502]),
        ("He3(z)", HE3, [], [0.0]),
        ("tanh(z)", "z", [], [12.9144]),
        ("He2(z)", HE2, [], [0.0]),
    ],
)
def test_where_spherical_flows_end(
    activation: str, link: str, maxima: list[float], minima: list[float]
) -> None:
    found = landscape(Population(Link(link), Link(activation)))
    assert found.maxima == pytest.approx(maxima, rel=1e-4)
    assert found.minima == pytest.approx(minima, rel=1e-4)
