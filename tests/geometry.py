"""Projectors and rotations shared by tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def projector(rows: Array) -> Array:
    """The orthogonal projector on the span of orthonormal rows, after a check that they are."""
    rows = np.atleast_2d(rows)
    np.testing.assert_allclose(rows @ rows.T, np.eye(len(rows)), atol=1e-9)
    return rows.T @ rows


def spanned_by(*vectors: tuple[float, ...]) -> Array:
    """The orthogonal projector on the span of any vectors."""
    q, _ = np.linalg.qr(np.array(vectors, dtype=float).T)
    return q @ q.T


def axes(r: int, *indices: int) -> Array:
    """The projector on coordinate axes, counted from one."""
    return np.diag([float(i + 1 in indices) for i in range(r)])


def turn(angle: float) -> Array:
    """A rotation of the plane."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


def random_rotation(r: int, seed: int) -> Array:
    """An orthogonal matrix in general position."""
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((r, r)))[0]
