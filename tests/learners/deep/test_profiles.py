"""Targets by radius."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import eval_gegenbauer

from learnability import Hierarchical
from learnability.learners.deep.profiles import _harmonics, profile_of, refit_error
from learnability.targets.directions import first_moments
from learnability.theory.radial import Curve


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


@pytest.mark.parametrize(("share", "more", "spread"), [(0.5, 0.2, 0.0), (0.8, 0.1, 0.3)])
def test_what_a_refit_of_a_normal_target_leaves(share: float, more: float, spread: float) -> None:
    """f = h is nearly normal for many variables: V n / (share^2 V + n) of noise n stays unknown."""
    target = Hierarchical("z", "He2(z)", N=40, noise=0.05)
    V, x = target.variance, np.linspace(0, 80, 30)
    curve = Curve(x, (), np.full(30, spread), share * V, share**2 * V + more)
    noise = more + spread
    exact = V * noise / (share**2 * V + noise) + 0.05
    assert refit_error(target, np.eye(40), curve) == pytest.approx(exact, rel=0.05)


def test_harmonics_beyond_the_second_are_gegenbauer_polynomials() -> None:
    """Around each variable, 1 at the pole; up to the fourth degree."""
    D = 5
    target = Hierarchical("tanh(z + 0.4)", "z + He2(z) + He3(z)/2", N=D)
    u = np.random.default_rng(1).standard_normal((300, D))
    angle = u / np.linalg.norm(u, axis=1)[:, None]
    found = _harmonics(target, np.eye(D), angle)
    assert sorted(found) == [1, 2, 3, 4]
    for a in (3, 4):
        zonal = eval_gegenbauer(a, D / 2 - 1, angle) / eval_gegenbauer(a, D / 2 - 1, 1.0)
        weights = first_moments(target.composition, D, a)
        np.testing.assert_allclose(found[a], zonal @ weights, rtol=1e-9, atol=1e-12)
