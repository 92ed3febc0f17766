"""Where the weights begin, seen by their order parameters Q = W W^T and M = W W*^T.

By default the rows of W are N(0, I_d / d), brought to unit length on the sphere: M has
independent entries of variance 1 / d, and Q - M M^T is a Wishart matrix of d - r degrees of
freedom.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.errors import LearnabilityError

__all__ = ["Start", "checked_start", "random_start", "start_weights"]

Array = NDArray[np.float64]


class Start(NamedTuple):
    """Order parameters of the weights.

    Attributes
    ----------
    rest : array, shape (p, p)
        Q - M M^T, what the weights have outside the hidden directions.
    overlap : array, shape (p, r)
        M.
    """

    rest: Array
    overlap: Array


def checked_start(start: tuple[ArrayLike, ArrayLike], p: int, r: int, spherical: bool) -> Start:
    """The order parameters (Q, M) that a user gives, or a sentence."""
    try:
        Q, M = (np.array(part, dtype=float, ndmin=2) for part in start)
    except (TypeError, ValueError):
        Q = M = np.zeros((0, 0))
    if (
        Q.shape != (p, p)
        or M.shape != (p, r)
        or not (np.isfinite(Q).all() and np.isfinite(M).all())
    ):
        raise LearnabilityError(
            f"`start` was given as {start!r}, but the pair (Q, M) of finite matrices of shapes "
            f"({p}, {p}) and ({p}, {r}) is accepted."
        )
    rest = Q - M @ M.T
    scale = max(float(np.abs(Q).max()), 1e-300)
    if not np.allclose(Q, Q.T) or np.linalg.eigvalsh(0.5 * (rest + rest.T))[0] < -1e-9 * scale:
        raise LearnabilityError(
            "`start` gives a Q - M M^T that is not positive: no weights have these order "
            "parameters."
        )
    if spherical and not np.allclose(np.diag(Q), 1):
        raise LearnabilityError(
            f"`start` gives squared lengths {np.diag(Q)}, but weights on the sphere have length 1."
        )
    return Start(0.5 * (rest + rest.T), M)


def random_start(seed: int, p: int, r: int, d: int, spherical: bool) -> Start:
    """Order parameters of random weights in dimension d >= r, without drawing the weights."""
    rng = np.random.default_rng([seed, 11])
    M = rng.standard_normal((p, r)) / np.sqrt(d)
    columns = min(p, d - r)
    factor = np.tril(rng.standard_normal((p, columns)), -1)
    factor[np.arange(columns), np.arange(columns)] = np.sqrt(
        rng.chisquare(d - r - np.arange(columns))
    )
    rest = factor @ factor.T / d
    if spherical:
        length = np.sqrt(np.diag(rest) + (M**2).sum(axis=1))
        rest, M = rest / np.outer(length, length), M / length[:, None]
    return Start(rest, M)


def start_weights(
    seed: int, W: NDArray[Any], p: int, spherical: bool, start: Start | None
) -> Array:
    """Weights (p, d) with given order parameters, or random ones; W (r, d) are the hidden ones."""
    r, d = W.shape
    rng = np.random.default_rng([seed, 12])
    weights = rng.standard_normal((p, d)) / np.sqrt(d)
    if start is not None:
        values, vectors = np.linalg.eigh(start.rest)
        outside = weights - (weights @ W.T) @ W
        basis = np.linalg.qr(outside.T)[0].T[: min(p, d - r)]
        root = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1][:, : len(basis)]
        return np.asarray(start.overlap @ W + root @ basis)
    if spherical:
        weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    return weights
