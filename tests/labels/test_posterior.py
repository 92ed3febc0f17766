"""Posteriors of the hidden coordinates: closed forms, tails, derivatives, both schemes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import simpson
from scipy.special import log_ndtr, ndtr
from scipy.stats import multivariate_normal, norm

from learnability import Channel, LearnabilityError, Link
from learnability.labels.posterior import (
    COARSE,
    FINE,
    BoxPosterior,
    LinePosterior,
    Posterior,
    Resolution,
    evaluate,
    scheme_of,
)

Array = NDArray[np.float64]

MIDDLE = Resolution(
    nodes=24, panel_nodes=24, box_nodes=24, segments=128, reach=8.5, blur=1e-6, tangents=2
)
SCALES = [1e-4, 0.1, 1.0]
FULL = {
    1: np.array([[0.8]]),
    2: np.array([[1.0, 0.3], [0.3, 0.6]]),
    3: np.array([[1.0, 0.3, -0.2], [0.3, 0.6, 0.1], [-0.2, 0.1, 0.8]]),
}


def in_units(found: Posterior, V: ArrayLike) -> list[Array]:
    """Log Z, g_out and its slope in units of the prior's standard deviations."""
    sd = np.sqrt(np.diag(np.atleast_2d(V)))
    return [found.log_z, found.g * sd, found.slope * sd[:, None] * sd]


