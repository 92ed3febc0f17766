"""Evidence and errors of the Bayes learner against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import norm

from learnability import Channel
from learnability.learners.bayes._channel_step import ChannelStep
from learnability.learners.bayes._generalisation import (
    _chances,
    errors,
    expected_errors,
    squared_error,
)
from learnability.learners.bayes._level_step import CellStep, LevelStep
from learnability.learners.bayes._surface_step import SurfaceStep


def test_the_evidence_of_the_larger_of_two() -> None:
    """Its density is phi(t_1) Phi(t_2) / s_1 + phi(t_2) Phi(t_1) / s_2."""
    rng, spread = np.random.default_rng(2), np.sqrt([0.5, 0.3])
    omega = 0.7 * rng.standard_normal((300, 2))
    y = (omega + rng.standard_normal((300, 2)) * spread).max(axis=1)
    t = (y[:, None] - omega) / spread
    exact = float(np.log((norm.pdf(t) / spread * ndtr(t)[:, ::-1]).sum(axis=1)).sum())
    step = LevelStep(Channel("max(z1,z2)"), y)
    assert step.log_evidence(omega.T, np.diag(spread**2)) == pytest.approx(exact, abs=0.5)
    # A common factor of the variance moves it by the same amount on either route.
    wide = float(np.log((norm.pdf(t / 1.5) / spread / 1.5 * ndtr(t / 1.5)[:, ::-1]).sum(1)).sum())
    assert step.log_evidence(omega.T, 2.25 * np.diag(spread**2)) == pytest.approx(wide, abs=0.5)


@pytest.mark.parametrize("scale", [0.8, 0.2])
def test_the_evidence_of_curved_cells_is_an_integral_over_their_axis(scale: float) -> None:
    """P(z_2 > z_1^2) given z_1, for correlated coordinates."""
    rng = np.random.default_rng(3)
    V = scale * np.array([[1.0, 0.4], [0.4, 0.7]])
    omega = 0.6 * rng.standard_normal((2, 40))
    z = omega + np.linalg.cholesky(V) @ rng.standard_normal((2, 40))
    y = np.sign(z[1] - z[0] ** 2)
    u = np.linspace(-9, 9, 4001)
    exact = 0.0
    for k in range(40):
        first = omega[0, k] + math.sqrt(V[0, 0]) * u
        middle = omega[1, k] + V[0, 1] / V[0, 0] * (first - omega[0, k])
        left = math.sqrt(V[1, 1] - V[0, 1] ** 2 / V[0, 0])
        chance = float(norm.pdf(u) @ ndtr(y[k] * (middle - first**2) / left)) * (u[1] - u[0])
        exact += math.log(chance)
    step = CellStep(Channel("sign(z2 - z1**2)"), y)
    assert step.log_evidence(omega, V) == pytest.approx(exact, abs=0.05)


def test_the_evidence_of_three_directions_is_that_of_a_sum() -> None:
    """z_1 + z_2 + z_3^2 given z_3 is normal."""
    rng = np.random.default_rng(4)
    omega = 0.5 * rng.standard_normal((3, 60))
    V = np.diag([0.5, 0.3, 0.4])
    y = rng.standard_normal(60) * 1.5 + 0.4
    u = np.linspace(-9, 9, 4001)
    exact = 0.0
    for k in range(60):
        last = omega[2, k] + math.sqrt(0.4) * u
        mean = omega[0, k] + omega[1, k] + last**2
        density = float(norm.pdf(u) @ norm.pdf(y[k], mean, math.sqrt(0.8))) * (u[1] - u[0])
        exact += math.log(density)
    step = SurfaceStep(Channel("z1 + z2 + z3**2"), y)
    assert step.log_evidence(omega, V) == pytest.approx(exact, abs=0.3)


@pytest.mark.parametrize(
    ("text", "noise"), [("abs(z)", 0.0), ("sign(z1*z2)", 0.0), ("sign(z1)*abs(z2)", 0.1)]
)
def test_the_evidence_in_blocks_is_that_of_single_posteriors(text: str, noise: float) -> None:
    channel, rng = Channel(text, noise), np.random.default_rng(5)
    r = channel.link.r
    V = 0.6 * np.eye(r)
    omega = 0.6 * rng.standard_normal((700, r))
    y = channel.sample(omega + rng.standard_normal((700, r)) @ np.sqrt(V), rng)
    exact = channel.posterior(y, omega, V)
    step = ChannelStep(channel, y)
    assert step.log_evidence(omega.T, V) == pytest.approx(exact.log_z.sum(), rel=2e-3)
    found = step(omega.T, V).T
    scale = np.sqrt(np.mean(exact.g**2))
    assert np.sqrt(np.mean((found - exact.g) ** 2)) < 0.01 * scale


@pytest.mark.parametrize("q", [0.0, 0.3, 0.8])
def test_errors_of_state_evolution_in_closed_form(q: float) -> None:
    """Var y - Cov(g(a), g(b)) of standard normals of correlation q, coordinate by coordinate."""
    none = np.zeros((2, 2))
    for text, noise, shared in (
        ("z", 0.2, q), ("z**2", 0.0, 2 * q**2), ("sign(z)", 0.1, 2 / math.pi * math.asin(q)),
        ("z1*z2", 0.3, q * 0.5), ("sign(z1*z2)", 0.0, None),
    ):  # fmt: skip
        channel = Channel(text, noise)
        r = channel.link.r
        M = np.diag([q, 0.5])[:r, :r]
        if shared is None:
            shared = 4 / math.pi**2 * math.asin(q) * math.asin(0.5)
        found = expected_errors(channel, M, none[:r, :r])
        exact = channel.label_variance - shared
        assert found.squared == pytest.approx(exact, abs=4 * found.squared_error + 1e-9)
        assert found.squared_error < 0.02 * channel.label_variance
        moved = expected_errors(channel, M, 0.05 * np.eye(r))
        ends = [expected_errors(channel, M + s * 0.05 * np.eye(r), none[:r, :r]).squared
                for s in (-1, 1)]  # fmt: skip
        if q:
            gap = max(abs(end - found.squared) for end in ends)
            assert moved.squared_error - found.squared_error == pytest.approx(gap, abs=1e-9)


def test_wrong_labels_of_a_perceptron_and_of_random_flips() -> None:
    """acos(sqrt q) / pi; a flip with chance p turns e into e + p - 2 e p."""
    for q in (0.2, 0.7):
        M = np.array([[q]])
        e = math.acos(math.sqrt(q)) / math.pi
        found = expected_errors(Channel("sign(z)"), M, np.zeros((1, 1)))
        assert found.wrong == pytest.approx(e, abs=3 * found.wrong_error + 1e-3)
        p = 0.15
        flipped = expected_errors(Channel(f"flip(sign(z), {p})"), M, np.zeros((1, 1)))
        assert flipped.wrong == pytest.approx(e + p - 2 * e * p, abs=3 * flipped.wrong_error + 1e-3)
        run = errors(Channel(f"flip(sign(z), {p})"), M, M, 1 - M)
        assert run.wrong == pytest.approx(e + p - 2 * e * p, abs=0.01)
        exact = 1 - (1 - 2 * p) ** 2 * 2 / math.pi * math.asin(q)
        assert run.squared == pytest.approx(exact, abs=0.02)


def test_the_share_of_wrong_labels_does_not_know_their_unit() -> None:
    M, spread = np.array([[0.5]]), np.array([[0.05]])
    plain, tiny = (expected_errors(Channel(text), M, spread) for text in ("sign(z)", "sign(z)/50"))
    assert tiny.wrong == pytest.approx(plain.wrong, rel=1e-9)
    assert tiny.wrong_error == pytest.approx(plain.wrong_error, rel=1e-9)
    assert 2500 * tiny.squared == pytest.approx(plain.squared, rel=1e-9)


def test_squared_errors_of_unequal_overlaps() -> None:
    """For z1 + z2^2: parts of order one and two with their own Q, M and C."""
    Q, M, C = np.diag([0.5, 0.4]), np.diag([0.3, 0.35]), np.diag([0.6, 0.5])
    found = squared_error(Channel("z1 + z2**2", 0.1), Q, M, C)
    linear = 1 + 0.5 - 2 * 0.3
    # f = omega^2 + C; E (z^2 - f)^2 with E z^2 w^2 = q + 2 m^2.
    second = 3 - 2 * (0.4 + 2 * 0.35**2 + 0.5) + 3 * 0.4**2 + 2 * 0.4 * 0.5 + 0.5**2
    assert found == pytest.approx(linear + second + 0.1, rel=0.01)


@pytest.mark.parametrize("text", ["sign(z1*z2)", "sign(z1 + z2)", "sign(z - 0.3)"])
def test_chances_of_labels_at_an_estimate(text: str) -> None:
    channel, rng = Channel(text), np.random.default_rng(6)
    r = channel.link.r
    omega, C = rng.standard_normal((50, r)), np.diag([0.5, 0.3])[:r, :r]
    t = omega / np.sqrt(np.diag(C))
    up = {
        "sign(z1*z2)": lambda: ndtr(t).prod(axis=1) + ndtr(-t).prod(axis=1),
        "sign(z1 + z2)": lambda: ndtr(omega.sum(axis=1) / math.sqrt(0.8)),
        "sign(z - 0.3)": lambda: ndtr((omega[:, 0] - 0.3) / math.sqrt(0.5)),
    }[text]()
    found = _chances(channel, np.array([-1.0, 1.0]), omega, C)
    # On boxes of two coordinates exact; else from 2**7 points.
    near = 1e-6 if text == "sign(z1*z2)" else 0.04
    np.testing.assert_allclose(found[1], up, atol=near)
    np.testing.assert_allclose(found.sum(axis=0), 1, atol=1e-12)
    more = _chances(channel, np.array([-1.0, 1.0]), omega, C, seed=1)
    np.testing.assert_allclose(more[1], up, atol=near if near < 1e-3 else 0.02)
