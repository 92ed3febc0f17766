"""Laws of rows: against matrices of a given size, and differences for the slopes."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import MultiIndex
from learnability.learners.giant._bulk import Batch, BatchRows, Bulk, IndependentRows
from learnability.learners.giant._conditional import label_nodes

BATCH, ALIGNMENT = 0.6, -0.7
TARGET = MultiIndex("z1 + z1*z2 + 0.3", noise=0.1)


def batch_rows(pull: float = 0.4, noise: float = 0.8, scale: float = 1.2) -> BatchRows:
    z, y, weights = label_nodes(TARGET, np.array([1.0, 0.0]))
    batch = Batch(z, y - 0.1, weights, BATCH, pull, noise)
    return BatchRows(batch, ALIGNMENT, scale * batch.square)


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
    assert xi * (beta - bulk.forms(xi).trace) == pytest.approx(share, rel=1e-4)


def test_without_a_step_rows_are_independent() -> None:
    small, independent = batch_rows(1e-8, 1e-8).forms(0.5), IndependentRows(1.2, 3).forms(0.5)
    assert small.trace == pytest.approx(independent.trace, abs=1e-6)
    np.testing.assert_allclose(small.matrix, independent.matrix, atol=1e-6)


@pytest.mark.parametrize(("pull", "noise"), [(0.0, 0.8), (0.4, 0.3), (-0.5, 0.1)])
@pytest.mark.parametrize("xi", [0.1, 1.0])
def test_the_forms_of_a_batch(pull: float, noise: float, xi: float) -> None:
    """Against the matrices of 6 batches in dimension 400."""
    d, rows = 400, batch_rows(pull, noise)
    n = int(BATCH * d)
    found, traces, squares = [], [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d))
        e = TARGET.link(X[:, :2]) + np.sqrt(0.1) * rng.standard_normal(n) - 0.1
        root = np.eye(d) + pull * (X.T * e) @ X / n
        sigma = 1.2 * (root @ root + noise * (X.T * e**2) @ X / n)
        inverse = np.linalg.inv(xi * np.eye(d) + sigma)
        along = X.T @ e
        along[:2] = 0.0
        along /= np.linalg.norm(along)
        cosine, sine = ALIGNMENT, np.sqrt(1 - ALIGNMENT**2)
        first, second = np.eye(d)[:2]
        frame = np.array([cosine * first - sine * along, sine * first + cosine * along, second])
        found.append(frame @ inverse @ frame.T)
        traces.append(1 - xi * np.trace(inverse) / d)
        squares.append(np.trace(sigma) / d)
    theory = rows.forms(xi)
    measured = ((found, theory.matrix), (traces, theory.trace), (squares, rows.square))
    for values, expected in measured:
        spread = np.std(values, axis=0, ddof=1) / np.sqrt(6)
        assert (np.abs(np.mean(values, axis=0) - expected) <= 5 * spread + 0.005).all()
