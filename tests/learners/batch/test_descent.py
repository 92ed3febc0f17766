"""Gradient descent in blocks against the formula."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Link
from learnability.learners.batch import _descent
from learnability.learners.batch._descent import descend
from learnability.learners.batch._network import Network


def plain(X, y, W, hidden, a, step, ridge, steps):  # type: ignore[no-untyped-def]
    """Gradient descent on half the squared error of tanh neurons, written out."""
    found = []
    for _ in range(steps + 1):
        h = X @ W.T
        residual = np.tanh(h) @ a - y
        found.append((W @ hidden.T, W @ W.T, np.mean(residual**2)))
        gradient = (residual[:, None] * a / np.cosh(h) ** 2).T @ X
        W = W - step * ridge * W - step / X.shape[1] * gradient
    return [np.array(part) for part in zip(*found, strict=True)]


@pytest.mark.parametrize("p", [1, 2, 5])
@pytest.mark.parametrize("block", [1, 3 * 8 * 20, 2**22])
def test_the_path_is_that_of_the_formula(
    p: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_descent, "_BLOCK_BYTES", block)
    rng = np.random.default_rng(p)
    n, d, r = 50, 20, 2
    X, y, W = rng.standard_normal((n, d)), rng.standard_normal(n), rng.standard_normal((p, d))
    hidden, a = rng.standard_normal((r, d)), rng.standard_normal(p)
    network = Network(Link("tanh(z)"), tuple(a), "squared")
    path = descend(X, y, network, W, hidden, step=0.3, ridge=0.4, steps=4)
    for mine, formula in zip(path, plain(X, y, W, hidden, a, 0.3, 0.4, 4), strict=False):
        np.testing.assert_allclose(mine, formula, rtol=1e-11, atol=1e-12)
    np.testing.assert_array_equal(path.field_overlap, path.overlap)
    np.testing.assert_array_equal(path.field_gram, path.gram)


def test_single_precision_and_no_copy_of_the_start() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 20), dtype=np.float32), rng.standard_normal(60)
    W, hidden, a = rng.standard_normal((2, 20)), rng.standard_normal((1, 20)), np.array([1.0, -1.0])
    before = W.copy()
    network = Network(Link("tanh(z)"), (1.0, -1.0), "squared")
    path = descend(X, y.astype(np.float32), network, W, hidden, step=0.3, ridge=0.0, steps=3)
    np.testing.assert_array_equal(W, before)
    formula = plain(X.astype(float), y, W, hidden, a, 0.3, 0.0, 3)
    np.testing.assert_allclose(path.overlap, formula[0], rtol=1e-4, atol=1e-4)
    assert path.gram.dtype == np.float64


def test_a_step_that_is_too_large_overflows_without_a_warning() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 20), dtype=np.float32), np.zeros(60, dtype=np.float32)
    network = Network(Link("z**2"), (1.0,), "squared")
    path = descend(X, y, network, np.ones((1, 20)), np.ones((1, 20)), step=9.0, ridge=0.0, steps=9)
    assert not np.isfinite(path.gram[-1]).all()
