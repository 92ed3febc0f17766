"""Coordinates in which the inputs have unit covariance, and thin products in them.

With mean c and covariance S of the columns, an (p, k) matrix L with L^T S L = I makes
z = L^T (x - c) white. On standardised columns S is a correlation matrix R, and

    exact:   L = D^{-1} Q Lambda^{-1/2}                      (eigenvectors above a rounding level),
    shrunk:  the same with (1 - s) Lambda + s in place of Lambda, s from Ledoit and Wolf.

Constant columns get no weight and collinear ones share theirs, so that both are harmless. With more
columns than rows the eigenvectors span the row space, found from the n x n Gram matrix. A wide
sparse table is whitened by a Cholesky factor, which is used only in products with thin matrices.
X itself is never centred, copied or made dense, except with more columns than rows.

References
----------
Ledoit and Wolf, J. Multivariate Anal. 88 (2004) 365.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from learnability.errors import LearnabilityError

__all__ = [
    "GAUSSIAN",
    "WIDE",
    "Whitening",
    "row_blocks",
    "tail_weight",
    "whiten",
    "whitening_of_moments",
]

Array = NDArray[np.float64]

WIDE = 3000
"""Sparse tables with more columns than this are whitened by a Cholesky factor."""
_CONSTANT = 1e-12
_CONSTANT_RAW = 1e-8
"""A column with a smaller spread over its mean is constant; the latter where squares of entries are
summed without taking the mean off first."""
_ROUNDING = 1e-13
"""Eigenvalues of a correlation matrix below this fraction of the largest are zero."""
GAUSSIAN = 1.2
"""Largest fourth moment of rows that count as Gaussian, divided by that of Gaussian rows."""
_TAIL_ROWS = 1000
"""Number of rows on which the tails of a table with few rows per column are measured."""
_ENOUGH = 3.0
"""Samples over rank from which the sample covariance is used as it is."""


@dataclass(frozen=True)
class Whitening:
    """The map x -> z, and back.

    Attributes
    ----------
    center : array, shape (p,)
        Mean of the columns.
    scale : array, shape (p,)
        Their standard deviations, 1 for constant columns.
    rank : int
        Number of white coordinates k.
    shrinkage : float
        Weight of the identity in the correlation matrix.
    factor : array
        L of shape (p, k), or the lower Cholesky factor of the covariance where `triangular`.
    triangular : bool
        Whether `factor` is the Cholesky factor.
    """

    center: Array
    scale: Array
    rank: int
    shrinkage: float
    factor: Array
    triangular: bool = False

    def has_few_rows(self, rows: float) -> bool:
        """Return whether these rows are too few for anything but first moments."""
        return rows < _ENOUGH * self.rank

    def pull_back(self, U: NDArray[Any]) -> Array:
        """Return directions (k, q) of white space as columns (p, q) that multiply x - c."""
        if self.triangular:
            found = solve_triangular(self.factor, U, lower=True, trans="T", check_finite=False)
            return np.asarray(found)
        return np.asarray(self.factor @ U)

    def push(self, V: NDArray[Any]) -> Array:
        """Return L^T V for V of shape (p, q)."""
        if self.triangular:
            return np.asarray(solve_triangular(self.factor, V, lower=True, check_finite=False))
        return np.asarray(self.factor.T @ V)

    def project(self, X: Any, U: NDArray[Any]) -> Array:
        """Return white coordinates Z U of all rows, shape (n, q), without forming Z."""
        columns = self.pull_back(U)
        return np.asarray(X @ columns - self.center @ columns, dtype=float)

    def collect(self, X: Any, G: NDArray[Any]) -> Array:
        """Return Z^T G for G of shape (n, q), without forming Z."""
        return self.push(np.asarray(X.T @ G, dtype=float) - np.outer(self.center, G.sum(axis=0)))

    def rows(self, X: Any) -> Array:
        """Return the white rows Z themselves, shape (n, k)."""
        columns = self.pull_back(np.eye(self.rank)) if self.triangular else self.factor
        return np.asarray(X @ columns - self.center @ columns, dtype=float)


def row_blocks(start: int, stop: int, size: int = 2048) -> Iterator[slice]:
    """Return slices of rows from start to stop, so that no second table is made."""
    return (slice(first, min(first + size, stop)) for first in range(start, stop, size))


def whiten(X: Any, weights: Array, how: str = "auto") -> Whitening:
    """Whiten a table.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, p)
        The inputs.
    weights : array, shape (n,)
        Counts of the rows.
    how : {"auto", "exact", "shrunk"}
        "auto" shrinks below three samples for each white coordinate.

    Returns
    -------
    Whitening
    """
    total = float(weights.sum())
    center = np.asarray(X.T @ weights, dtype=float).ravel() / total
    n, p = X.shape
    if p > n and not hasattr(X, "tocsr"):
        return _of_rows(X, weights, center, how)
    if hasattr(X, "tocsr"):
        second = (X.T @ X.multiply(weights[:, None]).tocsr()).toarray()
        covariance = np.asarray(second, dtype=float) / total - np.outer(center, center)
        return whitening_of_moments(center, covariance, total, how, sparse=True)
    covariance = _covariance(X, weights, center)
    return whitening_of_moments(center, covariance, total, how, mean=center)


def whitening_of_moments(
    center: Array, covariance: Array, total: float, how: str, *, sparse: bool = False,
    mean: Array | None = None,
) -> Whitening:  # fmt: skip
    """Whiten from a mean and a covariance of `total` rows; the covariance is overwritten.

    Where rows were shifted before they were squared, `center` is the mean of the shifted rows, and
    `mean` that of the rows themselves.
    """
    if mean is None:
        varies = _varies(center, np.diag(covariance), _CONSTANT_RAW)
    else:
        varies = _varies(mean, np.diag(covariance), _CONSTANT)
    scale = np.sqrt(np.where(varies, np.diag(covariance), 1.0))
    variances = varies * np.diag(covariance) / scale**2
    correlation = covariance
    correlation /= scale
    correlation /= scale[:, None]
    correlation[~varies] = 0.0
    correlation[:, ~varies] = 0.0
    np.fill_diagonal(correlation, variances)
    p = len(center)
    if sparse and p > WIDE:
        shrinkage = _shrinkage(float(np.vdot(correlation, correlation)), p, total)
        shrinkage = shrinkage if how != "exact" else _ROUNDING
        correlation *= 1 - shrinkage
        correlation[np.diag_indices(p)] += shrinkage
        factor = cholesky(correlation, lower=True, overwrite_a=True, check_finite=False)
        factor *= scale[:, None]
        return Whitening(center, scale, p, shrinkage, factor, triangular=True)
    values, vectors = np.linalg.eigh(correlation)
    return _from_spectrum(center, scale, values, vectors, total, how)


def _of_rows(X: Any, weights: Array, center: Array, how: str) -> Whitening:
    """Return the whitening in the row space of a table with more columns than rows."""
    total = float(weights.sum())
    centred = (np.asarray(X, dtype=float) - center) * np.sqrt(weights / total)[:, None]
    variances = (centred**2).sum(axis=0)
    varies = _varies(center, variances, _CONSTANT)
    scale = np.sqrt(np.where(varies, variances, 1.0))
    centred *= varies / scale
    values, left = np.linalg.eigh(centred @ centred.T)
    keep = values > _ROUNDING * max(values[-1], 1e-300)
    vectors = centred.T @ (left[:, keep] / np.sqrt(values[keep]))
    return _from_spectrum(center, scale, values[keep], vectors, total, how)


def _from_spectrum(
    center: Array, scale: Array, values: Array, vectors: Array, total: float, how: str
) -> Whitening:
    keep = values > _ROUNDING * max(float(values.max(initial=0.0)), 1e-300)
    values, vectors = values[keep][::-1], vectors[:, keep][:, ::-1]
    rank = len(values)
    if rank == 0:
        raise LearnabilityError("All columns of X are constant: give columns that vary.")
    shrinkage = 0.0
    if how == "shrunk" or (how == "auto" and total < _ENOUGH * rank):
        shrinkage = _shrinkage(float((values**2).sum()), len(center), total)
    mixed = (1 - shrinkage) * values + shrinkage
    return Whitening(center, scale, rank, shrinkage, vectors / np.sqrt(mixed) / scale[:, None])


def _varies(center: Array, variances: Array, least: float) -> NDArray[np.bool_]:
    """Return which columns are not constant up to rounding."""
    return np.asarray(variances > (least * np.abs(center)) ** 2 + 1e-300)


def _shrinkage(squares: float, p: int, total: float) -> float:
    """Return Ledoit and Wolf's weight for a correlation matrix, with Gaussian (p / n) noise."""
    spread = squares - p
    noise = (p**2 + squares) / max(total, 1.0)
    return float(np.clip(noise / max(spread, 1e-12), 0.0, 1.0)) if spread > 0 else 1.0


