"""The columns that make a direction: standardised weights, with intervals from the bootstrap.

The weight of a column is its coefficient times its spread, and the squares of the weights of a
direction sum to one. In each bootstrap sample the rows get random counts, the directions are found
again from the present ones and rotated to match them; the spread of the weights gives intervals.
Where columns were dropped, only the others are resampled, and errors are rescaled to those that a
fit of all columns would have. Samples in which the finder sees nothing give back the directions
that it started from, and no spread: where there are such samples the intervals are undecided.
"""

from __future__ import annotations

import textwrap
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.estimators._confidence import coarse_columns, coarse_directions
from learnability.estimators._dependence import UNDECIDED
from learnability.estimators.message_passing_subspace import MessagePassingSubspace
from learnability.estimators.moment_subspace import MomentSubspace
from learnability.progress import tracked

__all__ = ["Loadings", "loadings"]

Array = NDArray[np.float64]
_NINETY = 1.645
_SHOWN = 5
_LEAST = 0.005
"""Smaller weights would be printed as zero, and are not shown."""
_MOST_ROWS = 5000
"""The largest number of rows that are resampled; errors are rescaled to all rows."""
_ALIKE = 1e-7
"""Directions of columns with a smaller share of the variance are left out of an inverse."""
_OTHERS = 3
"""Number of dropped columns that join those of directions to which no freedom is left."""
_POINTS = 20
"""Fewest different values of the part of a direction in coarse columns that fix its weights."""
_BLIND = 0.1
"""The largest share of bootstrap samples in which the finder may see nothing."""


@dataclass(frozen=True)
class Loadings:
    """Standardised weights of directions.

    Attributes
    ----------
    columns : list of str
        The columns.
    weights : array, shape (r, p)
        The weights.
    errors : array, shape (r, p)
        Their standard errors; NaN where the finder sees nothing in some of the bootstrap samples,
        and in directions that held-out rows do not support.
    supported : int or None
        Number of directions that held-out rows support, None where that is undecided.
    undecided : str
        Why there are no intervals, where there are none.
    """

    columns: list[str]
    weights: Array
    errors: Array
    supported: int | None = None
    undecided: str = "too little is seen in parts of the rows"

    def __str__(self) -> str:
        """Return the largest weights of each direction, one direction per line."""
        lines = []
        for number, (row, error) in enumerate(zip(self.weights, self.errors, strict=True), 1):
            order = [j for j in np.argsort(-np.abs(row))[:_SHOWN] if abs(row[j]) >= _LEAST]
            if np.isfinite(error).all():
                what = "90 %"
            elif self.supported is not None and number > self.supported:
                what = "not distinguishable from none"
            else:
                what = f"intervals undecided, {self.undecided}"
            words = ", ".join(_said(self.columns[j], row[j], _NINETY * error[j]) for j in order)
            rest = len(row) - len(order)
            more = f"; {rest} smaller" if rest else ""
            said = f"Direction {number}, standardised weights ({what}): {words}{more}."
            lines.append(textwrap.fill(said, 80, subsequent_indent="  ", break_long_words=False))
        return "\n".join(lines)


