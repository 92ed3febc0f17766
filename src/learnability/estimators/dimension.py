"""How many directions: held-out rows, permutations, and the edge of the bulk.

cv            the smallest r whose held-out information, or score of a machine on rows that are not
              Gaussian, is within one standard error of the best, where the best exceeds zero by
              three; r grows until two more directions add nothing.
permutation   given the directions found so far, the strongest moment of what they leave open is
              compared with its values when the label depends on their coordinates alone: its ranks
              given them are shuffled, classes are drawn anew.
bulk edge     the same statistic against its Gaussian null law: a screen only, no further than
              the other two have looked.

The first two err in different ways, so their agreement is the report.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from learnability.estimators._base import check_count, read_weights
from learnability.estimators._channel import standardised
from learnability.estimators._judge import Verdict, judge
from learnability.estimators._labels import Labels, read_labels, weighted_mean
from learnability.estimators._staircase import residuals, strength
from learnability.estimators._whitening import Whitening, whiten
from learnability.estimators.message_passing_subspace import MessagePassingSubspace
from learnability.progress import tracked

__all__ = ["DimensionReport", "count_directions", "dimension_report"]

Array = NDArray[np.float64]
_SURE = 3.0
"""Standard errors above zero that any direction at all must reach."""
_MOST_NUMBERS = 20_000_000
"""Of tables with more white coordinates than this in all rows, the last two rules take a part."""
_WIDEST = 150
"""More white coordinates than this are not shuffled: it would take too long."""


@dataclass(frozen=True)
class DimensionReport:
    """Number of directions by three rules.

    Attributes
    ----------
    cv : int
        By held-out rows.
    permutation : int or None
        By permutations; None where there are too many coordinates to shuffle.
    bulk_edge : int
        By the Gaussian null law.
    agree : bool or None
        Whether cv and permutation say the same.
    scores, errors : list of float
        Held-out information of r = 0, 1, ... and its standard error.
    """

    cv: int
    permutation: int | None
    bulk_edge: int
    agree: bool | None
    scores: list[float]
    errors: list[float]

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain numbers."""
        return asdict(self)

    def __str__(self) -> str:
        """One sentence a rule."""
        shuffled = "not run" if self.permutation is None else str(self.permutation)
        agreed = {True: "they agree", False: "they do not agree", None: "one rule only"}
        return (
            f"directions: {self.cv} by held-out rows, {shuffled} by permutation "
            f"({agreed[self.agree]}), {self.bulk_edge} above the bulk edge"
        )


def dimension_report(
    X: Any, y: Any, max_components: int = 5, permutations: int = 19, folds: int = 3,
    random_state: int = 0, sample_weight: Any = None,
) -> DimensionReport:  # fmt: skip
    """Find the number of directions by three rules.

    Parameters
    ----------
    X : array, shape (n, p)
        The inputs.
    y : array, shape (n,) or (n, outputs)
        The target.
    max_components : int
        Largest number that is tried.
    permutations : int
        Number of shuffles at each step.
    folds : int
        Folds of the held-out information.
    random_state : int
        Fixes everything.
    sample_weight : array, shape (n,), optional
        Counts of the rows.

    Returns
    -------
    DimensionReport
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    labels = read_labels(y, read_weights(X, sample_weight))
    return count_directions(
        X, y, labels, max_components, permutations=permutations, folds=folds, seed=random_state
    )[0]


@threadpool_limits.wrap(limits=1, user_api="blas")  # Small matrices: threads would wait.
def count_directions(
    X: Array, y: Any, labels: Labels, most: int, *, permutations: int = 19, folds: int, seed: int,
    how: str = "information",
) -> tuple[DimensionReport, dict[int, Verdict]]:  # fmt: skip
    """The report, and the verdict on each number of directions that was tried."""
    whitening = whiten(X, labels.weights, "auto")
    most = min(check_count("max_components", most), whitening.rank)
    cv, verdicts = by_held_out_rows(X, y, labels, most, folds, seed, how)
    fits = {r: verdict.fitted for r, verdict in verdicts.items()}
    shuffled, edge = _by_moments(X, y, labels, most, permutations, seed, whitening, fits)
    report = DimensionReport(
        cv, shuffled, edge, None if shuffled is None else shuffled == cv,
        [0.0, *(verdict.score for verdict in verdicts.values())],
        [0.0, *(verdict.error for verdict in verdicts.values())],
    )  # fmt: skip
    return report, verdicts


def _finder(r: int, seed: int, start: str = "moments") -> MessagePassingSubspace:
    return MessagePassingSubspace(r, start=start, random_state=seed)


def by_held_out_rows(
    X: Array, y: Any, labels: Labels, most: int, folds: int, seed: int, how: str
) -> tuple[int, dict[int, Verdict]]:
    """The rule of held-out information, or score: its choice, and the verdicts from r = 1 on."""
    start = "moments" if how == "information" else "auto"  # No Gaussian rows: begin anywhere.
    verdicts: dict[int, Verdict] = {}

    def gain(many: int, few: int) -> tuple[float, float]:
        """What more directions say beyond fewer, and its standard error."""
        rows = verdicts[many].rows - (verdicts[few].rows if few else 0.0)
        return weighted_mean(rows, labels.weights)

    best = 0
    for r in tracked(range(1, most + 1), "directions"):
        finder = _finder(r, seed, start)
        verdicts[r] = judge(finder, X, y, labels, folds=folds, seed=seed, how=how)
        more, error = gain(r, best)
        if more > 2 * error:
            best = r
        if r >= best + 2:
            break
    if best and verdicts[best].score <= _SURE * verdicts[best].error:
        best = 0
    for r in range(1, best):
        more, error = gain(best, r)
        if more < error:
            best = r
            break
    return best, verdicts


def _by_moments(
    X: Array, y: Any, labels: Labels, most: int, permutations: int, seed: int,
    whitening: Whitening, fits: dict[int, MessagePassingSubspace],
) -> tuple[int | None, int]:  # fmt: skip
    """The rules of permutation and of the bulk edge."""
    rng = np.random.default_rng(seed)
    rank = whitening.rank
    some = slice(None, None, -(-len(X) * rank // _MOST_NUMBERS))
    part, counts, labels = X[some], labels.weights, labels.take(some)
    weights, n = labels.weights, len(part)
    Z = whitening.rows(part)
    shuffled: int | None = None
    edge: int | None = None
    for s in range(most + 1):
        if shuffled is not None and s not in fits:
            break
        known, t = np.zeros((rank, 0)), np.zeros((n, 0))
        if s:
            if s not in fits:
                fits[s] = _finder(s, seed).fit(X, y, sample_weight=counts)
            t = standardised(fits[s].transform(part), weights)[0]
            known = np.linalg.qr(Z.T @ (t * weights[:, None]))[0]
        left = residuals(labels, t)
        outside = Z - (Z @ known) @ known.T
        seen = strength(outside, left.features(), weights)
        if edge is None and seen <= 1 + 2 * rank ** (-2 / 3):
            edge = s
        if rank <= _WIDEST and shuffled is None:
            null = (
                strength(outside, left.redrawn(rng).features(), weights)
                for _ in range(permutations)
            )
            if any(seen <= one for one in null):
                shuffled = s
        if edge is not None and (shuffled is not None or rank > _WIDEST):
            break
    none = None if rank > _WIDEST else most
    return (none if shuffled is None else shuffled), (s if edge is None else edge)
