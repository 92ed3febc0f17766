"""One-dimensional rules and point sets for the normal law."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from learnability.gaussian.rules import composite_legendre, gauss_normal, sobol_normals


@pytest.mark.parametrize("n", [12, 40, 600])
@pytest.mark.parametrize("breaks", [[], [0.0], [-1.3, 0.2, 2.5], [-20.0, 0.5]], ids=str)
def test_moments_of_the_normal_law(breaks: list[float], n: int) -> None:
    nodes, weights = gauss_normal(np.array(breaks), n)
    for k in range(0, 16):
        exact = 0 if k % 2 else math.prod(range(1, k, 2))
        assert weights @ nodes**k == pytest.approx(
            exact, abs=1e-10 * math.factorial(k) ** 0.5 + 1e-12
        )


@pytest.mark.parametrize("edge", [-1.1, 0.0, 0.73, 2.4])
def test_a_split_rule_integrates_jumps_and_kinks(edge: float) -> None:
    nodes, weights = gauss_normal(np.array([edge]), 60)
    assert weights @ (nodes > edge) == pytest.approx(norm.sf(edge), abs=1e-14)
    kink = norm.pdf(edge) - edge * norm.sf(edge)
    assert weights @ np.maximum(nodes - edge, 0) == pytest.approx(kink, abs=1e-14)


def test_composite_legendre() -> None:
    nodes, weights = composite_legendre(np.array([-1.0, 0.5, 0.5, 2.0]), 0.4, 6)
    assert weights.sum() == pytest.approx(3.0, abs=1e-14)
    assert weights @ nodes**11 == pytest.approx((2**12 - 1) / 12, rel=1e-13)
    assert np.all(np.diff(nodes) > 0) and np.all(np.diff(nodes) < 0.4)


def test_sobol_normals() -> None:
    z = sobol_normals(3, 12, seed=4)
    assert z.shape == (4096, 3)
    np.testing.assert_array_equal(z, sobol_normals(3, 12, seed=4))
    assert not np.array_equal(z, sobol_normals(3, 12, seed=5))
    np.testing.assert_allclose(z.mean(axis=0), 0, atol=2e-3)
    np.testing.assert_allclose(z.T @ z / len(z), np.eye(3), atol=1e-2)
    assert len(np.unique(z)) == z.size  # no coordinate comes twice: a label cannot leak through it
