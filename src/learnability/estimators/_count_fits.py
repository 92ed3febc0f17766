"""The fits, scores and tests that a count of directions needs, each made only if needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.estimators._base import SubspaceEstimator
from learnability.estimators._candidates import candidate
from learnability.estimators._channel import standardised
from learnability.estimators._judge import (
    Verdict,
    halves,
    judge,
    row_folds,
    score_coordinates,
)
from learnability.estimators._labels import Labels, weighted_mean
from learnability.estimators._staircase import residuals, strength
from learnability.estimators._whitening import Whitening
from learnability.estimators.message_passing_subspace import MessagePassingSubspace

__all__ = ["WIDEST", "CountFits"]

Array = NDArray[np.float64]
_MOST_NUMBERS = 20_000_000
"""The last two rules use a part of tables with more white coordinates than this in all rows."""
_BRIEF = 15
"""Steps of message passing for a direction that does not show in moments."""
_CLOSE_FOLDS = 5
"""Folds of the closer look at the number of directions."""
WIDEST = 150
"""With more white coordinates than this labels are not shuffled: it would take too long."""


@dataclass
class CountFits:
    """The fits, scores and tests of a count, each made once and only if needed."""

    X: Array
    y: Any
    labels: Labels
    whitening: Whitening
    folds: int
    seed: int
    how: str
    permutations: int
    few: bool
    few_names: tuple[str, ...]
    fits: dict[int, SubspaceEstimator] = field(default_factory=dict)
    tests: dict[int, tuple[bool | None, bool]] = field(default_factory=dict)
    brief: set[int] = field(default_factory=set)
    close: dict[int, Array] = field(default_factory=dict)

    def finder(self, r: int, *, more: bool = True) -> SubspaceEstimator:
        """Return the finder of r directions where there are enough rows.

        Where moments show no further direction, they are the only start, and neither a staircase
        nor a long run is tried.
        """
        # Rows that are not Gaussian need other starts, too.
        start = "moments" if self.how == "information" or not more else "auto"
        found = MessagePassingSubspace(r, start=start, staircase=more, random_state=self.seed)
        return found if more else found.set_params(n_iter=_BRIEF)

    def fit(self, r: int) -> SubspaceEstimator:
        """Return the fit of r directions to all rows."""
        if r not in self.fits:
            self.fits[r] = self.finder(r).fit(self.X, self.y, sample_weight=self.labels.weights)
        return self.fits[r]

    def verdict(self, r: int, *, more: bool) -> Verdict:
        """Return the held-out score of r directions; information is measured on two halves."""
        X, y, labels, seed = self.X, self.y, self.labels, self.seed
        if self.few:
            finders = (candidate(name, r, seed) for name in self.few_names)
            judged = [
                judge(one, X, y, labels, folds=self.folds, seed=seed, how=self.how)
                for one in finders
            ]
            found = max(judged, key=lambda verdict: verdict.score)
            self.fits[r] = found.fitted
            return found
        if self.how == "cv":
            found = judge(
                self.finder(r, more=more), X, y, labels, folds=self.folds, seed=seed,
                how=self.how, fitted=self.fits.get(r),
            )  # fmt: skip
            if more:
                self.fits[r] = found.fitted
            return found
        views = halves(self.finder(r, more=more), X, y, labels, seed)
        held_out = np.where(next(row_folds(len(X), 2, seed))[:, None], *views)
        rows = score_coordinates(labels, held_out, seed)
        mean, error = weighted_mean(rows, labels.weights)
        nothing = np.zeros((0, X.shape[1]))
        return Verdict(mean, error, rows, held_out, nothing, None, held_out, views)

    def closer(self, r: int) -> Array:
        """Return the information of r directions on each row, by fits to four fifths of them."""
        if r not in self.close:
            verdict = judge(
                candidate("message_passing", r, self.seed), self.X, self.y, self.labels,
                folds=_CLOSE_FOLDS, seed=self.seed, how="information",
            )  # fmt: skip
            self.close[r] = verdict.rows
        return self.close[r]

    def remains(self, s: int) -> tuple[bool | None, bool]:
        """Return whether moments show more than s directions, by permutations and null law."""
        if s not in self.tests:
            self.tests[s] = self._test(s)
        return self.tests[s]

    def more(self, s: int) -> bool | None:
        """Return whether moments show more than s directions; None where that is not looked at."""
        return self.remains(s)[0]

    def _test(self, s: int) -> tuple[bool | None, bool]:
        rank = self.whitening.rank
        some = slice(None, None, -(-len(self.X) * rank // _MOST_NUMBERS))
        part, labels = self.X[some], self.labels.take(some)
        weights = labels.weights
        Z = self.whitening.rows(part)
        known, t = np.zeros((rank, 0)), np.zeros((len(part), 0))
        if s:
            t = standardised(self.fit(s).transform(part), weights)[0]
            known = np.linalg.qr(Z.T @ (t * weights[:, None]))[0]
        left = residuals(labels, t)
        outside = Z - (Z @ known) @ known.T
        seen = strength(outside, left.features(), weights)
        above = max(seen) > 1 + 2 * rank ** (-2 / 3)
        if rank > WIDEST:
            return None, above
        rng = np.random.default_rng([self.seed, s])
        null: list[tuple[float, float]] = []
        while len(null) < self.permutations:
            null.append(strength(outside, left.redrawn(rng).features(), weights))
        return _stands_out(seen, null), above


def _stands_out(seen: tuple[float, float], null: list[tuple[float, float]]) -> bool:
    """Return whether one of the moments exceeds all those of shuffled labels.

    Each is divided by its own spread: heavy tails of x make second moments of noise large, and that
    must not hide a first moment.
    """
    drawn = np.array([seen, *null])
    spread = (drawn - drawn.mean(axis=0)) / (drawn.std(axis=0) + 1e-12)
    furthest = spread.max(axis=1)
    return bool(furthest[0] > furthest[1:].max())
