"""Information on boxes by exact integrals, against averages of posteriors over samples."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Channel
from learnability.labels.posterior import BoxPosterior, scheme_of
from learnability.theory._box_information import (
    FiniteInformation,
    RootInformation,
    even_rule,
    graded_rule,
    interval_masses,
    omega_rule,
)


def scheme(text: str, noise: float = 0.0) -> BoxPosterior:
    found = scheme_of(Channel(text, noise))
    assert isinstance(found, BoxPosterior)
    return found


def sampled(channel: Channel, q: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """E[g_j^2] over samples, and its standard error."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((n, len(q)))
    omega = q * z + np.sqrt(q * (1 - q)) * rng.standard_normal(z.shape)
    g = channel.posterior(channel.sample(z, rng), omega, np.diag(1 - q)).g
    return (g**2).mean(axis=0), (g**2).std(axis=0) / np.sqrt(n)


@pytest.mark.parametrize("q", [0.0, 0.3, 0.999, 1 - 1e-9])
def test_a_rule_for_the_estimate(q: float) -> None:
    omega, weight = omega_rule(q, np.array([0.0, 0.7]))
    assert weight.sum() == pytest.approx(1.0)
    assert weight @ omega**2 == pytest.approx(q, abs=1e-10)
    assert weight @ np.cos(omega) == pytest.approx(np.exp(-q / 2), abs=1e-10)


def test_masses_of_intervals() -> None:
    omega = np.array([0.2, -9.0])
    mass, slope = interval_masses(np.array([-0.5, 1.0]), omega, 0.6)
    np.testing.assert_allclose(mass.sum(axis=0), 1.0)
    step = 1e-5
    up, down = (interval_masses(np.array([-0.5, 1.0]), omega + s, 0.6)[0] for s in (step, -step))
    np.testing.assert_allclose(slope, (up - down) / (2 * step), atol=1e-8)


@pytest.mark.parametrize(
    ("text", "noise", "q"),
    [
        ("sign(z1*z2)", 0.0, [0.4, 0.4]),
        ("sign(z1 - 0.3)*sign(z2 + 0.5)", 0.0, [0.2, 0.7]),
        ("sign(z1) + 2*sign(z2)", 0.3, [0.5, 0.1]),
    ],
)
def test_finitely_many_labels(text: str, noise: float, q: list[float]) -> None:
    exact = FiniteInformation(scheme(text, noise))(np.array(q))
    mean, error = sampled(Channel(text, noise), np.array(q), 4000)
    assert (np.abs(exact - mean) <= 4 * error).all()


@pytest.mark.parametrize(
    ("text", "q"),
    [("abs(z)", [0.6]), ("z1**2 + sign(z1*z2*z3)", [0.9, 0.3, 0.3])],
)
def test_one_smooth_coordinate(text: str, q: list[float]) -> None:
    exact = RootInformation(scheme(text))(np.array(q))
    mean, error = sampled(Channel(text), np.array(q), 4000)
    assert (np.abs(exact - mean) <= 4 * error).all()


def test_a_known_coordinate_leaves_a_parity_of_the_others() -> None:
    """z1**2 + sign(z1*z2*z3) with z1 known is sign(z2*z3)."""
    found = RootInformation(scheme("z1**2 + sign(z1*z2*z3)"))(np.array([1.0, 0.4, 0.4]))
    parity = FiniteInformation(scheme("sign(z1*z2)"))(np.array([0.4, 0.4]))
    assert found[0] == np.inf
    np.testing.assert_allclose(found[1:], parity, rtol=1e-9)


def of_a_parity(q: float, r: int, terms: int) -> float:
    """E[g_1^2] of sign(z1 ... zr) as a series in the moments of erf(omega / sqrt(2 V))."""
    from scipy.special import erf

    x, w = np.polynomial.legendre.leggauss(400)
    omega = 9 * np.sqrt(q) * x
    w = 9 * np.sqrt(q) * w * np.exp(-0.5 * omega**2 / q) / np.sqrt(2 * np.pi * q)
    square = erf(omega / np.sqrt(2 * (1 - q))) ** 2
    slope = 2 / (np.pi * (1 - q)) * np.exp(-(omega**2) / (1 - q))
    power, total = np.ones_like(omega), 0.0
    for _ in range(terms):
        told = w @ (slope * power)
        power = power * square
        total += told * (w @ power) ** (r - 1)
    return float(total)


