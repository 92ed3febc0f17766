"""Flows and the landscape of the spherical one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from learnability import Link
from learnability.learners.flow._equations import landscape, solve
from learnability.learners.flow._population import Population, geometry
from learnability.targets import Spike

HE2, HE3 = "He2(z)/sqrt(2)", "He3(z)/sqrt(6)"
# Values computed apart from this library: flow, activation, link, d, gamma_1, gamma_2, m0, s0,
# time, and m, s, q there.
REFERENCE = [
    ("spherical", "relu(z)", HE2, 2000, 0.25, 0.3, 0.178885, 0.0111803, 2.4, 0.923211, 0.100277, 1),
    ("normalised", "He3(z)", HE3, 500, 0.2, 0.5, 0.357771, 0.0223607, 0.2, 0.996776, 0.289782, 1),
    ("whitened", "He3(z)", HE3, 200, 0.3, 0.7, 0.424264, 0.0353553, 0.1, 0.577454, 0.0794708,
     0.793294),
    ("whitened", "relu(z)", HE2, 2000, 0.3, 0.7, 0.178885, 0.0111803, 2.0, 0.54239, 0.0525035,
     0.4618),
]  # fmt: skip


@pytest.mark.parametrize("row", REFERENCE)
def test_reference_values(row: tuple[Any, ...]) -> None:
    flow, activation, link, d, g1, g2, m0, s0, time, *wanted = row
    population = Population(Link(link), Link(activation))
    found = solve(population, Spike(d**g2, d**-g1), flow, (m0, s0, 1.0), np.array([time]))
    np.testing.assert_allclose(found[0], wanted, atol=1e-4)


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
