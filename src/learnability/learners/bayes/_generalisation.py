"""Errors of the Bayes predictor, from the overlaps alone.

A fresh sample has hidden coordinates z ~ N(0, I) and estimated ones omega, jointly normal with
covariances Q = W W^T and M = W W*^T. The predictor is f(omega) = E g(omega + C^{1/2} t). No
sample in dimension d is needed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.links._rules import sobol_normals
from learnability.links.channel import Channel

__all__ = ["Errors", "errors"]

Array = NDArray[np.float64]


class Errors(NamedTuple):
    """Mean squared error against the noisy label, and the share of wrong labels.

    The latter is NaN unless the link has finitely many values.
    """

    squared: float
    wrong: float


def errors(channel: Channel, Q: Array, M: Array, C: Array, log2_nodes: int = 20) -> Errors:
    """Errors of the Bayes predictor.

    Parameters
    ----------
    channel : Channel
        The link and its noise.
    Q, M, C : array, shape (r, r)
        W W^T, W W*^T and the posterior covariance.
    log2_nodes : int
        Logarithm of the number of evaluations of the link.
    """
    link, r = channel.link, channel.link.r
    fresh = _normals(2 * r, (log2_nodes + 1) // 2)
    inner = _normals(r, log2_nodes // 2)
    joint = np.block([[np.eye(r), M.T], [M, Q]])
    both = fresh @ _root(joint)
    z, omega = both[:, :r], both[:, r:]
    points = omega[:, None] + inner @ _root(C)
    label, guesses = np.asarray(link(z)), np.asarray(link(points))
    squared = float(np.mean((label - guesses.mean(axis=1)) ** 2)) + channel.noise
    values = link.values
    if values is None:
        return Errors(squared, np.nan)
    levels = np.array(values)
    middles = 0.5 * (levels[:-1] + levels[1:])
    counts = np.stack(
        [(np.searchsorted(middles, guesses) == k).mean(axis=1) for k in range(len(levels))]
    )
    return Errors(squared, float(np.mean(counts.argmax(axis=0) != np.searchsorted(middles, label))))


@lru_cache(maxsize=8)
def _normals(m: int, log2_n: int) -> Array:
    return sobol_normals(m, log2_n, 0)


def _root(matrix: Array) -> Array:
    """Symmetric square root of a covariance, whose small negative eigenvalues count as zero."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)
