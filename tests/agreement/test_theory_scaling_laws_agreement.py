"""Scaling laws of ridge regression: predictions against designs drawn at random, seeds fixed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import scaling_laws

pytestmark = pytest.mark.agreement


@pytest.mark.parametrize("width", [None, 90])
def test_power_laws_at_finite_size(width: int | None) -> None:
    """Ridge regression on 60 Gaussian designs of 1500 eigenvalues, |z| < 3.5."""
    alpha, r, ridge, n, noise, levels = 1.4, 0.6, 2.0, 120, 0.2, 1500
    k = np.arange(1.0, levels + 1)
    root, f = k ** (-alpha / 2), k ** (-alpha * r - 0.5)
    risks = []
    for seed in range(60):
        rng = np.random.default_rng([seed, 77])
        G = rng.standard_normal((n, levels))
        y = G @ f + math.sqrt(noise) * rng.standard_normal(n)
        Phi = G * root
        back = np.diag(root)
        if width is not None:
            F = rng.standard_normal((levels, width)) / math.sqrt(width)
            Phi, back = Phi @ F, root[:, None] * F
        weights = Phi.T @ np.linalg.solve(Phi @ Phi.T + ridge * np.eye(n), y)
        risks.append(np.sum((back @ weights - f) ** 2))
    theory = scaling_laws(alpha, r, noise=noise).at(n, ridge, width, levels).risk
    z = (np.mean(risks) - theory) / (np.std(risks, ddof=1) / math.sqrt(60))
    assert abs(z) < 3.5, (theory, np.mean(risks), z)
