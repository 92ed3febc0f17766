"""Targets by radius."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Hierarchical
from learnability.learners.deep.profiles import _harmonics, profile_of


def test_a_linear_target_lies_along_its_harmonic() -> None:
    """f = h = sum a_i He_2(z_i): all of it has angular degree 2, and E[f Y | r] grows like r^2."""
    target = Hierarchical("z", "He2(z)", N=6)
    profile = profile_of(target, np.eye(6))
    parts = dict(profile.along)
    inner = slice(5, 95)
    ratio = parts[2][inner, 0] / profile.x[inner]
    np.testing.assert_allclose(ratio, ratio.mean(), rtol=0.15)
    np.testing.assert_allclose(parts[2][:, 0], parts[2][:, 1], rtol=1e-6)
    assert sorted(parts) == [0, 2] and not parts[0].any()
    nothing = profile_of(target, np.zeros((6, 6)))
    assert all(not values.any() for _, values in nothing.along)


@pytest.mark.parametrize("D", [2, 3, 8])
def test_harmonics_are_orthogonal(D: int) -> None:
    target = Hierarchical("tanh(z)", "z + He2(z) + He3(z)/2", N=D)
    u = np.random.default_rng(0).standard_normal((200_000, D))
    angle = u / np.linalg.norm(u, axis=1)[:, None]
    values = np.array(list(_harmonics(target, np.eye(D), angle).values()))
    values /= np.sqrt(np.mean(values**2, axis=1))[:, None]
    assert len(values) >= 3
    np.testing.assert_allclose(values @ values.T / len(u), np.eye(len(values)), atol=0.02)
    np.testing.assert_allclose(values.mean(axis=1), 0, atol=0.02)
