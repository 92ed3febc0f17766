"""Where the weights begin: W = M W* + (Q - M M^T)^(1/2) V with random orthonormal V.

Q = W W^T and M = W W*^T are the order parameters of the start; they are exact at every d, so that
runs and theory begin at the same place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError

__all__ = ["Start", "as_matrices", "start_at", "start_weights"]

Array = NDArray[np.float64]
Matrix = tuple[tuple[float, ...], ...]


class Start(NamedTuple):
    """Order parameters of the first weights.

    Attributes
    ----------
    root : array, shape (p, p)
        (Q - M M^T)^(1/2), symmetric.
    overlap : array, shape (p, r)
        M.
    """

    root: Array
    overlap: Array


def as_matrices(start: Any) -> tuple[Matrix, Matrix]:
    """The pair (Q, M) as nested tuples, which can be compared and hashed, or a sentence."""
    try:
        pair = [np.array(part, dtype=float, ndmin=2) for part in start]
    except (TypeError, ValueError):
        pair = []
    if len(pair) != 2 or not all(part.ndim == 2 and np.isfinite(part).all() for part in pair):
        raise LearnabilityError(
            f"`start` was given as {start!r}, but the pair (Q, M) of matrices W W^T and W W*^T is "
            "accepted."
        )
    Q, M = (tuple(map(tuple, part.tolist())) for part in pair)
    return Q, M


def start_at(start: tuple[Matrix, Matrix] | None, p: int, r: int) -> Start:
    """The start of p neurons for r hidden directions, by default Q = I and M = 0.

    Parameters
    ----------
    start : pair of matrices, or None
        Q and M.
    p, r : int
        Their shapes are (p, p) and (p, r).
    """
    if start is None:
        return Start(np.eye(p), np.zeros((p, r)))
    Q, M = map(np.array, start)
    if Q.shape != (p, p) or M.shape != (p, r):
        raise LearnabilityError(
            f"`start` was given with matrices of shapes {Q.shape} and {M.shape}, but ({p}, {p}) "
            f"and ({p}, {r}) are accepted for {p} neurons and {r} hidden directions."
        )
    values, vectors = np.linalg.eigh(Q - M @ M.T)
    if not np.allclose(Q, Q.T) or values[0] < -1e-9 * max(1.0, values[-1]):
        raise LearnabilityError(
            "`start` was given with a Q - M M^T that is not symmetric and positive semi-definite, "
            "but weights with W W^T = Q and W W*^T = M exist only if it is."
        )
    return Start((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T, M)


def start_weights(rng: np.random.Generator, hidden: NDArray[Any], start: Start) -> Array:
    """Random weights (p, d) with the order parameters of a start.

    Parameters
    ----------
    rng : numpy Generator
        Of the part outside the hidden directions.
    hidden : array, shape (r, d)
        W*, orthonormal rows; d is at least p + r.
    start : Start
        The order parameters.
    """
    hidden = np.asarray(hidden, dtype=float)
    free = rng.standard_normal((len(start.root), hidden.shape[1]))
    free -= (free @ hidden.T) @ hidden
    basis, upper = np.linalg.qr(free.T)
    return np.asarray(
        start.overlap @ hidden + start.root @ (basis * np.sign(np.diag(upper))).T, dtype=float
    )
