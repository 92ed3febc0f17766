"""Reasons not to trust an answer: sentences for the report of an estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.estimators._confidence import with_rows
from learnability.estimators._labels import Labels, mid_ranks
from learnability.estimators._whitening import Whitening, row_blocks

__all__ = ["exchanged", "fewer_given", "lone_rows", "rows_lost", "twins", "warnings_of"]

Array = NDArray[np.float64]
_PAIRS = 5
"""Most pairs of columns that are named."""
_LONE = 0.9
"""Share of a direction of the columns that one row holds if it alone fixes that direction."""
_HEAVY = 2.0
"""Fourth moment of the rows, in units of that of Gaussian ones, from which tails are heavy."""
_TWIN = 0.999
"""Rank correlation with the target from which a column may be the target in another form."""
_TWIN_ROWS = 2000
"""The largest number of rows on which such columns are sought."""
_EACH = 5
"""The least number of rows of each class for a column to tell the classes apart."""


def fewer_given(asked: Any, r: int, rank: int) -> list[str]:
    """Return a caution where fewer directions are given than were asked for."""
    if asked == "auto" or asked <= r:
        return []
    why = f"the table has {r} independent columns" if r == rank else "the finder saw no more"
    return [f"{asked} directions were asked for, but {r} are given: {why}."]


def rows_lost(
    sampled: tuple[int, int], overlap: list[tuple[float, float, float] | None]
) -> list[str]:
    """Return what is lost by drawing only some of the rows of a Dask collection."""
    some, rows = sampled
    if some == rows:
        return []
    said = f"{some} of {rows} rows were drawn at random, and the others were not used"
    q = [one[0] for one in overlap if one is not None]
    if not q:
        return [f"{said}: what that loses is not known."]
    lost = max(with_rows(one, rows / some) - one for one in q)
    return [f"{said}: all of them would raise a squared overlap by up to {lost:.2g}."]


def exchanged(pairs: list[tuple[int, int]], names: Any = None) -> list[str]:
    """Return a caution on columns that were dropped though they would do as well as others."""
    if not pairs:
        return []

    def called(j: int) -> str:
        return str(j) if names is None else str(names[j])

    each = [f"{called(a)} or {called(b)}" for a, b in pairs[:_PAIRS]]
    more = f" and {len(pairs) - _PAIRS} more pairs" if len(pairs) > _PAIRS else ""
    which = "which columns make the directions is undecided where they are alike"
    return [f"{which}: {', '.join(each)}{more}."]


def twins(X: Array, labels: Labels, names: Any = None) -> list[str]:
    """Return a caution on columns that may be the target in another form.

    Such a column puts the rows in the order of the target, or the classes one after the other.
    """
    some = np.random.default_rng(0).permutation(len(X))[:_TWIN_ROWS]
    codes = np.unique(labels.codes[some], return_inverse=True)[1]
    if labels.kind == "classes" and np.bincount(codes).min() < _EACH:
        return []
    ranks = _centred(codes)
    found = []
    for j in range(X.shape[1]):
        column = np.asarray(X[some, j])
        if labels.kind == "numbers":
            own = _centred(np.unique(column, return_inverse=True)[1])
            norm = float(np.sqrt((own @ own) * (ranks @ ranks)))
            same = norm > 0 and abs(float(own @ ranks)) > _TWIN * norm
        else:
            parts = [column[codes == one] for one in range(codes.max() + 1)]
            ends = sorted((part.min(), part.max()) for part in parts)
            same = all(a[1] < b[0] for a, b in zip(ends, ends[1:], strict=False))
        if same:
            found.append(str(j) if names is None else str(names[j]))
    if not found:
        return []
    which = f"the column {found[0]}" if len(found) == 1 else f"the columns {', '.join(found[:5])}"
    alone = "alone orders" if len(found) == 1 else "each alone order"
    return [f"{which} {alone} the rows as the target does: is this the target in another form?"]


def _centred(codes: NDArray[np.intp]) -> Array:
    """Return mid-ranks of codes, less their mean."""
    ranks = mid_ranks(codes, np.ones(len(codes)))
    return np.asarray(ranks - ranks.mean())


def lone_rows(X: Array, whitening: Whitening, weights: Array) -> list[str]:
    """Return a caution on rows without which the columns would have a direction less."""
    if whitening.has_few_rows(float(weights.sum())):
        return []
    shares = weights / weights.sum()
    count = 0
    for rows in row_blocks(0, len(X)):
        squares = (whitening.rows(X[rows]) ** 2).sum(axis=1)
        count += int((squares * shares[rows] > _LONE).sum())
    if not count:
        return []
    which = "1 row lies" if count == 1 else f"{count} rows lie"
    return [
        f"{which} so far from all others that {'it alone fixes' if count == 1 else 'each fixes'} a "
        "combination of the columns: is this an error, or a code for missing values?"
    ]


def warnings_of(
    n: float, whitening: Whitening, tails: float, best: float, error: float
) -> list[str]:
    """Return reasons not to trust the answer: few rows, heavy tails, a score not above zero."""
    found = []
    if whitening.has_few_rows(n):
        found.append(
            f"{n:.0f} rows for {whitening.rank} independent columns are fewer than three each: "
            "only first moments (sir) and few columns (sparse) were tried."
        )
    if tails > _HEAVY:
        found.append(
            f"the rows have heavy tails (fourth moment {tails:.1f} times that of Gaussian ones): "
            "message passing assumes Gaussian ones, so other finders were tried beside it."
        )
    if error > 0 and best <= 3 * error:
        found.append("the held-out score is not above zero: the directions may be noise.")
    return found
