"""Parts of the theory of a given first layer: tables, long directions, lengths, low ranks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import LearnabilityError
from learnability.labels import Link
from learnability.learners.giant._given_layer import (
    _compressed,
    _length_share,
    _long_directions,
    _moments,
    _nodes,
    _Place,
)


def test_tables_are_read_by_cubics() -> None:
    """Exact for polynomials of degree three, on every interval and beyond both ends."""
    grid = np.linspace(-2.0, 1.0, 7)
    fields = np.array([[-2.0, -1.76], [0.33, 0.99], [1.0, 1.2], [-0.51, 0.0]])
    rows = np.array([[1.0, -2.0, 0.5, 0.3], [0.2, 1.0, -1.0, 2.0]])
    table = np.array([np.polyval(row[::-1], grid) for row in rows])
    slope = np.array([np.polyval(np.polyder(row[::-1]), grid) for row in rows])
    found = _Place(fields, grid).read(table, slope)
    exact = np.stack([np.polyval(row[::-1], f) for row, f in zip(rows, fields.T, strict=True)], 1)
    np.testing.assert_allclose(found, exact, atol=1e-12)


@pytest.mark.parametrize("paired", [False, True])
def test_moments_of_a_cubic_activation_are_formulas(paired: bool) -> None:
    """sigma(x) = x^3 - x of x = mu + c z: mean, slope, curve, and the energy of He_3."""
    rng = np.random.default_rng(0)
    fields, lengths = rng.standard_normal((5, 4)), np.array([0.7, 1.1, 0.9, 1.3])
    correlation = np.array([0.6, -0.3]) if paired else None
    mean, slope, curve, rest, shared = _moments(Link("z**3 - z"), fields, lengths, correlation)
    mu, c = fields, lengths
    np.testing.assert_allclose(mean, mu**3 + 3 * mu * c**2 - mu, atol=2e-4)
    np.testing.assert_allclose(slope, 3 * mu**2 + 3 * c**2 - 1, atol=2e-4)
    np.testing.assert_allclose(curve, 6 * mu, atol=2e-3)
    third = c**3 + 0 * mu  # The coefficient of He_3 in z.
    np.testing.assert_allclose(rest, 6 * third**2, rtol=2e-3)
    if not paired:
        assert shared is None
        return
    assert shared is not None and correlation is not None
    exact = 6 * third[:, :2] * third[:, 2:] * correlation**3
    np.testing.assert_allclose(shared, exact, rtol=1e-3, atol=1e-3)


def test_neurons_of_very_different_lengths_have_tables_of_their_own() -> None:
    """A grid for all would have ten million points: minutes, or more memory than there is."""
    rng = np.random.default_rng(1)
    lengths = np.geomspace(1e-3, 1e3, 12)
    fields = lengths * rng.standard_normal((40, 12))
    mean, slope, curve, rest, _ = _moments(Link("z**2 - 1"), fields, lengths, None)
    np.testing.assert_allclose(mean, fields**2 + lengths**2 - 1, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(slope, 2 * fields, rtol=1e-3, atol=1e-3 * lengths.min())
    np.testing.assert_allclose(curve, 2, rtol=1e-3)
    assert (rest <= 1e-3 * lengths**4).all()


def test_long_directions_are_those_above_the_bulk() -> None:
    rng = np.random.default_rng(1)
    p, d = 60, 300
    rows = rng.standard_normal((p, d)) / math.sqrt(d)
    assert _long_directions(rows).shape == (0, d)
    u, v = np.eye(d)[3], np.eye(d)[7]
    spiked = rows + np.outer(rng.standard_normal(p), u) + 0.8 * np.outer(rng.standard_normal(p), v)
    found = _long_directions(spiked)
    assert found.shape == (2, d)
    np.testing.assert_allclose(found @ found.T, np.eye(2), atol=1e-9)
    inside = (found @ np.stack([u, v]).T) ** 2
    np.testing.assert_allclose(inside.sum(axis=0), 1, atol=0.1)
    assert inside[0, 0] > inside[1, 0]  # The longest comes first.
    many = np.tile(np.eye(8, d), (7, 1))
    with pytest.raises(LearnabilityError, match="more than 6 directions"):
        _long_directions(many)


def test_the_share_by_which_lengths_move() -> None:
    """s^2 = 2 E cos^2 over pairs of rows; pairs that began alike are left out."""
    rows = np.array([[1.0, 0, 0], [0, 2, 0], [0.6, 0.8, 0], [0, 0.6, 0.8]])
    gram = rows @ rows.T
    lengths = np.sqrt(np.diag(gram))
    unit = rows / lengths[:, None]
    cosines = unit @ unit.T
    pairs = [(i, j) for i in range(4) for j in range(4) if i != j]
    mean = np.mean([cosines[i, j] ** 2 for i, j in pairs])
    assert _length_share(gram, lengths, None) == pytest.approx(min(math.sqrt(2 * mean), 0.5))
    small = np.eye(4) + 0.05 * (gram / np.outer(lengths, lengths) - np.eye(4))
    mean = np.mean([small[i, j] ** 2 for i, j in pairs])
    assert _length_share(small, np.ones(4), None) == pytest.approx(math.sqrt(2 * mean))
    alike = np.diag(small, 2)
    mean = np.mean([small[i, j] ** 2 for i, j in pairs if abs(i - j) != 2])
    assert _length_share(small, np.ones(4), alike) == pytest.approx(math.sqrt(2 * mean))
    assert _length_share(np.eye(2), np.ones(2), np.zeros(1)) == 0.0


def test_functions_of_few_coordinates_have_a_low_rank() -> None:
    rng = np.random.default_rng(2)
    x, weights = rng.standard_normal((50, 2)), np.full(50, 1 / 50)
    values = x @ rng.standard_normal((2, 20)) + 1
    found = _compressed(values, weights)
    assert found.left.shape == (50, 3) and found.right.shape == (3, 20)
    np.testing.assert_allclose(found.left @ found.right, values, atol=1e-9)
    np.testing.assert_allclose(found.right @ found.right.T, np.eye(3), atol=1e-9)


@pytest.mark.parametrize(
    ("text", "k", "count"),
    [("abs(z)", 1, 128), ("abs(z)", 2, 64 * 32), ("z1*z2", 2, 2**11), ("z1*z2", 4, 2**12)],
)
def test_nodes_of_the_kept_coordinates(text: str, k: int, count: int) -> None:
    nodes, weights = _nodes(Link(text), k)
    assert nodes.shape == (count, k) and weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(weights @ nodes, 0.0, atol=1e-9)
    np.testing.assert_allclose(weights @ nodes**2, 1.0, atol=0.02)
    if text == "abs(z)":
        assert float(weights @ np.abs(nodes[:, 0])) == pytest.approx(math.sqrt(2 / math.pi))
