"""Laws of rows: against matrices of a given size, and differences for the slopes."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import MultiIndex
from learnability.learners.giant._bulk import BatchRows, Bulk, IndependentRows
from learnability.learners.giant._conditional import label_nodes

BATCH, SQUARE, ALIGNMENT = 0.6, 2.5, -0.7
TARGET = MultiIndex("z1 + z1*z2 + 0.3", noise=0.1)


def batch_rows(square: float = SQUARE) -> BatchRows:
    z, y, weights = label_nodes(TARGET, np.array([1.0, 0.0]))
    return BatchRows(z, y - 0.1, weights, BATCH, square, ALIGNMENT)


@pytest.mark.parametrize("bulk", [IndependentRows(1.3, 2), batch_rows()])
@pytest.mark.parametrize("xi", [0.05, 0.7, 8.0])
def test_slopes_are_those_of_differences(bulk: Bulk, xi: float) -> None:
    h = 1e-5 * xi
    up, down, here = (bulk.forms(x) for x in (xi + h, xi - h, xi))
    slope = (up.trace - down.trace) / (2 * h)
    assert here.trace_slope == pytest.approx(slope, rel=1e-6)
    slopes = (up.matrix - down.matrix) / (2 * h)
    np.testing.assert_allclose(here.matrix_slope, slopes, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("bulk", [IndependentRows(1.3, 2), batch_rows()])
@pytest.mark.parametrize("beta", [0.4, 1.0, 3.0])
@pytest.mark.parametrize("share", [1e-4, 0.3, 20.0])
def test_the_resolution_solves_its_equation(bulk: Bulk, beta: float, share: float) -> None:
    xi = bulk.resolution(share, beta)
    assert xi * (beta - bulk.forms(xi).trace) == pytest.approx(share, rel=1e-9)


def test_without_noise_of_the_step_rows_are_independent() -> None:
    small, independent = batch_rows(1 + 1e-7).forms(0.5), IndependentRows(1.0, 3).forms(0.5)
    assert small.trace == pytest.approx(independent.trace, abs=1e-6)
    np.testing.assert_allclose(small.matrix, independent.matrix, atol=1e-6)


@pytest.mark.parametrize("xi", [0.1, 1.0])
def test_the_forms_of_a_batch(xi: float) -> None:
    """Against the matrices of 8 batches in dimension 600."""
    d, rows = 600, batch_rows()
    n = int(BATCH * d)
    found, traces = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d))
        e = TARGET.link(X[:, :2]) + np.sqrt(0.1) * rng.standard_normal(n) - 0.1
        tau = (SQUARE - 1) / float(rows.weights @ rows.e**2)
        inverse = np.linalg.inv((1 + xi) * np.eye(d) + tau * (X.T * e**2) @ X / n)
        noise = X.T @ e
        noise[:2] = 0.0
        noise /= np.linalg.norm(noise)
        cosine, sine = ALIGNMENT, np.sqrt(1 - ALIGNMENT**2)
        first, second = np.eye(d)[:2]
        frame = np.array([cosine * first - sine * noise, sine * first + cosine * noise, second])
        found.append(frame @ inverse @ frame.T)
        traces.append(1 - xi * np.trace(inverse) / d)
    theory = rows.forms(xi)
    assert np.mean(traces) == pytest.approx(theory.trace, abs=0.01)
    spread = np.std(found, axis=0, ddof=1) / np.sqrt(8)
    assert (np.abs(np.mean(found, axis=0) - theory.matrix) <= 5 * spread + 0.005).all()
