"""The subspace of a batch as far as it is known: projections at every stage."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Channel, Link
from learnability.learners.giant._subspace_chain import (
    _scaled,
    _Span,
    chain_bytes,
    chained_correlation,
)


@pytest.mark.parametrize(("n", "d"), [(30, 6), (12, 9), (40, 20)], ids=["all", "outside", "some"])
def test_projections_keep_what_is_inside_and_lose_what_is_not(n: int, d: int) -> None:
    rng = np.random.default_rng(1)
    z, xi = rng.standard_normal((2, n)).astype(np.float32)
    count = 8
    span = _Span(z, xi, d, count)
    assert span.most == min(count, d - 2, n - d)
    for _ in range(count):
        vector = rng.standard_normal(n).astype(np.float32)
        found = span.project(vector, rng)
        k = span.seen
        inside, outside = span.inside[: k + 2], span.outside[:k]
        both = np.concatenate([inside, outside])
        np.testing.assert_allclose(both @ both.T, np.eye(len(both)), atol=2e-5)
        assert float((vector - found) @ found) == pytest.approx(0.0, abs=1e-3)
        full = k in (d - 2, n - d)
        if full:
            for known, kept in ((inside, 1.0), (outside, 0.0)):
                for row in known:
                    np.testing.assert_allclose(span.project(row, rng), kept * row, atol=2e-5)
    assert span.seen == span.most
    for given in (z, xi):
        np.testing.assert_allclose((span.inside[:2] @ given) @ span.inside[:2], given, atol=1e-4)
    np.testing.assert_allclose(span.inside[:2].T @ span.corner, np.stack([z, xi], 1), atol=1e-4)


def test_a_step_follows_the_gradient_on_the_sphere_of_fields() -> None:
    """One step of f = sigma = z from rho: h moves by 2 t (P (y - h) - mean(h (y - h)) h)."""
    n, rho, step = 200_000, 0.4, 0.05
    found = chained_correlation(
        Channel(Link("z")), Link("z"), (n, 10), rho, step, 1, np.random.default_rng(3)
    )
    # h = rho z + s xi: its pull is z - h, of mean product rho - 1 with h.
    along = rho + 2 * step * (1 - rho - (rho - 1) * rho)
    across = np.sqrt(1 - rho**2) * (1 + 2 * step * (-1 - (rho - 1)))
    assert found == pytest.approx(along / np.hypot(along, across), abs=5e-3)


def test_fields_have_mean_square_one_and_memory_is_counted() -> None:
    h = _scaled(np.array([3.0, -4.0, 0.0, 0.0]))
    assert float(np.mean(h.astype(float) ** 2)) == pytest.approx(1.0)
    np.testing.assert_allclose(h, np.array([3, -4, 0, 0]) * 2 / 5)
    assert chain_bytes(100, 50, 10) == 4 * 100 * 28 and chain_bytes(100, 5, 10) == 4 * 100 * 18