def assert_close(found: Posterior, expected: Posterior, V: ArrayLike, tolerance: float) -> None:
    for a, b in zip(in_units(found, V), in_units(expected, V), strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def from_moments(log_z: Array, mean: Array, covariance: Array, omega: Array, V: Array) -> Posterior:
    """Derivatives of log Z from the posterior mean (N, r) and covariance (N, r, r)."""
    inverse = np.linalg.inv(np.atleast_2d(V))
    return Posterior(log_z, (mean - omega) @ inverse, inverse @ covariance @ inverse - inverse)


def drawn(channel: Channel, omega: Array, V: Array, seed: int, size: float = 1.0) -> Array:
    """Labels of points drawn from N(omega, size^2 V)."""
    rng = np.random.default_rng(seed)
    z = omega + size * rng.standard_normal(omega.shape) @ np.linalg.cholesky(V).T
    return channel.sample(z, rng)


# ---- one direction


def absolute_value(y: Array, omega: Array, V: float) -> Posterior:
    """|z| without noise: E[z | y] = y tanh(y omega / V)."""
    sd = math.sqrt(V)
    log_z = np.logaddexp(norm.logpdf(y, omega, sd), norm.logpdf(-y, omega, sd))
    lean = np.tanh(y * omega / V)
    far = np.exp(-2 * np.abs(y * omega / V))
    variance = y**2 * 4 * far / (1 + far) ** 2  # 1 - tanh^2 without cancellation
    return from_moments(
        log_z, (y * lean)[:, None], variance[:, None, None], omega[:, None], np.array([[V]])
    )


def noisy_absolute_value(y: Array, omega: Array, V: float, noise: float) -> Posterior:
    """|z| with noise: two truncated normal laws."""
    v = noise * V / (noise + V)
    parts = []
    for side in (1, -1):
        m = (y * V + side * omega * noise) / (noise + V)
        a = m / math.sqrt(v)
        hazard = np.exp(norm.logpdf(a) - log_ndtr(a))
        mean = m + math.sqrt(v) * hazard
        log_weight = norm.logpdf(y, side * omega, math.sqrt(noise + V)) + log_ndtr(a)
        parts.append((log_weight, side * mean, v * (1 - a * hazard - hazard**2) + mean**2))
    log_z = np.logaddexp(parts[0][0], parts[1][0])
    share = [np.exp(part[0] - log_z) for part in parts]
    mean = sum(s * part[1] for s, part in zip(share, parts, strict=True))
    second = sum(s * part[2] for s, part in zip(share, parts, strict=True))
    variance = (second - mean**2)[:, None, None]
    return from_moments(log_z, mean[:, None], variance, omega[:, None], np.array([[V]]))


def grid_of_one(V: float, noise: float = 0.0) -> tuple[Array, Array]:
    """Labels up to 6 standard deviations from |omega|, and the means."""
    omega, k = np.meshgrid(
        [-2.0, -0.3, 0.0, 0.01, 0.5, 2.5], [-6.0, -3.0, -0.5, 0.0, 1.0, 4.0, 6.0]
    )
    y = np.abs(omega) + k * math.sqrt(V + noise)
    kept = y > (-4 * math.sqrt(noise) if noise else 0.01 * math.sqrt(V))
    return y[kept], omega[kept]


@pytest.mark.parametrize("V", SCALES)
def test_absolute_value(V: float) -> None:
    y, omega = grid_of_one(V)
    channel = Channel("abs(z)")
    exact = absolute_value(y, omega, V)
    assert isinstance(scheme_of(channel), BoxPosterior)
    assert_close(channel.posterior(y, omega[:, None], V), exact, V, 1e-9)
    lines = evaluate(LinePosterior(channel), y, omega[:, None], [[V]])
    assert_close(lines, exact, V, 1e-6)


@pytest.mark.parametrize("V", SCALES)
@pytest.mark.parametrize("noise", [1e-3, 0.1])
def test_absolute_value_with_noise(V: float, noise: float) -> None:
    y, omega = grid_of_one(V, noise)
    channel = Channel("abs(z)", noise)
    assert isinstance(scheme_of(channel), LinePosterior)
    exact = noisy_absolute_value(y, omega, V, noise)
    assert_close(channel.posterior(y, omega[:, None], V), exact, V, 1e-6)


@pytest.mark.parametrize("V", SCALES)
def test_the_square_has_the_posterior_of_the_absolute_value(V: float) -> None:
    y, omega = grid_of_one(V)
    square = Channel("z**2").posterior(y**2, omega[:, None], V)
    exact = absolute_value(y, omega, V)
    density = Posterior(exact.log_z - np.log(2 * y), exact.g, exact.slope)
    assert_close(square, density, V, 1e-7)


@pytest.mark.parametrize("V", SCALES)
def test_the_wrong_side_of_a_sign(V: float) -> None:
    """The inverse Mills ratio holds digits however unlikely the label."""
    k = np.array([-30.0, -10.0, -8.0, -6.0, -2.0, 0.0, 1.0, 6.0, 10.0])
    sd = math.sqrt(V)
    hazard = np.exp(norm.logpdf(k) - log_ndtr(k))
    exact = Posterior(
        log_ndtr(k), (hazard / sd)[:, None], (-hazard * (k + hazard) / V)[:, None, None]
    )
    for side in (1.0, -1.0):
        found = Channel("sign(z)").posterior(np.full(len(k), side), side * sd * k[:, None], V)
        assert_close(found._replace(g=side * found.g), exact, V, 1e-8)
    assert found.g[0, 0] * -sd == pytest.approx(30, rel=2e-3)  # |k| + 1 / |k|


def test_a_linear_channel() -> None:
    """Z, g_out and its slope are those of N(omega, V + noise)."""
    y, omega, V, noise = np.linspace(-3, 3, 7), np.linspace(2, -1, 7), 0.4, 0.3
    found = Channel("z", noise).posterior(y, omega[:, None], V)
    np.testing.assert_allclose(found.log_z, norm.logpdf(y, omega, math.sqrt(V + noise)), rtol=1e-9)
    np.testing.assert_allclose(found.g[:, 0], (y - omega) / (V + noise), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.slope, -1 / (V + noise), rtol=1e-7)


def test_an_atom_next_to_a_density() -> None:
    """relu(z): the label 0 has a probability, the others a density."""
    omega = np.array([[-1.0], [0.5], [0.5], [-4.0]])
    y = np.array([0.0, 0.0, 1.2, 0.3])
    found = Channel("relu(z)").posterior(y, omega, 0.5)
    sd = math.sqrt(0.5)
    expected = [
        log_ndtr(1 / sd),
        log_ndtr(-0.5 / sd),
        norm.logpdf(1.2, 0.5, sd),
        norm.logpdf(0.3, -4, sd),
    ]
    np.testing.assert_allclose(found.log_z, expected, rtol=1e-10)
    np.testing.assert_allclose(found.g[2:, 0], (y - omega[:, 0])[2:] / 0.5, rtol=1e-8)


# ---- several directions


def parity(y: Array, omega: Array, V: Array) -> tuple[Array, Array]:
    """Log Z and g_out of sign(z1 z2): quadrant probabilities, and the gradient at the boundary."""
    log_z, g = [], []
    for label, mean in zip(y, omega, strict=True):
        flip = np.array([1.0, label])
        law = multivariate_normal([0, 0], V * flip * flip[:, None], abseps=1e-14, releps=1e-14)
        Z = law.cdf(flip * mean) + law.cdf(-flip * mean)
        gradient = []
        for i, j in ((0, 1), (1, 0)):
            m = mean[j] - V[i, j] * mean[i] / V[i, i]
            v = V[j, j] - V[i, j] ** 2 / V[i, i]
            edge = norm.pdf(0, mean[i], math.sqrt(V[i, i]))
            gradient.append(label * edge * (2 * ndtr(m / math.sqrt(v)) - 1))
        log_z.append(math.log(Z))
        g.append(np.array(gradient) / Z)
    return np.array(log_z), np.array(g)


@pytest.mark.parametrize("scale", SCALES)
def test_parity_of_two(scale: float) -> None:
    V, sd = scale * FULL[2], math.sqrt(scale)
    omega = 1.7 * sd * np.random.default_rng(0).standard_normal((24, 2))
    y = np.tile([1.0, -1.0], 12)
    channel = Channel("sign(z1*z2)")
    found = channel.posterior(y, omega, V)
    log_z, g = parity(y, omega, V)
    np.testing.assert_allclose(found.log_z, log_z, atol=1e-10)
    np.testing.assert_allclose(sd * found.g, sd * g, atol=1e-9)
    assert_close(evaluate(LinePosterior(channel), y, omega, V, MIDDLE), found, V, 1e-4)
    assert_close(evaluate(scheme_of(channel), y, omega, V, MIDDLE), found, V, 1e-4)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("k", [6.0, 8.0, 10.0])
def test_the_wrong_side_of_a_parity(scale: float, k: float) -> None:
    """With a diagonal V the unlikely label is a product: log(a b' + a' b), no digit lost."""
    V = scale * np.diag([1.0, 0.6])
    sd = np.sqrt(np.diag(V))
    found = Channel("sign(z1*z2)").posterior([-1.0, 1.0], [k * sd, -k * sd * [1, -1]], V)
    expected = math.log(2) + log_ndtr(k) + log_ndtr(-k)
    np.testing.assert_allclose(found.log_z, expected, rtol=1e-9)
    np.testing.assert_allclose(np.abs(found.g) * sd, _mills(k) / 2, rtol=1e-6)
    np.testing.assert_array_equal(np.sign(found.g), [[-1, -1], [1, -1]])
    assert np.isfinite(found.slope).all()


def _mills(k: float) -> float:
    """Normal density over the upper tail."""
    return float(np.exp(norm.logpdf(k) - log_ndtr(-k)))


@pytest.mark.parametrize("scale", SCALES)
def test_a_staircase_on_boxes_and_along_lines(scale: float) -> None:
    V = scale * FULL[3]
    channel = Channel("z1**2 + sign(z1*z2*z3)")
    assert isinstance(scheme_of(channel), BoxPosterior)
    omega = np.array([[0.5, 0.1, -0.4], [1.0, -0.3, 0.2], [-0.7, 0.05, 0.03], [0.9, 0.0, 0.0]])
    y = drawn(channel, omega, V, seed=1)
    found = channel.posterior(y, omega, V)
    assert_close(evaluate(LinePosterior(channel), y, omega, V, MIDDLE), found, V, 1e-4)
    assert_close(evaluate(scheme_of(channel), y, omega, V, MIDDLE), found, V, 1e-4)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_linear_plus_absolute_value(scale: float, noise: float) -> None:
    """Given z2 the label is linear: one integral, on a fine grid from 0 to either side."""
    V = scale * FULL[2]
    channel = Channel("z1 + abs(z2)", noise)
    omega = np.array([[0.4, 0.1], [-0.8, 0.7], [0.0, 0.0], [1.1, -0.3], [0.2, 0.02], [0.2, 1.0]])
    y = drawn(channel, omega, V, seed=2, size=1.5)
    found = channel.posterior(y, omega, V)
    moments: list[list[Array]] = []
    for label, mean in zip(y, omega, strict=True):
        sums = np.zeros(6)
        for side in (1.0, -1.0):
            sd = math.sqrt(V[1, 1])
            z2 = side * np.linspace(0, abs(mean[1]) + 10 * sd, 40001)
            given = mean[0] + V[0, 1] / V[1, 1] * (z2 - mean[1])
            left = V[0, 0] - V[0, 1] ** 2 / V[1, 1]
            weight = norm.pdf(z2, mean[1], sd)
            weight = weight * norm.pdf(label, given + np.abs(z2), math.sqrt(left + noise))
            z1 = given + left / (left + noise) * (label - given - np.abs(z2))
            spread = left * noise / (left + noise)
            terms = [np.ones_like(z1), z1, z2, z1**2 + spread, z1 * z2, z2**2]
            sums += [side * simpson(weight * term, x=z2) for term in terms]
        first = sums[1:3] / sums[0]
        second = np.array([[sums[3], sums[4]], [sums[4], sums[5]]]) / sums[0]
        moments.append([np.log(sums[0]), first, second - np.outer(first, first)])
    log_z, first, covariance = (np.array(m) for m in zip(*moments, strict=True))
    assert_close(found, from_moments(log_z, first, covariance, omega, V), V, 1e-5)


@pytest.mark.parametrize("scale", [0.01, 0.3, 1.0])
def test_a_committee_against_sums_over_a_grid(scale: float) -> None:
    V, noise = scale * FULL[2], 0.01
    channel = Channel("tanh(z1) + tanh(z2)", noise)
    omega = np.array([[0.4, 0.1], [-0.8, 0.7], [0.0, 0.0], [1.5, -0.3]])
    y = drawn(channel, omega, V, seed=3)
    t = np.linspace(-7, 7, 1201)
    first, second = np.meshgrid(t, t, indexing="ij")
    prior = np.exp(-0.5 * (first**2 + second**2)) * (t[1] - t[0]) ** 2 / (2 * math.pi)
    shift = np.stack([first, second], axis=-1) @ np.linalg.cholesky(V).T
    moments: list[list[Array]] = []
    for label, mean in zip(y, omega, strict=True):
        value = np.tanh(mean[0] + shift[..., 0]) + np.tanh(mean[1] + shift[..., 1])
        weight = prior * norm.pdf(label, value, math.sqrt(noise))
        Z = weight.sum()
        centre = np.einsum("ij,ijk->k", weight, shift) / Z
        pairs = np.einsum("ij,ijk,ijl->kl", weight, shift, shift) / Z
        moments.append([np.log(Z), mean + centre, pairs - np.outer(centre, centre)])
    log_z, means, covariance = (np.array(m) for m in zip(*moments, strict=True))
    exact = from_moments(log_z, means, covariance, omega, V)
    assert_close(channel.posterior(y, omega, V), exact, V, 5e-4)
    assert_close(evaluate(scheme_of(channel), y, omega, V, COARSE), exact, V, 2e-2)


# ---- identities

CHANNELS = [
    ("abs(z)", 0.0),
    ("sign(z)", 0.0),
    ("sign(z)", 0.2),
    ("z**3 - z", 0.0),
    ("z**3 - z", 0.5),
    ("where(abs(z) < 1, z, 2)", 0.0),
    ("sign(z1*z2)", 0.0),
    ("sign(z1)*abs(z2)", 0.0),
    ("z1 + abs(z2)", 0.0),
    ("tanh(z1) + tanh(z2)", 0.05),
    ("max(z1, z2)", 0.1),
    ("sign(z1 + z2)", 0.0),
]


@pytest.mark.parametrize(("text", "noise"), CHANNELS)
@settings(max_examples=5, derandomize=True)
@given(scale=st.floats(0.05, 1.0), seed=st.integers(0, 10**6))
def test_g_out_is_the_gradient_and_slope_its_derivative(
    text: str, noise: float, scale: float, seed: int
) -> None:
    channel = Channel(text, noise)
    r = channel.link.r
    V = scale * FULL[r]
    mean = np.random.default_rng(seed).standard_normal((1, r))
    y = drawn(channel, mean, V, seed + 1)
    h, one = 0.03 * math.sqrt(scale), np.eye(r)
    steps = h * np.concatenate([np.zeros((1, r)), one, -one, 2 * one, -2 * one])
    found = channel.posterior(np.repeat(y, 4 * r + 1), mean + steps, V)

    def difference(values: Array) -> Array:
        """Central differences of fourth order."""
        up, down, far_up, far_down = values[1:].reshape(4, r, *values.shape[1:])
        return (8 * (up - down) - (far_up - far_down)) / (12 * h)

    numerical = Posterior(found.log_z[:1], difference(found.log_z)[None], difference(found.g)[None])
    at = Posterior(found.log_z[:1], found.g[:1], found.slope[:1])
    assert_close(at, numerical, scale, 2e-3)
    np.testing.assert_allclose(found.slope, np.swapaxes(found.slope, 1, 2), atol=1e-9 / scale)


@pytest.mark.parametrize(
    "text",
    [
        "sign(z)",
        "sign(z1)*step(z1*z2 - z1) + sign(z2)",
        "sign(z1*z2*z3)",
        "sign(z1) + sign(z2) + sign(z3)",
        "step(abs(z) - 1)",
        "sign(z1 + 0.5*z2)",
        "sign(z1**2 + z2**2 - 1)",
        "sign(z1*z2) + 2*step(z1 - z2)",
    ],
)
def test_the_labels_of_finitely_many_values_have_probabilities(text: str) -> None:
    channel = Channel(text)
    values = channel.link.values
    assert values is not None
    r = channel.link.r
    for scale in (0.02, 1.0):
        omega = np.tile(np.array([0.3, -0.5, 0.1])[:r], (len(values), 1))
        found = channel.posterior(values, omega, scale * FULL[r])
        probability = np.exp(found.log_z)
        assert probability.sum() == pytest.approx(1, abs=2e-4)
        np.testing.assert_allclose(probability @ found.g * math.sqrt(scale), 0, atol=2e-3)


@pytest.mark.parametrize(
    ("text", "noise"),
    [("abs(z)", 0.0), ("z1*z2", 0.1), ("z1 + abs(z2)", 0.0), ("max(z1, z2)", 0.05)],
)
def test_the_density_of_the_label_integrates_to_one(text: str, noise: float) -> None:
    channel = Channel(text, noise)
    r = channel.link.r
    y = 0.1 * (np.arange(160) - 79.5)  # Midpoints: |z| has a jump at 0.
    omega = np.tile(np.array([0.4, -0.2])[:r], (len(y), 1))
    found = channel.posterior(y, omega, FULL[r])
    assert 0.1 * np.exp(found.log_z).sum() == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize(
    ("text", "noise"),
    [
        ("sign(z1)*abs(z2)", 0.0),
        ("z1 + abs(z2)", 0.0),
        ("z1 + z2**2", 0.1),
        ("z1**2 + sign(z1*z2*z3)", 0.0),
        ("sign(z1)*step(z2 - 1/2)", 0.3),
    ],
)
def test_a_link_with_its_coordinates_in_another_order(text: str, noise: float) -> None:
    channel = Channel(text, noise)
    r = channel.link.r
    order = np.roll(np.arange(r), 1)
    P = np.eye(r)[order]
    V = 0.4 * FULL[r]
    omega = np.random.default_rng(5).standard_normal((4, r))
    y = drawn(channel, omega, V, seed=6)
    found = channel.posterior(y, omega, V)
    turned = Channel(channel.link.rotate(P), noise).posterior(y, omega @ P, P.T @ V @ P)
    expected = Posterior(found.log_z, found.g @ P, P.T @ found.slope @ P)
    assert_close(turned, expected, 0.4 * np.eye(r), 1e-4)


def test_mirrored_coordinates_mirror_the_posterior() -> None:
    channel, mirror = Channel("z1 + abs(z2)"), np.diag([1.0, -1.0])
    V, omega, y = 0.3 * FULL[2], np.array([[0.2, 0.5], [-1.0, 0.1]]), np.array([0.9, -0.2])
    found = channel.posterior(y, omega, V)
    other = channel.posterior(y, omega @ mirror, mirror @ V @ mirror)
    expected = Posterior(found.log_z, found.g @ mirror, mirror @ found.slope @ mirror)
    assert_close(other, expected, V, 1e-9)


def test_noise_turns_probabilities_into_a_mixture() -> None:
    """Two labels with noise: the densities at y mix the posteriors of either label."""
    omega, V, noise = np.array([[0.4, -0.7]]), 0.5 * FULL[2], 0.3
    sure = Channel("sign(z1*z2)").posterior([1.0, -1.0], np.repeat(omega, 2, axis=0), V)
    found = Channel("sign(z1*z2)", noise).posterior([0.35], omega, V)
    weight = np.exp(sure.log_z) * norm.pdf(0.35, [1, -1], math.sqrt(noise))
    assert found.log_z[0] == pytest.approx(math.log(weight.sum()), abs=1e-9)
    np.testing.assert_allclose(found.g[0], weight @ sure.g / weight.sum(), atol=1e-9)


def test_labels_that_cannot_occur_say_nothing() -> None:
    for text, y in (("abs(z)", -1.0), ("sign(z1*z2)", 0.3), ("z1**2 + z2**2", -3.0)):
        channel = Channel(text)
        r = channel.link.r
        found = channel.posterior([y], np.full((1, r), 0.2), FULL[r])
        assert np.isfinite(found.log_z).all() and found.log_z[0] < -60
        np.testing.assert_allclose(found.g, 0, atol=1e-6)


def test_a_function_has_the_posterior_of_its_formula() -> None:
    def function(z: Array) -> Array:
        return np.sin(z[..., 0]) + z[..., 1] ** 3

    V, omega = 0.3 * FULL[2], np.array([[0.3, 0.5], [-0.4, -0.8]])
    formula = Channel("sin(z1) + z2**3", 0.1)
    y = drawn(formula, omega, V, seed=8)
    found = Channel(Link(function, r=2), 0.1).posterior(y, omega, V)
    assert_close(found, formula.posterior(y, omega, V), V, 1e-4)


def test_a_maximum_without_noise() -> None:
    """The larger one is known, the other is cut off; lines along both axes meet in a jump."""
    channel, v = Channel("max(z1, z2)"), 0.4
    sd = math.sqrt(v)
    omega = math.sqrt(1 - v) * np.random.default_rng(13).standard_normal((80, 2))
    y = drawn(channel, omega, v * np.eye(2), seed=14)
    t = (y[:, None] - omega) / sd
    log_weight = norm.logpdf(t) + log_ndtr(t[:, ::-1])  # Of z1, of z2 being the larger one.
    share = np.exp(log_weight - np.logaddexp(*log_weight.T)[:, None])
    below = -np.exp(norm.logpdf(t) - log_ndtr(t))
    g = (share * t + share[:, ::-1] * below) / sd
    found = channel.posterior(y, omega, v * np.eye(2))
    assert np.sqrt(np.mean((found.g - g) ** 2) / np.mean(g**2)) < 0.03


# ---- single precision


@pytest.mark.parametrize(
    ("text", "noise"),
    [
        ("abs(z)", 0.0),
        ("abs(z)", 0.1),
        ("sign(z)", 0.0),
        ("sign(z1*z2)", 0.0),
        ("z1**2 + sign(z1*z2*z3)", 0.0),
        ("z1 + abs(z2)", 0.0),
        ("tanh(z1) + tanh(z2)", 0.01),
        ("z1*z2", 0.05),
    ],
)
def test_single_precision_agrees(text: str, noise: float) -> None:
    import jax
    import jax.numpy as jnp

    channel = Channel(text, noise)
    scheme = scheme_of(channel)
    compiled = jax.jit(lambda *args: scheme.moments(*args, jnp, COARSE))
    r, count = channel.link.r, 40
    rng = np.random.default_rng(9)
    for q in (0.1, 0.6, 0.95):  # Of a posterior mean with overlap q, as in message passing.
        V = (1 - q) * np.eye(r)
        omega = math.sqrt(q) * rng.standard_normal((count, r))
        y = drawn(channel, omega, V, seed=10)
        data = scheme.prepare(y)
        double = scheme.moments(data, omega.T, V, np, COARSE)
        single = compiled(
            {k: np.asarray(v, dtype=np.float32) for k, v in data.items()},
            omega.T.astype(np.float32),
            V.astype(np.float32),
        )
        assert all(a.dtype == jnp.float32 for a in single)
        for a, b in zip(single, double, strict=True):
            np.testing.assert_allclose(np.asarray(a), b, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("text", "noise"),
    [("sign(z1*z2)", 0.0), ("tanh(z1) + tanh(z2)", 0.01), ("z1 + abs(z2)", 0.0)],
)
def test_the_coarse_resolution_is_close_to_the_fine_one(text: str, noise: float) -> None:
    channel = Channel(text, noise)
    for q in (0.1, 0.6, 0.95):
        V = (1 - q) * np.eye(2)
        omega = math.sqrt(q) * np.random.default_rng(11).standard_normal((60, 2))
        y = drawn(channel, omega, V, seed=12)
        coarse, fine = (evaluate(scheme_of(channel), y, omega, V, R) for R in (COARSE, FINE))
        gap = np.sqrt(np.mean((coarse.g - fine.g) ** 2) / np.mean(fine.g**2))
        assert gap < 1e-2


# ---- sentences

TWO = Channel("z1 + abs(z2)")


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: TWO.posterior([1.0], [[1.0]], np.eye(2)), r"shape"),
        (lambda: TWO.posterior([1.0, 2.0], [[1.0, 2.0]], np.eye(2)), r"shape"),
        (lambda: TWO.posterior([1.0, 2.0], [1.0, 2.0, 3.0], np.eye(2)), r"shape"),
        (lambda: TWO.posterior([1.0], [[1.0, 2.0]], np.eye(3)), r"shape"),
        (lambda: TWO.posterior([1.0], [[1.0, 2.0]], 1.0), r"shape"),
        (lambda: TWO.posterior([[1.0]], [[1.0, 2.0]], np.eye(2)), r"shape"),
        (lambda: TWO.posterior([np.nan], [[1.0, 2.0]], np.eye(2)), "must be finite"),
        (lambda: TWO.posterior([1.0], [[1.0, np.inf]], np.eye(2)), "must be finite"),
        (lambda: TWO.posterior([1.0], [[1.0, 2.0]], np.nan * np.eye(2)), "must be finite"),
        (lambda: TWO.posterior([1.0], [[1.0, 2.0]], np.zeros((2, 2))), "positive definite"),
        (lambda: TWO.posterior([1.0], [[1.0, 2.0]], np.diag([1.0, -1.0])), "positive definite"),
        (lambda: TWO.posterior([1.0], [[1.0, 2.0]], [[1.0, 0.5], [0.2, 1.0]]), "symmetric"),
        (lambda: Channel("z1*z2*z3*z4").posterior([1.0], np.ones((1, 4)), np.eye(4)), "at most 3"),
    ],
)
def test_bad_input_ends_in_a_sentence(call: Callable[[], object], match: str) -> None:
    with pytest.raises(LearnabilityError, match=match) as caught:
        call()
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)


def test_a_scalar_sample_and_a_scalar_variance() -> None:
    found = Channel("abs(z)").posterior(0.5, 0.1, 0.3)
    assert found.log_z.shape == (1,) and found.g.shape == (1, 1) and found.slope.shape == (1, 1, 1)
