"""Links that no table lists, against values worked out here by other means."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import k0, k1, loggamma
from scipy.stats import chi2, norm

from learnability.labels import Link
from learnability.reports import hardness
from learnability.theory import csq_staircase, grand_staircase

from tests.geometry import axes, projector, spanned_by
from tests.reports.shared import opened, report_on

PI = math.pi


def two_sided(edges: list[float]) -> float:
    """1 / alpha_c of a label that tells between which edges |z| lies."""
    ends = [0.0, *edges, math.inf]
    total = 0.0
    for a, b in zip(ends[:-1], ends[1:], strict=True):
        mass = 2 * (norm.cdf(b) - norm.cdf(a))
        upper = 0.0 if math.isinf(b) else b * norm.pdf(b)
        total += (2 * (a * norm.pdf(a) - upper)) ** 2 / mass
    return total


def sign_of_cosine() -> float:
    k = np.arange(-12, 13)
    low, high = 2 * PI * k - PI / 2, 2 * PI * k + PI / 2
    mass = np.sum(norm.cdf(high) - norm.cdf(low))
    second = np.sum(low * norm.pdf(low) - high * norm.pdf(high))
    return float(mass * (1 - mass) / second**2)


def cosine() -> float:
    """Roots of cos(2 z) = cos(2 t) are +-t + k pi with equal slopes."""

    def integrand(t: float) -> float:
        roots = np.concatenate([s * t + PI * np.arange(-5, 6) for s in (1, -1)])
        weight = norm.pdf(roots)
        return float((weight @ (roots**2 - 1)) ** 2 / weight.sum())

    return 1 / quad(integrand, 0, PI / 2, epsabs=1e-12)[0]


def noisy_square(noise: float) -> float:
    """By brute force on a fine grid of z and y."""
    z, dz = np.linspace(-9, 9, 1201, retstep=True)
    y, dy = np.linspace(-8, 84, 1501, retstep=True)
    density = np.exp(-0.5 * (y[:, None] - z**2) ** 2 / noise) / math.sqrt(2 * PI * noise)
    p, second = density @ norm.pdf(z) * dz, density @ (norm.pdf(z) * (z**2 - 1)) * dz
    return 1 / float(np.sum(second**2 / np.maximum(p, 1e-280)) * dy)


def product(r: int) -> float:
    """Fisher information of the location of log|z1 ... zr|.

    E[|z|^{it}] = 2^{it/2} Gamma((1 + it)/2) / sqrt(pi), and weighting by z1^2 - 1 multiplies it by
    it: so E[z1^2 - 1 | y] is minus the derivative of the log-density of log|y|.
    """
    t = np.arange(-30, 30, 0.02) + 0.01
    transform = np.exp(r * (0.5j * t * math.log(2) + loggamma(0.5 + 0.5j * t) - 0.5 * math.log(PI)))
    u = np.arange(-25, 6, 0.05)
    wave = np.exp(-1j * np.outer(u, t)) * 0.02 / (2 * PI)
    density, slope = np.real(wave @ transform), np.real(wave @ (-1j * t * transform))
    keep = density > 1e-11
    return 1 / float(np.sum(slope[keep] ** 2 / density[keep]) * 0.05)


def noisy_product(noise: float) -> float:
    """z1 z2 has density K0(|t|)/pi, E[z1^2 | t] = |t| K1/K0, E[z1 z2 | t] = t; then blur."""
    edges = np.concatenate([[0], np.geomspace(1e-12, 40, 60)])
    x, w = np.polynomial.legendre.leggauss(12)
    half = 0.5 * np.diff(edges)[:, None]
    t = (0.5 * (edges[1:] + edges[:-1])[:, None] + half * x).ravel()
    weight = (half * w).ravel()
    rows = np.stack([k0(t), t * k1(t) - k0(t), t * k0(t)]) * weight / PI
    y, dy = np.linspace(-25, 25, 2001, retstep=True)

    def blurred(row: np.ndarray, parity: int) -> np.ndarray:
        sigma = math.sqrt(noise)
        kernel = norm.pdf((y[:, None] - t) / sigma) + parity * norm.pdf((y[:, None] + t) / sigma)
        return kernel @ row / sigma

    p, a, b = blurred(rows[0], 1), blurred(rows[1], 1), blurred(rows[2], -1)
    return 1 / float(np.sum((a**2 + b**2) / np.maximum(p, 1e-280)) * dy)


def noisy_parity(noise: float) -> float:
    """Given y the sign has mean tanh(y / noise)."""
    spread = math.sqrt(noise)
    known = quad(lambda y: np.tanh(y / noise) ** 2 * norm.pdf(y, 1, spread), -12, 12, limit=200)[0]
    return PI**2 / 4 / known


def square_cell() -> float:
    """|z1| + |z2| < 1 is the square |u|, |v| < 1/sqrt(2) in a frame turned by 45 degrees."""
    c = math.sqrt(0.5)
    side = 2 * norm.cdf(c) - 1
    return side**2 * (1 - side**2) / (2 * c * norm.pdf(c) * side) ** 2


def ball(r: int, level: float) -> float:
    """sign(|z|^2 - c): E[z1^2; |z|^2 > c] is the tail of the chi-square law with r + 2."""
    p, tilted = chi2.sf(level, r), chi2.sf(level, r + 2)
    return p * (1 - p) / (tilted - p) ** 2


ONE_STEP: dict[str, tuple[float, Callable[[], float], int, float]] = {
    # link: noise, alpha_c, information exponent, relative tolerance
    "sign(cos(z))": (0.0, sign_of_cosine, 2, 1e-9),
    "step(abs(z) - 0.5) + step(abs(z) - 1.5)": (0.0, lambda: 1 / two_sided([0.5, 1.5]), 2, 1e-9),
    "cos(2*z)": (0.0, cosine, 2, 1e-6),
    "z**2": (1.0, lambda: noisy_square(1.0), 2, 1e-6),
    "sign(z1*z2)": (0.5, lambda: noisy_parity(0.5), 2, 1e-7),
    "sign(z1**2 + z2**2 - 1)": (0.0, lambda: 4 * (math.exp(0.5) - 1), 2, 1e-8),
    "sign(abs(z1) + abs(z2) - 1)": (0.0, square_cell, 2, 1e-8),
    "abs(z1*z2)": (0.0, lambda: product(2), 2, 1e-4),
    "z1*z2": (0.1, lambda: noisy_product(0.1), 2, 1e-4),
    "z1*z2*z3*z4": (0.0, lambda: product(4), 4, 1e-3),
    "sign(z1*z2) + 4*sign(z3*z4)": (0.0, lambda: PI**2 / 4, 2, 1e-9),
    "sign(z1**2 + z2**2 + z3**2 - 2)": (0.0, lambda: ball(3, 2.0), 2, 0.02),
}


@pytest.mark.parametrize("text", ONE_STEP)
def test_links_that_open_at_once(text: str) -> None:
    noise, exact, information, tolerance = ONE_STEP[text]
    report, alpha = report_on(text, noise), exact()
    assert (report.kind, report.generative_exponent) == ("easy", 2)
    assert report.information_exponent == report.leap == information
    assert abs(report.alpha_c - alpha) <= 3 * report.alpha_c_error + 1e-8 * alpha
    assert report.alpha_c == pytest.approx(alpha, rel=tolerance)
    np.testing.assert_allclose(opened(report.staircase), [np.eye(report.target.r)], atol=1e-6)
    assert report.undecided == ()


def test_the_helper_against_the_listed_value() -> None:
    assert product(3) == pytest.approx(2.56518040192378, rel=1e-7)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (
            "sign(z1*z2)*abs(z3)",
            [("easy", 0.5, axes(3, 3)), ("easy", PI**2 / 4, axes(3, 1, 2))],
        ),
        ("where(z1 > 0, z2**2, 0)", [("trivial", 0.0, axes(2, 1)), ("easy", 1.0, axes(2, 2))]),
        (
            "sign(z1) + 3*sign(abs(z2) - 1)",
            [("trivial", 0.0, axes(2, 1)), ("easy", 1 / two_sided([1.0]), axes(2, 2))],
        ),
        (
            "sign(z1*(z2 + 0.5))",
            [("trivial", 0.0, axes(2, 1)), ("trivial", 0.0, axes(2, 2))],
        ),
    ],
)
def test_links_of_several_steps(text: str, steps: list[tuple[str, float, np.ndarray]]) -> None:
    found = report_on(text).staircase
    assert [step.kind for step in found] == [kind for kind, _, _ in steps]
    for step, (_, alpha, span) in zip(found, steps, strict=True):
        np.testing.assert_allclose(projector(step.directions), span, atol=1e-5)
        assert step.alpha == pytest.approx(alpha, abs=3 * (step.alpha_error or 0.0) + 1e-9)
        assert step.alpha == pytest.approx(alpha, rel=1e-4)
    assert report_on(text).undecided == ()


# ---- thresholds whose second step depends on the known direction without being smooth in it


def given_known(cut: Callable[[float], float], start: float) -> float:
    """alpha of a label that is |v| > cut(u) for u > start, u known."""

    def integrand(u: float) -> float:
        c = cut(u)
        mass = 2 * norm.sf(c)
        return float((2 * c * norm.pdf(c)) ** 2 / (mass * (1 - mass)) * norm.pdf(u))

    return 1 / quad(integrand, start + 1e-13, 10, epsabs=1e-13, limit=400)[0]


@pytest.mark.parametrize(
    ("text", "alpha", "span"),
    [
        # z1 z2 = (u^2 - v^2)/2 for u, v = (z1 +- z2)/sqrt(2); u and -u count.
        (
            "sign(z1*z2 - 0.3)",
            given_known(lambda u: math.sqrt(u**2 - 0.6), math.sqrt(0.6)) / 2,
            (1, -1),
        ),
        ("step(z1)*step(z2)", given_known(lambda u: u, 0.0), (1, -1)),
        ("sign(z1 + z2**2)", given_known(lambda u: math.sqrt(u), 0.0), (0, 1)),
    ],
)
def test_the_second_step_of_a_threshold(text: str, alpha: float, span: tuple[int, int]) -> None:
    step = grand_staircase(Link(text)).steps[1]
    assert step.kind == "easy"
    np.testing.assert_allclose(projector(step.directions), spanned_by(span), atol=1e-5)
    assert step.alpha is not None and step.alpha_error is not None
    assert abs(step.alpha - alpha) <= 3 * step.alpha_error
    assert step.alpha == pytest.approx(alpha, rel=0.05)


def test_the_first_step_of_a_hyperbola() -> None:
    # G = +-[[a, b], [b, a]] / mass: the top eigenvalue is (a + b)^2 / (p (1 - p)).
    p, a, b = (
        quad(f, 0.3, 60, epsabs=1e-14)[0] / PI
        for f in (k0, lambda t: t * k1(t) - k0(t), lambda t: t * k0(t))
    )
    report = report_on("sign(z1*z2 - 0.3)")
    assert report.alpha_c == pytest.approx(p * (1 - p) / (a + b) ** 2, rel=1e-4)
    np.testing.assert_allclose(opened(report.staircase)[0], spanned_by((1, 1)), atol=1e-6)


# ---- symmetry decides


def test_a_maximum_shows_only_what_symmetry_allows() -> None:
    # Permutations leave max(z1, z2, z3) alone, so the first direction is the diagonal, no other.
    steps = csq_staircase(Link("max(z1, z2, z3)")).steps
    np.testing.assert_allclose(opened(steps), [spanned_by((1, 1, 1))], atol=1e-6)


def test_exponents_beyond_the_low_orders() -> None:
    # Odd, and orthogonal to He1 and He3: found at order five.
    report = hardness("He5(z)*exp(0*z)")
    assert (report.information_exponent, report.generative_exponent) == (5, 1)
    even = hardness("He6(z)")
    assert (even.information_exponent, even.generative_exponent, even.kind) == (6, 2, "easy")
