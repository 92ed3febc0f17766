"""Overlaps resolved up to the symmetries of the link."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Link
from learnability.learners.alignment import resolved


def rotation(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


def test_a_link_without_symmetries_keeps_its_overlap() -> None:
    overlap = np.array([[-0.3, 0.9], [0.8, 0.1]])
    np.testing.assert_array_equal(resolved(overlap, Link("z1 + z2**3")), overlap)
    np.testing.assert_array_equal(resolved(np.array([[-0.7]]), Link("tanh(z)")), [[-0.7]])


def test_the_sign_of_an_even_link() -> None:
    np.testing.assert_array_equal(resolved(np.array([[-0.7]]), Link("abs(z)")), [[0.7]])
    np.testing.assert_array_equal(resolved(np.array([[0.7]]), Link("abs(z)")), [[0.7]])


def test_an_odd_link_is_no_symmetry() -> None:
    """g(-z) = -g(z) tells z from -z."""
    np.testing.assert_array_equal(resolved(-np.eye(2), Link("z1*z2**2 + z1")), [[-1, 0], [0, 1]])


def test_exchange_and_common_sign() -> None:
    overlap = np.array([[0.1, -0.8], [-0.9, 0.0]])
    np.testing.assert_allclose(
        resolved(overlap, Link("sign(z1*z2)")), [[0.8, -0.1], [0.0, 0.9]], atol=1e-15
    )
    # For the committee only the exchange is left, and here the overlap is better without.
    committee = Link("tanh(z1) + tanh(z2)")
    np.testing.assert_array_equal(resolved(overlap, committee), overlap)
    np.testing.assert_allclose(resolved(-overlap, committee), [[0.8, -0.1], [0.0, 0.9]], atol=1e-15)


@pytest.mark.parametrize("angle", [0.4, 2.0, -2.9])
def test_rotations_of_a_radial_link(angle: float) -> None:
    overlap = 0.8 * rotation(angle)
    np.testing.assert_allclose(
        resolved(overlap, Link("z1**2 + z2**2")), 0.8 * np.eye(2), atol=1e-12
    )


def test_only_the_radial_coordinates_are_rotated() -> None:
    turn = np.eye(3)
    turn[np.ix_([0, 2], [0, 2])] = rotation(1.1)
    found = resolved(turn * np.array([0.9, 0.5, 0.9]), Link("z1**2 + z3**2 + tanh(z2)"))
    np.testing.assert_allclose(found, np.diag([0.9, 0.5, 0.9]), atol=1e-12)


def test_the_trace_never_falls_and_the_data_stay_the_same() -> None:
    rng = np.random.default_rng(0)
    for text in ("sign(z1*z2*z3)", "abs(z1) + z2*z3", "z1**2 + z2**2 + z3**2"):
        overlap = rng.standard_normal((3, 3))
        found = resolved(overlap, Link(text))
        assert np.trace(found) >= np.trace(overlap) - 1e-12
        np.testing.assert_allclose(found @ found.T, overlap @ overlap.T, atol=1e-12)
        np.testing.assert_allclose(resolved(found, Link(text)), found, atol=1e-12)
