"""Exact degree energies against sampling, closed forms and each other."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import LearnabilityError, Link
from learnability.targets._composition import Composition

REFERENCE = Link("He2(z)/2 + He3(z)/6")
# N, variance, shares of degrees 1 to 4, and above 1 to 4: theory of depth, computed elsewhere.
TABLE = (
    (8, 0.6209, (0.021, 0.612, 0.101, 0.095), (0.979, 0.366, 0.266, 0.170)),
    (10, 0.6288, (0.016, 0.617, 0.107, 0.085), (0.984, 0.367, 0.259, 0.174)),
    (12, 0.6349, (0.013, 0.620, 0.114, 0.077), (0.987, 0.367, 0.254, 0.177)),
    (16, 0.6441, (0.008, 0.623, 0.124, 0.064), (0.992, 0.369, 0.245, 0.181)),
    (64, 0.6759, (0.001, 0.618, 0.169, 0.020), (0.999, 0.381, 0.212, 0.191)),
)


@pytest.mark.parametrize(("N", "variance", "shares", "above"), TABLE)
def test_the_reference_setting(
    N: int, variance: float, shares: tuple[float, ...], above: tuple[float, ...]
) -> None:
    """Up to one unit of the last place printed."""
    found = Composition(Link("tanh(3*z)"), REFERENCE, N // 2, N // 2, 1.0)
    assert found.variance == pytest.approx(variance, abs=1e-4)
    part = found.energies[1:5] / found.variance
    assert part == pytest.approx(shares, abs=1e-3)
    assert 1 - np.cumsum(part) == pytest.approx(above, abs=1e-3)


def test_polynomials_are_exact() -> None:
    # h^2 = 1 + He2(h): with P = He2 / sqrt 2, E[h^2 He2(z_1)] = E[P^2 He2] / N = 4 / N.
    N = 6
    found = Composition(Link("z**2"), Link("He2(z)/sqrt(2)"), N, 0, 1.0)
    assert found.mean == pytest.approx(1, abs=1e-6)
    names = [(t.plus, t.minus) for t in found.types]
    assert found.coefficients[names.index(((2,), ()))] == pytest.approx(4 / N, abs=1e-5)
    assert ((), (2,)) not in names  # No variable has the sign -1.
    # Degree 4: He4 on one variable, He2 He2 on two.
    fourth = N * (12 / N) ** 2 / 24 + math.comb(N, 2) * (4 / N) ** 2 / 4
    assert found.energies[4] == pytest.approx(fourth, rel=1e-4)
    assert found.energies[1:].sum() == pytest.approx(found.variance, rel=1e-4)


@pytest.mark.parametrize("g", ["sign(z - 0.3)", "relu(z) - abs(z - 1)", "sin(1.5*z)"])
def test_parts_against_samples(g: str) -> None:
    found = Composition(Link(g), REFERENCE, 6, 4, 1.2)
    z = np.random.default_rng(3).standard_normal((100_000, 1, 10))
    a = np.array([1.0] * 6 + [-1.0] * 4)
    h = 1.2 * (REFERENCE(z[:, 0, :, None]) @ a) / math.sqrt(10)
    f = Link(g)(h)
    assert found.mean == pytest.approx(f.mean(), abs=5 * f.std() / 316)
    assert found.variance == pytest.approx(f.var(), abs=5 * ((f - f.mean()) ** 2).std() / 316)
    parts = found.project(z, 3)
    for j, part in enumerate(parts):
        # Both the energy of a part and its correlation with f are |P_j f|^2.
        tolerance = 5 * (f * part).std() / 316 + 1e-12
        assert np.mean(f * part) == pytest.approx(found.energies[j], abs=tolerance)
        assert np.mean(part**2) == pytest.approx(
            found.energies[j], abs=5 * (part**2).std() / 316 + 1e-12
        )
    correlation = found.feature_correlation[0]
    assert correlation == pytest.approx(np.mean(f * h), abs=5 * (f * h).std() / 316)


@pytest.mark.parametrize(
    ("g", "P", "N", "variance"),
    [
        ("z**2", "He2(z)/sqrt(2)", 2, 2 + 12 / 2),
        ("z**2", "He2(z)/sqrt(2)", 4, 2 + 12 / 4),
        ("exp(z)", "He2(z)/sqrt(2)", 16, 16 - (8 / 7) ** 8),
    ],
)
def test_few_variables(g: str, P: str, N: int, variance: float) -> None:
    """Densities with singularities and heavy tails: E h^4 = 3 + (E P^4 - 3) / N; E e^h of chi^2."""
    found = Composition(Link(g), Link(P), N // 2, N // 2, 1.0)
    assert found.variance == pytest.approx(variance, rel=2e-3)


def test_one_variable() -> None:
    # sign(z^2 - 1): E[f He2] = 4 phi(1).
    found = Composition(Link("sign(z)"), Link("He2(z)"), 1, 0, 1.0)
    assert found.energies[2] == pytest.approx(8 * math.exp(-1) / (2 * math.pi), abs=1e-6)


def test_two_features() -> None:
    one = Composition(Link("tanh(z)"), REFERENCE, 4, 4, 1.0)
    both = Composition(Link("tanh(z1)*(1 + tanh(z2))"), REFERENCE, 4, 4, 1.0)
    v = one.variance
    assert both.variance == pytest.approx(v + v**2, abs=1e-6)
    # The product adds degrees: 2 of the sum is 2 of the first plus 1 + 1.
    e = one.energies
    assert both.energies[2] == pytest.approx(e[2] + e[1] ** 2, abs=1e-6)
    assert both.energies[3] == pytest.approx(e[3] + 2 * e[1] * e[2], abs=1e-6)
    assert abs(both.feature_correlation[1]) < 1e-9


def test_too_rough_a_function_is_told() -> None:
    with pytest.raises(LearnabilityError, match="use a larger N"):
        _ = Composition(Link("step(z + 1.3)"), Link("He2(z)"), 2, 0, 1.0).energies
    with pytest.raises(LearnabilityError, match="not finite"):
        _ = Composition(Link("exp(z**2)"), Link("He2(z)"), 4, 0, 1.0).variance
    for g, P in (("exp(z**2)", "He2(z)/sqrt(2)"), ("exp(6*z)", "He3(z)")):
        with pytest.raises(LearnabilityError, match="grows so fast"):
            _ = Composition(Link(g), Link(P), 8, 8, 1.0).energies
    with pytest.raises(LearnabilityError, match="is constant"):
        _ = Composition(Link("0*z + 1"), Link("He2(z)"), 4, 4, 1.0).energies


@pytest.mark.parametrize(("g", "P", "N"), [("z", "He2(z)", 4), ("tanh(z) + z**2/8", "He3(z)", 2)])
def test_what_rare_labels_hold_of_the_variance(g: str, P: str, N: int) -> None:
    """Of 10^6 samples, the largest hundredth and thousandth."""
    found = Composition(Link(g), Link(P), N // 2, N - N // 2, 0.5)
    z = np.random.default_rng(8).standard_normal((10**6, N))
    signs = np.repeat([1.0, -1.0], [N // 2, N - N // 2])
    h = 0.5 * found.law.polynomial(z[..., None]) @ signs / math.sqrt(N)
    size = np.sort(np.abs(Link(g)(h[:, None]) - found.mean))[::-1]
    for share in (0.01, 0.001):
        rare = np.sum(size[: int(share * len(size))] ** 2) / np.sum(size**2)
        assert found.rare(share) == pytest.approx(rare, abs=0.02)
