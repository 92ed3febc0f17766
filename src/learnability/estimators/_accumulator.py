"""Sums of x and x x^T inside slices of y, which do not depend on the pieces that were added.

The rows are shifted by a fixed vector before they are squared, so that a large mean costs no
digits. Dense tables are read slice by slice; sparse ones stay sparse, and wide sparse ones are kept
as they are, so that their second moments act through thin products.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.estimators._moments import SliceMoments
from learnability.estimators._whitening import WIDE, Whitening, row_blocks, whitening_of_moments

__all__ = ["Accumulator"]

Array = NDArray[np.float64]


@dataclass
class Accumulator:
    """Counts, sums and second moments of shifted rows in each slice.

    Attributes
    ----------
    shift : array, shape (p,)
        The vector that is subtracted from every row.
    counts, sums, seconds : dict
        Slice -> weight, (p,) and (p, p) arrays of the shifted rows.
    wide : list of (rows, weights, codes)
        Wide sparse tables, not squared.
    """

    shift: Array
    counts: dict[int, float] = field(default_factory=dict)
    sums: dict[int, Array] = field(default_factory=dict)
    seconds: dict[int, Array] = field(default_factory=dict)
    wide: list[tuple[Any, Array, NDArray[Any]]] = field(default_factory=list)

    def add(self, X: Any, weights: Array, codes: NDArray[Any], sizes: Array | None = None) -> None:
        """Add rows.

        Parameters
        ----------
        X : array or sparse matrix, shape (n, p)
            Rows.
        weights : array, shape (n,)
            Their counts.
        codes : array, shape (n,)
            Their slices.
        sizes : array, shape (n,), optional
            Factors in (0, 1] of the shifted rows, which bound their length.
        """
        sparse = hasattr(X, "tocsr")
        if sparse and X.shape[1] > WIDE:
            self.wide.append((X, weights, codes))
        for code in np.unique(codes[weights > 0]):
            inside = np.flatnonzero((codes == code) & (weights > 0))
            blocks = [slice(None)] if sparse else row_blocks(0, len(inside))
            for rows in (inside[block] for block in blocks):
                self._add_slice(int(code), X, weights, rows, sizes)

    def _add_slice(
        self, key: int, X: Any, weights: Array, rows: NDArray[Any], sizes: Array | None
    ) -> None:
        """Add some rows of one slice."""
        sparse = hasattr(X, "tocsr")
        part, w = X[rows], weights[rows]
        if not sparse:
            part = np.asarray(part, dtype=float) - self.shift
            if sizes is not None:
                part *= sizes[rows, None]
        self.counts[key] = self.counts.get(key, 0.0) + float(w.sum())
        self.sums[key] = self.sums.get(key, 0.0) + np.asarray(part.T @ w, dtype=float).ravel()
        if not (sparse and X.shape[1] > WIDE):
            scaled = part.multiply(w[:, None]).tocsr() if sparse else part * w[:, None]
            second = part.T @ scaled
            second = second.toarray() if sparse else second
            self.seconds[key] = self.seconds.get(key, 0.0) + second

    def __add__(self, other: Accumulator) -> Accumulator:
        """Return the sums of the rows of both, which have the same shift."""
        found = Accumulator(self.shift, wide=[*self.wide, *other.wide])
        for part in (self, other):
            for key in part.counts:
                found.counts[key] = found.counts.get(key, 0.0) + part.counts[key]
                found.sums[key] = found.sums.get(key, 0.0) + part.sums[key]
                if key in part.seconds:
                    found.seconds[key] = found.seconds.get(key, 0.0) + part.seconds[key]
        return found

    def whitening(self, how: str) -> Whitening:
        """Return the whitening of all rows that were added."""
        total = sum(self.counts.values())
        mean = np.asarray(sum(self.sums.values()) / total)
        if self.wide:
            second: Any = sum(
                X.T @ X.multiply(weights[:, None]).tocsr() for X, weights, _ in self.wide
            ).toarray()
        else:
            second = sum(self.seconds.values())
        covariance = np.asarray(second, dtype=float)
        covariance /= total
        covariance -= np.outer(mean, mean)
        shifted = bool(self.shift.any())
        found = whitening_of_moments(
            mean, covariance, total, how, sparse=bool(self.wide),
            mean=mean + self.shift if shifted else None,
        )  # fmt: skip
        return Whitening(
            found.center + self.shift, found.scale, found.rank, found.shrinkage, found.factor,
            found.triangular,
        )  # fmt: skip

    def moments(self, whitening: Whitening, *, ordered: bool) -> SliceMoments:
        """Return moments of the white rows in each slice."""
        keys = sorted(self.counts)
        total = sum(self.counts.values())
        mean = whitening.center - self.shift
        own_means = np.array([self.sums[key] / self.counts[key] for key in keys])
        means = whitening.push((own_means - mean).T).T
        shares = np.array([self.counts[key] for key in keys]) / total
        if self.wide:
            return SliceMoments(
                shares, means, self._thin(keys, whitening, own_means, mean), ordered, total
            )
        seconds = []
        for key, own in zip(keys, own_means, strict=True):
            count = self.counts[key]
            cross = np.outer(own, mean)
            central = self.seconds[key] / count - cross - cross.T + np.outer(mean, mean)
            half = whitening.push(central)
            seconds.append(whitening.push(half.T))
        return SliceMoments(shares, means, seconds, ordered, total)

    def _thin(
        self, keys: list[int], whitening: Whitening, own_means: Array, mean: Array
    ) -> Callable[[Array], Array]:
        """Return V -> S_h V_h for all slices of wide sparse tables, with one triangular solve."""
        parts = []
        for key in keys:
            rows = [np.flatnonzero((codes == key) & (w > 0)) for _, w, codes in self.wide]
            parts.append(
                [(X[at], w[at, None]) for at, (X, w, _) in zip(rows, self.wide, strict=True)]
            )

        def apply(V: Array) -> Array:
            count, k, q = V.shape
            pulled = whitening.pull_back(V.transpose(1, 0, 2).reshape(k, -1))
            found = []
            for h, (key, own) in enumerate(zip(keys, own_means, strict=True)):
                columns = pulled[:, (h % count) * q : (h % count + 1) * q]
                second = sum(part.T @ (w * (part @ columns)) for part, w in parts[h])
                second = second / self.counts[key] - np.outer(own, mean @ columns)
                found.append(second + np.outer(mean, (mean - own) @ columns))
            pushed = whitening.push(np.concatenate(found, axis=1))
            return pushed.reshape(k, len(keys), q).transpose(1, 0, 2)

        return apply
