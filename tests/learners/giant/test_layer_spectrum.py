"""Singular values of rows that shared a batch, against draws."""

from __future__ import annotations

import numpy as np
import pytest

from learnability.learners.giant._bulk import Batch
from learnability.learners.giant._layer_spectrum import (
    batch_eigenvalues,
    layer_density,
    layer_outlier,
)
from learnability.learners.giant._outlier import outlier

D, N, ROWS = 300, 600, 150


@pytest.mark.parametrize("slope", [0.02, 0.15, 1.0])
def test_outlier_and_edge_of_a_draw(slope: float) -> None:
    """From a spike too weak for an outlier to a strong one; 5 % allowed for the size."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((N, D))
    e = np.tanh(2 * X[:, 0]) - 0.2
    batch = Batch(X[:, :1], e, np.full(N, 1 / N), N / D, 0.6, 0.8)
    common = slope * np.append(e @ X[:, :1] / N, np.sqrt(batch.power * (D - 1) / N))
    found = layer_outlier(batch, common, ROWS / D, D)
    moved = np.eye(D) + 0.6 * (X.T * e) @ X / N
    root = np.linalg.cholesky(moved @ moved + 0.8 * (X.T * e**2) @ X / N)
    shift = slope * e @ X / N
    W = rng.standard_normal((ROWS, D)) @ root.T / np.sqrt(D) + shift
    u, s, v = np.linalg.svd(W, full_matrices=False)
    beyond = found.outlier.value > found.outlier.edge
    assert beyond == (slope > 0.1)
    assert s[0] == pytest.approx(found.outlier.value, rel=0.05)
    assert s[1] == pytest.approx(found.outlier.edge, rel=0.05)
    if beyond:
        assert v[0, 0] ** 2 == pytest.approx(found.alignment, abs=0.08)
        assert (v[0] @ shift) ** 2 / (shift @ shift) == pytest.approx(found.outlier.right, abs=0.08)
        assert u[:, 0].sum() ** 2 / ROWS == pytest.approx(found.outlier.left, abs=0.08)


def test_no_batch_is_the_transition_of_independent_rows() -> None:
    batch = Batch(np.zeros((2, 1)), np.array([1.0, -1.0]), np.full(2, 0.5), 2.0, 0.0, 0.0)
    beta, d, length = 0.4, 100, 0.13
    found = layer_outlier(batch, np.array([0.6, 0.8]) * length, beta, d)
    known = outlier(length * np.sqrt(beta * d), beta)
    assert found.outlier == pytest.approx(known, rel=1e-6)
    assert found.alignment == pytest.approx(0.36 * known.right, rel=1e-6)


@pytest.mark.parametrize("beta", [0.4, 1.0, 2.5])
def test_the_bulk_has_mass_one_and_the_right_second_moment(beta: float) -> None:
    batch = Batch(np.zeros((2, 1)), np.array([1.0, -1.5]), np.full(2, 0.5), 2.0, 0.3, 0.5)
    rows = batch_eigenvalues(batch, 100, np.random.default_rng(1))
    s = np.linspace(1e-3, 8.0, 1000)
    density = layer_density(rows, beta, s)
    assert np.trapezoid(density, s) == pytest.approx(1.0, abs=0.02)
    # The sum of squares is p times the mean eigenvalue over min(p, d) values.
    power = max(beta, 1.0) * rows.mean()
    assert np.trapezoid(density * s**2, s) == pytest.approx(power, rel=0.03)
    # That mean is the squared length of the rows.
    assert rows.mean() == pytest.approx(batch.square, rel=0.05)
