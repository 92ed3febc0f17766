"""Where weights begin, seen by their order parameters Q = W W^T and M = W W*^T.

Weights with given order parameters are W = M W* + (Q - M M^T)^(1/2) V with random orthonormal V;
they are met exactly at every d, so that runs and theory begin at the same place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError

__all__ = ["Start", "pair_of_matrices", "root_of", "start_of", "weights_at"]

Array = NDArray[np.float64]


class Start(NamedTuple):
    """Order parameters of the first weights.

    Attributes
    ----------
    rest : array, shape (p, p)
        Q - M M^T, what the weights have outside the hidden directions.
    overlap : array, shape (p, r)
        M.
    """

    rest: Array
    overlap: Array


def pair_of_matrices(start: Any) -> tuple[Array, Array]:
    """The pair (Q, M) that a user gives as two finite matrices, or a sentence."""
    try:
        pair = [np.array(part, dtype=float, ndmin=2) for part in start]
    except (TypeError, ValueError):
        pair = []
    if len(pair) != 2 or not all(part.ndim == 2 and np.isfinite(part).all() for part in pair):
        raise LearnabilityError(
            f"`start` was given as {start!r}, but the pair (Q, M) of finite matrices W W^T and "
            "W W*^T is accepted."
        )
    return pair[0], pair[1]


def start_of(start: Any, p: int, r: int) -> Start:
    """The start (Q, M) of p neurons for r hidden directions, or a sentence."""
    Q, M = pair_of_matrices(start)
    if Q.shape != (p, p) or M.shape != (p, r):
        raise LearnabilityError(
            f"`start` was given with matrices of shapes {Q.shape} and {M.shape}, but ({p}, {p}) "
            f"and ({p}, {r}) are accepted for {p} neurons and {r} hidden directions."
        )
    rest = Q - M @ M.T
    least = np.linalg.eigvalsh(0.5 * (rest + rest.T))[0]
    if not np.allclose(Q, Q.T) or least < -1e-9 * max(float(np.abs(Q).max()), 1e-300):
        raise LearnabilityError(
            "`start` was given with a Q - M M^T that is not symmetric and positive semi-definite: "
            "no weights have W W^T = Q and W W*^T = M."
        )
    return Start(0.5 * (rest + rest.T), M)


def root_of(C: Array) -> Array:
    """The symmetric root of a positive matrix; negative eigenvalues of rounding count as zero."""
    values, vectors = np.linalg.eigh(C)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def weights_at(rng: np.random.Generator, hidden: NDArray[Any], start: Start) -> Array:
    """Random weights (p, d) with the order parameters of a start.

    Parameters
    ----------
    rng : numpy Generator
        Of the part outside the hidden directions.
    hidden : array, shape (r, d)
        W*, orthonormal rows.
    start : Start
        The order parameters; the rank of `rest` is at most d - r.
    """
    hidden = np.asarray(hidden, dtype=float)
    p, (r, d) = len(start.rest), hidden.shape
    free = rng.standard_normal((p, d))
    free -= (free @ hidden.T) @ hidden
    basis, upper = np.linalg.qr(free.T)
    count = min(p, d - r)
    values, vectors = np.linalg.eigh(start.rest)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    root = root @ vectors.T if count == p else root[:, p - count :]
    frame = (basis * np.sign(np.diag(upper))).T[:count]
    return np.asarray(start.overlap @ hidden + root @ frame, dtype=float)
