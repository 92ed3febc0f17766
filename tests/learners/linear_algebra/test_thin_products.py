"""Thin products in blocks of rows, against plain matrix products."""

from __future__ import annotations

import numpy as np
import pytest

from learnability.learners.linear_algebra import thin_products
from learnability.learners.linear_algebra.thin_products import collect, project


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("r", [1, 2, 3])
@pytest.mark.parametrize("block_bytes", [1, 4 * 7 * 10, 2**23])
def test_blocks_of_any_height(
    dtype: type, r: int, block_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thin_products, "_BLOCK_BYTES", block_bytes)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((53, 7)).astype(dtype)
    W, G = rng.standard_normal((r, 7)), rng.standard_normal((r, 53))
    tolerance = 1e-5 if dtype is np.float32 else 1e-13
    for found, expected in ((project(X, W), W @ X.T), (collect(X, G), G @ X)):
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def test_the_two_are_adjoint() -> None:
    rng = np.random.default_rng(1)
    X, W, G = (rng.standard_normal(shape) for shape in ((40, 9), (2, 9), (2, 40)))
    assert np.sum(project(X, W) * G) == pytest.approx(np.sum(W * collect(X, G)))
