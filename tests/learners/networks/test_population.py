"""Population averages of one neuron."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from learnability import Link
from learnability.inputs import Frame, Spiked
from learnability.learners.flow._equations import geometry
from learnability.learners.networks.population import Population
from learnability.learners.networks.starts import start_of

HE2, HE3 = "He2(z)/sqrt(2)", "He3(z)/sqrt(6)"
# Values computed apart from this library: activation, link, c_beta, c_w (twice ours) and loss at
# m = 0.35, s = 0.45, q = 1.2, a = 0.4, theta = 9.
REFERENCE = [
    ("relu(z)", HE2, -0.524021, 1.17077, 1.99509),
    ("tanh(z)", HE3, 0.271519, -0.0351552, 1.76897),
    ("tanh(z)", "z", -0.524094, 0.383448, 0.558204),
    ("relu(z)", f"({HE2} + {HE3})/sqrt(2)", -0.370538, 1.12075, 2.14627),
]


def seen(frame: Frame, m: float, s: float, q: float) -> tuple[float, float]:
    """rho and tau of weights with <w, beta>, <w, mu> and |w|^2."""
    start = start_of((q, m, s), 1, frame)
    return geometry(frame, np.append(start.overlap[0], math.sqrt(start.rest.item())))


@pytest.mark.parametrize(("activation", "link", "beta", "weights", "loss"), REFERENCE)
def test_reference_values(
    activation: str, link: str, beta: float, weights: float, loss: float
) -> None:
    kappa = 1 + 9 * 0.4**2
    rho, tau = seen(Spiked(9.0, 0.4).frame(1, 100), 0.35, 0.45, 1.2)
    assert (rho, tau) == pytest.approx((0.725418, 1.73853), abs=1e-5)
    population = Population(Link(link), Link(activation))
    found = population.gradient(rho, tau)
    assert 2 * found.label / math.sqrt(kappa) == pytest.approx(beta, abs=1e-5)
    assert 2 * found.weights == pytest.approx(weights, abs=1e-5)
    assert population.loss(rho, tau) == pytest.approx(loss, abs=1e-5)


@pytest.mark.parametrize("link", ["sign(z)", "abs(z) + z", "sin(2*z)"])
def test_gradients_are_those_of_the_loss(link: str) -> None:
    """Central differences of the loss in m, s and q."""
    theta, a, at = 4.0, 0.6, np.array([0.3, 0.2, 1.1])
    frame = Spiked(theta, a).frame(1, 100)
    population = Population(Link(link), Link("relu(z) + tanh(z)/2"))

    def loss(x: np.ndarray) -> float:
        return population.loss(*seen(frame, *x))

    numeric = [(loss(at + e) - loss(at - e)) / 2e-5 for e in 1e-5 * np.eye(3)]
    c = population.gradient(*seen(frame, *at))
    beta = c.label / math.sqrt(1 + theta * a * a)
    # The gradient 2 (c_beta Sigma beta + c_w Sigma w) in terms of beta, mu and 2 w.
    exact = [2 * beta, 2 * theta * (beta * a + c.weights * at[1]), c.weights]
    np.testing.assert_allclose(numeric, exact, atol=1e-5)


def test_the_normalised_pull_is_a_series() -> None:
    population = Population(Link("z + He3(z)"), Link("z**3"))
    # z^3 = He3 + 3 He1: zeta(rho) = 3 rho + 6 rho^3.
    assert population.normalised_pull(0.3) == pytest.approx(3 + 18 * 0.09)
    assert population.averages(0.5, 2.0).cross == pytest.approx(8 * (3 * 0.5 + 6 * 0.125))
    assert population.averages(0.5, 2.0).own == pytest.approx(64 * 15)
    assert math.isclose(population.energy, 7.0, rel_tol=1e-9)


@pytest.mark.parametrize("rho", [0.5, 0.99, 0.9999])
def test_the_normalised_pull_of_kinks(rho: float) -> None:
    """E[f' sigma'] of relu(z) and relu(z - 1) is P(z > 0, h > 1), close to rho = 1 too."""
    found = Population(Link("relu(z)"), Link("relu(z - 1)")).normalised_pull(rho)
    law = multivariate_normal([0, 0], [[1, rho], [rho, 1]])
    assert found == pytest.approx(float(law.cdf([0, -1])), abs=1e-8)


@pytest.mark.parametrize(("rho", "tau"), [(0.3, 0.7), (-0.6, 2.0)])
def test_rounding_is_bounded_term_by_term(rho: float, tau: float) -> None:
    """Of sum_k k c_k(f) c_k(sigma) rho^(k-1) / tau: a share of each term, and a floor of each."""
    tower = Population(Link("z + He3(z) + He5(z)/10"), Link("tanh(z) + relu(z)"))
    series = tower._series(tau)
    floor = 10 * 1e-14 * math.sqrt(series.own)
    exact = 0.0
    for k, c in ((1, 1.0), (3, math.sqrt(6)), (5, math.sqrt(120) / 10)):
        term = c * k * abs(rho) ** (k - 1) / tau
        exact += term * (floor + 1e-12 * abs(series.value[k]))
    assert tower._averages(rho, tau)[1] == pytest.approx(exact, rel=1e-6, abs=0)
