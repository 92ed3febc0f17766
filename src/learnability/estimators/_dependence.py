"""Rows that are not independent of each other: in the order of time or place, or in groups.

Held-out rows are then not new: others that are nearly the same were in the fit. Directions, their
number and their scores may come from that alone, and nothing is said of how well they are known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from learnability.estimators._labels import Labels, mid_ranks

__all__ = ["UNDECIDED", "Dependence", "dependence"]

Array = NDArray[np.float64]
UNDECIDED = "number of directions and overlap with the true ones"
"""What is not said of such rows."""
_ALIKE = 0.5
"""Correlation of the targets of rows that follow each other, or are nearest, that is large."""
_LEAST = 30
"""With fewer rows than this nothing is seen."""
_ANCHORS = 400
_WORK = 3e8
"""Most anchors whose nearest rows are sought, and products of entries that this may cost."""
_CLOSER = 1 / 3
_FREE = 2 / 3
"""Rows come in groups where the distance to the nearest is below the first share of what further
ones lead to expect, and above the second in a table with the same columns in random order."""
_FURTHER = 16
"""The share of the rows, as 1/16 and four times that, whose distances are the further ones."""


@dataclass(frozen=True)
class Dependence:
    """What is said of rows that are not independent.

    Attributes
    ----------
    reason : str
        Why directions are undecided.
    caution : str
        The sentence of the report.
    """

    reason: str
    caution: str


def dependence(X: Array, labels: Labels, seed: int) -> Dependence | None:
    """Return why rows are not independent, or None if nothing speaks for it.

    Parameters
    ----------
    X : array, shape (n, p)
        The inputs in their order.
    labels : Labels
        The labels of the rows.
    seed : int
        The seed of the rows that are looked at.

    Returns
    -------
    Dependence or None
    """
    if len(X) < _LEAST:
        return None
    return _in_order(labels) or _in_groups(X, labels, np.random.default_rng(seed))


def _in_order(labels: Labels) -> Dependence | None:
    """Look for targets that are similar to those of the rows before them."""
    ranks = _centred(labels.codes)
    steps = np.diff(ranks)
    if labels.kind != "numbers" or (steps >= 0).all() or (steps <= 0).all():
        return None
    found = float(ranks[1:] @ ranks[:-1]) / max(float(ranks @ ranks), 1e-300)
    if found < _ALIKE:
        return None
    return Dependence(
        "rows that follow each other are alike",
        f"rows that follow each other have similar targets (correlation {found:.2f}): if their "
        "order is that of time or place, rows that were held out are not new, directions may come "
        "from the order alone, and scores and forecasts are too good.",
    )


def _in_groups(X: Array, labels: Labels, rng: np.random.Generator) -> Dependence | None:
    """Look for rows that are nearly copies of each other, with nearly the same target."""
    spread = X.std(axis=0)
    Z = ((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))[:, spread > 0]
    n, p = Z.shape
    count = min(_ANCHORS, n, int(_WORK / max(n * p, 1)) + 1)
    anchors = rng.permutation(n)[:count]
    closer, nearest = _nearness(Z, anchors)
    if closer > _CLOSER:
        return None
    mixed = np.column_stack([rng.permutation(column) for column in Z.T])
    if _nearness(mixed, anchors)[0] < _FREE:
        return None  # Columns with few values coincide by chance.
    if labels.kind == "numbers":
        ranks = _centred(labels.codes)
        own = ranks[anchors]
        found = float(own @ ranks[nearest]) / max(float(own @ own), 1e-300)
    else:
        shares = np.bincount(labels.codes) / n
        chance = float(shares @ shares)
        same = float((labels.codes[anchors] == labels.codes[nearest]).mean())
        found = (same - chance) / (1 - chance)
    if found < _ALIKE:
        return None
    return Dependence(
        "rows come in groups that are alike",
        f"rows come in groups with nearly the same columns and targets (correlation {found:.2f} "
        "with the nearest row): if a group is one subject or place, rows that were held out are "
        "not new, directions may tell groups apart, and scores and forecasts are too good. One "
        "row of each group, or its mean, is safe.",
    )


def _nearness(Z: Array, anchors: NDArray[np.intp]) -> tuple[float, NDArray[np.intp]]:
    """Return the distance of the nearest row over what is expected, and the nearest rows.

    The numbers of rows within two further distances give a dimension k, in which the distance of
    the nearest of m is m^(-1/k) times that of the furthest of them. The median over the anchors is
    returned.
    """
    n = len(Z)
    squares = (Z**2).sum(axis=1)
    gaps = squares[anchors, None] + squares - 2 * Z[anchors] @ Z.T
    gaps[np.arange(len(anchors)), anchors] = np.inf
    nearest = gaps.argmin(axis=1)
    first = np.sqrt(((Z[anchors] - Z[nearest]) ** 2).sum(axis=1))
    m = max(n // _FURTHER, 2)
    far = np.sqrt(np.maximum(np.partition(gaps, (m - 1, 4 * m - 1), axis=1), 0.0))
    near, further = far[:, m - 1], far[:, 4 * m - 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        k = np.log(4) / np.log(further / near)
        ratio = first / (near * m ** (-1 / k))
    return float(np.median(np.nan_to_num(ratio, nan=1.0, posinf=1.0))), nearest


def _centred(codes: NDArray[np.intp]) -> Array:
    """Return mid-ranks of codes, less their mean."""
    ranks = mid_ranks(codes, np.ones(len(codes)))
    return np.asarray(ranks - ranks.mean())
