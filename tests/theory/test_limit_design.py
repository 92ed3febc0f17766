"""Products with a Gaussian matrix of infinite size: linear, adjoint, and of the right law."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import LearnabilityError
from learnability.theory.limit_design import LimitDesign

ALPHA = 2.0


def design(samples: int, directions: int = 12, seed: int = 0) -> LimitDesign:
    return LimitDesign(samples, ALPHA, directions, 3, np.random.default_rng(seed))


def test_products_are_those_of_one_matrix() -> None:
    """<g, X w> = <X^T g, w> and linearity hold exactly, in whatever order products are asked."""
    X = design(500)
    rng = np.random.default_rng(1)
    W, G, images, backs = [], [], [], []
    for _ in range(3):
        w = np.zeros(12)
        w[:3] = rng.standard_normal(3)
        if backs:
            w = w + backs[-1] / X.shape[1]
        W.append(w)
        images.append(X.project(w[None])[0])
        g = np.tanh(images[-1]) + 0.1 * rng.standard_normal(500)
        G.append(g)
        backs.append(X.collect(g[None])[0])
    np.testing.assert_allclose(np.array(G) @ np.array(images).T, np.array(backs) @ np.array(W).T)
    mix = 0.3 * W[0] - 2 * W[2]
    expected = 0.3 * images[0] - 2 * images[2]
    np.testing.assert_allclose(X.project(mix[None])[0], expected, atol=1e-9)
    mixed = X.collect((G[0] - G[1])[None])[0]
    np.testing.assert_allclose(mixed, backs[0] - backs[1], atol=1e-7)


def test_lengths_are_those_of_a_gaussian_matrix() -> None:
    """|X w|^2 / n = |w|^2, and |X^T g|^2 / d^2 = alpha mean(g^2) + alpha^2 mean(g X w)^2."""
    n = 200_000
    X = design(n)
    w = np.eye(12)[0]
    u = X.project(w[None])[0]
    assert u @ u / n == pytest.approx(1.0, abs=5 * math.sqrt(2 / n))
    g = u**2 + u
    v = X.collect(g[None])[0] / X.shape[1]
    expected = ALPHA * np.mean(g**2) + ALPHA**2 * np.mean(g * u) ** 2
    assert v @ v == pytest.approx(expected, rel=1e-9)
    assert v[0] == pytest.approx(ALPHA * np.mean(g * u), rel=1e-9)


def test_power_iteration_as_on_a_real_matrix() -> None:
    """|X w| / sqrt(d) after some steps of w <- X^T X w, against a matrix with d = 1500."""

    def steps(project, collect, w: np.ndarray, d: float) -> list[float]:  # type: ignore[no-untyped-def]
        found = []
        for _ in range(4):
            u = project(w[None])
            found.append(float(np.linalg.norm(u)) / math.sqrt(d))
            w = collect(u)[0]
            w /= np.linalg.norm(w)
        return found

    limit = design(20_000, directions=8)
    expected = steps(limit.project, limit.collect, np.eye(8)[0], limit.shape[1])
    d = 1500
    matrix = np.random.default_rng(2).standard_normal((round(ALPHA * d), d))
    found = steps(lambda w: w @ matrix.T, lambda u: u @ matrix, np.eye(d)[0], d)
    np.testing.assert_allclose(found, expected, rtol=0.02)


def test_a_sentence_when_directions_run_out() -> None:
    X = design(100, directions=3)
    X.project(np.eye(3)[:1])
    with pytest.raises(LearnabilityError, match="give more `directions`"):
        X.collect(np.ones((1, 100)))
