"""Where spherical flows turn and end, and the chance of a random start."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chi2

from learnability import Link
from learnability.inputs import Spiked
from learnability.learners.flow._equations import geometry, solve
from learnability.learners.flow._landscape import landscape, recovery
from learnability.learners.networks.population import Population

from tests.structured_values import HE2, HE3

HE4 = "He4(z)/sqrt(24)"


@pytest.mark.parametrize(
    ("activation", "link", "maxima", "minima"),
    [
        ("tanh(z)", HE3, [0.213886], [0.0, 15.3662]),
        ("relu(z)", HE2, [], [0.130502]),
        ("He3(z)", HE3, [], [0.0]),
        ("tanh(z)", "z", [], [12.9144]),
        ("He2(z)", HE2, [], [0.0]),
        ("cos(z)", HE4, [], [4.000677]),  # Flat to rounding beyond: no extremum is told there.
        ("sin(z)", HE3, [0.030887], [0.0, 2.996474]),
    ],
)
def test_where_spherical_flows_end(
    activation: str, link: str, maxima: list[float], minima: list[float]
) -> None:
    found = landscape(Population(Link(link), Link(activation)))
    assert found.maxima == pytest.approx(maxima, rel=1e-4)
    assert found.minima == pytest.approx(minima, rel=1e-4)
    assert (found.decided[1] < 100) == (activation in ("cos(z)", "sin(z)"))


def test_a_strong_spike_has_the_separatrix_of_the_landscape() -> None:
    """P(S > S_c) / 2 with S = theta / d times a chi-square variable, as theta and d grow."""
    population, d = Population(Link(HE3), Link("tanh(z)")), 10**6
    found = recovery(population, d**0.9, d, 0.5)
    assert found.undecided == 0
    assert found.share == pytest.approx(0.5 * chi2.sf(0.213886 * d**0.1, 1), rel=1e-3)


@pytest.mark.parametrize(
    ("activation", "link", "theta", "wanted"),
    [
        ("cos(z)", HE4, 200.0, 1.0),
        ("relu(z)", HE2, 200.0, 0.0),  # Both sides stall at rho = 0.34.
        ("tanh(z)", HE3, 0.0, 0.5),  # Without a spike there is no barrier on the right side.
        ("tanh(z)", HE3, 200.0, None),
        ("tanh(z)", "He2(z) + z/2", 30.0, None),
        ("exp(-z**2)", HE2, 200.0, None),
    ],
)
def test_it_is_the_share_of_its_own_flows(
    activation: str, link: str, theta: float, wanted: float | None
) -> None:
    """Flows from 20 quantiles of random starts, long enough to have decided."""
    from scipy.special import betaincinv

    population, d = Population(Link(link), Link(activation)), 400
    found = recovery(population, theta, d, 0.5)
    assert found.undecided < 1e-6 and (wanted is None or found.share == pytest.approx(wanted))
    frame = Spiked(theta).frame(1, d)
    quantiles = (np.arange(10) + 0.5) / 10
    ends = []
    for sign in (1, -1):
        for m in sign * np.sqrt(betaincinv(0.5, (d - 1) / 2, quantiles)):
            start = np.array([m, 0.0, math.sqrt(1 - m * m)])
            path = solve(population, frame, "spherical", start, np.array([3000.0]))
            ends.append(abs(geometry(frame, path[0])[0]) >= 0.5)
    assert np.mean(ends) == pytest.approx(found.share, abs=1 / 20 + 1e-9)


def test_what_rounding_decides_is_undecided() -> None:
    """sin(h) forgets its field when tau is large: nobody can see a slope there."""
    found = recovery(Population(Link("z"), Link("sin(z)")), 501.0, 1000, 0.5)
    assert found.undecided == pytest.approx(0.0742, abs=1e-3)
    assert found.share + found.undecided == pytest.approx(1)


class Scalloped:
    """A population whose slope in log S is a product of log S minus chosen places."""

    energy = 1.0

    def __init__(self, *places: float, sign: int = 1) -> None:
        self.places, self.sign = places, sign

    def turn(self, rho: float, tau: float, along: float, pull: float) -> float:
        log_s = 2 * math.log(along)
        return self.sign * math.prod(log_s - math.log(place) for place in self.places)

    def loss(self, rho: float, tau: float) -> float:
        return 1.0 if rho > 0 else 2.0


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    "places", [(), (0.2,), (0.01, 3.0), (1e-3, 0.5, 40.0), (1.0000001e-6, 2.0), (1.0000001e-6,)]
)
def test_extrema_alternate_from_the_first_slope_on(places: tuple[float, ...], sign: int) -> None:
    """The loss first increases or decreases, and turns at each place, also next to the first S."""
    found = landscape(Scalloped(*places, sign=sign))  # type: ignore[arg-type]
    first = sign * (-1) ** len(places)
    rising = [k for k in range(len(places)) if first * (-1) ** k > 0]
    maxima = [places[k] for k in rising]
    minima = [p for p in places if p not in maxima]
    assert found.maxima == pytest.approx(maxima, rel=1e-6)
    assert found.minima == pytest.approx([0.0] * (first > 0) + minima, rel=1e-6)
    assert found.sign == 1 and found.decided == pytest.approx((1e-6, 1e6))


def test_a_slope_that_nobody_sees_has_no_extrema() -> None:
    found = landscape(Scalloped(sign=0))  # type: ignore[arg-type]
    assert found.maxima == () and found.minima == () and np.isnan(found.decided).all()
