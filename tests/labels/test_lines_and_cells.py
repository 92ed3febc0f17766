"""Averages over latent coordinates, level sets and cells: closed forms of their parts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import norm

from learnability import Channel
from learnability.gaussian.hermite_products import hermite_table
from learnability.gaussian.rules import composite_legendre, normal_measure
from learnability.gaussian.sections import REACH, Section
from learnability.labels import Link
from learnability.labels._latents import _masses, averaged, first_two_moments
from learnability.labels.curved_cells import (
    _COARSE,
    _FINE,
    _NODES,
    CurvedCells,
    _adaptive,
    _averages,
    _line_moments,
)
from learnability.labels.level_sets import LevelSets, _merged, _thinned
from learnability.labels.monotone_pieces import monotone_pieces


def levels(text: str) -> LevelSets:
    return LevelSets(Section.whole(Link(text)))


# ---- latent coordinates


def test_probabilities_between_edges_keep_the_digits_of_both_tails() -> None:
    edges = np.array([[-REACH, -9.2, -8.1, 0.3, 8.1, 9.2, REACH]])
    found = _masses(edges)[0]
    assert found[0] == pytest.approx(ndtr(-9.2), rel=1e-12)  # All that lies beyond counts.
    assert found[1] == pytest.approx(ndtr(-8.1) - ndtr(-9.2), rel=1e-12)
    assert found[4] == pytest.approx(ndtr(-8.1) - ndtr(-9.2), rel=1e-12)
    assert found[3] == pytest.approx(ndtr(8.1) - ndtr(0.3), rel=1e-12)
    assert found.sum() == pytest.approx(1.0, abs=1e-15)
    low, high = np.array([-9.2, 8.1, -0.3, 0.5]), np.array([-8.1, 9.2, 0.4, 0.7])
    exact = [ndtr(-8.1) - ndtr(-9.2)] * 2 + [ndtr(0.4) - ndtr(-0.3), ndtr(-0.5) - ndtr(-0.7)]
    np.testing.assert_allclose(normal_measure(low, high), exact, rtol=1e-12)


Z = np.array([[-1.3], [-0.2], [0.0], [0.7], [2.5]])


@pytest.mark.parametrize(
    ("text", "latents", "exact"),
    [
        ("z1**2 + z2", 1, lambda z: z**2),
        ("z1*z2**2", 1, lambda z: z),
        ("cos(z1 + 2*z2)", 1, lambda z: np.cos(z) * math.exp(-2)),
        ("exp(0.5*z2 - z3)*z1", 2, lambda z: z * math.exp(0.625)),
        ("sign(z1 - z2)", 1, lambda z: 2 * ndtr(z) - 1),
        ("sign(z1 - z2 + z3)", 2, lambda z: 2 * ndtr(z / math.sqrt(2)) - 1),
        ("abs(z1 + z2)", 1, lambda z: z * (2 * ndtr(z) - 1) + 2 * norm.pdf(z)),
        ("abs(z2)*sign(z1 + z3)", 2, lambda z: math.sqrt(2 / math.pi) * (2 * ndtr(z) - 1)),
    ],
)
def test_averages_over_one_and_two_latent_coordinates(text: str, latents: int, exact) -> None:  # type: ignore[no-untyped-def]
    link = Link(text)
    found = first_two_moments(link, Z, latents)
    np.testing.assert_allclose(found[0], exact(Z[:, 0]), rtol=1e-8, atol=1e-9)
    alone = first_two_moments(link, Z, latents, highest=1)
    np.testing.assert_allclose(alone[0], found[0], rtol=1e-9, atol=1e-12)
    if text.startswith("sign"):
        np.testing.assert_allclose(found[1], 1.0, atol=1e-12)
        steps = averaged(lambda at: np.asarray(link(at))[None], Z, latents, link.breaks, True)
        np.testing.assert_allclose(steps[0], exact(Z[:, 0]), atol=1e-9)


def test_labels_are_made_of_latents_and_noise() -> None:
    channel = Channel("z + 2*xi", noise=0.25)
    z, latents = np.array([[1.0], [2.0]]), np.array([[0.5, -1.0, 3.0], [1.0, 4.0, -2.0]])
    assert Channel("z**2", noise=4.0).labels(z, latents[:, :1]).tolist() == [2.0, 6.0]
    assert Channel("z**2").labels(z, latents[:, :0]).tolist() == [1.0, 4.0]
    count = channel.latents
    made = channel.labels(z, latents[:, :count])
    assert made.shape == (2,) and channel.variance(z) == pytest.approx([4.25, 4.25])


# ---- level sets


@pytest.mark.parametrize("text", ["sin(z)", "z**3 - 3*z", "abs(z) - z**2"])
def test_points_of_branches_have_their_label(text: str) -> None:
    found = levels(text)
    y = np.array([-1.3, -0.4, 0.11, 0.9])
    roots, log_slope, exists = found.roots_of(y)
    link = found.section.link
    t = roots[exists]
    label = np.broadcast_to(y, roots.shape)[exists]
    np.testing.assert_allclose(np.asarray(link(t[:, None])), label, atol=1e-11)
    h = 1e-6
    slope = (np.asarray(link(t[:, None] + h)) - np.asarray(link(t[:, None] - h))) / (2 * h)
    np.testing.assert_allclose(np.exp(log_slope[exists]), np.abs(slope), rtol=1e-6)
    grid = np.linspace(-REACH, REACH, 400_001)
    values = np.asarray(link(grid[:, None]))
    for k, level in enumerate(y):
        assert exists[:, k].sum() == np.sum(np.diff(np.sign(values - level)) != 0)


@pytest.mark.parametrize("noise", [0.01, 0.05, 2.0])
@pytest.mark.parametrize("text", ["abs(z)", "sign(z - 0.4)", "relu(z)", "z**2 - 0.3*z"])
def test_noisy_moments_are_integrals_over_the_label(text: str, noise: float) -> None:
    """E[h_k | y] and the mean of its square, by sums over a fine grid of the line and of labels."""
    found = levels(text)
    t, dt = composite_legendre(np.array([-9.0, 0.0, 0.15, 0.4, 9.0]), 0.04, 6)
    g = np.asarray(found.section.link(t[:, None]))
    table, deviation = hermite_table(t, 3) * norm.pdf(t) * dt, math.sqrt(noise)
    y = np.array([-0.4, 0.2, 0.97, 2.3])
    exact = norm.pdf(y[:, None] - g, scale=deviation) @ table.T
    seen = exact[:, 0] > 1e-12
    np.testing.assert_allclose(
        found.conditional(y, 3, noise)[:, seen],
        (exact[seen] / exact[seen, :1]).T,
        rtol=1e-6,
        atol=1e-7,
    )
    squares, error = found.squared_moments(3, noise)
    assert (error < 1e-6).all()
    if noise > 0.01:
        values = g[np.abs(t) < 7]
        step = deviation / 4
        labels = np.arange(values.min() - 9 * deviation, values.max() + 9 * deviation, step)
        moments = norm.pdf(labels[:, None] - g, scale=deviation) @ table.T
        sums = (moments**2 / np.maximum(moments[:, :1], 1e-200)).sum(axis=0) * step
        np.testing.assert_allclose(squares, sums, atol=2e-6)


def test_conditional_means_of_labels_that_share_an_atom() -> None:
    """relu: below zero one label, with E[h_k | y = 0] from the tail; above it z is known."""
    found = levels("relu(z)").conditional(np.array([0.0, 0.5, 1.5, -1.0]), 3)
    exact = [1.0, -2 * norm.pdf(0), 0.0, 2 * norm.pdf(0) / math.sqrt(6)]
    np.testing.assert_allclose(found[:, 0], exact, atol=1e-12)
    np.testing.assert_allclose(found[:, 1:3], hermite_table(np.array([0.5, 1.5]), 3), atol=1e-9)
    assert np.isnan(found[:, 3]).all()


def test_edges_are_thinned_and_equal_labels_merged() -> None:
    edges = np.array([0.0, 0.05, 0.12, 0.13, 0.31, 0.36])
    np.testing.assert_allclose(_thinned(edges, 0.1), [0.0, 0.12, 0.36])
    np.testing.assert_allclose(_thinned(np.array([0.0, 0.1, 0.2]), 0.1), [0.0, 0.1, 0.2])
    values = np.array([2.0, -1.0, 2.0 + 1e-13, 5.0, -1.0])
    moments = np.array([[0.1, 0.2, 0.3, 0.15, 0.25], [1.0, 2.0, 3.0, 4.0, 5.0]])
    merged, summed = _merged(values, moments)
    np.testing.assert_allclose(merged, [-1, 2, 5])
    np.testing.assert_allclose(summed, [[0.45, 0.4, 0.15], [7, 4, 4]])
    apart, _ = _merged(np.array([2.0, 2.0 + 1e-9]), moments[:, :2])
    assert len(apart) == 2


# ---- monotone pieces


def test_what_is_flat_to_rounding_begins_where_rounding_does() -> None:
    """erf(z) is one to rounding once erfc(z) is below 1e-16, on both sides alike."""
    found = levels("erf(z)").pieces
    (low,), (high,) = found.branches.low, found.branches.high
    assert low == pytest.approx(-high, abs=0.06)
    for end in (-low, high):
        assert 1e-18 < math.erfc(end) < 4e-15
    np.testing.assert_allclose(
        np.sort(found.saturated.ravel()), [-REACH, low, high, REACH], atol=1e-9
    )
    one = levels("tanh(exp(z))").pieces
    assert one.branches.low[0] == pytest.approx(-REACH, abs=1e-9)
    assert len(one.saturated) == 1 and one.saturated[0, 1] == pytest.approx(REACH, abs=1e-9)
    assert 1 - math.tanh(math.exp(one.branches.high[0])) < 4e-15


@pytest.mark.parametrize("shift", [-2.1, 0.0, 0.333])
def test_folds_of_functions_and_of_texts_are_where_the_slope_vanishes(shift: float) -> None:
    text = levels(f"(z - {shift})**4 - 2*(z - {shift})**2")

    def plain(z):  # type: ignore[no-untyped-def]
        return (z[..., 0] - shift) ** 4 - 2 * (z[..., 0] - shift) ** 2

    function = LevelSets(Section.whole(Link(plain, r=1, breaks=[])))
    for found, digits in ((text, 1e-12), (function, 1e-7)):
        pieces = monotone_pieces(found.section, found.value, found.slope)
        np.testing.assert_allclose(
            pieces.branches.low[1:], shift + np.array([-1, 0, 1]), atol=digits
        )
        np.testing.assert_array_equal(pieces.branches.low[1:], pieces.branches.high[:-1])
        np.testing.assert_allclose(pieces.branches.at_low[1:] * found.unit, [-1, 0, -1], atol=1e-12)


# ---- cells with curved boundaries


def test_the_pair_of_rules_is_exact_to_its_degrees() -> None:
    """Gauss on 7 nodes to degree 13, Kronrod on 15 to degree 22."""
    for degree in range(0, 28, 2):
        exact = 2 / (degree + 1)
        fine, coarse = float(_FINE @ _NODES**degree), float(_COARSE @ _NODES**degree)
        assert (abs(fine - exact) < 1e-14) == (degree <= 22)
        assert (abs(coarse - exact) < 1e-14) == (degree <= 13)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-9])
def test_averages_settle_to_their_tolerance(tolerance: float) -> None:
    """E sqrt(|z - a|) has a kink at a, one for each owner."""
    panels = np.array([-REACH, -1.0, 1.0, REACH])
    marks = np.array([-0.4, 0.0, 2.2])
    seen = []

    def kink(owner: np.ndarray, x: np.ndarray) -> np.ndarray:
        seen.append(len(x))
        return np.column_stack([np.abs(x - marks[owner]), x**2])

    found = _adaptive(kink, 3, panels, tolerance)
    exact = marks * (2 * ndtr(marks) - 1) + 2 * norm.pdf(marks)
    np.testing.assert_allclose(found[:, 0], exact, atol=10 * tolerance)
    np.testing.assert_allclose(found[:, 1], 1.0, atol=10 * tolerance)
    assert sum(seen) < {1e-4: 3000, 1e-9: 8000}[tolerance]

    def plane(owner: np.ndarray, x: np.ndarray) -> np.ndarray:
        return np.cos(x[:, :1] + 0.5 * x[:, 1:2] * (1 + owner[:, None]))

    both = _averages(plane, np.zeros((2, 0)), [panels, panels], tolerance)
    np.testing.assert_allclose(both[:, 0], np.exp([-0.625, -1.0]), atol=1000 * tolerance)
    none = _averages(lambda owner, x: np.ones((len(owner), 1)), np.zeros((4, 1)), [], tolerance)
    assert none.shape == (4, 1)


def test_moments_on_a_line_are_those_of_intervals() -> None:
    """Given z_1 = u, the disc |z| < 1 is |z_2| < sqrt(1 - u^2)."""
    section = Section.whole(Link("sign(z1**2 + z2**2 - 1)"))
    u = np.array([0.0, 0.6, 1.5])
    found = _line_moments(
        section, list(section.break_functions or ()), np.array([-1.0, 1.0]), u[:, None], 4, 97
    )
    half = np.sqrt(np.maximum(1 - u**2, 0))
    x, w = np.polynomial.legendre.leggauss(40)
    for k in range(5):
        inside = [h * float(w @ (hermite_table(h * x, 4)[k] * norm.pdf(h * x))) for h in half]
        np.testing.assert_allclose(found[:, 0, k], inside, atol=1e-12)
        np.testing.assert_allclose(found[:, 1, k], (k == 0) - np.array(inside), atol=1e-12)


def test_a_ball_given_one_of_three_directions() -> None:
    """Given u, P(|z| < 1.5) = 1 - exp(-(2.25 - u^2) / 2): two further coordinates are a disc."""
    section = Section.whole(Link("sign(z1**2 + z2**2 + z3**2 - 2.25)"))
    known = np.eye(3)[[1]]
    cells = CurvedCells(section, np.array([-1.0, 1.0]), known)
    found = cells.grams([2], 1e-5)[2]

    def square(u: float) -> float:
        rest = 2.25 - u**2
        p = 1 - math.exp(-rest / 2)
        second = -0.5 * rest * math.exp(-rest / 2) / math.sqrt(2)
        return second**2 / (p * (1 - p)) * norm.pdf(u)

    exact = 2 * quad(square, 0, 1.5)[0]
    np.testing.assert_allclose(np.diag(found)[[0, 2]], exact, rtol=2e-4)
    np.testing.assert_allclose(found[1], 0.0, atol=1e-6)
    np.testing.assert_allclose(found[0, 2], exact, rtol=2e-4)
    assert cells.least_mass == pytest.approx(norm_ball(1.5), rel=0.03)


def norm_ball(radius: float) -> float:
    """P(|z| < radius) in three dimensions."""
    return float(2 * ndtr(radius) - 1 - 2 * radius * norm.pdf(radius))
