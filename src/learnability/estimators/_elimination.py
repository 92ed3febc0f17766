"""Directions made of fewer columns, which a criterion chooses, and their number.

A finder gives directions in all columns. Its weakest columns are dropped little by little, and an
extended Bayesian criterion chooses their number: with fewer columns the directions have fewer free
parameters, and the choices of columns are counted. Directions that use most of the columns are
returned as they are.

References
----------
Chen and Chen, Biometrika 95 (2008) 759, for the criterion; Kass and Raftery, J. Am. Stat. Assoc. 90
(1995) 773, for what is very strong evidence; Guyon, Weston, Barnhill, Vapnik, Machine
Learning 46 (2002) 389, for recursive elimination.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from learnability.estimators._base import SubspaceEstimator, fixed_signs
from learnability.estimators._column_search import ANCHORS, STRONG, ColumnSearch, Made
from learnability.estimators._judge import Verdict, judge
from learnability.estimators._labels import Labels, read_labels, weighted_mean
from learnability.estimators.gradient_subspace import GradientSubspace
from learnability.estimators.moment_subspace import MomentSubspace

__all__ = ["EliminatedSubspace", "can_drop", "count_by_worth", "in_few_columns"]

Array = NDArray[np.float64]
_LOCAL_WORK = 3e7
"""Largest n p^2 for which columns are dropped."""
_BEST = 2
"""Number of starts from which columns are dropped, beside the columns in the order of their own."""
_FURTHER = 3.0
"""Logarithm of the odds that are strong evidence: what one direction more needs."""
_FAR = 20.0
"""Nats behind the best number from which another direction is tried only where moments show it."""
_STARTS = 3
"""Number of candidates from which columns are dropped."""
_WORSE = 1.0
"""Standard errors by which the result may be behind the best candidate on held-out rows."""
_SAID = 3.0
"""Standard errors above which that candidate has said anything."""
_EACH = 3
"""The least number of rows per independent column."""


class EliminatedSubspace(SubspaceEstimator):
    """The directions of the first of some finders, or others made of fewer columns.

    Parameters
    ----------
    finders : list of subspace estimators
        Finders of directions in all columns, each a start of the elimination.
    n_components : int, optional
        The number of directions: the first ones of each finder. By default all of the first finder.
    brief : bool
        Whether the criterion of the result, and columns that could stand for others, are not asked
        for, as in folds.

    Attributes
    ----------
    components_ : array, shape (r, p)
        The directions, orthonormal in the metric of the covariance of the columns that were kept,
        and zero elsewhere.
    center_ : array, shape (p,)
        Mean of x.
    columns_ : array of int
        The columns that were kept.
    worth_ : float
        Value of the criterion; nothing is worth 0.
    rank_ : int
        Number of independent columns of the table.
    shrinkage_ : float
        Weight of the identity in the correlation matrix of the columns that were kept.
    inner_ : subspace estimator
        The fit to all columns that was the start.
    stand_ins_ : list of (int, int)
        Kept columns and dropped ones that would do as well, with nearly the same values.
    """

    def __init__(
        self, finders: Any, n_components: int | None = None, brief: bool = False
    ) -> None:  # fmt: skip
        self.finders = finders
        self.n_components = n_components
        self.brief = brief

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> EliminatedSubspace:
        """Find the directions, and drop columns; as other finders do, with counts of the rows."""
        X, y, weights = self._read_counted(X, y, sample_weight)
        fits = [clone(finder).fit(X, y, sample_weight=weights) for finder in self.finders]
        starts = [(one, one.components_) for one in fits]
        return self.drop(X, y, read_labels(y, weights), starts)

    def drop(
        self, X: Any, y: Any, labels: Labels, starts: list[tuple[Any, Array]],
        seen: EliminatedSubspace | None = None, before: EliminatedSubspace | None = None,
    ) -> EliminatedSubspace:  # fmt: skip
        """Drop columns, from directions that were found already.

        Parameters
        ----------
        X : array, shape (n, p)
            The inputs.
        y : array
            The target.
        labels : Labels
            The same as labels, with the counts of the rows.
        starts : list of (subspace estimator, array of shape (r, p))
            Fits to all columns and their directions, the cheapest first.
        seen : EliminatedSubspace, optional
            Another result for as many directions: columns that it tried are not tried again, and it
            is returned where nothing better is found.
        before : EliminatedSubspace, optional
            A result for one direction less, from which one more is sought.

        Returns
        -------
        EliminatedSubspace
        """
        self.n_features_in_ = X.shape[1]
        self.inner_, found = starts[0]
        self.components_ = found[: self.n_components]
        self.columns_ = np.arange(X.shape[1])
        self.center_, self.rank_ = self.inner_.center_, self.inner_.rank_
        self.shrinkage_ = self.inner_.shrinkage_
        self.worth_, self.stand_ins_ = 0.0, []
        self._found: dict[tuple[int, ...], Array] = {}
        self._best: Made | None = None
        r = len(self.components_)
        if not r or not can_drop(X, labels, self.rank_):
            return self
        path = ColumnSearch(X, y, labels, self.center_, r, brief=self.brief)
        if seen is not None and seen._best is not None and len(seen.components_) == r:
            path.found |= seen._found
            path.made.append(seen._best)
        for fitted, start in starts:
            path.start = fitted
            path.look(start[:r], self.columns_, fitted.shrinkage_)
        ranked = sorted(path.made, key=lambda one: -one.worth)
        for one in ranked[:_BEST]:
            path.start = one.start
            path.down(one.components)
        path.start = path.best.start
        path.down(path.alone())
        path.start = path.best.start
        if before is not None:
            path.grow(before.components_, before.columns_)
        best = path.exchange()
        if seen is not None and best is seen._best:
            return seen
        best = path.finish(best)
        self.worth_ = path.sure(best)
        self.inner_, self.columns_, self.shrinkage_ = best.start, best.columns, best.shrinkage
        self._found, self._best = path.found, best
        self.components_ = fixed_signs(best.components, path.spread)
        if not self.brief:
            self.stand_ins_ = path.stand_ins(best.components, best.columns)
        return self

    def for_folds(self) -> EliminatedSubspace:
        """Return an unfitted copy of as many directions with the start that was best."""
        return EliminatedSubspace([self.inner_.for_folds()], len(self.components_), brief=True)

    @property
    def landings_(self) -> list[tuple[int, float]]:
        """Landings of the staircase of the finder, if it climbs one."""
        found: list[tuple[int, float]] = self.inner_.landings_
        return found


def can_drop(X: Any, labels: Labels, rank: int) -> bool:
    """Return whether there are enough rows to drop columns, and not too many."""
    return bool(len(X) * X.shape[1] ** 2 <= _LOCAL_WORK and labels.weights.sum() >= _EACH * rank)


def in_few_columns(
    X: Any, y: Any, labels: Labels, verdicts: dict[str, Verdict], chosen: str, *, folds: int,
    seed: int, how: str, known: EliminatedSubspace | None = None,
) -> str:  # fmt: skip
    """Choose among the candidates by the criterion, and drop columns.

    Directions made of fewer columns join the verdicts as "elimination", where there is very strong
    evidence for them and they are not behind on held-out rows.

    Parameters
    ----------
    X, y : array
        The data.
    labels : Labels
        The labels as read from y, with the counts of the rows.
    verdicts : dict
        Name -> verdict of each candidate.
    chosen : str
        The candidate that held-out rows choose.
    folds, seed : int
        Number of folds and seed of the split.
    how : {"information", "cv"}
        What is scored.
    known : EliminatedSubspace, optional
        The fit that counted the directions.

    Returns
    -------
    str
        The name of the best, which is `chosen` where nothing speaks clearly.
    """
    best = verdicts[chosen]
    same = {  # Fewer directions than those of the chosen candidate are no answer.
        name: one for name, one in verdicts.items() if one.components.shape == best.components.shape
    }
    least = sorted((one.score for one in same.values()), reverse=True)[:_STARTS][-1]
    starts = [one for one in reversed(same.values()) if one.score >= least or one is best]
    dropped = EliminatedSubspace([]).drop(
        X, y, labels, [(one.fitted, one.components) for one in starts], known
    )
    if known is not None and known.worth_ > dropped.worth_:
        dropped = known
    sure = any(one.score > _SAID * one.error for one in same.values())
    if len(dropped.columns_) == X.shape[1]:
        own = np.abs(dropped.components_)
        nearest = min(same, key=lambda name: float(np.abs(abs(same[name].components) - own).max()))
        return nearest if sure else chosen
    if dropped.worth_ <= STRONG:
        return chosen
    found = judge(dropped, X, y, labels, folds=folds, seed=seed, how=how, fitted=dropped)
    verdicts["elimination"] = found
    # Message passing may have been judged by its own fields, which are not those of the folds.
    judged = [one for one in same.values() if len(one.rows) == len(found.rows)]
    if judged:
        rival = max(judged, key=lambda verdict: verdict.score)
        behind, error = weighted_mean(rival.rows - found.rows, labels.weights)
        if rival.score > _SAID * rival.error and behind > _WORSE * error:
            return chosen
    return "elimination"


def count_by_worth(
    X: Any, y: Any, labels: Labels, most: int, seed: int,
    fits: dict[int, Any] | None = None, more: Callable[[int], bool | None] | None = None,
) -> tuple[int, list[float], dict[int, Any]]:  # fmt: skip
    """Return the number of directions by the criterion, its values, and the fits.

    Starts are local gradients, a kernel machine, moments, and columns that show in what one
    direction less leaves open. One direction more than the best number so far is tried, and another
    one where that is not far behind, or where `more` directions show in moments. That there is any
    needs very strong evidence, and of the others the smallest number is taken whose value is within
    strong evidence of the best.
    """
    worth = [0.0]
    fits = {} if fits is None else fits
    same = [  # Their directions are the first ones of more.
        MomentSubspace("dr", most, random_state=seed),
        GradientSubspace("agop", most, random_state=seed),
    ]
    for one in same:
        one.fit(X, y, labels.weights)
    for r in range(1, most + 1):
        best = int(np.argmax(worth))
        if r == best + 2 and worth[-1] < worth[best] - _FAR and not (more and more(best)):
            break
        if r > best + 2:
            break
        local = GradientSubspace("opg", r, n_anchors=ANCHORS, random_state=seed)
        local.fit(X, y, labels.weights)
        starts = [(one, one.components_) for one in (local, *same)]
        fits[r] = EliminatedSubspace([]).drop(X, y, labels, starts, before=fits.get(r - 1))
        worth.append(fits[r].worth_)
    count = 1 + int(np.argmax(np.array(worth[1:]) >= max(worth) - _FURTHER))
    return count if max(worth) > STRONG else 0, worth, fits
