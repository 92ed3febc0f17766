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

from learnability.gaussian.rules import sobol_normals
from learnability.labels.channel import Channel
from learnability.labels.hermite import expand
from learnability.labels.posterior import BoxPosterior, PlanarScore, scheme_of

__all__ = ["Errors", "errors", "squared_error"]

Array = NDArray[np.float64]


class Errors(NamedTuple):
    """Mean squared error against the noisy label, and the share of wrong labels.

    The latter is NaN unless the link has finitely many values.
    """

    squared: float
    wrong: float


def errors(channel: Channel, Q: Array, M: Array, C: Array) -> Errors:
    """Errors of the Bayes predictor.

    Parameters
    ----------
    channel : Channel
        The link and its noise.
    Q, M, C : array, shape (r, r)
        W W^T, W W*^T and the posterior covariance.
    """
    wrong = np.nan if channel.link.values is None else _wrong(channel, Q, M, C)
    return Errors(squared_error(channel, Q, M, C), wrong)


def squared_error(channel: Channel, Q: Array, M: Array, C: Array, log2_nodes: int = 15) -> float:
    """Mean squared error against the noisy label.

    With a and b two independent draws of N(omega, C) it is E g(z)^2 - 2 E g(z) g(a) + E g(a) g(b):
    one average, in which no predictor is estimated.

    Parameters
    ----------
    channel, Q, M, C
        As in `errors`.
    log2_nodes : int
        Logarithm of the number of points.
    """
    link, r = channel.link, channel.link.r
    joint, root = _joint_root(Q, M), _root(C)
    points = _normals(4 * r, log2_nodes)
    both = points[:, : 2 * r] @ joint
    label = np.asarray(link(both[:, :r]))
    first, second = (
        np.asarray(link(both[:, r:] + points[:, k * r : (k + 1) * r] @ root)) for k in (2, 3)
    )
    # The mean square of the label itself is known.
    exact = expand(link, 0)
    energy = exact.variance + exact.mean**2
    squared = energy - float(np.mean(label * (first + second) - first * second))
    return max(squared, 0.0) + channel.noise


def _wrong(channel: Channel, Q: Array, M: Array, C: Array) -> float:
    """The share of labels that differ from the likeliest one at omega."""
    link, r = channel.link, channel.link.r
    levels = np.array(link.values)
    both = _normals(2 * r, 12) @ _joint_root(Q, M)
    likeliest = _chances(channel, levels, both[:, r:], C).argmax(axis=0)
    number = np.searchsorted(0.5 * (levels[:-1] + levels[1:]), link(both[:, :r]))
    return float(np.mean(likeliest != number))


def _chances(channel: Channel, levels: Array, omega: Array, C: Array) -> Array:
    """Probability of each label at omega (n, r): exact on boxes of two coordinates or more."""
    link, r = channel.link, channel.link.r
    if r in (2, 3) and not channel.noise:
        scheme = scheme_of(channel)
        if isinstance(scheme, BoxPosterior) and scheme.is_planar:
            # All but the last, which has what is left.
            labels = [np.full(len(omega), level) for level in levels[:-1]]
            scores = [PlanarScore(scheme, y, float) for y in labels]
            found = np.array([score(omega.T, C + 1e-9 * np.eye(r))[1] for score in scores])
            return np.vstack([found, 1 - found.sum(axis=0)])
    guesses = np.asarray(link(omega[:, None] + _normals(r, 7) @ _root(C)))
    number = np.searchsorted(0.5 * (levels[:-1] + levels[1:]), guesses)
    return np.stack([(number == k).mean(axis=1) for k in range(len(levels))])


def _joint_root(Q: Array, M: Array) -> Array:
    """Root of the covariance of a fresh z and its estimate."""
    return _root(np.block([[np.eye(len(M)), M.T], [M, Q]]))


@lru_cache(maxsize=8)
def _normals(m: int, log2_n: int) -> Array:
    return sobol_normals(m, log2_n, 0)


def _root(matrix: Array) -> Array:
    """Symmetric square root of a covariance, whose small negative eigenvalues count as zero."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)
