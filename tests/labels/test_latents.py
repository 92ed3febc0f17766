"""Averages over latent coordinates, against sums over fine grids."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from learnability import Link, MultiIndex
from learnability.labels._latent_sums import at_different_points
from learnability.labels._latents import averaged, first_two_moments
from learnability.labels.continuous_laws import LatentLaw

GRID = np.linspace(-9.5, 9.5, 38_001)
WEIGHT = np.exp(-0.5 * GRID**2) / np.exp(-0.5 * GRID**2).sum()


@pytest.mark.parametrize(
    "text",
    [
        "abs(z1 + z2)",
        "relu(z1 + z2)**2 - z2",
        "max(z1, 2*z2)*z1",
        "abs(abs(z1 + z2) - 1)",
        "exp(-50*z2**2) + z1",
        "exp(-200*(z2 - z1)**2)",
        "z1 + z2**3",
    ],
)
def test_moments_over_one_latent_are_those_of_a_fine_grid(text: str) -> None:
    """Kinks cost a sum of equal steps the square of the step."""
    link = Link(text)
    z = np.array([[-1.3], [0.0], [0.7], [3.1]])
    points = np.stack(np.broadcast_arrays(z, GRID), axis=-1)
    values = np.asarray(link(points))
    expected = [values @ WEIGHT, values**2 @ WEIGHT]
    np.testing.assert_allclose(first_two_moments(link, z, 1), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("text", ["relu(z1 + z3)*relu(z2 - z3)", "sign(z1 - z3) + z2*z3"])
def test_closed_forms_on_pieces_are_the_sums_over_nodes(text: str) -> None:
    link = Link(text)
    z = np.random.default_rng(7).standard_normal((50, 2))

    def powers(at: np.ndarray) -> np.ndarray:
        return np.stack([link(at), link(at) ** 2])

    nodes = averaged(powers, z, 1, link.breaks, False)
    np.testing.assert_allclose(first_two_moments(link, z, 1), nodes, rtol=1e-11, atol=1e-12)


def expected_abs(m: np.ndarray) -> np.ndarray:
    """E |m + xi|."""
    return 2 * norm.pdf(m) + m * (2 * norm.cdf(m) - 1)


@pytest.mark.parametrize("latents", [2, 3])
def test_a_latent_before_the_last_is_cut_as_well(latents: int) -> None:
    """|z1 + xi1| has a kink in xi1 that moves with z1: a fixed rule is off by .002 there."""
    text = ["abs(z1 + z3)*abs(z2 + z4)", "abs(z1 + z3)*abs(z2 + z4) + z5"][latents - 2]
    z = np.random.default_rng(8).standard_normal((30, 2))
    first, second = first_two_moments(Link(text), z, latents)
    product = expected_abs(z[:, 0]) * expected_abs(z[:, 1])
    squares = (1 + z[:, 0] ** 2) * (1 + z[:, 1] ** 2) + (latents == 3)
    assert first == pytest.approx(product, rel=1e-8)
    assert second == pytest.approx(squares, rel=1e-7)


@pytest.mark.parametrize(
    "text",
    [
        "abs(z1 + xi1) + abs(z2 + xi2)",
        "2*(relu(z1 - xi1) - abs(z2 + xi2)/3) + z1*z2",
        "abs(z1 + xi1)*relu(z2 + xi2)",
        "-relu(z1 + xi1)*abs(z2 + xi2)/2 + tanh(z1)*abs(z2 + xi3)",
        "tanh(z1 + xi1)*z2 + relu(z1 + xi1)",
        "z1*z2 + abs(xi1)",
    ],
)
def test_parts_with_latents_of_their_own_make_up_the_moments(text: str) -> None:
    law = MultiIndex(text).channel.law
    assert isinstance(law, LatentLaw)
    z = np.random.default_rng(9).standard_normal((20, 2))
    first, second = first_two_moments(law.core, z, law.latents)
    assert law.mean(z) == pytest.approx(first, rel=1e-7, abs=1e-9)
    assert law.variance(z) == pytest.approx(second - first**2, rel=1e-6, abs=1e-9)


def test_what_is_independent_is_told_by_the_formula() -> None:
    law = MultiIndex("abs(z1 + xi1)*relu(z2 - xi2) + z3 + sin(z3 + xi3)*abs(z2 - xi3)").channel.law
    parts = law.independent
    assert parts.kind == "sum"
    kinds = [(p.kind, p.latents, p.visible) for p in parts.parts]
    assert kinds == [("product", 0, ()), ("whole", 0, (2,)), ("whole", 1, (1, 2))]


@pytest.mark.parametrize("angle", [0.0, 0.3])
def test_equal_points_are_computed_once(angle: float) -> None:
    axis = np.linspace(-2, 2, 45)
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    points, seen = grid[:, 1:] @ turn, []

    def function(z: np.ndarray) -> np.ndarray:
        seen.append(len(z))
        return np.stack([z[:, 0] + 2 * z[:, 1], z[:, 0] * z[:, 1]])

    found = at_different_points(function, points)
    assert seen[0] < 2.5 * 45**2
    assert found == pytest.approx(function(points), abs=1e-11)
    others = np.random.default_rng(1).standard_normal((9000, 2))
    assert np.array_equal(at_different_points(function, others), function(others))
    assert seen[-2:] == [9000, 9000]
