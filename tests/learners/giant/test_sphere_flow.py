"""The flow on white samples, and what n samples change in it."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Link
from learnability.learners.giant._sphere_flow import (
    descend,
    flowed,
    meeting,
    pull_table,
    start_noise,
    whitening,
)
from learnability.learners.networks.population import Population


def test_white_samples() -> None:
    X = (np.random.default_rng(1).standard_normal((50, 4)) @ np.diag([1.0, 2.0, 3.0, 0.5])).astype(
        np.float32
    )
    root, inverse = whitening(X)
    G = X @ inverse
    np.testing.assert_allclose(G.T @ G / 50, np.eye(4), atol=1e-5)
    np.testing.assert_allclose(root @ inverse, np.eye(4), atol=1e-9)


def test_the_flow_of_the_population() -> None:
    """zeta = rho for tanh-free links: with f = sigma = z, d rho / dt = 2 (1 - rho^2)."""
    table = pull_table(Population(Link("z"), Link("z")))
    found = flowed(table, np.array([-0.3, 0.0, 0.5]), 0.7)
    assert found == pytest.approx(np.tanh(np.arctanh([-0.3, 0.0, 0.5]) + 1.4), abs=1e-5)


def test_noise_of_the_first_gradient() -> None:
    """E[(y - z)^2] = E[y^2] + 1 for sigma = z and a label independent of it."""
    assert start_noise(Link("z**2"), Link("z"), 0.5) == pytest.approx(3 + 0.5 + 1)


def test_where_neurons_meet() -> None:
    """The minimiser on n samples is as far from the label's direction as the first order says."""
    rng, d, n = np.random.default_rng(3), 20, 4000
    link, activation, noise = Link("tanh(2*z)"), Link("tanh(z)"), 0.3
    squares = []
    for _ in range(6):
        X = rng.standard_normal((n, d)).astype(np.float32)
        y = np.tanh(2 * X[:, 0]) + np.sqrt(noise) * rng.standard_normal(n).astype(np.float32)
        _, inverse = whitening(X)
        U = np.eye(d, dtype=np.float32)[:1] + np.float32(0.05)
        U = descend(
            U / np.linalg.norm(U), X @ inverse.astype(np.float32), y, activation, 0.2, 60
        ).astype(float)
        w = U @ inverse
        squares.append(float(np.sum(w[:, 1:] ** 2) / w[0, 0] ** 2))
    known = meeting(Population(link, activation), noise)
    assert known.plus * (d - 1) / n == pytest.approx(np.mean(squares), rel=0.35)
    assert known.minus > known.plus
