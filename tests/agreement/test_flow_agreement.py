"""Gradient flows: the population's gradient and its flow against samples and descents.

Seeds are fixed; links and activations are our own.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import GradientFlow, Link, MultiIndex, SpikedIndex
from learnability.inputs import Spiked
from learnability.learners.flow._equations import geometry
from learnability.learners.networks.population import Population

pytestmark = pytest.mark.agreement


def test_the_gradient_of_the_population() -> None:
    """Against the mean gradient of samples, along three directions; links of our own."""
    rng = np.random.default_rng(5)
    frame, (m, s, q) = Spiked(6.0, 0.5).frame(1, 100), (0.4, -0.3, 1.3)
    kappa = 1 + 6 * 0.25
    b = (m - 0.5 * s) / math.sqrt(0.75)
    w = np.array([s, b, math.sqrt(q - s * s - b * b)])
    stretch = np.array([math.sqrt(7.0), 1.0, 1.0])
    beta = np.array([0.5, math.sqrt(0.75), 0.0])
    scores = []
    for link, activation in (
        ("sin(z) + z", "relu(z)"),
        ("abs(z)", "tanh(z) + z**2/4"),
        ("sign(z)", "sin(z)"),
    ):
        X = rng.standard_normal((400_000, 3)) * stretch
        f = Link(link)((X @ beta / math.sqrt(kappa))[:, None])
        h = X @ w
        sigma = Link(activation)
        each = 2 * ((sigma(h[:, None]) - f) * sigma.derivative()(h[:, None]))[:, None] * X
        c = Population(Link(link), sigma).gradient(*geometry(frame, w))
        wanted = 2 * stretch**2 * (c.label * beta / math.sqrt(kappa) + c.weights * w)
        scores += list((each.mean(axis=0) - wanted) / (each.std(axis=0) / math.sqrt(len(X))))
    assert np.abs(scores).max() < 4 and np.sqrt(np.mean(np.square(scores))) < 1.6, scores


@pytest.mark.parametrize(
    ("flow", "link", "activation"),
    [
        ("spherical", "He2(z)/sqrt(2) + z/2", "relu(z)"),
        ("normalised", "sign(z) + z**2/2", "tanh(z) + z/4"),
        ("whitened", "abs(z) + sin(z)", "relu(z) + tanh(z)/2"),
    ],
)
def test_descent_follows_the_flow_better_with_smaller_steps(
    flow: str, link: str, activation: str
) -> None:
    target = SpikedIndex(link, spike_exponent=0.4, alignment_exponent=0.2)
    start, times = (1.0, 0.2, 0.1), np.linspace(0, 1.5, 7)
    gaps = []
    for step, batch in ((0.1, 4000), (0.02, 30_000)):
        learner = GradientFlow(activation, flow, step, batch)
        runs = learner.simulate(target, d=300, time=times, seeds=3, start=start)
        theory = learner.predict(target, d=300, time=times, start=start)
        gaps.append(
            float(np.abs(runs.correlation_trace.mean("seed") - theory.correlation_trace).max())
        )
    assert gaps[1] < 0.03 and gaps[1] < gaps[0]


@pytest.mark.parametrize("flow", ["spherical", "normalised", "whitened"])
@pytest.mark.parametrize("spikes", [0, 2])
def test_descent_follows_the_flow_without_spikes_and_with_two(flow: str, spikes: int) -> None:
    """Overlaps, spikes and lengths, whose descents differ by the step and the noise of batches."""
    inputs = Spiked((6.0, 3.0), (0.5, -0.4)) if spikes else None
    target = MultiIndex("sin(2*z) + z**2/2", noise=0.2, inputs=inputs)
    start = (1.0, 0.3, (0.1, 0.2))[: 2 + (spikes > 0)]
    learner = GradientFlow("tanh(z) + relu(z)/2", flow, 0.01, 40_000)
    runs = learner.simulate(target, d=200, time=[0.5, 1.0], seeds=3, start=start)
    theory = learner.predict(target, d=200, time=[0.5, 1.0], start=start)
    moved = float(np.abs(theory.correlation_trace - 0.3).max())
    for name in ("overlap", "correlation", "length", "error", "spike_overlap")[: 4 + (spikes > 0)]:
        gap = np.abs(runs[f"{name}_trace"].mean("seed") - theory[f"{name}_trace"])
        assert float(gap.max()) < 0.02, (name, gap.values)
    assert moved > 0.1
