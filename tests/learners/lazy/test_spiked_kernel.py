"""Kernels on spiked inputs, split into spike and bulk."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import LearnabilityError, Link
from learnability.learners.lazy._spiked_kernel import feature_kernel, given_kernel, wide_normals

LINE = np.linspace(-3, 3, 9)
U = LINE[:, None]


def arc_cosine(z: np.ndarray) -> np.ndarray:
    """The kernel of relu features."""
    q, q2, c = z[..., 0], z[..., 1], z[..., 2]
    angle = np.arccos(np.clip(c / np.sqrt(q * q2), -1, 1))
    return np.asarray(
        np.sqrt(q * q2) * (np.sin(angle) + (math.pi - angle) * np.cos(angle)) / (2 * math.pi)
    )


def test_the_exponential_kernel_has_exact_parts() -> None:
    d, t = 400, 0.1
    b = (d - 1) / d
    parts = given_kernel(Link("exp(z)"), np.array([t]), d)
    exact = np.exp(t * np.outer(LINE, LINE) + b / d / 2)
    np.testing.assert_allclose(parts.mean(U) @ parts.mean(U).T, exact, rtol=1e-10)
    np.testing.assert_allclose(parts.linear(U) @ parts.linear(U).T, exact, rtol=1e-10)
    rest = np.exp(t * LINE**2 + b) - (1 + b) * np.diag(exact)
    np.testing.assert_allclose(parts.rest(U), rest, rtol=1e-10)


def test_features_have_the_kernel_of_their_activation() -> None:
    """The arc-cosine kernel of relu, against the same parts of its closed form."""
    d, t = 300, 0.2
    exact = given_kernel(Link(arc_cosine, r=3, breaks=[]), np.array([t]), d)
    found = feature_kernel(Link("relu(z)"), np.array([t]), d)
    for one, other in ((exact.mean, found.mean), (exact.linear, found.linear)):
        np.testing.assert_allclose(one(U) @ one(U).T, other(U) @ other(U).T, atol=2e-6)
    np.testing.assert_allclose(exact.rest(U), found.rest(U), atol=2e-6)


def test_several_spikes_have_the_parts_of_their_inner_product() -> None:
    """The exponential kernel is exact in any number of spikes; relu against its closed form."""
    d, t = 300, np.array([0.15, 0.05, 0.0])
    b = (d - 3) / d
    u = np.random.default_rng(0).standard_normal((12, 3))
    parts = given_kernel(Link("exp(z)"), t, d)
    exact = np.exp((u * t) @ u.T + b / d / 2)
    np.testing.assert_allclose(parts.mean(u) @ parts.mean(u).T, exact, rtol=2e-4)
    np.testing.assert_allclose(parts.linear(u) @ parts.linear(u).T, exact, rtol=2e-4)
    rest = np.exp(u**2 @ t + b) - (1 + b) * np.diag(exact)
    np.testing.assert_allclose(parts.rest(u), rest, rtol=1e-10)
    closed = given_kernel(Link(arc_cosine, r=3, breaks=[]), t, d)
    found = feature_kernel(Link("relu(z)"), t, d)  # Its omega are 512 sampled points.
    for one, other in ((closed.mean, found.mean), (closed.linear, found.linear)):
        np.testing.assert_allclose(one(u) @ one(u).T, other(u) @ other(u).T, rtol=0.015)


def test_wide_points_have_the_moments_of_the_normal_law() -> None:
    points, weights = wide_normals(3, 2, 1)
    assert weights.sum() == pytest.approx(1.0) and points.shape[1] == 3
    np.testing.assert_allclose(weights @ points**2, 1.0, atol=0.01)
    np.testing.assert_allclose(weights @ points**4, 3.0, atol=0.15)
    assert abs(float(weights @ (points[:, 0] * points[:, 1]))) < 0.01
    # Wider along the two spikes only.
    np.testing.assert_allclose(points.std(axis=0), [1.5, 1.5, 1.0], rtol=0.01)


@pytest.mark.parametrize("t", [0.5, 0.7, 3.0])
def test_a_kernel_without_a_trace_is_refused(t: float) -> None:
    with pytest.raises(LearnabilityError, match=r"exp\(z\) needs less than 1/2"):
        given_kernel(Link("exp(z)"), np.array([t]), 500)
    given_kernel(Link("exp(z)"), np.array([0.45]), 500)
    given_kernel(Link("exp(z3 - z1/2 - z2/2)"), np.array([t]), 500)


@pytest.mark.parametrize("kernel", ["1 - z**2", "cos(3*z)", "z3 - z1*z2"])
def test_what_is_not_positive_is_refused(kernel: str) -> None:
    with pytest.raises(LearnabilityError, match="not positive definite"):
        given_kernel(Link(kernel), np.array([0.2]), 200)
