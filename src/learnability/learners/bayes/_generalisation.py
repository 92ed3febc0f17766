"""Errors of the Bayes predictor, from the overlaps alone.

A fresh sample has hidden coordinates z ~ N(0, I) and estimated ones omega, jointly normal with
covariances Q = W W^T and M = W W*^T. The predictor is f(omega) = E g(omega + C^{1/2} t). No
sample in dimension d is needed.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.rules import sobol_normals
from learnability.labels.channel import Channel
from learnability.labels.hermite import expand
from learnability.labels.posterior import BoxPosterior, PlanarScore, scheme_of

__all__ = ["Errors", "Expected", "errors", "expected_errors", "squared_error"]

Array = NDArray[np.float64]


class Errors(NamedTuple):
    """Mean squared error against the noisy label, and the share of wrong labels.

    The latter is NaN unless the link has finitely many values.
    """

    squared: float
    wrong: float


class Expected(NamedTuple):
    """The same two errors of an exact posterior, each with its own error."""

    squared: float
    squared_error: float
    wrong: float
    wrong_error: float


_REPLICAS, _LOG2 = 16, 12
_ROUNDING = 1e-13
"""What rounding leaves open of an error, over the variance of the label."""


def expected_errors(channel: Channel, M: Array, spread: Array) -> Expected:
    """Errors of the Bayes predictor at an overlap of state evolution.

    Two draws a, b of the posterior of one sample are standard normals of correlation M, and the
    error is Var y - Cov(g(a), g(b)) = E (g(a) - g(b))^2 / 2. The covariance is an average of
    g(a) (g(b) - g(b')), b' with the same noise as b and independent of a, which vanishes without
    overlap; the square vanishes at a perfect one. The average that varies less is taken.

    Parameters
    ----------
    channel : Channel
        The link and its noise.
    M : array, shape (r, r)
        The overlap.
    spread : array, shape (r, r)
        Its error.

    Returns
    -------
    Expected
        Errors have the part of sampling and the part of `spread`.
    """
    r = channel.link.r
    variance = expand(channel.link, 0).variance
    near = [M, M - spread, M + spread]
    both = np.array(
        [
            [_two_averages(channel, at, sobol_normals(2 * r, _LOG2, 40 + k)) for at in near]
            for k in range(_REPLICAS)
        ]
    )
    lost = np.stack([variance - both[..., 0], both[..., 1]])
    if not M.any():
        lost[0, :, 0] = variance
    way = int(lost[:, :, 0].std(axis=1).argmin())
    mean = lost[way].mean(axis=0)
    moved = float(np.abs(mean[1:] - mean[0]).max())
    sampled = float(lost[way, :, 0].std(ddof=1)) / math.sqrt(_REPLICAS) + _ROUNDING * variance
    squared = float(np.clip(mean[0], 0.0, variance)) + channel.label_noise
    if channel.link.values is None:
        return Expected(squared, sampled + moved, math.nan, math.nan)
    wrong, own = _least_wrong(channel, M)
    # The share of wrong labels moves with the overlap about as the error does.
    own += moved / max(float(np.ptp(channel.link.values)) ** 2 / 4, 1e-12)
    return Expected(squared, sampled + moved, wrong, own)


def _two_averages(channel: Channel, M: Array, points: Array) -> tuple[float, float]:
    """Cov(g(a), g(b)) and E (g(a) - g(b))^2 / 2 of normals of correlation M, points (n, 2 r)."""
    r = len(M)
    values, vectors = np.linalg.eigh(0.5 * (M + M.T))
    values = np.clip(values, 0.0, 1.0)
    a, fresh = points[:, :r], points[:, r:]
    b = ((a @ vectors) * values + (fresh @ vectors) * np.sqrt(1 - values**2)) @ vectors.T
    first, second, other = (np.asarray(channel.link(z)) for z in (a, b, fresh))
    lost, squares = (first - second) ** 2 / 2, (first**2 + second**2) / 2
    return float(np.mean(first * (second - other))), _steadied(channel, lost, squares)


def _least_wrong(channel: Channel, M: Array) -> tuple[float, float]:
    """1 - E max P(label | omega), between two estimates; and half their distance.

    The likeliest label of one half of the posterior's draws, judged by the other half, is wrong
    too often; the largest share in all of them is too large.
    """
    levels, r = np.array(channel.link.values), channel.link.r
    C = np.eye(r) - M
    low, high = [], []
    for k in range(4):
        omega = sobol_normals(r, 10, 60 + k) @ _root(M)
        halves = [_chances(channel, levels, omega, C, seed) for seed in (2 * k, 2 * k + 1)]
        choice = halves[0].argmax(axis=0)
        high.append(1 - float(np.mean(halves[1][choice, np.arange(len(omega))])))
        low.append(1 - float(np.mean((0.5 * (halves[0] + halves[1])).max(axis=0))))
    centre = [0.5 * (a + b) for a, b in zip(low, high, strict=True)]
    gap = 0.5 * abs(float(np.mean(high)) - float(np.mean(low)))
    return float(np.mean(centre)), gap + float(np.std(centre, ddof=1)) / 2


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

    With a and b two independent draws of N(omega, C) it is E (g(z) - g(a)) (g(z) - g(b)): one
    average, in which no predictor is estimated.

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
    squared = _steadied(channel, (label - first) * (label - second), label * label)
    return max(squared, 0.0) + channel.label_noise


def _steadied(channel: Channel, values: Array, squares: Array) -> float:
    """The mean of values, steadied by squares of labels, whose mean is known."""
    exact, varies = expand(channel.link, 0), float(np.var(squares))
    share = float(np.cov(values, squares)[0, 1]) / varies if varies > 0 else 0.0
    return float(np.mean(values - share * (squares - exact.variance - exact.mean**2)))


def _wrong(channel: Channel, Q: Array, M: Array, C: Array) -> float:
    """The share of labels that differ from the likeliest one at omega."""
    link, r = channel.link, channel.link.r
    levels = np.array(link.values)
    both = _normals(2 * r, 12) @ _joint_root(Q, M)
    likeliest = _chances(channel, levels, both[:, r:], C).argmax(axis=0)
    if channel.law is not None:
        truth = channel.law.profile(both[:, :r])
        return 1 - float(np.mean(truth[np.arange(len(truth)), likeliest]))
    number = np.searchsorted(0.5 * (levels[:-1] + levels[1:]), link(both[:, :r]))
    return float(np.mean(likeliest != number))


def _chances(
    channel: Channel, levels: Array, omega: Array, C: Array, seed: int | None = None
) -> Array:
    """Probability of each label at omega (n, r): exact on boxes of two coordinates or more."""
    link, r = channel.link, channel.link.r
    if r > 1 and not channel.noise:
        scheme = scheme_of(channel)
        if isinstance(scheme, BoxPosterior) and scheme.is_planar:
            # All but the last, which has what is left.
            labels = [np.full(len(omega), level) for level in levels[:-1]]
            scores = [PlanarScore(scheme, y, float) for y in labels]
            found = [score(omega.T, C + 1e-9 * np.eye(r))[1] for score in scores]
            return np.array([*found, 1 - sum(found, np.zeros(len(omega)))])
    points = _normals(r, 7) if seed is None else sobol_normals(r, 9, 80 + seed)
    draws = omega[:, None] + points @ _root(C)
    if channel.law is not None:
        chances = channel.law.profile(draws.reshape(-1, r))
        return np.asarray(chances.reshape(*draws.shape[:2], -1).mean(axis=1).T)
    guesses = np.asarray(link(draws))
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
