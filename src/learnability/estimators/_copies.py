"""Rows that are copies of each other, which rows that are held out must not be.

A table that holds a row several times, because files were joined twice or rare classes were drawn
again, shows held-out rows to the fits that must not see them: noise then looks like a law. Copies
are therefore taken for one row. Rows of few discrete columns coincide by chance, which is no fault:
coincidences count as copies only where they are far more frequent than in columns that are
independent of each other, and where one column, or the number of different rows, tells rows apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["copied_rows", "copies_said", "merged_rows", "row_of_copy"]

Array = NDArray[np.float64]
_TIMES = 10.0
"""Coincidences are copies if there are this many times those of independent columns, and more."""
_LEAST = 50
_LEAST_EACH = 10
"""Number of different rows, in all and per column, from which coarse rows are merged as well."""


def copied_rows(X: Array, y: NDArray[Any]) -> NDArray[np.intp] | None:
    """Return the number of the distinct row of each row, or None if none is a copy.

    Parameters
    ----------
    X : array, shape (n, p)
        The inputs.
    y : array, shape (n,) or (n, q)
        The target.

    Returns
    -------
    array, shape (n,), or None
        Equal numbers for rows that are equal in all columns and in the target.
    """
    n = len(X)
    total = n * (n - 1) / 2
    group = np.zeros(n, dtype=np.intp)
    chance, finest = 0.0, 0
    for column in (*np.atleast_2d(y.T), *X.T):
        values, codes = np.unique(column, return_inverse=True)
        finest = max(finest, len(values))
        chance += np.log(max(_pairs(codes), 1e-300) / max(total, 1.0))
        _, group = np.unique(group * len(values) + codes, return_inverse=True)
        if group.max(initial=0) == n - 1:
            return None
    distinct = int(group.max()) + 1
    expected = total * float(np.exp(chance))
    if _pairs(group) <= _TIMES * (1 + expected):
        return None
    told_apart = 2 * finest > distinct or distinct >= max(_LEAST, _LEAST_EACH * X.shape[1])
    return group if told_apart else None


def merged_rows(
    group: NDArray[np.intp], X: Any, y: NDArray[Any], weights: Array
) -> tuple[Any, NDArray[Any], Array]:
    """Return one row of each group, with the sum of the weights of its copies.

    Where all rows have as many copies, the weights are those of one row: the table was copied.

    Parameters
    ----------
    group : array, shape (n,)
        The number of the distinct row of each row.
    X, y, weights
        The rows.

    Returns
    -------
    tuple
        Inputs, target and weights of the distinct rows, in the order of their first appearance.
    """
    first = _first_rows(group)
    counts = np.asarray(np.bincount(group, weights=weights)[group[first]], dtype=np.float64)
    rows = X.iloc[first] if hasattr(X, "iloc") else X[first]
    copied = np.bincount(group)
    if (copied == copied[0]).all():
        counts = counts / copied[0]
    return rows, y[first], counts


def row_of_copy(group: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the place of each row, shape (n,), among the merged rows."""
    place = np.empty(int(group.max()) + 1, dtype=np.intp)
    place[group[_first_rows(group)]] = np.arange(len(place))
    return place[group]


def copies_said(rows: int, distinct: int) -> str:
    """Return a sentence on the copies of a table."""
    return (
        f"{rows - distinct} of {rows} rows are copies of others, in all columns: copies are taken "
        "for one row, which weighs as much as they do."
    )


def _first_rows(group: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.sort(np.unique(group, return_index=True)[1])


def _pairs(codes: NDArray[np.intp]) -> float:
    """Return the number of pairs of rows with equal codes."""
    counts = np.bincount(codes).astype(float)
    return float((counts * (counts - 1)).sum() / 2)
