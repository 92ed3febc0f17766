"""Rules, roots and sections against closed forms and naive loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import multivariate_normal, norm

from learnability.gaussian._split_rules import _distinct_planes, _projected_planes
from learnability.gaussian.hermite_products import multi_indices
from learnability.gaussian.line_roots import roots_on_lines, roots_together
from learnability.gaussian.planar import Jumps, box_average
from learnability.gaussian.quadrature import adapted_complement, axis_breaks, rules_for
from learnability.gaussian.rules import (
    Rule,
    composite_legendre,
    gauss_normal,
    product_grid,
    sobol_normals,
)
from learnability.gaussian.sections import REACH, Section, complement
from learnability.labels import Link

from tests.geometry import random_rotation


def whole(text: str, r: int | None = None) -> Section:
    return Section.whole(Link(text, r=r))


def means(section: Section, power: int = 1) -> list[float]:
    return [rule.mean(rule.evaluate(section) ** power) for rule in rules_for(section)[0]]


# ---- rules


@pytest.mark.parametrize("text", ["exp(0.24*z**2)", "exp(0.24*z1**2)*abs(z2)"])
def test_heavy_tails_are_integrated_to_their_end(text: str) -> None:
    """E exp(a z^2) = (1 - 2 a)^(-1/2); the square has 7 % of its mass beyond nine."""
    section = whole(text)
    for power in (1, 2):
        exact = (1 - 0.48 * power) ** -0.5
        if section.m == 2 and power == 1:
            exact *= math.sqrt(2 / math.pi)
        best, second = means(section, power)
        assert best == pytest.approx(exact, rel=1e-12)
        assert second == pytest.approx(exact, rel=1e-9)


def test_a_tail_that_decays_keeps_the_short_reach() -> None:
    for text in ("z**3", "exp(z)", "z1*z2**2", "exp(z1 - z2)"):
        rule = rules_for(whole(text))[0][0]
        assert np.abs(rule.inner).max() <= REACH


@pytest.mark.parametrize("r", [2, 3])
def test_breaks_that_nobody_knows_are_averaged_over_by_plain_products(r: int) -> None:
    """P(z_2^3 < u) given the outer coordinate u: a Gauss rule is off by a weight at the most."""
    section = Section.whole(Link(lambda z: np.sign(z[..., 0] - z[..., 1] ** 3), r=r))
    rules, how = rules_for(section, known=1)
    assert how == "product" and len(rules) == 2
    found = []
    for rule in rules:
        u = rule.outer[:, 0]
        mean = rule.hermite_moments(rule.evaluate(section), [0])[0][:, 0]
        exact = 2 * ndtr(np.cbrt(u)) - 1
        assert rule.axes is not None
        assert np.abs(mean - exact).max() < 2 * rule.axes[0][1].max()
        found.append(float(rule.outer_weights @ (mean - exact) ** 2))
    assert found[0] < found[1]
    assert [len(rule.axes[0][0]) for rule in rules if rule.axes] == {
        2: [704, 496], 3: [128, 89],
    }[r]  # fmt: skip


def test_panels_of_legendre_are_as_many_as_the_width_asks_for() -> None:
    edges = np.array([-1.0, 0.3, 0.3, 2.0])
    x, w = composite_legendre(edges, 0.5, 3)
    panels = [(-1.0, 0.3, 3), (0.3, 2.0, 4)]
    naive_x, naive_w = [], []
    nodes, weights = np.polynomial.legendre.leggauss(3)
    for low, high, count in panels:
        assert count == math.ceil((high - low) / 0.5)
        ends = np.linspace(low, high, count + 1)
        for a, b in zip(ends[:-1], ends[1:], strict=True):
            naive_x += list((a + b) / 2 + (b - a) / 2 * nodes)
            naive_w += list((b - a) / 2 * weights)
    np.testing.assert_allclose(x, naive_x, atol=1e-14)
    np.testing.assert_allclose(w, naive_w, atol=1e-14)


@pytest.mark.parametrize("n", [7, 60, 900])
def test_a_rule_for_the_normal_law_is_exact_between_breaks(n: int) -> None:
    """Moments of each piece: P(a < z < b), and E[z; a < z < b] = phi(a) - phi(b)."""
    breaks = np.array([-0.7, 1.2])
    x, w = gauss_normal(breaks, n)
    assert w.sum() == pytest.approx(1, abs=1e-14)
    assert len(x) >= 3 * 10
    if n == 60:  # So many nodes are shared out among the pieces.
        assert len(x) == 60
    ends = [-np.inf, *breaks, np.inf]
    for a, b in zip(ends[:-1], ends[1:], strict=True):
        own = (x > a) & (x < b)
        assert w[own].sum() == pytest.approx(norm.cdf(b) - norm.cdf(a), abs=1e-13)
        assert w[own] @ x[own] == pytest.approx(norm.pdf(a) - norm.pdf(b), abs=1e-13)
    assert w @ x**8 == pytest.approx(105, rel=1e-11)
    far = gauss_normal(np.array([0.0, 40.0]), n)  # A break beyond the reach splits nothing.
    np.testing.assert_array_equal(far[0], gauss_normal(np.zeros(1), n)[0])


def test_products_and_moments_of_rules_are_loops() -> None:
    rng = np.random.default_rng(3)
    axes = [(rng.standard_normal(k), rng.dirichlet(np.ones(k))) for k in (2, 3, 4)]
    nodes, weights = product_grid(axes)
    at = 0
    for i in range(2):
        for j in range(3):
            for k in range(4):
                assert nodes[at].tolist() == [axes[0][0][i], axes[1][0][j], axes[2][0][k]]
                product = axes[0][1][i] * axes[1][1][j] * axes[2][1][k]
                assert weights[at] == pytest.approx(product)
                at += 1
    outer, outer_weights = product_grid(axes[:1])
    inner, inner_weights = product_grid(axes[1:])
    values = rng.standard_normal((2, 12))
    he = [lambda x: 1 + 0 * x, lambda x: x, lambda x: (x**2 - 1) / math.sqrt(2)]
    he.append(lambda x: (x**3 - 3 * x) / math.sqrt(6))
    for given in (tuple(axes[1:]), None):
        rule = Rule(outer, outer_weights, inner[None], inner_weights[None], given)
        found = rule.hermite_moments(values, [1, 3])
        assert set(found) == {1, 3}
        for order, table in found.items():
            for column, (a, b) in zip(table.T, multi_indices(2, order).tolist(), strict=True):
                naive = values @ (inner_weights * he[a](inner[:, 0]) * he[b](inner[:, 1]))
                np.testing.assert_allclose(column, naive, atol=1e-13)
        assert rule.mean(values) == pytest.approx(
            sum(outer_weights[i] * inner_weights[p] * values[i, p] for i in (0, 1)
                for p in range(12))
        )  # fmt: skip


def test_many_inner_nodes_are_summed_in_blocks_without_loss() -> None:
    rng = np.random.default_rng(4)
    nodes, weights = rng.standard_normal((3, 9000, 2)), rng.dirichlet(np.ones(9000), 3)
    rule = Rule(np.zeros((3, 1)), np.ones(3) / 3, nodes, weights)
    values = rng.standard_normal((3, 9000))
    found = rule.hermite_moments(values, [2])[2]
    mixed = (values * weights * nodes[..., 0] * nodes[..., 1]).sum(axis=1)
    where = multi_indices(2, 2).tolist().index([1, 1])
    np.testing.assert_allclose(found[:, where], mixed, atol=1e-13)


def test_sobol_normals_fill_every_part_of_the_law() -> None:
    points = sobol_normals(3, 10, 5)
    assert points.shape == (1024, 3)
    for axis in points.T:  # Each of 64 parts of equal probability holds sixteen points.
        counts = np.bincount((64 * ndtr(axis)).astype(int), minlength=64)
        assert counts.tolist() == [16] * 64
    assert np.abs(np.cov(points.T) - np.eye(3)).max() < 0.02
    assert not np.array_equal(points, sobol_normals(3, 10, 6))


@pytest.mark.parametrize(("r", "how"), [(2, "planes"), (3, "lines")])
def test_wedges_between_planes_have_their_angle(r: int, how: str) -> None:
    """P(a . z > 0, b . z > 0) = 1/4 + arcsin(a . b) / (2 pi)."""
    for seed in range(3):
        a, b = random_rotation(r, seed)[:2]
        b = 0.6 * a + 0.8 * b
        text = "step({})*step({})".format(
            *("+".join(f"({x!r})*z{i + 1}" for i, x in enumerate(v.tolist())) for v in (a, b))
        )
        section = whole(text)
        rules, made = rules_for(section)
        assert made == how or r == 3
        exact = 0.25 + math.asin(0.6) / (2 * math.pi)
        best, second = (rule.mean(rule.evaluate(section)) for rule in rules)
        assert best == pytest.approx(exact, abs={"planes": 1e-7, "lines": 1e-3}[made])
        assert abs(best - exact) <= 2 * abs(best - second) + 1e-9
        given = rules_for(section, known=1)[0][0]
        mean = given.hermite_moments(given.evaluate(section), [0])[0][:, 0]
        assert given.outer_weights @ mean == pytest.approx(best, abs=1e-9)


def test_planes_are_projected_where_they_meet() -> None:
    """z_1 + z_2 = 1 and z_1 - 2 z_2 = 0 meet at z_1 = 2/3."""
    levels = _projected_planes(whole("sign(z1 + z2 - 1)*sign(z1 - 2*z2)"))
    assert levels is not None
    (_, first), (normals, offsets) = levels
    np.testing.assert_allclose(first, [2 / 3], atol=1e-9)
    found = {
        (round(float(n), 9), round(float(c), 9)) for (n,), c in zip(normals, offsets, strict=True)
    }
    assert {(a, c + 0.0) for a, c in found} == {(1.0, 1.0), (-0.5, 0.0)}
    planes = [(np.array([2.0, 0.0]), 4.0), (np.array([-1.0, 0.0]), -2.0), (np.zeros(2), 1.0)]
    planes += [(np.array([0.0, 0.1]), 5.0), (np.array([0.0, -3.0]), 6.0)]
    kept = [(*unit.tolist(), position) for unit, position in _distinct_planes(planes)]
    assert kept == [(1.0, 0.0, 2.0), (0.0, 1.0, -2.0)]


def test_steep_planes_are_split_along_the_axis() -> None:
    """A plane almost parallel to the last axis is met by every panel of it."""
    section = whole("step(10*z1 + z2)*z2")
    exact = 1 / math.sqrt(2 * math.pi * 101)  # E[z_2; u . z > 0] = u_2 phi(0).
    best, second = means(section)
    assert best == pytest.approx(exact, abs=1e-9)
    assert second == pytest.approx(exact, abs=1e-7)


def test_curved_breaks_are_split_along_lines() -> None:
    """Discs and balls have the chi-square law; a parabola is averaged over its axis."""
    for text, exact, tolerance in (
        ("step(4 - z1**2 - z2**2)", 1 - math.exp(-2), 1e-9),
        ("step(36 - z1**2 - z2**2)", 1 - math.exp(-18), 1e-12),
        ("z1**2*step(z1**2 + z2**2 - 1)", 0.75 * 2 * math.exp(-0.5), 1e-9),
        ("step((z1-1)**2 + z2**2 - 1)*step(1 - (z1+1)**2 - z2**2)", None, 1e-7),
    ):
        section = whole(text)
        rules, how = rules_for(section)
        assert how == "lines"
        best, second = (rule.mean(rule.evaluate(section)) for rule in rules)
        if exact is None:  # The two discs touch in one point.
            x, w = gauss_normal(np.array([-2.0, 0.0]), 900)
            inside = np.abs(x + 1) < 1
            exact = float(w[inside] @ (2 * ndtr(np.sqrt(1 - (x[inside] + 1) ** 2)) - 1))
            tolerance = 1e-5
        assert best == pytest.approx(exact, abs=tolerance)
        assert second == pytest.approx(exact, abs=1e3 * tolerance)


# ---- sections


def test_a_cell_that_samples_miss_has_its_mass() -> None:
    section = whole("step(z1**2 + z2**2 - 36)")
    assert len(section.rare_points) and not section.hides_cells
    radius = np.linalg.norm(section.rare_points, axis=1)
    assert (radius > 6).all()
    best, second = means(section)
    assert best == pytest.approx(math.exp(-18), rel=1e-6)
    assert second == pytest.approx(math.exp(-18), rel=1e-3)
    assert whole("step(z1**2 + z2**2 + z3**2 - 49)").hides_cells
    assert not whole("step(z1**2 + z2**2 + z3**2 - 4)").hides_cells


def test_edges_of_rare_groups() -> None:
    section = whole("sign(z1**2 + z2**2 - 1)")
    axis = [2.0, -3.0, 2.25, -2.9, 2.5, 6.0]
    section.__dict__["rare_points"] = np.column_stack([np.zeros(6), axis])
    np.testing.assert_allclose(
        section.rare_edges(1), [-3.0, -2.95, -2.9, 2.0, 2.25, 2.5, 6.0, 6.0, 6.0]
    )
    section.__dict__["rare_points"] = np.column_stack([np.zeros(9), np.arange(9.0)])
    assert section.rare_edges(1).tolist() == np.repeat(np.arange(6.0), 3).tolist()
    section.__dict__["rare_points"] = np.zeros((0, 2))
    assert len(section.rare_edges(0)) == 0


def test_cells_are_numbered_by_the_signs_of_the_breaks() -> None:
    section = whole("sign(z1) + abs(z2 - 1) + relu(z1 + z2)")
    assert section.break_functions is not None
    s = np.random.default_rng(5).standard_normal((200, 2))
    signs = np.array([function(s) > 0 for function in section.break_functions])
    naive = [sum(2**j for j, sign in enumerate(column) if sign) for column in signs.T]
    np.testing.assert_array_equal(section.cells(s), naive)
    assert len(set(naive)) > 4


def test_symmetries_of_a_section_are_those_that_keep_what_is_fixed() -> None:
    link = Link("z1*z2 + z3**2 + z3*z4**2")
    fixed = Section.whole(link).fix(np.eye(4)[[2]], [0.7])
    s = np.random.default_rng(6).standard_normal((40, 3))
    found = fixed.symmetries
    for turn in found:
        np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-12)
        np.testing.assert_allclose(fixed(s @ turn.T), fixed(s), atol=1e-12)
    # Both signs of z1 and z2 together, their exchange, and the sign of z4: the group has eight.
    assert len(found) == 8
    assert len(Section.whole(Link("z1*z2 + z3")).fix(np.eye(3)[[0]], [0.5]).symmetries) == 1
    planes = whole("sign(z1 - z2)*abs(z1 - 3)").planes
    assert planes is not None
    at = {tuple(np.round(u, 9)): p.tolist() for u, p in planes}
    half = round(math.sqrt(0.5), 9)
    assert at[(half, -half)] == pytest.approx([0.0], abs=1e-12)
    assert at[(1.0, 0.0)] == pytest.approx([3.0], abs=1e-12)


def test_breaks_on_the_axes_and_frames_that_carry_them() -> None:
    aligned = axis_breaks(whole("sign(z2 + 1)*abs(z1 - 2) + relu(z2 - 3)"))
    assert aligned is not None
    np.testing.assert_allclose(aligned[0], [2.0], atol=1e-12)
    np.testing.assert_allclose(aligned[1], [-1.0, 3.0], atol=1e-12)
    assert axis_breaks(whole("sign(z1 + z2)")) is None
    section = whole("sign(z1 + z2)*sign(z1 - z2 - 1) + z3")
    known = np.eye(3)[[2]]
    rest = adapted_complement(section, known)
    np.testing.assert_allclose(rest @ rest.T, np.eye(2), atol=1e-9)
    np.testing.assert_allclose(rest @ known.T, 0, atol=1e-12)
    np.testing.assert_allclose(np.abs(rest[:, :2]), math.sqrt(0.5), atol=1e-9)


# ---- roots


def test_roots_beside_a_kink_are_found_from_the_other_function() -> None:
    functions = [lambda p: np.abs(p[..., 1] - p[..., 0]) - 1e-6, lambda p: p[..., 1] - p[..., 0]]
    origins = np.array([[0.3, 0.0], [-2.0, 0.0], [5.0, 0.0]])
    pair, one = roots_together(functions, origins, np.array([0.0, 1.0]))
    np.testing.assert_allclose(one[:, 0], origins[:, 0], atol=1e-12)
    np.testing.assert_allclose(pair[:, :2], origins[:, :1] + np.array([-1e-6, 1e-6]), atol=1e-11)
    assert not np.isfinite(pair[:, 2:]).any()


def test_roots_of_polynomials_along_many_lines() -> None:
    """Three roots each, two of them closer than the scan, and a pair that only touches."""
    rng = np.random.default_rng(7)
    places = rng.uniform(-3, 3, (600, 1)) + np.array([0.0, 0.004, 2.0])
    origins = np.column_stack([places, np.zeros(600)])

    def cubic(p):  # type: ignore[no-untyped-def]
        return (p[..., 3] - p[..., 0]) * (p[..., 3] - p[..., 1]) * (p[..., 3] - p[..., 2])

    found = roots_on_lines(cubic, origins, np.eye(4)[3], close_pairs=True)
    assert found.shape == (600, 3)
    np.testing.assert_allclose(found, places, atol=1e-9)
    plain = roots_on_lines(cubic, origins, np.eye(4)[3], scan=193)
    met = np.isfinite(plain).sum(axis=1)
    assert set(met.tolist()) <= {1, 3} and (met == 1).mean() > 0.9
    alone = plain[met == 1, 0]
    np.testing.assert_allclose(alone, places[met == 1, 2], atol=1e-9)


def test_roots_of_steep_and_flat_functions() -> None:
    functions = {
        "tanh": (lambda t: np.tanh(1e4 * (t - 0.123)), 0.123),
        "ninth power": (lambda t: (t + 1.7) ** 9, -1.7),
        "exponential": (lambda t: np.exp(5 * t) - 1e-8, math.log(1e-8) / 5),
        "jump": (lambda t: np.where(t < 2.5, -1.0, 3.0), 2.5),
    }
    for name, (function, root) in functions.items():
        found = roots_on_lines(lambda p, f=function: f(p[..., 0]), np.zeros((1, 1)), np.ones(1))
        # A root of order nine is known to where its values underflow.
        assert found[0, 0] == pytest.approx(root, abs=1e-9), name
        assert found.shape == (1, 1)


# ---- boxes in the plane


@pytest.mark.parametrize("rho", [-0.97, -0.5, 0.2, 0.8])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_averages_over_boxes_are_sums_of_probabilities(rho: float, kind: type) -> None:
    rng = np.random.default_rng(8)
    values = rng.standard_normal((3, 4))
    edges = (np.array([-0.6, 0.9]), np.array([-1.1, 0.2, 1.4]))
    covariance = np.array([[1.3, rho * math.sqrt(1.3 * 0.6)], [rho * math.sqrt(1.3 * 0.6), 0.6]])
    root = np.linalg.cholesky(covariance)
    centre = rng.standard_normal((2, 5))

    def naive(x: float, y: float) -> float:
        law = multivariate_normal([x, y], covariance, abseps=1e-9, releps=1e-9)
        a, b = [-30.0, *edges[0], 30.0], [-30.0, *edges[1], 30.0]
        return float(sum(
            values[i, j] * law.cdf([a[i + 1], b[j + 1]], lower_limit=[a[i], b[j]])
            for i in range(3) for j in range(4)
        ))  # fmt: skip

    found = box_average(
        Jumps.of(values.astype(kind)[..., None]), edges, tuple(centre.astype(kind)), root
    )
    tolerance = 1e-7 if kind is np.float64 else 2e-6
    h = 1e-3
    for k in range(5):
        x, y = centre[:, k]
        assert found[0][k] == pytest.approx(naive(x, y), abs=tolerance)
        slopes = [
            (naive(x + h, y) - naive(x - h, y)) / (2 * h),
            (naive(x, y + h) - naive(x, y - h)) / (2 * h),
        ]
        assert [found[1][k], found[2][k]] == pytest.approx(slopes, abs=5e-6)


def test_bases_have_no_negative_zeros() -> None:
    """They are printed, and part of keys made of their bytes."""
    for r in (2, 3, 4):
        for signs in ((1, 1), (1, -1), (-1, 1)):
            for i in range(r):
                frame = np.zeros((1, r))
                frame[0, i], frame[0, (i + 1) % r] = 0.6 * signs[0], 0.8 * signs[1]
                basis = complement(frame, r)
                assert not np.signbit(basis[basis == 0]).any()
