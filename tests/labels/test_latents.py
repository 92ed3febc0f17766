"""Averages over latent coordinates, against sums over fine grids."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Link
from learnability.labels._latents import averaged, first_two_moments

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
