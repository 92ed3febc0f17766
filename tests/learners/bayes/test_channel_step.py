"""g_out of all samples in compiled blocks, against posteriors in double precision."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import Channel, Link
from learnability.labels.posterior import BoxPosterior, LinePosterior
from learnability.learners.bayes import _channel_step
from learnability.learners.bayes._channel_step import ChannelStep


def typical(channel: Channel, n: int, q: float = 0.6) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, means (r, n) and covariance of a posterior mean of overlap q."""
    rng = np.random.default_rng(0)
    r = channel.link.r
    omega = math.sqrt(q) * rng.standard_normal((n, r))
    y = channel.sample(omega + math.sqrt(1 - q) * rng.standard_normal((n, r)), rng)
    return y, omega.T.astype(np.float32), (1 - q) * np.eye(r)


@pytest.mark.parametrize(
    ("text", "noise", "tolerance"),
    [
        ("abs(z)", 0.0, 1e-3),
        ("abs(z)", 0.1, 5e-3),
        ("sign(z1*z2)", 0.0, 1e-3),
        ("tanh(z1) + tanh(z2)", 0.01, 1e-2),
        ("z1 + abs(z2)", 0.0, 5e-3),
    ],
)
def test_it_agrees_with_the_posterior(text: str, noise: float, tolerance: float) -> None:
    channel = Channel(text, noise)
    y, omega, V = typical(channel, 80)
    found = ChannelStep(channel, y)(omega, V)
    expected = channel.posterior(y, omega.T, V).g.T
    assert found.dtype == np.float32 and found.shape == omega.shape
    assert np.linalg.norm(found - expected) <= tolerance * np.linalg.norm(expected)


@pytest.mark.parametrize("text", ["sign(z1*z2)", "z1 + abs(z2)"])
def test_blocks_and_their_padding_change_nothing(text: str) -> None:
    channel = Channel(text)
    size = 2500 if text == "sign(z1*z2)" else 256
    y, omega, V = typical(channel, 2 * size + 7)
    whole = ChannelStep(channel, y)(omega, V)
    assert whole.shape == omega.shape
    for n in (1, size - 1, size, size + 1):
        part = ChannelStep(channel, y[:n])(omega[:, :n], V)
        np.testing.assert_allclose(part, whole[:, :n], rtol=1e-5, atol=1e-6)


def test_both_schemes_have_a_block_size() -> None:
    assert set(_channel_step._BLOCK) == {BoxPosterior, LinePosterior}


def test_compiled_once_for_every_number_of_samples() -> None:
    channel = Channel("sign(z1*z2) + z1*0")
    calls = _channel_step._compiled.cache_info().misses
    for n in (5, 700):
        y, omega, V = typical(channel, n)
        ChannelStep(channel, y)(omega, V)
    assert _channel_step._compiled.cache_info().misses <= calls + 1


def test_a_function_that_jax_cannot_trace() -> None:
    def function(z: np.ndarray) -> np.ndarray:
        return np.sin(z[..., 0]) + z[..., 1] ** 3

    channel, formula = Channel(Link(function, r=2), 0.1), Channel("sin(z1) + z2**3", 0.1)
    y, omega, V = typical(formula, 60)
    found, expected = (ChannelStep(c, y)(omega, V) for c in (channel, formula))
    np.testing.assert_allclose(found, expected, rtol=2e-2, atol=2e-2)


def test_a_function_that_jax_can_trace() -> None:
    channel, formula = Channel(Link(lambda z: z[..., 0] ** 3, r=1), 0.1), Channel("z**3", 0.1)
    y, omega, V = typical(formula, 60)
    found, expected = (ChannelStep(c, y)(omega, V) for c in (channel, formula))
    np.testing.assert_allclose(found, expected, rtol=2e-2, atol=2e-2)


def test_small_variances_stay_finite() -> None:
    for text in ("sign(z1*z2)", "z1 + abs(z2)", "abs(z1) + 0*z2"):
        channel = Channel(text)
        y, omega, _ = typical(channel, 100)
        for V in (1e-6, 1e-3):
            assert np.isfinite(ChannelStep(channel, y)(omega, V * np.eye(2))).all()


def test_improbable_labels_are_computed_in_logarithms() -> None:
    """The label contradicts the means by ten standard deviations."""
    channel = Channel("sign(z1*z2)")
    omega, V = np.full((2, 4), 1.0, dtype=np.float32), 0.01 * np.eye(2)
    found = ChannelStep(channel, -np.ones(4))(omega, V)
    expected = channel.posterior(-np.ones(4), omega.T, V).g.T
    np.testing.assert_allclose(found, expected, rtol=1e-3)


def test_one_improbable_label_among_others() -> None:
    channel = Channel("sign(z1*z2)")
    y, omega, V = typical(channel, 700, 0.99)
    y[11] *= -1
    found = ChannelStep(channel, y)(omega, V)
    expected = channel.posterior(y, omega.T, V).g.T
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_few_samples_need_no_compiled_code(noise: float) -> None:
    """Up to 512 samples of one direction NumPy takes the step that JAX takes on more of them."""
    channel = Channel(Link("abs(z)"), noise)
    y, omega, V = typical(channel, 600)
    few, many = ChannelStep(channel, y[:100]), ChannelStep(channel, y)
    assert few._few and not many._few
    np.testing.assert_allclose(few(omega[:, :100], V), many(omega, V)[:, :100], atol=2e-5)


def test_four_directions_of_a_parity() -> None:
    """With a diagonal V: P(y) = (1 + y e_1 e_2 e_3 e_4) / 2, e = erf(omega / sqrt(2 V))."""
    from scipy.special import erf

    rng, v = np.random.default_rng(0), 0.4
    omega, y = 0.7 * rng.standard_normal((4, 60)), rng.choice([-1.0, 1.0], 60)
    e = erf(omega / np.sqrt(2 * v))
    slope = 2 * np.exp(-0.5 * omega**2 / v) / np.sqrt(2 * np.pi * v)
    others = np.stack([np.delete(e, j, 0).prod(axis=0) for j in range(4)])
    exact = y * slope * others / (1 + y * e.prod(axis=0))
    step = ChannelStep(Channel("sign(z1*z2*z3*z4)"), y)
    found = step(omega.astype(np.float32), v * np.eye(4))
    np.testing.assert_allclose(found, exact, atol=5e-5)
