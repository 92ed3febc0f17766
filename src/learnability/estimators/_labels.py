"""The target y as classes or ranked numbers, with its slices and scores.

Only the order of a numerical y is used (its weighted mid-ranks u in (0, 1)), so that every
estimate is unchanged when y is replaced by an increasing function of itself. Values that are equal
share a slice. Several outputs are cut into cells by k-means on their ranks, which are then classes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from learnability.errors import LearnabilityError

__all__ = ["Labels", "mid_ranks", "read_labels", "weighted_mean"]

Array = NDArray[np.float64]
_FEW = 10
"""At most this many values have probabilities one by one, whether ordered or not."""
_TWO = 2
"""Numbers with at most this many values are classes: their order does not matter."""
_TIES = 0.02
"""If one value has a larger share than this, the numbers have no density."""


@dataclass(frozen=True)
class Labels:
    """A target as the estimators use it.

    Attributes
    ----------
    kind : {"classes", "numbers"}
        Whether the order of the values means nothing, or is all that counts.
    codes : array, shape (n,)
        Number of the class or of the distinct value of each row.
    ranks : array, shape (n,)
        Mid-ranks in (0, 1).
    values : array
        The classes, or the distinct numbers.
    weights : array, shape (n,)
        Counts of the rows.
    """

    kind: str
    codes: NDArray[np.intp]
    ranks: Array
    values: NDArray[Any]
    weights: Array

    @property
    def scores(self) -> Array:
        """Normal scores of the ranks."""
        return np.asarray(ndtri(self.ranks))

    @property
    def tied(self) -> bool:
        """Whether some value is so frequent that the target has no density."""
        at = np.bincount(self.codes, weights=self.weights)
        return bool(at.max() > _TIES * at.sum() + 1)

    @property
    def coarse(self) -> bool:
        """Whether the values are so few that each has a probability: classes, or small counts."""
        return self.kind == "classes" or len(self.values) <= _FEW

    @property
    def sentence(self) -> str:
        """A sentence on how the target is read."""
        count = len(self.values)
        if self.kind == "classes":
            return f"The target is taken for {count} classes."
        said = "The target is taken for numbers, of which the order counts."
        if not self.coarse:
            return said
        return f"{said} It has {count} values: if they are names, give words (--task classes)."

    def slices(self, count: int) -> NDArray[np.intp]:
        """Return the slice of each row: its class, or one of `count` parts of equal weight.

        With a count of zero every value has its own slice.
        """
        if self.kind == "classes" or count == 0:
            return self.codes
        cut = np.minimum((self.ranks * count).astype(np.intp), count - 1)
        return np.asarray(np.unique(cut, return_inverse=True)[1])

    def take(self, rows: Any) -> Labels:
        """Return the labels of some rows; the ranks stay those of all rows."""
        return Labels(
            self.kind, self.codes[rows], self.ranks[rows], self.values, self.weights[rows]
        )

    def permuted(self, rng: np.random.Generator) -> Labels:
        """Return the labels in random order, so that nothing in X explains them."""
        return replace(self.take(rng.permutation(len(self.codes))), weights=self.weights)


def read_labels(y: Any, weights: Array) -> Labels:
    """Read a target: words, truth values and two numbers are classes, other numbers are ranked.

    Parameters
    ----------
    y : array, shape (n,) or (n, q)
        The target.
    weights : array, shape (n,)
        Counts of the rows.

    Returns
    -------
    Labels
    """
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim == 2:
        y = _cells(y, weights)
        values, codes = np.unique(y, return_inverse=True)
        return Labels("classes", codes, mid_ranks(codes, weights), values, weights)
    present = weights > 0
    if len(np.unique(y[present])) < 2:
        raise LearnabilityError(
            "`y` has one value or 1 class only, but nothing can be learned from a constant: give "
            "a target that varies."
        )
    values, codes = np.unique(y, return_inverse=True)
    numeric = np.issubdtype(y.dtype, np.number)
    kind = "numbers" if numeric and len(np.unique(y[present])) > _TWO else "classes"
    return Labels(kind, codes, mid_ranks(codes, weights), values, weights)


def mid_ranks(codes: NDArray[Any], weights: Array) -> Array:
    """Return the weighted share of smaller values plus half that of equal ones, for codes."""
    at = np.bincount(codes, weights=weights)
    below = np.cumsum(at) - at
    return np.asarray(((below + at / 2) / at.sum())[codes].clip(1e-9, 1 - 1e-9))


def weighted_mean(values: Array, weights: Array) -> tuple[float, float]:
    """Return the weighted mean of values, one per row, and its standard error."""
    total = float(weights.sum())
    mean = float(weights @ values) / total
    return mean, float(np.sqrt(weights**2 @ (values - mean) ** 2)) / total


def _cells(y: NDArray[Any], weights: Array, count: int = 10) -> NDArray[np.intp]:
    from sklearn.cluster import KMeans

    ranks = [mid_ranks(np.unique(column, return_inverse=True)[1], weights) for column in y.T]
    table = np.column_stack(ranks)
    count = min(count, len(np.unique(table, axis=0)), max(2, len(table) // 5))
    if count < 2:
        raise LearnabilityError("`y` has one value only: give a target that varies.")
    return np.asarray(
        KMeans(count, n_init=2, random_state=0).fit_predict(table, sample_weight=weights)
    )
