"""State evolution of random labels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from learnability import BayesAMP, Channel, LearnabilityError, MultiIndex
from learnability.gaussian.rules import composite_legendre
from learnability.theory.information import label_information


def information(text: str, *q: float, noise: float = 0.0) -> NDArray[np.float64]:
    return label_information(Channel(text, noise))(np.diag(q))


@pytest.mark.parametrize(
    ("text", "alpha", "overlap"),
    [
        ("sign(z + sqrt(0.5)*xi)", [1.0, 2.0], [0.3312203966, 0.5243560910]),
        ("bernoulli(sigmoid(2*z))", [1.0], [0.2914173157]),
        ("z + sqrt(0.5)*xi", [1.0], [0.5]),
    ],
)
def test_overlaps_of_one_direction(text: str, alpha: list[float], overlap: list[float]) -> None:
    found = BayesAMP().predict(text, alpha=alpha)
    np.testing.assert_allclose(found["overlap"].values.ravel(), overlap, rtol=0, atol=1e-8)


@pytest.mark.parametrize("q", [0.2, 0.9, 0.9999])
def test_soft_cells_without_softness_are_cells(q: float) -> None:
    ours = information("flip(sign(z), 0.0000000001)", q)
    np.testing.assert_allclose(ours, information("sign(z)", q), rtol=1e-6)


def test_soft_cells_of_two_directions() -> None:
    ours = information("flip(sign(z1*z2), 0.0000000001)", 0.3, 0.6)
    np.testing.assert_allclose(ours, information("sign(z1*z2)", 0.3, 0.6), rtol=1e-5)


def test_two_directions_seen_through_one() -> None:
    """A label of (z1 + z2)/sqrt(2) has the information of one direction, along that one."""
    along = np.full((2, 2), 0.5)
    ours = label_information(Channel("bernoulli(sigmoid(sqrt(2)*(z1 + z2)))"))(0.4 * along)
    np.testing.assert_allclose(ours, information("bernoulli(sigmoid(2*z))", 0.4) * along, rtol=1e-6)


def test_normal_law_with_little_change_is_added_noise() -> None:
    ours = information("z + (0.5 + 0.000000001*tanh(z))*xi", 0.5)
    np.testing.assert_allclose(ours, 4 / 3, rtol=1e-7)


def test_labels_with_noise_are_a_mixture() -> None:
    """Little noise on well-separated labels changes nothing."""
    ours = information("bernoulli(sigmoid(2*z))", 0.5, noise=0.002)
    np.testing.assert_allclose(ours, information("bernoulli(sigmoid(2*z))", 0.5), rtol=1e-6)


def test_posteriors_are_derivatives_of_the_evidence() -> None:
    for text, y in (
        ("bernoulli(sigmoid(2*z))", 1.0),
        ("poisson(z**2)", 3.0),
        ("flip(sign(z), 0.1)", -1.0),
        ("abs(z)*(1 + 0.5*xi)", 0.7),
    ):
        channel, h = Channel(text), 1e-4
        omega = np.array([[0.3 - h], [0.3], [0.3 + h]])
        found = channel.posterior(np.full(3, y), omega, [[0.6]])
        slope = (found.log_z[2] - found.log_z[0]) / (2 * h)
        assert found.g[1, 0] == pytest.approx(slope, rel=2e-3, abs=1e-4)


def test_runs_agree_with_state_evolution() -> None:
    text = "bernoulli(sigmoid(2*z))"
    theory = BayesAMP().predict(text, alpha=2.0)
    runs = BayesAMP().simulate(text, d=300, alpha=2.0, seeds=4)
    error = runs["overlap"].std("seed", ddof=1) / 2
    gap = abs(runs["overlap"].mean("seed") - theory["overlap"])
    assert float(gap.squeeze()) < 3 * float(error.squeeze()) + 0.5 / np.sqrt(300)
    assert float(theory["error"]) == pytest.approx(float(runs["error"].mean()), abs=0.02)


def test_jumps_that_are_not_resolved_are_refused() -> None:
    with pytest.raises(LearnabilityError, match="not computed"):
        information("flip(sign(z1 + z2), 0.1)", 0.5, 0.5)
    with pytest.raises(LearnabilityError, match="not computed"):
        BayesAMP().predict("flip(sign(z1**2 + z2**2 - 1), 0.1)", alpha=2.0)


@pytest.mark.parametrize("q", [0.3, 0.9, 0.97])
@pytest.mark.parametrize(
    ("text", "mean", "spread", "breaks"),
    [
        ("abs(z) + (0.3 + z**2/4)*xi", np.abs, lambda z: 0.3 + z**2 / 4, [0.0]),
        ("tanh(z) + 0.5*(1 + z**2)*xi", np.tanh, lambda z: 0.5 * (1 + z**2), []),
    ],
)
def test_normal_labels_are_integrated_to_the_stated_error(
    text: str, mean: Any, spread: Any, breaks: list[float], q: float
) -> None:
    """Panels of fixed length over z, omega and y; beside known directions 4e-7 was left."""
    z, dz = composite_legendre(np.array([-10, *breaks, 10.0]), 0.2, 10)
    x, dx = composite_legendre(np.array([-8.5, *breaks, 8.5]), 0.25, 10)
    y, dy = composite_legendre(np.array([-60, *breaks, 90.0]), 0.1, 6)
    omega, weight = math.sqrt(q) * x, dx * np.exp(-0.5 * x**2) / math.sqrt(2 * math.pi)
    apart = z[:, None] - omega
    kernel = np.exp(-0.5 * apart**2 / (1 - q)) / math.sqrt(2 * math.pi * (1 - q)) * dz[:, None]
    at, sigma = mean(z), spread(z)
    total = 0.0
    for rows in np.array_split(np.arange(len(y)), 20):
        gap = (y[rows, None] - at) / sigma
        density = np.exp(-0.5 * gap**2) / (sigma * math.sqrt(2 * math.pi))
        Z, slope = density @ kernel, density @ (kernel * apart / (1 - q))
        total += dy[rows] @ np.where(Z > 1e-250, slope**2 / np.maximum(Z, 1e-250), 0.0) @ weight
    found = label_information(MultiIndex(text).channel)
    M = np.array([[q]])
    assert abs(found(M).item() / float(total) - 1) <= found.error_at(M)


@pytest.mark.parametrize(
    ("text", "seen", "share"),
    [("relu(z + xi)", "relu(z)", 0.5), ("abs(z + 0.5*xi)", "abs(z)", 0.8)],
)
def test_labels_of_one_sum_are_labels_of_one_direction(text: str, seen: str, share: float) -> None:
    """Of v = (z + a xi) / |(1, a)| the overlap is q share, and z is told share of what v is."""
    for q in (0.1, 0.6, 0.95):
        expected = share * information(seen, share * q)
        np.testing.assert_allclose(information(text, q), expected, rtol=1e-9)


def test_two_directions_seen_beside_a_latent_one() -> None:
    inner = information("tanh(z1)*z2", 0.35, 0.4)
    found = information("tanh((z1 + xi)/sqrt(2))*z2", 0.7, 0.4)
    np.testing.assert_allclose(found, np.diag([0.5, 1.0]) @ inner, rtol=1e-6)


def _larger_of_two(q: float) -> float:
    """I(q) of max(z, xi), from its evidence N(y; omega, V) Phi(y) + Phi((y - omega) / s) phi(y)."""
    y, dy = composite_legendre(np.linspace(-9, 9, 241), np.inf, 6)
    omega, weight = composite_legendre(np.linspace(-8, 8, 33), np.inf, 6)
    weight = weight * norm.pdf(omega)
    omega, s = math.sqrt(q) * omega[:, None], math.sqrt(1 - q)
    at_y = norm.pdf(y, omega, s)
    Z = at_y * norm.cdf(y) + norm.cdf((y - omega) / s) * norm.pdf(y)
    slope = at_y * (norm.cdf(y) * (y - omega) / s**2 - norm.pdf(y))
    return float(weight @ (slope**2 / np.maximum(Z, 1e-290)) @ dy)


def test_labels_that_a_latent_variable_may_hide_lead_to_perfect_recovery() -> None:
    """Half of the labels max(z, xi) are z itself: 0.999956(4e-8) was said where all is found."""
    found = BayesAMP().predict("max(z, xi)", alpha=[1.5, 3.0])
    assert found.attrs["alpha_full"] == pytest.approx(2.0, abs=1e-9)
    assert float(found["overlap"][1, 0, 0]) == 1.0
    ratios = [q / ((1 - q) * _larger_of_two(q)) for q in (0.94, 0.95, 0.955)]
    stderr = found.attrs["alpha_algorithmic_stderr"]
    assert found.attrs["alpha_algorithmic"] == pytest.approx(max(ratios), abs=3 * stderr)
    q, error = (float(found[name][0, 0, 0]) for name in ("overlap", "overlap_stderr"))
    assert abs(q / ((1 - q) * _larger_of_two(q)) - 1.5) < 3 * 1.5 * error / q


def test_a_sign_that_is_hidden_does_not_hide_the_modulus() -> None:
    told = label_information(Channel("sign(z + 0.3*xi)*abs(z)"))
    assert told.full == pytest.approx(1.0, abs=1e-9)
    assert told.exponent == 0.0