@pytest.mark.parametrize(
    ("text", "q", "terms", "tolerance"),
    [
        ("sign(z1*z2*z3)", 0.3, 2000, 1e-7),
        ("sign(z1*z2*z3)", 0.6, 2000, 1e-7),
        ("sign(z1*z2*z3*z4)", 0.3, 2000, 5e-5),
        ("sign(z1*z2*z3*z4)", 0.8, 4000, 5e-5),
        ("sign(z1*z2*z3*z4)", 0.98, 60000, 5e-5),
    ],
)
def test_parities_of_many_directions_against_their_series(
    text: str, q: float, terms: int, tolerance: float
) -> None:
    r = text.count("z")
    found = FiniteInformation(scheme(text))(np.full(r, q))
    assert found == pytest.approx(of_a_parity(q, r, terms), rel=tolerance)


@pytest.mark.parametrize("q", [0.0, 0.3, 0.97])
def test_rules_with_few_nodes(q: float) -> None:
    for omega, weight in (even_rule(q, 0.45, 5.6), graded_rule(q, np.zeros(1))):
        assert weight.sum() == pytest.approx(1.0)
        assert weight @ omega**2 == pytest.approx(q, abs=5e-5)
        assert weight @ np.cos(omega) == pytest.approx(np.exp(-q / 2), abs=5e-5)


@pytest.mark.parametrize(
    ("text", "said_otherwise"),
    [
        ("1.5*He4(z)", "(1.5*He4(z))**3 + 1.5*He4(z)"),
        ("abs(1.5*z**3 - He2(z))", "abs(1.5*z**3 - He2(z))**3"),
        ("z**2", "exp(z**2/3)"),
        ("z1**2*sign(z2)", "exp(z1**2/5)*sign(z2)"),
    ],
)
def test_labels_that_span_many_orders_tell_as_much(text: str, said_otherwise: str) -> None:
    first, second = RootInformation(scheme(text)), RootInformation(scheme(said_otherwise))
    r = len(first.scheme.edges)
    for q in ([0.1, 0.6], [0.5, 0.0], [0.97, 0.3], [0.99999, 0.8]):
        np.testing.assert_allclose(second(np.array(q[:r])), first(np.array(q[:r])), rtol=1e-8)


@pytest.mark.parametrize("q", [0.0, 1e-6, 0.4, 0.98])
def test_an_overlap_of_zero_of_the_smooth_coordinate(q: float) -> None:
    """The sign of the label is that of z2, whatever is known of z1."""
    alone = FiniteInformation(scheme("sign(z)"))(np.array([0.6]))
    found = RootInformation(scheme("z1**2*sign(z2)"))(np.array([q, 0.6]))
    assert found[1] == pytest.approx(alone[0], rel=1e-9)


def test_a_grid_of_omega_and_omega_around_roots_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, q in (("He4(z)", [0.7]), ("z1**2 + sign(z1*z2)", [0.8, 0.5]), ("sin(3*z)", [0.97])):
        on_grid = RootInformation(scheme(text))(np.array(q))
        with monkeypatch.context() as patch:
            patch.setattr("learnability.theory._box_information._GRID", ((1e-9, 1.0),) * 2)
            around_roots = RootInformation(scheme(text))(np.array(q))
        np.testing.assert_allclose(on_grid, around_roots, rtol=1e-8)


@pytest.mark.parametrize("text", ["tanh(5*z)", "erf(2*z)", "tanh(relu(z)**2)"])
def test_labels_equal_to_rounding_have_an_error(text: str) -> None:
    """These labels tell z, or relu(z), exactly; floats do not, and the error says so."""
    plain = "relu(z)" if "relu" in text else "z"
    exact, found = RootInformation(scheme(plain)), RootInformation(scheme(text))
    flat = [FiniteInformation(s) if s.flat_boxes[0] else None for s in (exact.scheme, found.scheme)]
    assert found.blurred > 0
    for q in (0.2, 0.6, 0.9):
        at = np.array([q])
        told = [
            float((1 - q) * (part(at) + (extra(at) if extra else 0))[0])
            for part, extra in zip((exact, found), flat, strict=True)
        ]
        assert 0 <= told[0] - told[1] <= found.blurred
