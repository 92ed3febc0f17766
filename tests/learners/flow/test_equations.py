"""Flows in the marked axes of the inputs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from learnability import GradientFlow, Link, MultiIndex
from learnability.inputs import Frame, Isotropic, Spiked
from learnability.learners.flow._equations import geometry, solve
from learnability.learners.measurement import overlaps_in_frame
from learnability.learners.networks.population import Population
from learnability.learners.networks.starts import start_of

from tests.structured_values import FLOWS, HE3, LINKS, REPELLED

ACTIVATIONS = {"relu": "relu(z)", "he3": "He3(z)"}


def coordinates(frame: Frame, *start: Any) -> np.ndarray:
    found = start_of(start, 1, frame)
    return np.append(found.overlap[0], math.sqrt(max(found.rest.item(), 0.0)))


def parameters(frame: Frame, w: np.ndarray) -> list[float]:
    """<w, beta>, <w, mu> and |w|^2."""
    found = overlaps_in_frame(w[None, :-1], np.array([w @ w]), frame)
    return [found["overlap"].item(), found["spike_overlap"].item(), float(w @ w)]


@pytest.mark.parametrize("row", FLOWS)
def test_reference_values(row: tuple[Any, ...]) -> None:
    flow, activation, link, d, g1, g2, m0, s0, time, *wanted, rho = row
    population = Population(Link(LINKS[link]), Link(ACTIVATIONS[activation]))
    frame = Spiked(exponent=g2, alignment_exponent=g1).frame(1, d)
    start = coordinates(frame, 1.0, m0, s0)
    found = solve(population, frame, flow, start, np.array([time]))
    np.testing.assert_allclose(parameters(frame, found[0]), wanted, atol=1e-4)
    assert geometry(frame, found[0])[0] == pytest.approx(rho, abs=1e-4)


@pytest.mark.parametrize(("d", "gamma", "rho"), REPELLED)
def test_he3_is_repelled_from_every_start(d: int, gamma: float, rho: float) -> None:
    frame, m = Spiked(exponent=gamma).frame(1, d), d**-0.5
    start = coordinates(frame, 1.0, m, m)
    assert geometry(frame, start)[0] == pytest.approx(rho, abs=2e-9)
    population = Population(Link(HE3), Link("He3(z)"))
    end = solve(population, frame, "spherical", start, np.array([0.1, 50.0]))
    assert abs(end[1, 0]) < 1e-6 * m and abs(end[0, 0]) < m


def test_whitened_correlations_follow_their_own_equation() -> None:
    """d rho / dt = 2 zeta'(rho) (1 - rho^2), whatever the spikes."""
    from scipy.optimize import brentq

    population = Population(Link("tanh(2*z)"), Link("tanh(z)"))
    times = np.linspace(0, 1, 5)
    paths = []
    for inputs, others in (
        (Isotropic(), ()),
        (Spiked(0.0), None),
        (Spiked(15.0, 0.3), (0.05,)),
        (Spiked((15.0, 3.0), (0.3, -0.5)), ((0.05, 0.1),)),
    ):
        frame = inputs.frame(1, 100)

        def begin(m: float, frame: Frame = frame, others: Any = others) -> np.ndarray:
            return coordinates(frame, 1.0, m, *((m,) if others is None else others))

        m = brentq(lambda m, f=frame, b=begin: geometry(f, b(m))[0] - 0.2, -0.6, 0.6)
        path = solve(population, frame, "whitened", begin(float(m)), times)
        paths.append([geometry(frame, w)[0] for w in path])
    np.testing.assert_allclose(paths, [paths[0]] * 4, atol=1e-6)


@pytest.mark.parametrize("flow", ["spherical", "normalised", "whitened"])
def test_a_spike_without_strength_and_a_spike_in_two_change_nothing(flow: str) -> None:
    """Isotropic inputs, a spike of strength 0, and two equal spikes instead of one between them."""
    population, times = Population(Link(HE3), Link("tanh(z)")), np.array([0.0, 0.7, 2.0])
    one, none = Isotropic().frame(1, 50), Spiked((0.0, 0.0), (0.4, 0.6)).frame(1, 50)
    start = {0: coordinates(one, 1.0, -0.5), 1: coordinates(none, 1.0, -0.5, (0.2, -0.4))}
    rho = [
        [geometry(frame, w)[0] for w in solve(population, frame, flow, start[k], times)]
        for k, frame in enumerate((one, none))
    ]
    np.testing.assert_allclose(rho[0], rho[1], atol=1e-6)
    single, double = Spiked(8.0, 0.6).frame(1, 50), Spiked((8.0, 0.0), (0.6, 0.5)).frame(1, 50)
    ways = (
        (single, coordinates(single, 1.0, -0.3, 0.1)),
        (
            double,
            coordinates(double, 1.0, -0.3, (0.1, 0.2)),
        ),
    )
    found = [
        [geometry(frame, w)[0] for w in solve(population, frame, flow, begin, times)]
        for frame, begin in ways
    ]
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)


@pytest.mark.parametrize("flow", ["spherical", "normalised"])
def test_lengths_stay(flow: str) -> None:
    frame = Spiked((9.0, 2.0), (0.5, 0.3)).frame(1, 100)
    start = coordinates(frame, 1.0, 0.3, (0.2, -0.1))
    population = Population(Link(HE3), Link("tanh(z)"))
    found = solve(population, frame, flow, start, np.array([0.0, 3.0]))
    np.testing.assert_allclose(np.sum(found**2, axis=1), 1, rtol=1e-12)
    assert abs(geometry(frame, found[1])[0] - geometry(frame, found[0])[0]) > 1e-3


def test_a_flow_that_arrives_stays_on_the_sphere() -> None:
    """relu on He2 ends at the pole, where a step of the solver may leave the sphere."""
    target = MultiIndex("He2(z)/sqrt(2)")
    path = GradientFlow("relu(z)").predict(target, time=[0.0, 50.0], start=(1.0, 0.3))
    assert float(path.correlation.values.ravel()[0]) == pytest.approx(1.0, abs=1e-6)
    assert float(path.length.values.ravel()[0]) == pytest.approx(1.0, abs=1e-9)
