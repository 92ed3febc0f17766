"""Information of random labels whose probabilities given omega are formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit, ndtr
from scipy.stats import norm

from learnability import Channel
from learnability.gaussian.rules import composite_legendre
from learnability.theory.information import label_information

FLIP = 0.12


def information(text: str, M: np.ndarray, noise: float = 0.0) -> np.ndarray:
    return label_information(Channel(text, noise))(M)


def omegas(q: float, marks: tuple[float, ...] = (0.0,)) -> tuple[np.ndarray, np.ndarray]:
    """A fine rule for omega ~ N(0, q), narrow around marks."""
    width = math.sqrt(1 - q)
    near = [m + s * width for m in marks for s in (-8, -4, -2, -1, 0, 1, 2, 4, 8)]
    ends = 9 * math.sqrt(q)
    edges = np.unique([-ends, ends, *(x for x in near if abs(x) < ends)])
    omega, w = composite_legendre(edges, 0.4 * math.sqrt(q), 12)
    return omega, w * norm.pdf(omega, scale=math.sqrt(q))


@pytest.mark.parametrize("q", [0.05, 0.5, 0.95])
def test_a_flipped_sign(q: float) -> None:
    omega, weight = omegas(q, (0.3,))
    t = (omega - 0.3) / math.sqrt(1 - q)
    p = FLIP + (1 - 2 * FLIP) * ndtr(t)
    slope = (1 - 2 * FLIP) * norm.pdf(t) / math.sqrt(1 - q)
    exact = float(weight @ (slope**2 / (p * (1 - p))))
    found = information(f"flip(sign(z - 0.3), {FLIP})", np.array([[q]]))
    assert found[0, 0] == pytest.approx(exact, rel=1e-7)


@pytest.mark.parametrize("q", [(0.3, 0.6), (0.0, 0.8), (0.9, 0.9)])
def test_a_flipped_product_of_signs(q: tuple[float, float]) -> None:
    """P(y = 1) = p + (1 - 2 p) (Phi Phi + (1 - Phi)(1 - Phi))."""
    rules = [omegas(x) if x else (np.zeros(1), np.ones(1)) for x in q]
    t = [omega / math.sqrt(1 - x) for (omega, _), x in zip(rules, q, strict=True)]
    first, second = ndtr(t[0])[:, None], ndtr(t[1])
    p = FLIP + (1 - 2 * FLIP) * (first * second + (1 - first) * (1 - second))
    slopes = [
        (1 - 2 * FLIP) * norm.pdf(t[0])[:, None] / math.sqrt(1 - q[0]) * (2 * second - 1),
        (1 - 2 * FLIP) * norm.pdf(t[1]) / math.sqrt(1 - q[1]) * (2 * first - 1),
    ]
    exact = [rules[0][1] @ (s**2 / (p * (1 - p))) @ rules[1][1] for s in slopes]
    found = information(f"flip(sign(z1*z2), {FLIP})", np.diag(q))
    np.testing.assert_allclose(np.diag(found), exact, rtol=1e-5, atol=1e-12)
    assert abs(found[0, 1]) < 1e-9


@pytest.mark.parametrize(
    ("text", "one"),
    [
        ("bernoulli(sigmoid(z1 + 0.5*z2))", "bernoulli(sigmoid(1.118033988749895*z))"),
        ("bernoulli(sigmoid(6*z1 + 3*z2))", "bernoulli(sigmoid(6.708203932499369*z))"),
    ],
)
def test_labels_of_one_combination_at_any_overlap(text: str, one: str) -> None:
    """y depends on u = a.z / |a| alone: I(M) = a a^T I_1(a.M a), up to the stated error.

    Errors were those of multiples of the identity: 1e-8 was said of 6e-4.
    """
    a = np.array([1.0, 0.5]) / math.sqrt(1.25)
    M = np.array([[0.55, 0.2], [0.2, 0.3]])
    exact = information(one, np.array([[a @ M @ a]]))[0, 0] * np.outer(a, a)
    law = label_information(Channel(text))
    found, error = law(M), law.error_at(M)
    assert error < 5e-3
    assert np.abs(found - exact).max() <= error * np.abs(exact).max()
    assert law.error_at(0.3 * np.eye(2)) == law.error


@pytest.mark.parametrize("q", [0.1, 0.7])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_a_logistic_label(q: float, noise: float) -> None:
    """Two labels, told apart through Gaussian noise where there is some."""
    omega, weight = omegas(q)
    x, w = composite_legendre(np.linspace(-9, 9, 37), 0.5, 8)
    share = w * norm.pdf(x)
    p = expit(2 * (omega[:, None] + math.sqrt(1 - q) * x))
    chance, slope = p @ share, p @ (share * x) / math.sqrt(1 - q)
    if noise:
        y, dy = composite_legendre(np.array([-6.0, 7.0]), 0.1, 6)
        high, low = (norm.pdf(y, one, math.sqrt(noise)) for one in (1.0, 0.0))
        law = chance[:, None] * high + (1 - chance[:, None]) * low
        told = (slope[:, None] * (high - low)) ** 2 / law @ dy
    else:
        told = slope**2 / (chance * (1 - chance))
    found = information("bernoulli(sigmoid(2*z))", np.array([[q]]), noise)
    assert found[0, 0] == pytest.approx(float(weight @ told), rel=1e-6)


def test_latent_noise_is_noise() -> None:
    """A latent coordinate that is added is Gaussian noise; one of which nothing is known, too."""
    M = np.array([[0.4]])
    added = information("z + 0.5*xi", M)[0, 0]
    assert added == pytest.approx(1 / (0.25 + 0.6), rel=1e-6)
    both = information("z + 0.5*xi", M, noise=0.2)[0, 0]
    assert both == pytest.approx(1 / (0.45 + 0.6), rel=1e-6)
    product = information("sign(z)*abs(xi)", M)[0, 0]
    assert product == pytest.approx(information("sign(z)", M)[0, 0], rel=1e-4)
    law = label_information(Channel("flip(sign(z), 0.1)"))
    assert law.exponent == 0.5
    assert label_information(Channel("bernoulli(sigmoid(z))")).exponent == 1.0
