"""Reports shared by tests, and how to compare what they hold."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from learnability.hardness import Hardness, Step, hardness
from learnability.labels import Link

Array = NDArray[np.float64]


@cache
def report_on(text: str, noise: float = 0.0, r: int | None = None) -> Hardness:
    """The report on a formula; a report with continuous labels takes seconds, so it is kept."""
    return hardness(Link(text, r=r), noise=noise)


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


def opened(steps: tuple[Step, ...]) -> list[Array]:
    """The projectors on what each step adds."""
    return [projector(step.directions) for step in steps]


def turn(angle: float) -> Array:
    """A rotation of the plane."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


def random_rotation(r: int, seed: int) -> Array:
    """An orthogonal matrix in general position."""
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((r, r)))[0]
