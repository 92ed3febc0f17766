"""The start of full-batch gradient descent as a field of its learner: hashable, with a default."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnability.learners.networks.starts import Start, pair_of_matrices, start_of

__all__ = ["Matrix", "as_matrices", "start_at"]

Matrix = tuple[tuple[float, ...], ...]


def as_matrices(start: Any) -> tuple[Matrix, Matrix]:
    """The pair (Q, M) as nested tuples, which can be compared and hashed, or a sentence."""
    Q, M = (tuple(map(tuple, part.tolist())) for part in pair_of_matrices(start))
    return Q, M


def start_at(start: tuple[Matrix, Matrix] | None, p: int, r: int) -> Start:
    """The start of p neurons for r hidden directions, by default Q = I and M = 0."""
    return Start(np.eye(p), np.zeros((p, r))) if start is None else start_of(start, p, r)
