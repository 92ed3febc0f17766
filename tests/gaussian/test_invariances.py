"""Symmetries in any frame, and the subspaces that they allow."""

from __future__ import annotations

import numpy as np
import pytest

from learnability.gaussian.invariances import invariances, invariant_subspace
from learnability.labels import Link

from tests.geometry import random_rotation


def test_a_turned_link_has_the_symmetries_of_the_link() -> None:
    Q = random_rotation(3, 0)
    straight, turned = Link("z1**2 + sign(z1*z2*z3)"), Link("z1**2 + sign(z1*z2*z3)").rotate(Q)
    assert len(invariances(turned)) == len(invariances(straight)) == 8
    z = np.random.default_rng(0).standard_normal((50, 3))
    for matrix in invariances(turned):
        np.testing.assert_allclose(turned(z @ matrix.T), turned(z), atol=1e-9)


def test_a_reflection_that_no_coordinate_shows() -> None:
    for link in (
        Link("(z1 + 2*z2) + (2*z1 - z2)**2"),
        Link(lambda z: z[..., 0] + 2 * z[..., 1] + (2 * z[..., 0] - z[..., 1]) ** 2, r=2),
    ):
        found = invariances(link)
        assert len(found) == 2
        np.testing.assert_allclose(found[1], [[-0.6, 0.8], [0.8, 0.6]], atol=1e-9)


def test_of_a_random_label_the_mean_decides_nothing() -> None:
    # E[y | z] is even in z2; the law of the label is not.
    found = invariances(Link("z1 + z2**2 + exp(z2)*xi"))
    assert len(found) == 1


@pytest.mark.parametrize("seed", [0, 1])
def test_symmetries_move_a_sampled_subspace_to_the_one_it_means(seed: int) -> None:
    turns = invariances(Link("z1**2 + sign(z1*z2*z3)"))
    noisy = np.array([[1.0, 0.0, 0.0]]) + 1e-3 * np.random.default_rng(seed).standard_normal(3)
    found = invariant_subspace(noisy / np.linalg.norm(noisy), turns)
    assert found is not None
    np.testing.assert_allclose(np.abs(found), [[1, 0, 0]], atol=1e-12)
    # Nothing is allowed between two components, nor without symmetries.
    assert invariant_subspace(np.array([[0.8, 0.6, 0.0]]), turns) is None
    assert invariant_subspace(noisy, [np.eye(3)]) is None
