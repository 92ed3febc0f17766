import numpy as np
import pytest

from learnability.errors import LearnabilityError
from learnability.estimators import (
    MomentSubspace,
    bootstrap_subspace,
    principal_angles,
    split_half,
    subspace_overlap,
)

from tests.estimators.problems import planted


def test_angles_of_known_planes():
    A, B = np.eye(3)[:2], np.array([[1.0, 0, 0], [0, np.cos(0.3), np.sin(0.3)]])
    np.testing.assert_allclose(principal_angles(A, B), [0, 0.3], atol=1e-7)
    assert subspace_overlap(A, B) == pytest.approx((1 + np.cos(0.3) ** 2) / 2)


def test_the_metric_makes_overlap_independent_of_units():
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((2, 4)), rng.standard_normal((2, 4))
    S = np.cov(rng.standard_normal((50, 4)), rowvar=False)
    D = np.diag([1.0, 10, 0.1, 3])
    inverse = np.linalg.inv(D)
    assert subspace_overlap(A, B, S) == pytest.approx(
        subspace_overlap(A @ inverse, B @ inverse, D @ S @ D)
    )


def test_sizes_must_fit_and_empty_subspaces_are_equal():
    with pytest.raises(LearnabilityError, match="dimensions"):
        subspace_overlap(np.eye(2), np.eye(3))
    assert subspace_overlap(np.zeros((0, 3)), np.zeros((0, 3))) == 1
    assert subspace_overlap(np.zeros((0, 3)), np.eye(3)[:1]) == 0


def test_a_signal_is_stable_and_noise_is_not():
    X, y, _ = planted(lambda z: z[0], 1, 400, 10, 0)
    finder = MomentSubspace("sir", 1)
    noise = np.random.default_rng(1).standard_normal(400)
    assert split_half(finder, X, y, 2).mean() > 0.9 > 0.6 > split_half(finder, X, noise, 2).mean()
    assert bootstrap_subspace(finder, X, y, 3).min() > 0.9
