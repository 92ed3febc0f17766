"""Starts of one-pass SGD: random weights, known by their order parameters alone.

By default the rows of W are N(0, I_d / d), brought to unit length on the sphere: M has
independent entries of variance 1 / d, and Q - M M^T is a Wishart matrix of d - r degrees of
freedom.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.errors import LearnabilityError
from learnability.learners.networks.starts import Start, start_of, weights_at

__all__ = ["Start", "checked_start", "random_start", "start_weights"]

Array = NDArray[np.float64]


def checked_start(start: tuple[ArrayLike, ArrayLike], p: int, r: int, spherical: bool) -> Start:
    """The order parameters (Q, M) that a user gives, or a sentence."""
    found = start_of(start, p, r)
    lengths = np.diag(found.rest) + (found.overlap**2).sum(axis=1)
    if spherical and not np.allclose(lengths, 1):
        raise LearnabilityError(
            f"`start` gives squared lengths {lengths}, but weights on the sphere have length 1."
        )
    return found


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
    rng = np.random.default_rng([seed, 12])
    if start is not None:
        return weights_at(rng, W, start)
    d = W.shape[1]
    weights = rng.standard_normal((p, d)) / np.sqrt(d)
    if spherical:
        weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    return weights
