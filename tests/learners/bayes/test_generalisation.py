"""Errors of the Bayes predictor: known values, to the few per cent that its 2**10 samples allow."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from learnability import Channel, Link
from learnability.learners.bayes._generalisation import errors, expected_errors


def consistent(channel: Channel, M: np.ndarray) -> tuple[float, float]:
    """Of a posterior mean: Q = M and C = I - M."""
    return errors(channel, M, M, np.eye(len(M)) - M)


@pytest.mark.parametrize(
    ("text", "noise"), [("sign(z1*z2)", 0.0), ("z1 + abs(z2)", 0.1), ("z**2", 0.3), ("tanh(z)", 0)]
)
def test_no_overlap_leaves_the_variance_of_the_label(text: str, noise: float) -> None:
    channel = Channel(text, noise)
    r = channel.link.r
    found = consistent(channel, np.zeros((r, r)))
    assert found.squared == pytest.approx(channel.label_variance, rel=4e-2)


@pytest.mark.parametrize(
    ("text", "noise"), [("sign(z1*z2)", 0.0), ("z1 + abs(z2)", 0.1), ("z**2", 0.3)]
)
def test_full_overlap_leaves_the_noise(text: str, noise: float) -> None:
    channel = Channel(text, noise)
    found = consistent(channel, np.eye(channel.link.r))
    assert found.squared == pytest.approx(noise, abs=1e-9)
    if channel.link.values is not None:
        assert found.wrong == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9, 0.99])
def test_the_perceptron(q: float) -> None:
    found = consistent(Channel("sign(z)"), np.array([[q]]))
    assert found.wrong == pytest.approx(math.acos(math.sqrt(q)) / math.pi, abs=3e-3)
    assert found.squared == pytest.approx(1 - 2 / math.pi * math.asin(q), abs=2e-2)


@pytest.mark.parametrize("q", [0.2, 0.7])
def test_parity_of_two(q: float) -> None:
    """The predictor sign(omega1 omega2) errs when exactly one of two independent signs does."""
    found = consistent(Channel("sign(z1*z2)"), q * np.eye(2))
    p = math.acos(math.sqrt(q)) / math.pi
    assert found.wrong == pytest.approx(2 * p * (1 - p), abs=2e-2)
    assert found.squared == pytest.approx(1 - (2 / math.pi * math.asin(q)) ** 2, abs=2e-2)


@pytest.mark.parametrize("q", [0.2, 0.7])
def test_a_linear_link(q: float) -> None:
    assert consistent(Channel("z", 0.2), np.array([[q]])).squared == pytest.approx(
        1 - q + 0.2, rel=5e-3
    )
    # Not consistent: z and omega of covariance M, omega of variance Q.
    found = errors(Channel("z"), np.array([[0.5]]), np.array([[0.3]]), np.array([[0.9]]))
    assert found.squared == pytest.approx(1 + 0.5 - 2 * 0.3, rel=5e-3)


def test_continuous_labels_are_never_wrong_or_right() -> None:
    assert math.isnan(consistent(Channel("z1*z2"), 0.5 * np.eye(2)).wrong)


def test_the_error_falls_with_the_overlap() -> None:
    found = [consistent(Channel("z1*z2"), q * np.eye(2)).squared for q in (0.0, 0.3, 0.6, 0.9)]
    np.testing.assert_allclose(found, [1 - q**2 for q in (0.0, 0.3, 0.6, 0.9)], atol=2e-2)


def test_an_overlap_matrix_that_is_not_symmetric() -> None:
    """z and omega enter differently: M = W W*^T has the estimate in rows."""
    M = np.array([[0.0, 0.6], [0.0, 0.0]])
    Q, C = np.diag([0.36, 0.0]), np.diag([0.64, 1.0])
    found = errors(Channel("z1 + 0*z2"), Q, M, C)
    assert found.squared == pytest.approx(1 + 0.36, rel=5e-3)  # The estimate of z1 is about z2.


@pytest.mark.parametrize("q", [0.0, 0.05, 0.5, 0.95, 0.999, 1.0])
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("z**2", lambda q: 2 - 2 * q**2),
        ("z1*z2", lambda q: 1 - q**2),
        ("z*exp(z)", lambda q: 5 * math.e**2 - math.exp(1 + q) * ((1 + q) ** 2 + q)),
        ("sign(z)", lambda q: 2 * math.acos(q) / math.pi),
    ],
)
def test_the_expected_error_is_exact_at_both_ends(
    text: str, left: Callable[[float], float], q: float
) -> None:
    """E g(a) g(b) of normals of correlation q has closed forms; z*exp(z) had 0 +- 2.8 at q = 1."""
    channel = Channel(text)
    M = q * np.eye(channel.link.r)
    found = expected_errors(channel, M, np.zeros_like(M))
    assert abs(found.squared - left(q)) <= 4 * found.squared_error + 1e-9
    assert found.squared_error <= 0.1 * left(q) + 1e-9


@pytest.mark.parametrize("r", [1, 2, 3])
def test_a_constant_label_is_never_wrong(r: int) -> None:
    text = " + ".join(f"0*z{i + 1}" for i in range(r))
    found = consistent(Channel(Link(text, r=r)), np.zeros((r, r)))
    assert (found.squared, found.wrong) == (0.0, 0.0)
