"""Order parameters of the first weights, in every family."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import LearnabilityError
from learnability.learners.networks.starts import (
    Start,
    pair_of_matrices,
    root_of,
    start_of,
    weights_at,
)

Q = ((1.0, 0.2), (0.2, 2.0))
M = ((0.3, 0.1, 0.0), (-0.5, 0.4, 0.2))


def hidden(d: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(0).standard_normal((d, 3)))[0].T


@pytest.mark.parametrize("d", [5, 40])
def test_weights_have_the_order_parameters_at_every_dimension(d: int) -> None:
    W = hidden(d)
    weights = weights_at(np.random.default_rng(1), W, start_of((Q, M), 2, 3))
    np.testing.assert_allclose(weights @ weights.T, Q, atol=1e-12)
    np.testing.assert_allclose(weights @ W.T, M, atol=1e-12)


def test_hidden_weights_are_a_start_too() -> None:
    W = hidden(9)
    start = start_of((np.eye(3), np.eye(3)), 3, 3)
    np.testing.assert_allclose(weights_at(np.random.default_rng(1), W, start), W, atol=1e-7)


def test_weights_of_few_dimensions_share_their_directions() -> None:
    """p = 3 neurons with only d - r = 1 dimension beside the hidden directions."""
    v = np.array([0.3, -0.2, 0.5])
    W = hidden(4)
    weights = weights_at(np.random.default_rng(1), W, Start(np.outer(v, v), np.eye(3)))
    np.testing.assert_allclose(weights @ weights.T, np.eye(3) + np.outer(v, v), atol=1e-12)


def test_the_root_is_symmetric_and_forgives_rounding() -> None:
    C = np.array([[2.0, 1.0], [1.0, 0.5 - 1e-17]])
    np.testing.assert_allclose(root_of(C) @ root_of(C), C, atol=1e-12)
    np.testing.assert_allclose(root_of(C), root_of(C).T)


@pytest.mark.parametrize(
    "start", ["random", 0.3, (Q,), (Q, "x"), (Q, ((np.nan, 0.0),)), [[[[1]]], M]]
)
def test_what_is_no_pair_of_matrices_ends_in_a_sentence(start: object) -> None:
    with pytest.raises(LearnabilityError, match=r"`start` was given as .*pair \(Q, M\)"):
        pair_of_matrices(start)


def test_wrong_shapes_and_impossible_overlaps_end_in_a_sentence() -> None:
    with pytest.raises(
        LearnabilityError, match=r"\(2, 2\) and \(2, 2\) are accepted for 2 neurons"
    ):
        start_of((Q, M), 2, 2)
    with pytest.raises(LearnabilityError, match="positive semi-definite"):
        start_of((((1.0,),), ((1.1,),)), 1, 1)
    with pytest.raises(LearnabilityError, match="symmetric"):
        start_of((((1.0, 0.5), (0.0, 1.0)), ((0.0,), (0.0,))), 2, 1)
