"""How many directions: held-out information, permutations, and the edge of the bulk.

cv            the smallest r whose held-out information is within one standard error of the best,
              where the best exceeds zero by three; r grows until two more directions add nothing.
permutation   given the directions found so far, the strongest moment of what they leave open is
              compared with its values after the white rows are shuffled against it.
bulk edge     the same statistic against its Gaussian null law: free, a screen only.

The first two err in different ways, so their agreement is the report.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.estimators._base import check_count
from learnability.estimators._blind_amp import WhiteRows
from learnability.estimators._channel import standardised
from learnability.estimators._judge import judge
from learnability.estimators._labels import Labels, read_labels
from learnability.estimators._staircase import residual_features, strength
from learnability.estimators._whitening import whiten
from learnability.estimators.message_passing_subspace import MessagePassingSubspace
from learnability.progress import tracked

__all__ = ["DimensionReport", "dimension_report"]

Array = NDArray[np.float64]
_SURE = 3.0
"""Standard errors above zero that any direction at all must reach."""
_STEPS = 20
"""Steps of message passing while directions are counted."""
_WIDEST = 150
"""More white coordinates than this are not shuffled: it would take too long."""


@dataclass(frozen=True)
class DimensionReport:
    """Number of directions by three rules.

    Attributes
    ----------
    cv : int
        By held-out information.
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
            f"directions: {self.cv} by held-out information, {shuffled} by permutation "
            f"({agreed[self.agree]}), {self.bulk_edge} above the bulk edge"
        )


def dimension_report(
    X: Any, y: Any, max_components: int = 5, permutations: int = 19, folds: int = 3,
    random_state: int = 0,
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

    Returns
    -------
    DimensionReport
    """
    check_count("max_components", max_components)
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    labels = read_labels(y, np.ones(len(X)))
    rank = whiten(X, np.ones(len(X)), "auto").rank
    most = min(max_components, rank)
    cv, scores, errors = by_information(X, y, labels, most, folds, random_state)
    shuffled, edge = _by_moments(X, y, labels, most, permutations, random_state, rank)
    agree = None if shuffled is None else shuffled == cv
    return DimensionReport(cv, shuffled, edge, agree, scores, errors)


def by_information(
    X: Array, y: Any, labels: Labels, most: int, folds: int, seed: int
) -> tuple[int, list[float], list[float]]:
    """The rule of held-out information: its choice, scores and errors from r = 0 on."""
    scores, errors = [0.0], [0.0]
    kept: list[Array] = [np.zeros(len(X))]
    best = 0
    for r in tracked(range(1, most + 1), "directions"):
        finder = MessagePassingSubspace(r, start="moments", n_iter=_STEPS, random_state=seed)
        verdict = judge(finder, X, y, labels, folds=folds, seed=seed, how="information")
        scores.append(verdict.score)
        errors.append(verdict.error)
        kept.append(verdict.rows)
        gain = verdict.rows - kept[best]
        if gain.mean() > 2 * gain.std() / np.sqrt(len(gain)):
            best = r
        if r >= best + 2:
            break
    if scores[best] <= _SURE * errors[best]:
        best = 0
    for r in range(1, best):
        loss = kept[best] - kept[r]
        if loss.mean() < loss.std() / np.sqrt(len(loss)):
            best = r
            break
    return best, scores, errors


def _by_moments(
    X: Array, y: Any, labels: Labels, most: int, permutations: int, seed: int, rank: int
) -> tuple[int | None, int]:
    """The rules of permutation and of the bulk edge."""
    rng = np.random.default_rng(seed)
    n = len(X)
    rows = WhiteRows(X, whiten(X, np.ones(n), "auto"))
    Z = rows.project(np.eye(rank))
    shuffled: int | None = None
    edge: int | None = None
    for s in range(most + 1):
        if s == 0:
            known, t = np.zeros((rank, 0)), np.zeros((n, 0))
        else:
            finder = MessagePassingSubspace(
                s, start="moments", n_iter=_STEPS, random_state=seed
            ).fit(X, y)
            t = standardised(finder.transform(X))[0]
            known = np.linalg.qr(rows.collect(t))[0]
        features = residual_features(labels, t)
        outside = Z - (Z @ known) @ known.T
        seen = strength(outside, features)
        if edge is None and seen <= 1 + 2 * rank ** (-2 / 3):
            edge = s
        if rank <= _WIDEST and shuffled is None:
            null = [strength(outside[rng.permutation(n)], features) for _ in range(permutations)]
            if seen <= max(null):
                shuffled = s
        if edge is not None and (shuffled is not None or rank > _WIDEST):
            break
    none = None if rank > _WIDEST else most
    return (none if shuffled is None else shuffled), (most if edge is None else edge)
