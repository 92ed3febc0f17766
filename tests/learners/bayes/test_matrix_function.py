"""Functions of symmetric matrices, against SciPy's of general ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import funm, inv

from learnability.learners.bayes._matrix_function import matrix_function


@pytest.mark.parametrize("r", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_function_of_the_matrix(r: int, seed: int) -> None:
    root = np.random.default_rng(seed).standard_normal((r, r))
    matrix = root + root.T
    np.testing.assert_allclose(matrix_function(matrix, np.cos), funm(matrix, np.cos), atol=1e-12)
    square = root @ root.T
    found = matrix_function(square, lambda x: 1 / (1 + x))
    np.testing.assert_allclose(found, inv(np.eye(r) + square), atol=1e-13)


@pytest.mark.parametrize("r", [1, 2, 3])
def test_equal_eigenvalues(r: int) -> None:
    np.testing.assert_allclose(matrix_function(2.0 * np.eye(r), np.exp), np.exp(2.0) * np.eye(r))
