"""Breaks, finite values and symmetries."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings

from learnability.expressions.calculus import evaluate
from learnability.expressions.parse import parse
from learnability.expressions.structure import (
    break_expressions,
    points_beside_jumps,
    symmetries,
)
from learnability.expressions.text import to_text
from learnability.expressions.tree import Tree
from learnability.labels.link import Link

from tests.expressions.strategies import trees


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("z1**2 + sign(z1*z2*z3)", {"z1", "z2", "z3"}),
        ("tanh(z1) + exp(z2)", set()),
        ("abs(abs(z1) - 1)", {"abs(z1) - 1", "z1"}),
        ("relu(z1) + step(-z1) + abs(2*z1)", {"z1"}),
        ("max(z1, z2, 0)", {"z1 - z2", "z1", "z2"}),
        ("where(0.5 < abs(z1) < 2, 1, 0)", {"-abs(z1) + 0.5", "abs(z1) - 2", "z1"}),
        ("max(z1*z2, 0)", {"z1", "z2"}),
        ("1/z1 + z1**-2", {"z1"}),
        ("z1/2 + z1/pi", set()),
        ("1/(1 + z1**2) + sqrt(z1**2 + z2**4 + 1)", set()),
        ("log(z1*z2)", {"z1", "z2"}),
        ("z1**0.5 + z2**3", {"z1"}),
        ("sign(z1/z2)", {"z1", "z2"}),
        ("sign(z1**3*exp(z2))", {"z1"}),
        ("sign(sign(z1) + 0.5)", {"z1"}),
        ("sign(tanh(z1 - z2)) + sign(z2 - z1)", {"z1 - z2"}),
    ],
)
def test_breaks(text: str, expected: set[str]) -> None:
    found = [to_text(b) for b in break_expressions(parse(text))]
    assert set(found) == expected
    assert len(found) == len(expected)


@settings(max_examples=150)
@given(trees(r=1, leaves=6))
def test_jumps_are_at_the_breaks(tree: Tree) -> None:
    """Between neighbouring points of a fine grid that no break separates, g does not jump."""
    t = np.linspace(-3.0001, 3, 4001)[:, None]
    value = np.broadcast_to(evaluate(tree, t, np), (4001,))
    breaks = [np.broadcast_to(evaluate(b, t, np), (4001,)) for b in break_expressions(tree)]
    scale = np.nanmax(np.abs(value[np.isfinite(value)]), initial=0.0)
    assume(0 < scale < 1e3)
    separated = np.zeros(4000, dtype=bool)
    for b in breaks:
        separated |= ~(np.sign(b[1:]) * np.sign(b[:-1]) > 0)
    near = np.convolve(separated, np.ones(41), mode="same") > 0  # poles are steep around a break
    with np.errstate(invalid="ignore"):
        jumps = np.abs(np.diff(value)) > 0.5 * scale
        steep = np.abs(np.gradient(value, t[:, 0])) * 1.5e-3 > 0.2 * scale
    assert not np.any(jumps & ~near & ~(steep[1:] & steep[:-1]))


def test_symmetry_definition() -> None:
    link = Link("z1*z2**2 + z3**3*z1**2")
    z = np.random.default_rng(0).standard_normal((10, 3))
    for s in link.symmetries:
        np.testing.assert_allclose(link(z @ s.matrix.T), s.character * link(z), rtol=1e-10)
        moved = z[:, list(s.permutation)] * np.array(s.signs)
        np.testing.assert_array_equal(moved, z @ s.matrix.T)


@pytest.mark.parametrize(
    ("text", "r", "count", "even"),
    [
        ("z**2", 1, 2, 2),
        ("z**3", 1, 2, 1),
        ("z**2 + z", 1, 1, 1),
        ("sign(z1*z2*z3)", 3, 48, 24),
        ("z1**2 + sign(z1*z2*z3)", 3, 8, 8),
        ("z1*z2", 2, 8, 4),
        ("z1 + z2**2", 2, 2, 2),
        ("3", 2, 8, 8),
        ("step(z - 10)", 1, 1, 1),
        ("log(z1)", 1, 1, 1),
    ],
)
def test_symmetry_groups(text: str, r: int, count: int, even: int) -> None:
    found = symmetries(Link(text, r=r), r)
    assert len(found) == count
    assert sum(s.character == 1 for s in found) == even
    assert found[0].permutation == tuple(range(r)) and set(found[0].signs) == {1}


def test_many_variables_try_flips_and_transpositions() -> None:
    found = Link("z1*z2*z3*z4*z5").symmetries
    assert len(found) == 32 + 2 * 10
    assert len({(s.permutation, s.signs) for s in found}) == len(found)
    assert len(Link("z1 + 2*z2 + 3*z3 + 4*z4 + 5*z5**2").symmetries) == 2


@pytest.mark.parametrize("angle", [3e-6, 1e-4, 0.008, 1.5625])
def test_a_boundary_that_is_turned_a_little_has_no_symmetry_of_the_axes(angle: float) -> None:
    c, s = math.cos(angle), math.sin(angle)

    def turned(z: np.ndarray) -> np.ndarray:
        return np.sign((c * z[:, 0] - s * z[:, 1]) * (s * z[:, 0] + c * z[:, 1]))

    # Rotations by 180 degrees keep it and those by 90 degrees change its sign, whatever the angle.
    found = symmetries(turned, 2)
    assert {(f.permutation, f.signs) for f in found} == {
        ((0, 1), (1, 1)),
        ((0, 1), (-1, -1)),
        ((1, 0), (1, -1)),
        ((1, 0), (-1, 1)),
    }


def test_points_beside_jumps_are_on_both_sides() -> None:
    def step(z: np.ndarray) -> np.ndarray:
        return np.where(z[:, 0] > 0.3, 1.0, 0.0) + z[:, 1] ** 2

    points = points_beside_jumps(step, 2)
    low, high = np.split(points, 2)
    assert len(low) > 10
    assert np.all((low[:, 0] - 0.3) * (high[:, 0] - 0.3) <= 0)
    assert np.linalg.norm(high - low, axis=1).max() < 2e-7
    assert len(points_beside_jumps(lambda z: np.tanh(z[:, 0] * z[:, 1]), 2)) == 0
