"""Conditional moments of one variable from level sets, against closed forms and sampling."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from learnability.gaussian.sections import Section
from learnability.labels import Link
from learnability.labels.level_sets import MOST_BRANCHES, LevelSets


def levels(text: str) -> LevelSets:
    return LevelSets(Section.whole(Link(text)))


def moments(text: str, order: int = 4, noise: float = 0.0) -> np.ndarray:
    value, error = levels(text).squared_moments(order, noise)
    assert value[0] == pytest.approx(1.0, abs=1e-12)
    assert np.all(error < 1e-5)
    return value


@pytest.mark.parametrize("text", ["z", "tanh(z)", "exp(z)", "z**3", "2 - 5*z", "z + sin(z)"])
def test_a_label_that_can_be_inverted_tells_everything(text: str) -> None:
    np.testing.assert_allclose(moments(text, 6), 1.0, atol=1e-8)


@pytest.mark.parametrize("text", ["abs(z)", "z**2", "exp(-z**2)", "cos(z/4)", "tanh(abs(z))"])
def test_a_label_that_tells_the_modulus(text: str) -> None:
    np.testing.assert_allclose(moments(text, 6), [1, 0, 1, 0, 1, 0, 1], atol=1e-6)


@pytest.mark.parametrize("text", ["erf(z)", "tanh(4*z)"])
def test_a_label_that_saturates_keeps_the_low_orders(text: str) -> None:
    # In double precision erf is one beyond six; what lies there hardly counts at order two.
    value, _ = levels(text).squared_moments(2)
    np.testing.assert_allclose(value, 1.0, atol=1e-3)


@pytest.mark.parametrize("text", ["-exp(-z**2)", "-1.2*exp(-z**2)", "-exp(-4*z**2)"])
def test_a_label_that_fades_out_below_zero_keeps_its_tails(text: str) -> None:
    """The modulus is told: beyond |z| = 6 labels are rounding of the largest one, but not zero."""
    np.testing.assert_allclose(moments(text)[2], 1.0, rtol=0, atol=1e-9)


def test_a_label_that_saturates_early_is_still_a_number() -> None:
    # tanh(He4) is one in double precision beyond |z| = 2.9: an atom with half a percent of mass.
    value, _ = levels("tanh(He4(z))").squared_moments(2)
    assert np.all(np.isfinite(value))
    # All that is lost is what tells large |z| apart.
    assert 0.9 * moments("He4(z)", 2)[2] < value[2] < moments("He4(z)", 2)[2] + 1e-6


@pytest.mark.parametrize("edge", [-0.4, 0.0, 1.3])
def test_two_labels(edge: float) -> None:
    p, density = norm.cdf(edge), norm.pdf(edge)
    # E[He_k; z > a] = He_{k-1}(a) phi(a).
    shape = np.array([1.0, edge, edge**2 - 1]) * density
    exact = shape**2 / (p * (1 - p)) / [1, 2, 6]
    np.testing.assert_allclose(moments(f"sign(z - {edge})", 3)[1:], exact, atol=1e-12)


def test_relu_is_half_a_line_and_an_atom() -> None:
    # z < 0 is one label, with E[z | y] = -2 phi(0); z > 0 is known.
    first = 0.5 * (2 * norm.pdf(0)) ** 2 + 0.5
    np.testing.assert_allclose(moments("relu(z)", 2)[1:], [first, 0.5], atol=1e-10)


def test_equal_labels_on_separate_pieces_are_one_label() -> None:
    text = "where(abs(z) < 0.6, 0, where(abs(z) < 1.7, 1, 0))"
    mass = 2 * (norm.cdf(1.7) - norm.cdf(0.6))
    second = 2 * (0.6 * norm.pdf(0.6) - 1.7 * norm.pdf(1.7))
    exact = second**2 / (mass * (1 - mass)) / 2
    assert moments(text, 2)[2] == pytest.approx(exact, abs=1e-12)


def test_infinitely_many_roots() -> None:
    # cos(2 z) = cos(2 t): the roots are +-t + k pi, and all slopes are equal.
    def integrand(t: float) -> float:
        roots = np.concatenate([s * t + math.pi * np.arange(-4, 5) for s in (1, -1)])
        weight = norm.pdf(roots)
        return float((weight @ (roots**2 - 1)) ** 2 / weight.sum())

    exact = quad(integrand, 0, math.pi / 2, epsabs=1e-12)[0] / 2
    assert moments("cos(2*z)", 2)[2] == pytest.approx(exact, abs=1e-7)


def test_a_fold_inside() -> None:
    # z^3 - 3 z has one root or three; integrate over z and find the roots of each label.
    def integrand(z: float) -> float:
        y = z**3 - 3 * z
        roots = np.roots([1, 0, -3, -y])
        roots = np.real(roots[np.abs(np.imag(roots)) < 1e-9])
        weight = norm.pdf(roots) / np.abs(3 * roots**2 - 3)
        return float((weight @ roots / weight.sum()) ** 2 * norm.pdf(z))

    cuts = [-8, -2, -1, 1, 2, 8]
    exact = sum(
        quad(integrand, a, b, limit=200)[0] for a, b in zip(cuts[:-1], cuts[1:], strict=True)
    )
    assert moments("He3(z)", 1)[1] == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize(
    "text", ["z**2*exp(-z**2)", "where(0.5 < abs(z) < 1.608310598815743, 1, 0)"]
)
def test_weights_that_cancel_leave_nothing(text: str) -> None:
    value, error = levels(text).squared_moments(4)
    assert value[2] < 1e-9 and error[2] < 1e-9
    assert value[4] > 0.01


# ---- noise


@pytest.mark.parametrize("noise", [1e-3, 0.3, 4.0])
def test_a_noisy_line_is_linear_regression(noise: float) -> None:
    # y = z + noise: E[h_k(z) | y] has second moment (1 + noise)^(-k) (Mehler).
    exact = (1 + noise) ** -np.arange(5.0)
    np.testing.assert_allclose(moments("z", 4, noise), exact, atol=1e-9)


@pytest.mark.parametrize("noise", [0.05, 1.0])
def test_a_noisy_sign(noise: float) -> None:
    def integrand(y: float) -> float:
        density = [norm.pdf(y, s, math.sqrt(noise)) for s in (1, -1)]
        return (density[0] - density[1]) ** 2 / (density[0] + density[1]) / 2

    reach = 1 + 12 * math.sqrt(noise)
    exact = 2 / math.pi * quad(integrand, -reach, reach, limit=400, points=[-1, 0, 1])[0]
    assert moments("sign(z)", 1, noise)[1] == pytest.approx(exact, abs=1e-9)


def test_a_noisy_square_by_brute_force() -> None:
    noise = 1.0
    z, dz = np.linspace(-8, 8, 2001, retstep=True)
    y, dy = np.linspace(-8, 75, 6001, retstep=True)
    prior = norm.pdf(z) * dz
    density = np.exp(-0.5 * (y[:, None] - z**2) ** 2 / noise) / math.sqrt(2 * math.pi * noise)
    p, second = density @ prior, density @ (prior * (z**2 - 1))
    exact = float(np.sum(second**2 / np.maximum(p, 1e-290)) * dy) / 2
    assert moments("z**2", 2, noise)[2] == pytest.approx(exact, abs=1e-7)


@pytest.mark.parametrize("text", ["abs(z)", "He4(z)", "sign(abs(z) - 1)", "z*exp(-z**2/2)"])
def test_noise_only_hides(text: str) -> None:
    values = [moments(text, 4, noise) for noise in (0.0, 0.01, 0.1, 1.0)]
    for clear, blurred in zip(values[:-1], values[1:], strict=True):
        assert np.all(blurred <= clear + 1e-8)


def test_little_noise_is_close_to_none() -> None:
    gaps = [np.abs(moments("He3(z)", 2, noise) - moments("He3(z)", 2)) for noise in (1e-2, 1e-4)]
    assert np.all(gaps[1][1:] < 0.3 * gaps[0][1:]) and np.all(gaps[1] < 5e-3)


# ---- a monotone relabelling changes nothing


@pytest.mark.parametrize(
    ("text", "relabelled"),
    [
        ("He4(z)", "He4(z)**3"),
        ("He4(z)", "2 - He4(z)/7"),
        ("He3(z)", "exp(He3(z)/40)"),
        ("z*exp(-z**2/2)", "sin(z*exp(-z**2/2))"),
        ("abs(z)", "log(1 + abs(z))"),
        ("relu(z)", "sqrt(relu(z) + 1)"),
    ],
)
def test_monotone_relabelling(text: str, relabelled: str) -> None:
    np.testing.assert_allclose(moments(relabelled, 4), moments(text, 4), atol=1e-6)


def test_too_many_branches_are_told() -> None:
    assert levels("He4(z)").tractable
    assert not levels(f"sin({MOST_BRANCHES}*z)").tractable


def test_labels_near_an_atom_are_not_the_atom() -> None:
    """relu: E[h_k | y] is h_k(y) for every label above zero, be it close to zero or not."""
    sets = LevelSets(Section.whole(Link("relu(z)")))
    y = np.array([1e-4, 0.05, 0.7])
    found = sets.conditional(y, 2)
    np.testing.assert_allclose(found[1], y, rtol=1e-9)
    np.testing.assert_allclose(found[2], (y**2 - 1) / math.sqrt(2), rtol=1e-9)
    at_atom = sets.conditional(np.zeros(1), 1)[1, 0]
    assert at_atom == pytest.approx(-math.sqrt(2 / math.pi))
