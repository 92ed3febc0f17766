"""The fast score on boxes, against the posterior by particles."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from learnability import Channel
from learnability.labels.posterior import BoxPosterior, PlanarScore, scheme_of


@pytest.mark.parametrize(
    ("text", "noise", "tolerance"),
    [
        ("sign(z1*z2)", 0.0, 1e-9),
        ("sign(z1) + sign(z2)", 0.3, 1e-9),
        ("z1**2 + sign(z1*z2*z3)", 0.0, 1e-9),
        ("exp(z1)*sign(z2) + sign(z3 + 0.2)", 0.0, 1e-9),
        ("sign(z1 - 0.3)*sign(z2 + 0.5)*(1 + sign(z2 - 1))", 0.0, 1e-9),
        ("relu(z1)*sign(z2*z3)", 0.0, 1e-4),  # Three open coordinates: one over nodes.
        ("sign(z1*z2*z3)", 0.0, 1e-4),
        ("z1 + sign(z2)*sign(z3*z4)", 0.0, 1e-4),
    ],
)
def test_the_score_is_that_of_the_posterior(text: str, noise: float, tolerance: float) -> None:
    channel = Channel(text, noise)
    rng = np.random.default_rng(5)
    r = channel.link.r
    n = 200 if r < 4 else 10
    V = 0.3 * np.eye(r) + 0.1
    omega = 0.8 * rng.standard_normal((n, r))
    y = channel.sample(omega + rng.standard_normal((n, r)) @ np.linalg.cholesky(V).T, rng)
    scheme = scheme_of(channel)
    assert isinstance(scheme, BoxPosterior) and scheme.is_planar
    g, plausible = PlanarScore(scheme, y, float)(omega.T, V)
    assert np.all((plausible > 0) & (plausible <= 1 + 1e-12))
    expected = channel.posterior(y, omega, V).g
    assert np.abs(g.T - expected).max() <= tolerance * np.abs(expected).max()


@pytest.mark.parametrize(
    ("text", "tolerance"),
    [
        ("sign(z1*z2)", 1e-7),
        ("z2**2 + sign(z1*z3)", 1e-7),
        ("sign(z1*z2*z3)", 5e-4),  # One coordinate over nodes, which move with the means.
        ("z1 + sign(z2)*sign(z3*z4)", 5e-4),
    ],
)
def test_information_is_the_derivative_of_the_score(text: str, tolerance: float) -> None:
    channel, rng, step = Channel(text), np.random.default_rng(6), 1e-5
    r = channel.link.r
    V = 0.3 * np.eye(r) + 0.1
    omega = 0.8 * rng.standard_normal((r, 40))
    y = channel.sample(omega.T + rng.standard_normal((40, r)) @ np.linalg.cholesky(V).T, rng)
    scheme = scheme_of(channel)
    assert isinstance(scheme, BoxPosterior)
    score = PlanarScore(scheme, y, float)
    g, plausible, information = score.with_information(omega, V)
    for found, plain in zip((g, plausible), score(omega, V), strict=True):
        np.testing.assert_array_equal(found, plain)
    for j, e in enumerate(step * np.eye(r)[:, :, None]):
        slope = (score(omega - e, V)[0] - score(omega + e, V)[0]) / (2 * step)
        np.testing.assert_allclose(information[:, j], slope, atol=tolerance)


def test_a_correlation_close_to_one() -> None:
    channel = Channel("sign(z1*z2)")
    scheme = scheme_of(channel)
    assert isinstance(scheme, BoxPosterior)
    rho, omega, step = 0.99, np.array([-1.0, 0.5]), 1e-4

    def log_z(at: np.ndarray) -> float:
        """For the label -1: the second coordinate is on the other side of the first."""

        def density(a: float) -> float:
            other = -np.sign(a) * (at[1] + rho * (a - at[0])) / np.sqrt(1 - rho**2)
            return float(norm.pdf(a - at[0]) * norm.cdf(other))

        return float(np.log(quad(density, -9, 0)[0] + quad(density, 0, 9)[0]))

    V = np.array([[1.0, rho], [rho, 1.0]])
    g, _ = PlanarScore(scheme, -np.ones(1), float)(omega[:, None], V)
    slopes = [(log_z(omega + e) - log_z(omega - e)) / (2 * step) for e in step * np.eye(2)]
    np.testing.assert_allclose(g[:, 0], slopes, rtol=1e-6)


def test_single_precision() -> None:
    channel = Channel("z1**2 + sign(z1*z2*z3)")
    rng = np.random.default_rng(0)
    z = rng.standard_normal((50, 3))
    y, V = channel.sample(z, rng), 0.4 * np.eye(3)
    scheme = scheme_of(channel)
    assert isinstance(scheme, BoxPosterior)
    single, _ = PlanarScore(scheme, y, np.float32)(0.8 * z.T.astype(np.float32), V)
    double, _ = PlanarScore(scheme, y, float)(0.8 * z.T, V)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, double, atol=2e-5)
