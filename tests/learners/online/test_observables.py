"""What is reported of order parameters, against weights that have them."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Link, MultiIndex
from learnability.learners.online._observables import aligned, captured, cosines, squared_errors

RNG = np.random.default_rng(0)
W, HIDDEN = RNG.standard_normal((2, 12)), np.linalg.qr(RNG.standard_normal((12, 2)))[0].T
M = W @ HIDDEN.T
REST = W @ W.T - M @ M.T


def test_cosines_and_spans_of_weights() -> None:
    exact = M / np.linalg.norm(W, axis=1)[:, None]
    np.testing.assert_allclose(cosines(REST, M), exact)
    P = np.linalg.pinv(W) @ W
    share = float(np.sum((P @ HIDDEN.T) ** 2)) / 2
    assert float(captured(REST, M)) == pytest.approx(share)
    lost = captured(np.stack([REST, np.full((2, 2), np.nan)]), np.stack([M, M]))
    assert lost[0] == pytest.approx(share) and np.isnan(lost[1])


def test_errors_are_those_of_samples() -> None:
    target, a = MultiIndex("z1*z2 + sign(z1)", noise=0.3), np.array([0.4, -0.6])
    X = np.random.default_rng(1).standard_normal((400_000, 12))
    y = target.link(X @ HIDDEN.T)
    each = (np.tanh(X @ W.T / 4) @ a - y) ** 2
    found = float(squared_errors(target, Link("tanh(z/4)"), REST, M, a))
    assert found == pytest.approx(each.mean() + 0.3, abs=5 * each.std() / 632 + 1e-3)
    assert np.isnan(squared_errors(target, Link("tanh(z)"), REST * np.nan, M, a))


def test_paths_are_turned_by_symmetries_of_the_link() -> None:
    path = np.array([[[0.1, 0.2]], [[-0.9, 0.3]]])
    np.testing.assert_allclose(aligned(path, Link("z1**2 + z2"))[-1], [[0.9, 0.3]])
    np.testing.assert_allclose(aligned(path, Link("z1 + z2**2"))[-1], path[-1])
