"""Nodes of the fields: moments that are known, and which rule a link gets."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Link, MultiIndex, OnlineSGD
from learnability.learners.online._nodes import nodes_for, noise_nodes


@pytest.mark.parametrize(
    ("link", "activation", "p", "plain", "rules"),
    [
        ("z1**2 + z2", "tanh(z)", 1, True, 1),
        ("sign(z1) + z2", "relu(z)", 1, True, 2),
        ("sign(z1)", "relu(z)", 3, True, 4),
        ("sign(z1 + z2)", "tanh(z)", 1, True, 4),
    ],
)
def test_nodes_are_standard_normal(
    link: str, activation: str, p: int, plain: bool, rules: int
) -> None:
    """Second moments of (h, u) are the identity, and labels are those of the link with noise."""
    found = nodes_for(Link(link), Link(activation), p, 0.3, plain)
    assert len(found) == rules
    for nodes in found:
        both = np.vstack([nodes.hidden, nodes.own])
        assert nodes.weights.sum() == pytest.approx(1.0)
        accuracy = 1e-9 if rules < 4 else 2e-3
        np.testing.assert_allclose(
            (both * nodes.weights) @ both.T, np.eye(len(both)), atol=accuracy
        )
        clean = Link(link)(nodes.hidden.T)
        assert float(nodes.weights @ (nodes.y - clean) ** 2) == pytest.approx(0.3, rel=1e-2)


def test_jumps_are_met_by_the_nodes() -> None:
    """E[step(z - 0.3) z], whose error would be large with nodes that do not know the jump."""
    (nodes,) = nodes_for(Link("step(z - 0.3)"), Link("tanh(z)"), 1, 0.0, True)
    exact = np.exp(-0.045) / np.sqrt(2 * np.pi)
    assert float(nodes.weights @ (nodes.y * nodes.hidden[0])) == pytest.approx(exact, abs=1e-12)


def test_noise_is_exact_to_the_power_that_is_needed() -> None:
    for plain, powers in ((True, (1, 2)), (False, (1, 2, 3, 4, 6))):
        xi, share = noise_nodes(0.5, plain)
        for k in powers:
            moment = 0.0 if k % 2 else float(np.prod(np.arange(1, k, 2)))
            assert float(share @ xi**k) == pytest.approx(moment, abs=1e-10)
    assert len(noise_nodes(0.0, True)[0]) == 1


@pytest.mark.parametrize(
    ("text", "p", "plain", "accuracy"),
    [
        ("bernoulli(sigmoid(2*z))", 1, True, 1e-9),
        ("z1 + z1*z2*xi", 1, True, 1e-9),
        ("poisson(exp(z/2))", 2, True, 1e-9),
        ("bernoulli(sigmoid(2*z))", 1, False, 2e-3),
        ("z*exp(0.3*xi)", 2, False, 2e-3),
    ],
)
def test_random_labels_have_their_two_moments(
    text: str, p: int, plain: bool, accuracy: float
) -> None:
    """E[y z], E[y^2] and E[y^2 z^2] at the nodes, against one-dimensional integrals of the law."""
    link = Link(text)
    assert link.law is not None
    t, w = np.polynomial.hermite_e.hermegauss(60)
    grid = np.array(np.meshgrid(*[t] * link.r)).reshape(link.r, -1).T
    share = np.prod(np.meshgrid(*[w / w.sum()] * link.r), axis=0).ravel()
    mean = np.asarray(link(grid))
    power = mean**2 + np.asarray(link.law.variance(grid))
    nodes = nodes_for(link, Link("tanh(z)"), p, 0.0, plain)[0]
    for k in range(3):
        found = nodes.weights @ (nodes.y * nodes.hidden[0] ** k)
        assert float(found) == pytest.approx(share @ (mean * grid[:, 0] ** k), abs=accuracy)
        found = nodes.weights @ (nodes.y**2 * nodes.hidden[0] ** k)
        exact = float(share @ (power * grid[:, 0] ** k))
        assert float(found) == pytest.approx(exact, abs=accuracy * (1 + abs(exact)))


@pytest.mark.parametrize(
    ("text", "activation", "p", "plain", "power"),
    [
        ("2*sin(20*z)", "relu(z)", 1, True, 2.0),
        ("2*sin(9*z1) + z2", "tanh(z)", 1, True, 3.0),
        ("2*cos(12*z1)*z2", "relu(z)", 1, False, 2.0),
        ("2*sin(9*z1) + z2", "tanh(z)", 2, True, 3.0),
        ("100 + 2*sin(15*z)", "tanh(z)", 3, True, 10002.0),
    ],
)
@pytest.mark.parametrize("fine", [True, False])
def test_fast_labels_have_their_mean_square(
    text: str, activation: str, p: int, plain: bool, power: float, fine: bool
) -> None:
    """Rules of a fixed number of nodes had E[y^2] of 0.99 instead of 3, and of 4 instead of 2."""
    for nodes in nodes_for(Link(text), Link(activation), p, 0.0, plain, fine):
        accuracy = 2e-3 if fine else 3e-2
        found = float(nodes.weights @ nodes.y**2)
        assert found == pytest.approx(power, abs=accuracy * min(power, 3.0))


def test_a_steep_activation_is_no_smooth_one() -> None:
    """Gauss rules of the fields do not resolve it: grids, whose difference is the error, do."""
    assert len(nodes_for(Link("z1*z2 + z1"), Link("atan(40*z)"), 1, 0.0, True)) == 2
    assert len(nodes_for(Link("z1*z2 + z1"), Link("tanh(z)"), 1, 0.0, True)) == 1


def test_strong_noise_in_a_slope_shows_in_the_error() -> None:
    """The overlap is 0.2809; ten nodes of the noise gave 0.2736 with an error of 3e-7."""
    learner = OnlineSGD(activation="tanh(z)", step=0.3, rule="extragradient", look_ahead=1.0)
    found = learner.predict(MultiIndex("z", noise=25.0), time=[1.0], start=(1.0, 0.3))
    gap = abs(float(found.overlap.squeeze()) - 0.2809)
    assert gap <= 3 * float(found.overlap_stderr.squeeze()) + 3e-4


@pytest.mark.parametrize(
    ("text", "fine", "accuracy"),
    [("sign(z)", True, 7e-4), ("sign(z1) + z2", True, 3e-3), ("sign(z)", False, 2e-2)],
)
def test_a_jump_of_the_activation_costs_little(text: str, fine: bool, accuracy: float) -> None:
    """E[sign(z) step(h)] = arcsin(rho) / pi over many rho, which the own grid has to resolve."""
    every = np.linspace(0.03, 0.97, 40)
    for nodes in nodes_for(Link(text), Link("relu(z)"), 1, 0.0, True, fine):
        z, u = nodes.hidden[0], nodes.own[0]
        off = [
            float((nodes.weights * np.sign(z)) @ (rho * z + np.sqrt(1 - rho**2) * u > 0))
            - np.arcsin(rho) / np.pi
            for rho in every
        ]
        assert np.sqrt(np.mean(np.square(off))) < accuracy