def _covariance(X: Any, weights: Array, center: Array) -> Array:
    """Return the covariance of the rows; the mean is taken off before anything is squared."""
    found = np.zeros((X.shape[1], X.shape[1]))
    for rows in row_blocks(0, len(X)):
        part = X[rows] - center
        found += part.T @ (part * weights[rows, None])
    return found / float(weights.sum())


def tail_weight(X: Any, whitening: Whitening, weights: Array) -> float:
    """Return the mean fourth power of the length of the rows, divided by that of Gaussian rows.

    White rows are measured if there are enough; where rows are few for the number of columns, all
    white rows have the same length whatever their law, and standardised columns are used instead:
    with covariance S, Gaussian rows have E|x|^4 = (tr S)^2 + 2 tr S^2.
    """
    total = float(weights.sum())
    if whitening.has_few_rows(total):
        return _tails_of_columns(X, whitening, weights)
    k = max(whitening.rank, 1)
    fourth = 0.0
    for rows in row_blocks(0, X.shape[0]):
        squares = (whitening.rows(X[rows]) ** 2).sum(axis=1)
        fourth += float(weights[rows] @ squares**2)
    return fourth / total / (k * (k + 2))


def _tails_of_columns(X: Any, whitening: Whitening, weights: Array) -> float:
    """Return the same from standardised columns of at most `_TAIL_ROWS` rows."""
    some = slice(None, None, -(-X.shape[0] // _TAIL_ROWS))
    part = X[some].toarray() if hasattr(X, "tocsr") else np.asarray(X[some], dtype=float)
    shares = weights[some] / weights[some].sum()
    Z = (part - shares @ part) / whitening.scale
    gram = Z @ Z.T
    squares = np.diag(gram)
    trace = float(shares @ squares)
    # The mean of the squared products of pairs of different rows is tr S^2.
    pairs = np.outer(shares, shares)
    np.fill_diagonal(pairs, 0.0)
    spread = float((pairs * gram**2).sum() / pairs.sum())
    return float(shares @ squares**2) / (trace**2 + 2 * spread)
