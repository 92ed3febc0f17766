"""The start as a field of the learner."""

from __future__ import annotations

import numpy as np

from learnability.learners.batch._start import as_matrices, start_at

Q = ((1.0, 0.2), (0.2, 2.0))
M = ((0.3, 0.1, 0.0), (-0.5, 0.4, 0.2))


def test_matrices_become_tuples() -> None:
    assert as_matrices((np.array(Q), [list(row) for row in M])) == (Q, M)
    assert as_matrices((1.0, 0.5)) == (((1.0,),), ((0.5,),))


def test_by_default_rows_are_orthonormal_without_overlap() -> None:
    start = start_at(None, 4, 3)
    np.testing.assert_array_equal(start.rest, np.eye(4))
    np.testing.assert_array_equal(start.overlap, np.zeros((4, 3)))
    np.testing.assert_allclose(start_at((Q, M), 2, 3).overlap, M)
