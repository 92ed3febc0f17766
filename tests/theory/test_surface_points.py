"""Points of level surfaces: they lie on them, and integrate the density of a label."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, multivariate_normal, norm

from learnability import Link
from learnability.theory.surface_points import SurfacePoints, surface_points


def points_of(link: Link, omega: np.ndarray, y: np.ndarray, root: np.ndarray) -> SurfacePoints:
    single = omega.astype(np.float32), y.astype(np.float32)
    return surface_points(link, np.arange(len(y)), *single, root)


def densities(found: SurfacePoints, omega: np.ndarray, root: np.ndarray) -> np.ndarray:
    """The density of each label: the sum of the normal density over its points."""
    sample = np.repeat(found.sample, found.number)
    law = multivariate_normal(np.zeros(len(root)), root @ root.T)
    share = found.weight * law.pdf((found.z - omega[:, sample]).T)
    return np.bincount(sample, share, minlength=omega.shape[1])


@pytest.mark.parametrize(
    ("text", "accuracy"),
    [
        ("exp(z1) + z2", 1e-5),
        ("-exp(z1) - z2", 1e-5),  # Bent the other way: a root may lie on either side of a chord.
        ("z2 + sign(z1)*z1**2", 1e-4),
        ("abs(z1) + z2", 1e-5),
        ("tanh(z1)*z2 + z3", 5e-2),  # Lines are five times as far apart.
    ],
)
def test_points_lie_on_the_surface_of_their_label(text: str, accuracy: float) -> None:
    link, rng = Link(text), np.random.default_rng(1)
    r, n = link.r, 64
    omega = 0.5 * rng.standard_normal((r, n))
    root = 0.7 * np.linalg.cholesky(np.eye(r) + 0.3)
    y = np.asarray(link((omega + root @ rng.standard_normal((r, n))).T))
    found = points_of(link, omega, y, root)
    assert set(found.sample) == set(range(n))
    assert found.z.shape == (r, found.number.sum())
    off = np.asarray(link(found.z.T.astype(float))) - y[np.repeat(found.sample, found.number)]
    assert np.abs(off).max() < accuracy
    assert np.sqrt(np.mean(off**2)) < accuracy / 5


@pytest.mark.parametrize(("r", "accuracy"), [(2, 1.5e-2), (3, 6e-2)])
def test_spheres_have_the_density_of_chi_square(r: int, accuracy: float) -> None:
    text = " + ".join(f"z{k + 1}**2" for k in range(r))
    y, omega = np.array([0.7, 1.5, 4.0, 9.0]), np.zeros((r, 4))
    found = densities(points_of(Link(text), omega, y, np.eye(r)), omega, np.eye(r))
    np.testing.assert_allclose(found, chi2.pdf(y, r), rtol=accuracy)


def test_a_jump_is_no_surface() -> None:
    """z1 + 3 sign(z2): both branches count, the jump over a label in between does not."""
    link, root = Link("z1 + 3*sign(z2)"), np.linalg.cholesky([[0.8, 0.3], [0.3, 0.5]])
    y, omega = np.array([-3.0, 0.0, 2.0]), np.array([[0.1] * 3, [0.2] * 3])
    found = densities(points_of(link, omega, y, root), omega, root)
    exact = []
    for label in y:
        total = 0.0
        for sign in (1, -1):
            z1 = label - 3 * sign
            mean, spread = 0.2 + 0.3 / 0.8 * (z1 - 0.1), np.sqrt(0.5 - 0.3**2 / 0.8)
            beyond = norm.cdf(sign * mean / spread)
            total += norm.pdf(z1, 0.1, np.sqrt(0.8)) * beyond
        exact.append(total)
    np.testing.assert_allclose(found, exact, rtol=4e-2, atol=2e-5)


def test_far_and_impossible_labels() -> None:
    """Beyond the reach of the first grid a larger one finds a label; none finds z1^2 + z2^2 < 0."""
    link, omega = Link("z1**2 + z2**2"), np.zeros((2, 3))
    y = np.array([30.0, -1.0, 1.0])
    points = points_of(link, omega, y, np.eye(2))
    assert sorted(points.sample) == [0, 2]
    found = densities(points, omega, np.eye(2))
    assert found[0] == pytest.approx(chi2.pdf(30.0, 2), rel=2e-2) and found[1] == 0


def test_points_of_some_samples_are_replaced() -> None:
    link, omega = Link("z1 + z2**2"), np.zeros((2, 3))
    old = points_of(link, omega, np.array([0.0, 1.0, 2.0]), np.eye(2))
    new = surface_points(
        link, np.array([1]), omega.astype(np.float32), np.full(3, -0.5, np.float32), np.eye(2)
    )
    both = old.replaced(np.array([1]), new)
    assert sorted(both.sample) == [0, 1, 2]
    first = densities(old, omega, np.eye(2))
    found = densities(both, omega, np.eye(2))
    np.testing.assert_allclose(found[[0, 2]], first[[0, 2]], rtol=1e-6)
    assert found[1] == pytest.approx(densities(new, omega, np.eye(2))[1]) != first[1]
    empty = both.replaced(np.arange(3), SurfacePoints.none(2))
    assert len(empty.sample) == 0 and empty.z.shape == (2, 0)
