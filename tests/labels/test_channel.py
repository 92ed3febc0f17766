"""Links with label noise: sampling, moments of the label, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import Channel, LearnabilityError, Link


def test_labels_without_noise_are_values() -> None:
    z = np.random.default_rng(0).standard_normal((50, 2))
    y = Channel("z1*z2").sample(z, np.random.default_rng(1))
    np.testing.assert_array_equal(y, z[:, 0] * z[:, 1])


def test_labels_with_noise() -> None:
    z = np.random.default_rng(0).standard_normal((200_000, 2))
    channel = Channel("z1*z2", noise=0.25)
    y = channel.sample(z, np.random.default_rng(1))
    rest = y - z[:, 0] * z[:, 1]
    assert rest.mean() == pytest.approx(0, abs=5 * 0.5 / math.sqrt(len(z)))
    assert rest.var() == pytest.approx(0.25, rel=5 * math.sqrt(2 / len(z)))
    np.testing.assert_array_equal(y, channel.sample(z, np.random.default_rng(1)))


@pytest.mark.parametrize(
    ("text", "noise", "mean", "variance"),
    [
        ("z**2 + 3", 0.0, 4.0, 2.0),
        ("z**2 + 3", 0.5, 4.0, 2.5),
        ("sign(z1*z2*z3)", 0.1, 0.0, 1.1),
        ("abs(z)", 0.0, math.sqrt(2 / math.pi), 1 - 2 / math.pi),
        ("7", 0.3, 7.0, 0.3),
        ("max(z1, z2)", 0.0, 1 / math.sqrt(math.pi), 1 - 1 / math.pi),
    ],
)
def test_moments_of_the_label(text: str, noise: float, mean: float, variance: float) -> None:
    channel = Channel(text, noise)
    assert channel.label_mean == pytest.approx(mean, abs=1e-10)
    assert channel.label_variance == pytest.approx(variance, abs=1e-9)


def test_a_channel_is_a_value() -> None:
    assert Channel("z1*z2", 0.5) == Channel(Link("z2*z1"), 0.5)
    assert Channel("z1*z2") != Channel("z1*z2", 0.5)
    assert len({Channel("z"), Channel("z", 0.0), Channel("z", 1.0)}) == 2
    assert Channel("z", np.float64(2)).noise == 2.0 and isinstance(Channel("z", 2).noise, float)


@pytest.mark.parametrize("noise", [-0.1, float("nan"), float("inf"), "much", None, True, 1j])
def test_bad_noise_ends_in_a_sentence(noise: object) -> None:
    with pytest.raises(LearnabilityError) as caught:
        Channel("z", noise)  # type: ignore[arg-type]
    message = str(caught.value)
    assert "`noise`" in message and "at least 0" in message and "\n" not in message


def test_known_directions_may_be_one_row() -> None:
    channel = Channel("sign(z1) + sign(z2)")
    row = channel.conditional_moments([1], known=[1, 0])[1]
    rows = channel.conditional_moments([1], known=[[1, 0]])[1]
    np.testing.assert_array_equal(row.matrix, rows.matrix)
    assert float(row.matrix[0, 0]) == pytest.approx(2 / math.pi, abs=1e-10)


# ---- conditional laws as functions of the label


def test_what_a_label_says_in_one_variable() -> None:
    y = np.array([0.3, 1.7, 2.5])
    np.testing.assert_allclose(Channel("abs(z)").zeta(1, y)[..., 0], 0, atol=1e-9)
    np.testing.assert_allclose(Channel("abs(z)").G(y)[..., 0, 0], y**2 - 1, atol=1e-8)
    np.testing.assert_allclose(Channel("2*z").zeta(1, y)[..., 0], y / 2, atol=1e-8)
    noisy = Channel("z", noise=0.5).zeta(1, y)[..., 0]
    np.testing.assert_allclose(noisy, y / 1.5, atol=1e-7)


def test_what_a_label_says_of_several() -> None:
    G = Channel("sign(z1*z2)").G(np.array([1.0, -1.0]))
    np.testing.assert_allclose(G[0], 2 / math.pi * np.array([[0, 1], [1, 0]]), atol=1e-10)
    np.testing.assert_allclose(G[1], -G[0], atol=1e-10)
    third = Channel("sign(z1*z2*z3)").zeta(3, 1.0)
    assert third.shape == (3, 3, 3)
    assert third[0, 1, 2] == pytest.approx((2 / math.pi) ** 1.5, abs=1e-9)


def test_labels_that_do_not_occur() -> None:
    assert np.isnan(Channel("abs(z)").G(-1.0)).all()
    assert np.isnan(Channel("sign(z)").zeta(1, 0.5)).all()


@pytest.mark.parametrize("orders", [[0], [-1], [1.0], [True]])
def test_bad_orders_end_in_a_sentence(orders: list[object]) -> None:
    with pytest.raises(
        LearnabilityError, match=r"^`orders` was given as .* from 1 are accepted\.$"
    ):
        Channel("z").conditional_moments(orders)  # type: ignore[arg-type]
