"""Order parameters of the first weights."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import LearnabilityError
from learnability.learners.batch._start import as_matrices, start_at, start_weights

Q = ((1.0, 0.2), (0.2, 2.0))
M = ((0.3, 0.1, 0.0), (-0.5, 0.4, 0.2))


def hidden(d: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(0).standard_normal((d, 3)))[0].T


@pytest.mark.parametrize("d", [5, 40])
def test_weights_have_the_order_parameters_at_every_dimension(d: int) -> None:
    W = hidden(d)
    weights = start_weights(np.random.default_rng(1), W, start_at((Q, M), 2, 3))
    np.testing.assert_allclose(weights @ weights.T, Q, atol=1e-12)
    np.testing.assert_allclose(weights @ W.T, M, atol=1e-12)


def test_by_default_rows_are_orthonormal_without_overlap() -> None:
    W = hidden(9)
    weights = start_weights(np.random.default_rng(1), W, start_at(None, 4, 3))
    np.testing.assert_allclose(weights @ weights.T, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(weights @ W.T, 0, atol=1e-12)


def test_hidden_weights_are_a_start_too() -> None:
    W = hidden(9)
    start = start_at(as_matrices((np.eye(3), np.eye(3))), 3, 3)
    np.testing.assert_allclose(start_weights(np.random.default_rng(1), W, start), W, atol=1e-7)


def test_matrices_become_tuples() -> None:
    assert as_matrices((np.array(Q), [list(row) for row in M])) == (Q, M)
    assert as_matrices((1.0, 0.5)) == (((1.0,),), ((0.5,),))


@pytest.mark.parametrize(
    "start", ["random", 0.3, (Q,), (Q, "x"), (Q, ((np.nan, 0.0),)), [[[[1]]], M]]
)
def test_what_is_no_pair_of_matrices_ends_in_a_sentence(start: object) -> None:
    with pytest.raises(LearnabilityError, match=r"`start` was given as .*pair \(Q, M\)"):
        as_matrices(start)


def test_wrong_shapes_and_impossible_overlaps_end_in_a_sentence() -> None:
    with pytest.raises(
        LearnabilityError, match=r"\(2, 2\) and \(2, 2\) are accepted for 2 neurons"
    ):
        start_at((Q, M), 2, 2)
    with pytest.raises(LearnabilityError, match="positive semi-definite"):
        start_at((((1.0,),), ((1.1,),)), 1, 1)
    with pytest.raises(LearnabilityError, match="symmetric"):
        start_at((((1.0, 0.5), (0.0, 1.0)), ((0.0,), (0.0,))), 2, 1)
