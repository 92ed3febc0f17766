"""Moments of the directions and parts by degree against samples, in trees too."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import eval_genlaguerre, gammaln

from learnability import Hierarchical
from learnability.targets.directions import first_moments, second_moments
from learnability.targets.parts import parts_by_degree

TARGETS = (
    Hierarchical("tanh(z) + cos(z)", "He2(z) + z", N=(8, 4), signs="random"),
    Hierarchical("tanh(z1)*z2 + z1", "He2(z) + z", N=3, signs="ones"),
)


@pytest.mark.parametrize("target", TARGETS)
def test_against_samples(target: Hierarchical) -> None:
    """200 000 samples: all moments within 6 standard errors."""
    D = target.r * target.sizes[0]
    X, y, W, h = target.sample(5, n=200_000, d=D)
    z, T = X @ W.T, y - y.mean()
    assert target.variance == pytest.approx(y.var(), abs=6 * (T**2).std() / 447)
    composition, size = target.composition, target.sizes[0]
    seen = z.T @ T / len(z)
    np.testing.assert_allclose(first_moments(composition, size), seen, atol=6 * T.std() / 447)
    for power in (1, 2):
        F = T**power
        pairs = z[:, :, None] * z[:, None] - np.eye(D)
        found = np.einsum("n,nij->ij", F, pairs) / len(z)
        error = (F[:, None, None] * pairs).std(axis=0) / 447
        assert (np.abs(second_moments(composition, size, power) - found) < 6 * error).all()
    moments = first_moments(composition, size), second_moments(composition, size)
    assert target.levels()[1] == pytest.approx(np.sum(moments[0] ** 2), rel=1e-3)
    assert target.levels()[2] == pytest.approx(np.sum(moments[1] ** 2) / 2, rel=1e-3)
    parts = parts_by_degree(target, np.full((target.r, 2), 0.7))
    noisy = np.sqrt(0.7) * z + np.sqrt(0.3) * np.random.default_rng(1).standard_normal(z.shape)
    x = np.sum(noisy**2, axis=1) / 2
    for k in range(3):
        norm = np.exp(0.5 * (gammaln(k + D / 2) - gammaln(D / 2) - gammaln(k + 1)))
        R = (-1) ** k * eval_genlaguerre(k, D / 2 - 1, x) / norm
        for values, expected in ((T, parts.radial), (T**2, parts.squares)):
            products = values * R
            assert expected[k] == pytest.approx(
                products.mean(), abs=6 * products.std() / 447 + 1e-8
            )
        products = h * R[:, None]
        allowed = 6 * products.std(axis=0) / 447 + 1e-3
        assert (np.abs(parts.feature_radial[:, k] - products.mean(axis=0)) < allowed).all()
