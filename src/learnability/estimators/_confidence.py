"""Confidence in each direction: whether it exists, and how well it is known.

The finder is fitted again to each half of the rows, and its directions are scored on the other
half: a direction is supported where the coordinates up to it predict held-out labels better than
those before it, by some standard errors. The two halves err independently of each other, so that
the correlation c of their coordinates is the squared overlap of each with the truth,

    c = s / (1 + s),     s = n E[g^2] / k,

by the state evolution of a channel whose score is g. All rows have twice the s of half of them, and
more, because a better direction has a sharper channel: the factor was measured on planted problems
(``benchmarks/planted_panel.py``, seeds below 2000, and 5000 to 5039 where columns are dropped; the
coverage that is quoted for the intervals is that of other seeds).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from learnability.estimators._channel import CrossFittedChannel
from learnability.estimators._judge import score_coordinates
from learnability.estimators._labels import Labels, weighted_mean
from learnability.estimators._whitening import Whitening

__all__ = [
    "Confidence",
    "beyond_halves",
    "coarse_columns",
    "coarse_directions",
    "confidence",
    "known_overlap",
    "rows_for",
    "with_rows",
]

Array = NDArray[np.float64]
_SUPPORTED = 2.0
"""A direction must bring a gain of this many standard errors on held-out rows."""
_CHANCE = 0.95
"""Halves must agree more than this share of pairs of random directions."""
_SHARPER = (0.3, -0.6, 1.7)
"""Median, 5 % and 95 % points of log s of all rows minus log s of two halves together."""
_SHARPER_FEW = (1.5, -0.9, np.inf)
"""The same where columns are dropped: a direction may be known exactly."""
_SURE_FEW = 0.99
"""Largest agreement that counts where columns are dropped: halves drop the same weak ones."""
_LEAST_ROWS = 50
"""The least number of rows in a half."""
_VALUES = 20
"""A column with at most this many values is coarse."""
_SHARE = 0.02
"""Smallest share of a column in a direction that counts."""


@dataclass(frozen=True)
class Confidence:
    """What fits to halves of the rows say about the directions of the fit to all rows.

    Attributes
    ----------
    turn : array, shape (r, r)
        Combinations of the directions, the most informative on held-out rows first.
    supported : int
        Number of directions that held-out rows support.
    agreement : array, shape (r,)
        Correlation of the coordinates that the halves give to each direction.
    information, error : array, shape (r,)
        Held-out information of the first 1, 2, ... coordinates, and standard errors of its gains.
    """

    turn: Array
    supported: int
    agreement: Array
    information: Array
    error: Array


def confidence(
    labels: Labels, whole: Array, views: list[Array], first: NDArray[np.bool_], seed: int
) -> Confidence:
    """Compare the coordinates (n, r) of the fit to all rows with those of two halves.

    Parameters
    ----------
    labels : Labels
        The labels of the rows.
    whole : array, shape (n, r)
        Coordinates by the fit to all rows.
    views : list of two arrays, shape (n, r)
        Coordinates of all rows by fits that did not see the first half, and the second half.
    first : array of bool, shape (n,)
        The first half.
    seed : int
        The seed of the split of the rows for the channel.

    Returns
    -------
    Confidence
    """
    shares = labels.weights / labels.weights.sum()
    basis, root = _orthonormal(whole, shares)
    halves = [_orthonormal(view, shares)[0] for view in views]
    turned = [half @ _turn_to(half, basis, shares) for half in halves]
    turn = _informed_first(labels, np.where(first[:, None], *turned), turned, seed)
    aligned = [half @ turn for half in turned]
    agreement = np.einsum("ij,ij,i->j", *aligned, shares)
    held_out = np.where(first[:, None], *aligned)
    r = basis.shape[1]
    before, supported = np.zeros(len(whole)), 0
    information, errors = np.zeros(r), np.zeros(r)
    for j in range(r):
        rows = score_coordinates(labels, held_out[:, : j + 1], seed)
        gain, errors[j] = weighted_mean(rows - before, labels.weights)
        information[j] = weighted_mean(rows, labels.weights)[0]
        if gain > _SUPPORTED * errors[j]:
            before, supported = rows, j + 1
    return Confidence(root @ turn, supported, agreement, information, errors)


def known_overlap(
    agreement: float, times: float, k: int, *, dropped: bool = False
) -> tuple[float, float, float] | None:
    """Return the squared overlap with the truth, and its 90 % interval.

    Parameters
    ----------
    agreement : float
        Correlation of the coordinates of two halves.
    times : float
        Rows of the fit over rows of a half.
    k : int
        Number of white coordinates.
    dropped : bool
        Whether columns were dropped.

    Returns
    -------
    tuple or None
        Overlap, and the lower and the upper end; None where the halves agree no more than two
        random directions might.
    """
    if k < 2 or agreement <= np.sqrt(betaincinv(0.5, (k - 1) / 2, _CHANCE)):
        return None
    c = min(agreement, _SURE_FEW if dropped else 1 - 1e-6)
    sharper = np.array(_SHARPER_FEW if dropped else _SHARPER)
    q, low, high = 1 / (1 + np.exp(-np.log(times * c / (1 - c)) - sharper))
    return float(q), float(low), float(high)


def rows_for(overlap: float, wanted: float, n: float) -> float:
    """Return the rows at which an overlap becomes the wanted one, if the channel stays as it is."""
    return n * wanted / (1 - wanted) * (1 - overlap) / overlap


def with_rows(overlap: float, times: float) -> float:
    """Return the overlap with `times` as many rows, if the channel stays as it is.

    The odds q / (1 - q) grow in proportion to the rows.
    """
    return times * overlap / (times * overlap + 1 - overlap)


def beyond_halves(n: float, whitening: Whitening) -> str | None:
    """Return why halves of the rows cannot show how well directions are known, or None."""
    if n < 2 * _LEAST_ROWS:
        return f"{n:.0f} rows are too few to compare halves of them"
    if whitening.has_few_rows(n / 2):
        return "half of the rows are fewer than three for each independent column"
    return None


def coarse_directions(X: Array, weights: Array) -> NDArray[np.bool_]:
    """Return which directions (r, p) are mostly made of columns with few values."""
    shares = weights**2 / (weights**2).sum(axis=1, keepdims=True)
    return np.asarray(shares[:, coarse_columns(X, weights)].sum(axis=1) > 0.5)


def coarse_columns(X: Array, weights: Array) -> list[int]:
    """Return columns with few values that have a share in one of the directions (r, p)."""
    shares = weights**2 / (weights**2).sum(axis=1, keepdims=True)
    heavy = np.flatnonzero(shares.max(axis=0, initial=0.0) > _SHARE)
    some = X[: _VALUES**2]
    few = min(_VALUES, len(some) // 2)
    return [int(j) for j in heavy if len(np.unique(some[:, j])) <= few]


def _informed_first(labels: Labels, held_out: Array, halves: list[Array], seed: int) -> Array:
    """Return orthonormal combinations of held-out coordinates (n, r), the most informative first.

    They are those of the finder, those on which the halves agree most, or the eigenvectors of
    E[g g^T], where g is the score of a channel that did not see the row: those whose first
    coordinates are the most informative.
    """
    r = held_out.shape[1]
    if r == 1:
        return np.eye(1)
    score, _ = CrossFittedChannel(labels, r, np.random.default_rng(seed)).step(
        held_out, choose=True
    )
    weights = labels.weights[:, None]
    cross = (halves[0] * weights).T @ halves[1]
    orders = [np.linalg.eigh(M)[1][:, ::-1] for M in ((score * weights).T @ score, cross + cross.T)]

    def worth(order: Array) -> float:
        said = [score_coordinates(labels, held_out @ order[:, :j], seed) for j in range(1, r)]
        return sum(weighted_mean(rows, labels.weights)[0] for rows in said)

    return max([*orders, np.eye(r)], key=worth)


def _turn_to(coordinates: Array, basis: Array, shares: Array) -> Array:
    """Return the rotation that brings orthonormal coordinates (n, r) nearest to others."""
    left, _, right = np.linalg.svd((coordinates * shares[:, None]).T @ basis)
    return np.asarray(left @ right)


def _orthonormal(coordinates: Array, shares: Array) -> tuple[Array, Array]:
    """Return centred coordinates of unit covariance, and the matrix that makes them."""
    centred = coordinates - shares @ coordinates
    values, vectors = np.linalg.eigh((centred * shares[:, None]).T @ centred)
    root = vectors / np.sqrt(np.maximum(values, 1e-12 * values[-1] + 1e-300)) @ vectors.T
    return centred @ root, root