def loadings(
    found: Any, X: Any, y: Any, *, repeats: int = 20, seed: int = 0, sample_weight: Any = None
) -> Loadings:
    """Return standardised weights of the columns in the directions that were found.

    Parameters
    ----------
    found : IndexSubspace
        The fitted estimator.
    X : DataFrame or array, shape (n, p)
        The inputs it was fitted to.
    y : array
        The target.
    repeats : int
        Number of bootstrap samples.
    seed : int
        The seed of the samples.
    sample_weight : array, shape (n,), optional
        Counts of the rows.

    Returns
    -------
    Loadings
    """
    columns = [str(name) for name in getattr(X, "columns", range(np.shape(X)[1]))]
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    r = len(found.components_)
    given = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    centred = X - np.average(X, axis=0, weights=given)
    spread = np.sqrt(np.average(centred**2, axis=0, weights=given))
    rng, n = np.random.default_rng(seed), len(X)
    some = rng.permutation(len(X))[:_MOST_ROWS]
    whole_rows, X, y, given, centred = X, X[some], y[some], given[some], centred[some]
    whole = found._project(X)
    weights = _unit(found.components_ * spread)
    finder: Any = MessagePassingSubspace(
        r, start=found.components_, n_iter=12, staircase=False, random_state=seed
    )
    kept = np.arange(X.shape[1])
    if found.chosen_ == "elimination":
        kept = _with_others(found.estimator_.columns_, spread, r)
        finder.set_params(start=found.components_[:, kept])
    elif found.chosen_ == "sparse":
        finder = found.estimator_.for_folds()
    elif len(X) < 3 * found.rank_ or r > found.rank_:
        finder = MomentSubspace("sir", r, random_state=seed)
    drawn, blind = [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for _ in tracked(range(repeats), "bootstrap"):
            counts = rng.multinomial(len(X), np.full(len(X), 1 / len(X))) * given
            again = finder.fit(X[:, kept], y, sample_weight=counts)
            blind += getattr(again, "status_", "") == "start"
            seen = again.transform(X[:, kept])
            left, _, right = np.linalg.svd(seen.T @ whole, full_matrices=False)
            components = np.zeros_like(found.components_)
            components[:, kept] = (left @ right).T @ again.components_
            shares = counts / counts.sum()  # The spreads are those of the sample as well.
            own = np.sqrt(np.maximum(shares @ centred**2 - (shares @ centred) ** 2, 0.0))
            drawn.append(_unit(components * own))
    errors = np.sqrt(np.mean((np.array(drawn) - weights) ** 2, axis=0) * len(X) / n)
    if len(kept) < X.shape[1]:
        errors = _with_dropped(errors, kept, np.corrcoef(X[:, spread > 0].T), spread > 0)
    if blind > _BLIND * repeats:
        errors[:] = np.nan
    told = {}
    vague = _few_points(whole_rows, found.components_ * spread, spread)
    if vague.any():
        errors[vague] = np.nan
        told["undecided"] = "columns with few values may say the same with other weights"
    stand_ins = found.estimator_.stand_ins_ if found.chosen_ == "elimination" else []
    if stand_ins:
        errors[:] = np.nan
        told["undecided"] = "other columns could stand for some of these"
    if UNDECIDED in found.report_.undecided:
        errors[:] = np.nan
        told["undecided"] = found.report_.undecided[UNDECIDED]
    supported = found.report_.supported
    if supported is not None:
        errors[supported:] = np.nan
        supported = max(supported, found.report_.counted)
    return Loadings(columns, weights, errors, supported, **told)


def _with_others(kept: NDArray[np.intp], spread: Array, r: int) -> NDArray[np.intp]:
    """Return the kept columns, and some dropped ones where r directions have no freedom in them.

    A single direction of a single column never moves, whatever the rows.
    """
    if len(kept) > r:
        return kept
    others = np.setdiff1d(np.flatnonzero(spread > 0), kept)
    return np.sort(np.concatenate([kept, others[:_OTHERS]]))


def _few_points(X: Array, weights: Array, spread: Array) -> NDArray[np.bool_]:
    """Return which directions are mostly made of columns on which they take few values."""
    coarse = coarse_columns(X, weights)
    part = (X[:, coarse] / np.where(spread > 0, spread, 1.0)[coarse]) @ weights[:, coarse].T
    found = coarse_directions(X, weights)
    for j in np.flatnonzero(found):
        found[j] = len(np.unique(np.round(part[:, j], 6))) <= _POINTS
    return found


def _with_dropped(
    errors: Array, kept: NDArray[np.intp], correlation: Array, varies: NDArray[np.bool_]
) -> Array:
    """Return the errors (r, p) that weights would have if no column had been dropped.

    Those of the columns that were kept hold only if the others have weight zero. The variance of a
    weight is in proportion to the diagonal of the inverse correlation matrix: it grows by the ratio
    of those of all columns and of the kept ones.
    """
    place = np.cumsum(varies) - 1
    size = np.zeros(len(varies))
    size[varies] = np.sqrt(np.diag(np.linalg.pinv(correlation, rcond=_ALIKE, hermitian=True)))
    within = correlation[np.ix_(place[kept], place[kept])]
    own = np.sqrt(np.diag(np.linalg.pinv(within, rcond=_ALIKE, hermitian=True)))
    each = errors[:, kept] / own
    found: Array = np.median(each, axis=1, keepdims=True) * size
    found[:, kept] = each * np.maximum(size[kept], own)
    return found


def _said(column: str, weight: float, margin: float) -> str:
    """Return the weight of a column in words, with its interval if that is known."""
    words = f"{column} {weight:+.2f}"
    if np.isnan(margin):
        return words
    low, high = max(weight - margin, -1.0), min(weight + margin, 1.0)
    return f"{words} ({low:+.2f} to {high:+.2f})"


def _unit(weights: Array) -> Array:
    """Return rows whose squares sum to one."""
    size = np.sqrt((weights**2).sum(axis=1, keepdims=True))
    return np.asarray(weights / np.maximum(size, 1e-300))
