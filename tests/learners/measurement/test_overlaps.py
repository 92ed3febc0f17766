"""Overlaps resolved up to the symmetries of the link."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Link
from learnability.inputs import Isotropic, Spiked
from learnability.inputs.base import MarkedInputs
from learnability.learners.measurement.overlaps import overlaps_in_frame, resolved, subspace_overlap


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


def test_subspace_overlap() -> None:
    W = np.eye(6)[:2]
    assert subspace_overlap(W, W) == pytest.approx(1)
    rows = [[1, 1, 0, 0, 0, 0], [3, -1, 0, 0, 0, 0]]
    assert subspace_overlap(np.array(rows), W) == pytest.approx(1)
    assert subspace_overlap(np.eye(6)[2:4], W) == pytest.approx(0)
    assert subspace_overlap(np.array([[1, 0, 1, 0, 0, 0]]), W) == pytest.approx(0.25)
    # A row twice spans one direction, and nothing spans none.
    assert subspace_overlap(np.array([[1, 0, 0, 0, 0, 0]] * 2), W) == pytest.approx(0.5)
    assert subspace_overlap(np.zeros((2, 6)), W) == pytest.approx(0)


@pytest.mark.parametrize(
    "inputs", [Isotropic(), Spiked((8.0, 2.0), alignment=((0.5, 0.3), (-0.2, 0.6)))], ids=repr
)
def test_overlaps_in_the_frame_are_those_of_the_weights(inputs: MarkedInputs) -> None:
    """Against products in dimension d, and correlations of fields with the hidden coordinates."""
    d, r, seed = 15, 2, 3
    directions, frame = inputs.directions(seed, r, d), inputs.frame(r, d)
    w = np.random.default_rng(0).standard_normal((4, d))
    found = overlaps_in_frame(w @ directions.marked.T, np.sum(w**2, axis=1), frame)
    np.testing.assert_allclose(found["overlap"], w @ directions.hidden.T, atol=1e-12)
    if frame.spikes:
        np.testing.assert_allclose(found["spike_overlap"], w @ directions.marked[:2].T, atol=1e-12)
    else:
        assert "spike_overlap" not in found
    X, h = inputs.draw(np.random.default_rng(1), 40_000, directions, np.float64)
    fields = X @ w.T
    correlation = fields.T @ h / len(X) / np.sqrt(np.mean(fields**2, axis=0))[:, None]
    np.testing.assert_allclose(found["correlation"], correlation, atol=4.5 / 200)
