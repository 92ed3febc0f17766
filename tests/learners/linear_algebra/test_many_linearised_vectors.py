"""More eigenvectors of linearised message passing than the smallest basis holds."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import MultiIndex
from learnability.learners.linear_algebra.eigenvectors import leading_linearised_vectors


@pytest.mark.parametrize("count", [2, 12])
def test_many_values_are_those_of_the_dense_matrix(count: int) -> None:
    target = MultiIndex("abs(z)")
    X, y, _, _ = target.sample(1, d=30, alpha=3.0)
    G = target.channel.G(y)
    kernel = X @ X.T / X.shape[1] - np.eye(len(X))
    values = np.linalg.eigvals(kernel * G[:, 0, 0])
    exact = np.sort(values.real)[::-1]
    found = leading_linearised_vectors(X, G, count, tolerance=1e-8)
    assert len(found.values) == count
    np.testing.assert_allclose(found.values, exact[:count], rtol=1e-4)
