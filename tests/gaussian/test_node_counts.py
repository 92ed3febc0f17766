"""How many nodes rules have, how they grow and where their panels end, and what particles keep."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import log_ndtr
from scipy.stats import norm, truncnorm

from learnability.gaussian._split_rules import _outer_axes, _pattern_changes, _split_axis
from learnability.gaussian.particles import (
    COARSE,
    FINE,
    Particles,
    Resolution,
    cholesky,
    interval,
    joined,
    outer_nodes,
    panel_ends,
    reduced,
)
from learnability.gaussian.quadrature import rules_for
from learnability.gaussian.rules import gauss_normal, legendre
from learnability.gaussian.sections import REACH, Section
from learnability.gaussian.settled_axes import settled_axes
from learnability.labels import Link


def whole(text: str) -> Section:
    return Section.whole(Link(text))


# ---- rules


@pytest.mark.parametrize("text", ["z1**2 + z2**2 - 1", "z1*z2 - 1"])
def test_the_second_rule_is_coarser_than_the_first(text: str) -> None:
    for link in (text, f"sign({text})"):
        first, second = rules_for(whole(link))[0]
        assert (
            0.4 * first.inner_weights.size * len(first.outer)
            < second.inner_weights.size * len(second.outer)
            < 0.9 * first.inner_weights.size * len(first.outer)
        )


@pytest.mark.parametrize(("count", "expected"), [(3, 3), (20, 20), (47, 47)])
def test_gauss_rules_are_exact_to_their_degree(count: int, expected: int) -> None:
    """n nodes integrate z^(2 n - 2): the double factorial (2 n - 3)!!."""
    z, w = gauss_normal(np.zeros(0), count, 1)
    assert len(z) == expected
    power = min(2 * count - 2, 40)
    exact = math.prod(range(1, power, 2))
    inside = norm.expect(lambda x: x**power, lb=-REACH, ub=REACH) if power > 30 else exact
    assert float(w @ z**power) == pytest.approx(inside, rel=1e-8)
    if 2 * count <= 40:
        beyond = math.prod(range(1, 2 * count, 2))
        assert float(w @ z ** (2 * count)) < beyond * (1 - 1e-12)


def test_two_planes_in_general_position_of_four_dimensions() -> None:
    """E[z_1 sign(z_1 + z_2)] = 1 / sqrt(pi), and E[z_3 sign(z_3 + 2 z_4)] = sqrt(2 / (5 pi))."""
    section = whole("sign(z1 + z2)*z1*sign(z3 + 2*z4)*z3")
    rules, how = rules_for(section)
    assert how == "planes"
    found = [rule.mean(rule.evaluate(section)) for rule in rules]
    exact = math.sqrt(2 / 5) / math.pi
    assert found[0] == pytest.approx(exact, rel=1e-4)
    assert found[1] == pytest.approx(exact, rel=2e-3)


def test_a_piece_without_mass_has_no_nodes() -> None:
    z, w = gauss_normal(np.array([REACH - 1e-9]), 20, 5)
    assert (z < REACH).all() and w.sum() == pytest.approx(1.0, abs=1e-14)


def test_outer_axes_end_where_crossings_appear() -> None:
    """Lines through the circle |z| = 1 meet it for |z_1| < 1; others miss it."""
    changes = _pattern_changes(whole("sign(z1**2 + z2**2 - 1)"))
    np.testing.assert_allclose(changes, [-1, 1], atol=1e-10)
    bent = _pattern_changes(whole("sign(z1**2 - z2 - 1)*sign(z2 - 3)"))
    end = math.sqrt(REACH + 1)  # There the parabola leaves the reach.
    np.testing.assert_allclose(bent, [-end, -2, 2, end], atol=1e-10)


@pytest.mark.parametrize("n", [4, 9])
def test_panels_between_changes_have_cosine_nodes(n: int) -> None:
    """No panel is wider than 1.5; square roots that vanish at a change are integrated."""
    changes = np.array([-1.0, 1.0])
    z, w = _split_axis(changes, n)
    pieces = [math.ceil((b - a) / 1.5) for a, b in ((-REACH, -1), (-1, 1), (1, REACH))]
    assert len(z) == n * sum(pieces)
    assert w.sum() == pytest.approx(1.0, abs=1e-14)
    inside = np.abs(z) < 1
    assert inside.sum() == n * pieces[1]
    assert (np.diff(z) > 0).all()
    x, share = legendre(60)
    angle = 0.5 * np.pi * x
    exact = float(share @ (np.cos(angle) ** 2 * norm.pdf(np.sin(angle)))) * 0.5 * np.pi
    found = float(w[inside] @ np.sqrt(1 - z[inside] ** 2))
    assert found == pytest.approx(exact, rel={4: 5e-3, 9: 1e-7}[n])
    assert float(w @ z**2) == pytest.approx(1.0, rel={4: 2e-2, 9: 1e-6}[n])


def test_axes_of_a_plane_are_cut_and_those_of_space_are_whole() -> None:
    plane = _outer_axes(whole("sign(z1**2 + z2**2 - 1)"))
    assert [len(axes) for axes in plane] == [1, 1]
    ratio = len(plane[0][0][0]) / len(plane[1][0][0])
    assert ratio == pytest.approx(20 / 14)
    space = _outer_axes(whole("sign(z1**2 + z2**2 + z3**2 - 1)"))
    assert [[len(z) for z, _ in axes] for axes in space] == [[56, 56], [38, 38]]


def test_nodes_grow_by_the_same_factor_until_they_settle() -> None:
    """Nodes on an axis: 16, then 1.6 times as many each time, counted from what was not rounded."""
    grown = [math.ceil(16 * 1.6**k) for k in range(8)]
    seen = []

    def wave(z: np.ndarray) -> np.ndarray:
        seen.append(len(z))
        return np.asarray(np.sin(5 * z[:, 0]))

    axes = settled_axes(wave, [np.zeros(0)], 16, 1e-6, 10_000)
    assert axes is not None
    assert len(axes[0][0]) in grown[1:]
    rules = seen[1::2]
    finer = seen[2::2]
    assert rules == grown[: len(rules)]
    assert finer == [math.ceil(1.37 * 16 * 1.6**k) for k in range(len(finer))]
    z, w = axes[0]
    assert float(w @ np.sin(5 * z) ** 2) == pytest.approx(0.5 * (1 - math.exp(-50)), abs=1e-6)


# ---- particles


def test_resolutions_differ_as_they_say() -> None:
    """The fine one is exact where the coarse one is right to percents."""
    for name in ("nodes", "panel_nodes", "box_nodes", "segments", "reach", "tangents"):
        assert getattr(FINE, name) > getattr(COARSE, name)
    assert FINE.blur < COARSE.blur
    mean = np.array([0.0])
    for resolution, error in ((FINE, 1e-12), (COARSE, 3e-6)):
        nodes = outer_nodes(
            Particles.nothing(np, mean), mean, np.array([1.0]), np.zeros(0),
            resolution.nodes, resolution.reach, np,
        )  # fmt: skip
        weight = np.exp(nodes.log_weight)
        assert abs(float(weight.sum()) - 1) < error
        assert abs(float((weight * nodes.t[0] ** 2).sum()) - 1) < 30 * error
    assert isinstance(COARSE, Resolution)


@pytest.mark.parametrize(
    ("low", "high"),
    [(-1e-9, 1e-9), (0.5, 0.5 + 1e-7), (-40.0, -39.0), (39.0, 40.0), (-3.0, 60.0), (-60.0, 60.0)],
)
def test_narrow_and_far_intervals_keep_their_digits(low: float, high: float) -> None:
    log_mass, mean, variance = interval(np.array([low]), np.array([high]), np)
    law = truncnorm(low, high)
    narrow = high - low < 1e-6
    if narrow:  # Two probabilities that agree to seven digits are subtracted.
        exact = math.log((high - low) * norm.pdf(0.5 * (low + high)))
    elif low * high < 0:
        exact = math.log(norm.cdf(high) - norm.cdf(low))
    else:
        exact = _log_mass(low, high)
    assert log_mass[0] == pytest.approx(exact, rel=1e-9, abs=2e-7 if narrow else 1e-12)
    centre = 0.5 * (low + high) if narrow else float(law.mean())
    assert mean[0] == pytest.approx(centre, rel=1e-6, abs=1e-9)
    assert 0 <= variance[0] <= 1


def _log_mass(low: float, high: float) -> float:
    """log P(low < z < high) on one side of the origin, from the ratio of two tails."""
    near, far = sorted((abs(low), abs(high)))
    return float(log_ndtr(-near) + math.log1p(-math.exp(log_ndtr(-far) - log_ndtr(-near))))


def test_half_lines_mirror_each_other() -> None:
    for end in (-30.0, -1.3, 0.0, 2.2, 30.0):
        below = interval(None, np.array([end]), np)
        above = interval(np.array([-end]), None, np)
        np.testing.assert_allclose(below[0], log_ndtr(end), rtol=1e-14)
        np.testing.assert_allclose(above[0], below[0], rtol=1e-14)
        np.testing.assert_allclose(above[1], -below[1], rtol=1e-14)
        np.testing.assert_allclose(above[2], below[2], rtol=1e-12, atol=1e-14)
        hazard = math.exp(norm.logpdf(end) - log_ndtr(end))
        np.testing.assert_allclose(below[1], -hazard, rtol=1e-12)
        np.testing.assert_allclose(below[2], 1 - hazard * (hazard + end), rtol=1e-9, atol=1e-9)


def test_ends_of_panels_follow_the_mass_of_each() -> None:
    """The density has fallen by exp(-reach^2 / 2) from its peak on the panel."""
    centre, scale, reach = np.array([0.0, 10.0]), 2.0, 5.0
    (a, b), (c, d), (e, f) = panel_ends(centre, scale, np.array([-1.0, 3.0]), reach, np)
    marks = [(-1.0 - centre) / scale, (3.0 - centre) / scale]
    np.testing.assert_allclose(b, marks[0])
    np.testing.assert_allclose([c, d], marks)
    np.testing.assert_allclose(e, [1.5, -3.5])
    np.testing.assert_allclose(a, -np.sqrt(np.minimum(0, marks[0]) ** 2 + reach**2))
    np.testing.assert_allclose(f, np.sqrt(np.maximum(0, marks[1]) ** 2 + reach**2))


def test_nodes_on_panels_weigh_as_their_panels() -> None:
    """Masses and means on three panels, on top of particles that exist already."""
    mean, row = np.array([0.4, -0.9]), np.array([0.5, 0.7])
    first = outer_nodes(
        Particles.nothing(np, mean), mean, np.array([1.0]), np.zeros(0), 30, 7.0, np
    )
    edges = np.array([-0.2, 0.9])
    both = outer_nodes(first, mean, row, edges, 25, 8.0, np)
    assert both.cell.shape == (30 * 25 * 3, 2)
    spread = math.hypot(*row)
    weight = np.exp(both.log_weight)
    ends = [-np.inf, *edges, np.inf]
    for number, (a, b) in enumerate(zip(ends[:-1], ends[1:], strict=True)):
        own = both.cell[:, 1] == number
        law = norm(mean, spread)
        np.testing.assert_allclose(weight[own].sum(axis=0), law.cdf(b) - law.cdf(a), atol=1e-9)
        z = mean + row[0] * both.t[0][own] + row[1] * both.t[1][own]
        part = mean * (law.cdf(b) - law.cdf(a)) + spread**2 * (law.pdf(a) - law.pdf(b))
        np.testing.assert_allclose((weight[own] * z).sum(axis=0), part, atol=1e-9)


def test_moments_are_those_of_weighted_points() -> None:
    """A naive sum over three particles, with the spread on the last coordinate alone."""
    log_weight = np.log(np.array([[0.2], [0.5], [0.1]])) - 700
    t = (np.array([[0.3], [-1.0], [2.0]]), np.array([[1.0], [0.4], [-0.6]]))
    spread = np.array([[0.1], [0.2], [0.3]])
    cell = np.zeros((3, 2), dtype=int)
    particles = Particles(log_weight, t, spread, cell)
    V = np.array([[1.0, 0.3], [0.3, 0.6]])
    order = [1, 0]
    L = cholesky(V, order, np)
    np.testing.assert_allclose(L @ L.T, V[::-1, ::-1])
    log_z, mean, second = reduced(particles, L, order, np)
    assert log_z[0] == pytest.approx(math.log(0.8) - 700, abs=1e-12)
    share = np.array([0.2, 0.5, 0.1]) / 0.8
    points = np.column_stack([t[0][:, 0], t[1][:, 0]])
    turned = points @ L.T
    np.testing.assert_allclose(mean[:, 0], (share @ turned)[::-1])
    exact = np.einsum("p,pi,pj->ij", share, turned, turned)
    exact += np.outer(L[:, 1], L[:, 1]) * float(share @ spread[:, 0])
    np.testing.assert_allclose(second[..., 0], exact[::-1, ::-1])
    two = joined([particles, Particles(log_weight, t, 0.0, cell)], np)
    assert two.log_weight.shape == (6, 1)
    np.testing.assert_array_equal(two.spread[:, 0], [0.1, 0.2, 0.3, 0, 0, 0])
    assert joined([particles], np) is particles
    never = reduced(Particles(np.full((3, 1), -np.inf), t, spread, cell), L, order, np)
    assert never[0][0] < -1e29 and np.all(never[1] == 0)
