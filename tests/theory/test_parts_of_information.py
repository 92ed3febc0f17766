"""Rules, sums and small equations from which the information of a label is made.

Labels that are linear in z have I(M) = a a^T / (noise + a^T (I - M) a), for every rule alike.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr, ndtri
from scipy.stats import norm

from learnability import Channel
from learnability.gaussian.rules import composite_legendre
from learnability.labels import Link
from learnability.labels.posterior import BoxPosterior, scheme_of
from learnability.theory._box_information import (
    KNOWN,
    FiniteInformation,
    RootInformation,
    even_rule,
    graded_rule,
    interval_masses,
    omega_rule,
)
from learnability.theory._gaussian_sums import gaussian_sums
from learnability.theory._label_panels import label_rule
from learnability.theory._level_information import FINE, ROUGH, LevelInformation, OmegaGrid
from learnability.theory._noisy_grid import NoisyGrid
from learnability.theory._noisy_line import NARROWEST, NoisyLine, noisy_line
from learnability.theory._overlap_family import _of_trace, _price, _ratio_of_trace, _vertex
from learnability.theory._quadrature_information import QuadratureInformation
from learnability.theory.information import LabelInformation, keeps_diagonal
from learnability.theory.line_points import LabelScores, _quantiles
from learnability.theory.radial import harmonics

# ---- rules for omega


@pytest.mark.parametrize("q", [0.0, 0.02, 0.5, 0.93, 0.999])
def test_rules_for_omega_integrate_what_the_posterior_smooths(q: float) -> None:
    """E Phi((omega - c) / sqrt(1 - q))^2 and E omega^2, for omega ~ N(0, q)."""
    marks = np.array([-0.8, 0.4])
    width = math.sqrt(1 - q)

    def exact(c: float) -> float:
        def integrand(x: float) -> float:
            return float(norm.pdf(x) * ndtr((math.sqrt(q) * x - c) / width) ** 2)

        cut = c / math.sqrt(q) if q else 0.0
        points = [x for x in (cut - 5 * width, cut, cut + 5 * width) if abs(x) < 9]
        return quad(integrand, -9, 9, points=points or None, limit=300)[0]

    rules = {
        "panels": (omega_rule(q, marks), 1e-9),
        "even": (even_rule(q, 0.4, 6.5), 1e-8),
    }
    if q > 0.9:  # It is made for what is close to certain.
        rules["graded"] = graded_rule(q, marks), 2e-3
    for name, ((omega, weight), digits) in rules.items():
        assert weight.sum() == pytest.approx(1.0, abs=1e-13), name
        assert float(weight @ omega**2) == pytest.approx(q, rel=50 * digits, abs=1e-15), name
        assert float(weight @ omega) == pytest.approx(0.0, abs=5 * digits), name
        for c in marks:
            found = float(weight @ ndtr((omega - c) / width) ** 2)
            assert found == pytest.approx(exact(c), abs=digits), name
    if q > 0.9:
        assert len(rules["graded"][0][0]) < len(rules["panels"][0][0])


def test_even_rules_have_their_step_and_reach() -> None:
    omega, _ = even_rule(0.75, 0.4, 5.0)
    np.testing.assert_allclose(np.diff(omega), 0.4 * 0.5)
    assert omega[-1] == pytest.approx(-omega[0]) and 0 not in omega
    assert 5.0 * math.sqrt(0.75) - 0.2 <= omega[-1] <= 5.0 * math.sqrt(0.75) + 0.2
    near, _ = even_rule(0.01, 0.4, 5.0)
    np.testing.assert_allclose(np.diff(near), 0.08)
    last, _ = even_rule(1.0, 1e4, 2.0)
    np.testing.assert_allclose(np.diff(last), min(1e4 * math.sqrt(1 - KNOWN), 0.8))


def test_masses_of_intervals_and_their_slopes() -> None:
    edges, omega, v = np.array([-0.3, 0.0, 2.0]), np.array([-1.0, 0.2, 15.0]), 0.4
    mass, slope = interval_masses(edges, omega, v)
    np.testing.assert_allclose(mass.sum(axis=0), 1.0, rtol=1e-12)
    ends = [-np.inf, *edges, np.inf]
    root = math.sqrt(v)
    for k in range(4):
        for n, w in enumerate(omega[:2]):
            exact = norm.cdf(ends[k + 1], w, root) - norm.cdf(ends[k], w, root)
            assert mass[k, n] == pytest.approx(exact, rel=1e-10)
    far = math.log(mass[0, 2])
    assert far == pytest.approx(norm.logcdf(-0.3, 15.0, root), rel=1e-9)
    h = 1e-6
    up, down = (interval_masses(edges, omega + s, v)[0] for s in (h, -h))
    np.testing.assert_allclose(slope[:, :2], ((up - down) / (2 * h))[:, :2], atol=1e-8)


# ---- informations in closed form


def sign_information(q: float, edge: float = 0.0) -> float:
    """E phi(t)^2 / (Phi(t) Phi(-t)) / (1 - q), t = (omega - edge) / sqrt(1 - q)."""
    v = 1 - q

    def integrand(x: float) -> float:
        t = (math.sqrt(q) * x - edge) / math.sqrt(v)
        if abs(t) > 30:
            return 0.0
        log = 2 * norm.logpdf(t) - norm.logcdf(t) - norm.logcdf(-t)
        return math.exp(log + norm.logpdf(x))

    cut = edge / math.sqrt(q) if q else 0.0
    around = [cut + s * math.sqrt(v / max(q, 1e-9)) for s in (-8, -2, 0, 2, 8)]
    return quad(integrand, -9, 9, points=[p for p in around if abs(p) < 9], limit=400)[0] / v


@pytest.mark.parametrize("q", [0.0, 0.3, 0.9, 0.995])
def test_signs_on_boxes(q: float) -> None:
    scheme = scheme_of(Channel("sign(z - 0.5)"))
    assert isinstance(scheme, BoxPosterior)
    found = FiniteInformation(scheme)(np.array([q]))
    assert found[0] == pytest.approx(sign_information(q, 0.5), rel=1e-9)
    two = scheme_of(Channel("sign(z1) + 4*sign(z2 - 0.5)"))
    assert isinstance(two, BoxPosterior)
    both = FiniteInformation(two)(np.array([0.4, q]))
    np.testing.assert_allclose(both, [sign_information(0.4), sign_information(q, 0.5)], rtol=1e-9)


def test_products_of_signs_at_the_origin_and_with_one_known() -> None:
    """sign(z1 z2): nothing at zero overlap; the sign of the other once one is known."""
    scheme = scheme_of(Channel("sign(z1*z2)"))
    assert isinstance(scheme, BoxPosterior)
    info = FiniteInformation(scheme)
    np.testing.assert_allclose(info(np.zeros(2)), 0.0, atol=1e-14)
    for q in (0.2, 0.8):
        exact = sign_information(q)
        assert info(np.array([q, 1 - 1e-10]))[0] == pytest.approx(exact, rel=1e-4)
    small = 1e-4  # To first order I_1 = (2 / pi)^2 q_2.
    assert info(np.array([0.0, small]))[0] == pytest.approx((2 / math.pi) ** 2 * small, rel=1e-3)
    noisy = scheme_of(Channel("sign(z1*z2)", noise=1e4))
    assert isinstance(noisy, BoxPosterior)
    found = FiniteInformation(noisy)(np.array([0.5, 0.5]))

    def slope(q: float) -> float:
        """E (d/d omega E[sign | omega])^2."""
        return 2 / math.pi / math.sqrt((1 - q) * (1 + q))

    square = 2 / math.pi * math.asin(0.5)  # E E[sign z | omega]^2.
    np.testing.assert_allclose(found, slope(0.5) * square / 1e4, rtol=2e-3)


@pytest.mark.parametrize("q", [0.0, 0.3, 0.9])
def test_a_modulus_known_exactly(q: float) -> None:
    """|z|: p(y | omega) is a sum of two Gaussians."""
    root = math.sqrt(1 - q)
    x, dx = composite_legendre(np.linspace(-8, 8, 33), 0.5, 8)
    y, dy = composite_legendre(np.linspace(0, 12, 121), 0.1, 6)
    omega = math.sqrt(q) * x[:, None]
    gaps = (y - omega) / root, (-y - omega) / root
    laws = [np.maximum(norm.pdf(gap), 1e-200) / root for gap in gaps]
    slope = (laws[0] * gaps[0] + laws[1] * gaps[1]) / root
    exact = float((norm.pdf(x) * dx) @ (slope**2 / (laws[0] + laws[1])) @ dy)
    scheme = scheme_of(Channel("abs(z)"))
    assert isinstance(scheme, BoxPosterior)
    found = RootInformation(scheme)(np.array([q]))
    assert found[0] == pytest.approx(exact, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("noise", [0.05, 0.7])
@pytest.mark.parametrize("q", [0.0, 0.35, 0.97])
def test_a_noisy_line_is_a_formula(noise: float, q: float) -> None:
    channel = Channel("2*z - 1", noise=noise)
    exact = 4 / (noise + 4 * (1 - q))
    M = np.array([[q]])
    line = noisy_line(channel)
    assert line is not None
    found, mass = line.with_mass(M)
    assert found[0, 0] == pytest.approx(exact, rel=1e-7) and mass == pytest.approx(1, abs=1e-7)
    rough = NoisyLine(channel, 1.0)(M)[0, 0]
    assert rough == pytest.approx(exact, rel=1e-3)
    assert QuadratureInformation(channel)(M)[0, 0] == pytest.approx(exact, rel=1e-5)
    assert LabelInformation(channel)(M)[0, 0] == pytest.approx(exact, rel=1e-5)
    last = line(np.array([[1.0]]))[0, 0]
    assert last == pytest.approx(4 / (noise + 4 * NARROWEST), rel=1e-5)


def matrix(a: np.ndarray, M: np.ndarray, noise: float) -> np.ndarray:
    return np.outer(a, a) / (noise + a @ (np.eye(len(a)) - M) @ a)


OVERLAP = np.array([[0.5, 0.15], [0.15, 0.3]])


def test_linear_labels_of_two_directions() -> None:
    a, noise = np.array([1.0, -0.5]), 0.3
    channel = Channel("z1 - 0.5*z2", noise=noise)
    exact = matrix(a, OVERLAP, noise)
    grid = NoisyGrid(channel)(OVERLAP)
    assert grid is not None
    np.testing.assert_allclose(grid, exact, rtol=1e-5)
    coarse = NoisyGrid(channel, 1.5)(OVERLAP)
    assert coarse is not None
    np.testing.assert_allclose(coarse, exact, rtol=1e-2)
    nothing = NoisyGrid(channel)(np.zeros((2, 2)))
    np.testing.assert_allclose(nothing, matrix(a, np.zeros((2, 2)), noise), rtol=1e-5)
    found, mass = LevelInformation(channel, FINE).with_mass(OVERLAP)
    np.testing.assert_allclose(found, exact, rtol=2e-4)
    assert mass == pytest.approx(1.0, abs=2e-4)
    np.testing.assert_allclose(LevelInformation(channel, ROUGH)(OVERLAP), exact, rtol=5e-3)


def test_reflections_that_keep_overlaps_diagonal() -> None:
    assert keeps_diagonal(Channel("sign(z1*z2*z3)")) and keeps_diagonal(Channel("z"))
    assert keeps_diagonal(Channel("z1**2 + z2")) and keeps_diagonal(Channel("z1*z2 + z1"))
    assert not keeps_diagonal(Channel("z1 + z2"))
    assert not keeps_diagonal(Channel("z1*z2 + z1 + z2"))


@pytest.mark.parametrize("text", ["z1*z2", "z1 + z2**3", "z1**2 + z2**2"])
def test_a_grid_of_omega_has_the_moments_of_its_law(text: str) -> None:
    """Halves of axes stand for both: even moments stay, odd ones are made anew."""
    grid = OmegaGrid(OVERLAP, FINE, Link(text).symmetries)
    assert grid.weight.sum() == pytest.approx(1.0, abs=1e-12)
    points = np.stack([x.ravel() for x in np.meshgrid(*grid.nodes, indexing="ij")])
    values = np.linalg.eigvalsh(OVERLAP)
    np.testing.assert_allclose(points**2 @ grid.weight, values, rtol=2e-4)
    np.testing.assert_allclose(1 - grid.variance, values)
    turned = grid.frame @ np.diag([1.0, 2.0]) @ grid.frame.T
    np.testing.assert_allclose(grid.back(np.diag([1.0, 2.0])), turned, atol=1e-12)


# ---- sums and labels


@pytest.mark.parametrize("r", [1, 2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gaussian_sums_are_loops(r: int, dtype: type) -> None:
    rng = np.random.default_rng(r)
    z, weight = rng.standard_normal((23, r)), rng.uniform(0.1, 1, 23)
    start = np.array([0, 4, 4, 15, 23])
    nodes = [np.arange(-3, 4) * (0.3 + 0.1 * a) + 0.05 * a for a in range(r)]
    nodes[0] = nodes[0][:3]  # So few are not continued by ratios.
    variance = np.array([0.3, 0.8, 0.05])[:r]
    omega = np.stack([x.ravel() for x in np.meshgrid(*nodes, indexing="ij")], axis=1)
    digits = 1e-5 if dtype is np.float32 else 1e-12
    seen = []
    for labels, found in gaussian_sums(z, weight, start, nodes, variance, dtype):
        for k, label in enumerate(labels):
            own = slice(start[label], start[label + 1])
            gap = z[own, None, :] - omega
            density = norm.pdf(gap, scale=np.sqrt(variance)).prod(axis=2) * weight[own, None]
            size = density.sum(axis=0).max()
            np.testing.assert_allclose(found[0, k], density.sum(axis=0), atol=digits * size)
            slope = (density[..., None] * gap / variance).sum(axis=0)
            np.testing.assert_allclose(found[1:, k], slope.T, atol=30 * digits * size)
        seen += labels.tolist()
    assert seen == [0, 2, 3]  # The second label has no points.


@pytest.mark.parametrize("tolerance", [1e-3, 1e-7])
def test_rules_for_labels_settle_where_the_integrand_is_narrow(tolerance: float) -> None:
    def peaks(y: np.ndarray) -> np.ndarray:
        return np.column_stack([norm.pdf(y, 0.3, 0.01), norm.pdf(y), np.sqrt(np.abs(y - 1))])

    sample = np.random.default_rng(0).standard_normal(2000)
    values = np.concatenate([sample, [-9.0, 9.0]])
    y, w = label_rule(values, peaks, tolerance, 5, math.inf, 10_000)
    assert (np.diff(y) > 0).all()
    exact = np.array([1.0, 1.0, 2 / 3 * (10**1.5 + 8**1.5)])
    np.testing.assert_allclose(w @ peaks(y), exact, rtol=20 * tolerance)
    assert w.sum() == pytest.approx(18.0)
    few, _ = label_rule(values, peaks, tolerance, 5, math.inf, 30)
    assert len(few) <= 5 * 30
    wide, _ = label_rule(values, lambda y: np.ones((len(y), 1)), tolerance, 2, 0.5, 10_000)
    assert np.diff(wide).max() < 0.5


def test_scores_of_labels_are_normal_quantiles() -> None:
    scores = LabelScores(Link("z1**3 + 0*z2"), 0.25, 0.05)
    assert scores.weights.sum() == pytest.approx(1.0)
    assert float(scores.weights @ scores.scores**2) == pytest.approx(1.0, abs=5e-4)
    np.testing.assert_allclose(np.diff(scores.scores), 0.05)
    middle = np.abs(scores.scores) < 2
    np.testing.assert_allclose(scores.labels()[middle], scores.scores[middle] ** 3, atol=0.02)
    y = np.array([-0.4, 0.0, 2.0])
    x = np.linspace(-8, 8, 4001)
    exact = norm.pdf(y[:, None] - x**3, scale=0.5) @ norm.pdf(x) * (x[1] - x[0])
    np.testing.assert_allclose(scores.blurred(y).sum(axis=1), exact, rtol=5e-3)
    ordered = ndtri((np.arange(4000) + 0.5) / 4000)
    t = np.array([-1.3, 0.0, 0.777])
    np.testing.assert_allclose(_quantiles(ordered, t), t, atol=1e-5)


# ---- small equations


def test_a_ratio_that_gives_a_trace() -> None:
    values = np.array([0.2, 1.0, 3.0])
    for trace in (0.01, 1.4, 2.9):
        alpha = _ratio_of_trace(values, trace)
        assert np.sum(alpha * values / (1 + alpha * values)) == pytest.approx(trace, rel=1e-12)
    assert math.isinf(_ratio_of_trace(np.array([0.5, 0.0]), 1.0))
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    information = (turn * values) @ turn.T
    alpha, M = _of_trace(information, 1.4)
    A = alpha * information
    np.testing.assert_allclose(M, A @ np.linalg.inv(np.eye(3) + A), atol=1e-12)
    infinite, known = _of_trace(np.diag([0.5, 0.0]), 1.2)
    assert math.isinf(infinite)
    np.testing.assert_allclose(known, np.diag([1.0, 0.0]))


def test_prices_and_vertices() -> None:
    M = np.diag([0.5, 0.2])
    assert _price(M) == pytest.approx(-0.5 * (0.7 + math.log(0.5 * 0.8)))
    assert _price(np.zeros((2, 2))) == 0.0
    x = [0.1, 0.4, 0.9]
    assert _vertex(x, [3 * (v - 0.37) ** 2 - 1 for v in x]) == pytest.approx(0.37)
    assert _vertex(x, [(v - 2.0) ** 2 for v in x]) == 0.9


def test_harmonics_are_counted() -> None:
    """dim P_a - dim P_(a-2); in three dimensions 2 a + 1, in two 2, on a line 1, 1, 0."""
    assert [harmonics(3, a) for a in range(5)] == [1, 3, 5, 7, 9]
    assert [harmonics(2, a) for a in range(4)] == [1, 2, 2, 2]
    assert [harmonics(1, a) for a in range(4)] == [1, 1, 0, 0]
    assert harmonics(10, 2) == 54 and harmonics(10, 3) == 210
