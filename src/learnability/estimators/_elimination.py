"""Directions made of fewer columns: the weakest columns are dropped little by little.

A finder gives directions in all columns. Those columns are kept whose standardised weights are
largest, local gradients find the directions again in them, which ranks the columns anew, and so on
down to as many columns as directions. In-sample information of the coordinates falls as columns
with something to say are dropped, and the extended Bayesian criterion

    n I(m) - r (m - r) log(n) / 2 - log C(p, m)

chooses their number m among p: with fewer columns the directions have fewer free parameters, and
the last term counts the choices. Directions that use most of the columns are returned as they are.

References
----------
Chen and Chen, Biometrika 95 (2008) 759, for the criterion; Kass and Raftery, J. Am. Stat. Assoc. 90
(1995) 773, for what is very strong evidence; Guyon, Weston, Barnhill, Vapnik, Machine
Learning 46 (2002) 389, for recursive elimination.
"""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from sklearn.base import clone

from learnability.estimators._base import SubspaceEstimator, fixed_signs
from learnability.estimators._judge import Verdict, judge, score_coordinates
from learnability.estimators._labels import Labels, mid_ranks, read_labels, weighted_mean
from learnability.estimators._whitening import whiten
from learnability.estimators.gradient_subspace import GradientSubspace
from learnability.estimators.message_passing_subspace import MessagePassingSubspace
from learnability.estimators.moment_subspace import MomentSubspace

__all__ = ["EliminatedSubspace", "can_drop", "count_by_worth", "in_few_columns"]

Array = NDArray[np.float64]
_KEPT = 0.6
"""Share of the columns that is kept in each round."""
_ANCHORS = 200
"""Of the local gradients."""
_LOCAL_WORK = 3e7
"""Largest n p^2 for which columns are dropped."""
_STEPS = 15
"""Of message passing in the columns that were kept."""
_CELLS = 6
"""Slices of a column, and of the target, in a table of both."""
_NEAR = 0.7
"""Correlation from which a dropped column may take the place of one that was kept."""
_SPLITS = range(3)
"""Splits of the rows for the channel, over which information is averaged."""
_HOPELESS = 20.0
"""Nats by which one split may be behind the best so far for the others to be looked at."""
_STARTS = 3
"""Number of candidates from which columns are dropped."""
_WORSE = 1.0
"""Standard errors by which the result may be behind the best candidate on held-out rows."""
_SAID = 3.0
"""Standard errors above which that candidate has said anything."""
_STRONG = 5.0
"""Logarithm of the odds that are very strong evidence (Kass and Raftery)."""
_VARIES = 1e-6
"""Least size of the row of a column that varies in the factor that whitens standard columns."""
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

    def __init__(self, finders: Any, n_components: int | None = None) -> None:
        self.finders = finders
        self.n_components = n_components

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> EliminatedSubspace:
        """Find the directions, and drop columns; as other finders do, with counts of the rows."""
        X, y, weights = self._read_counted(X, y, sample_weight)
        fits = [clone(finder).fit(X, y, sample_weight=weights) for finder in self.finders]
        starts = [(one, one.components_) for one in fits]
        return self.drop(X, y, read_labels(y, weights), starts)

    def drop(
        self, X: Any, y: Any, labels: Labels, starts: list[tuple[Any, Array]],
        seen: Any = None,
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
            Another result for as many directions: columns that it tried are not tried again.

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
        self.worth_, self.stand_ins_, self._found = 0.0, [], {}
        r = len(self.components_)
        if not r or not can_drop(X, labels, self.rank_):
            return self
        path = _Path(X, y, labels, self.center_, r)
        if seen is not None and len(seen.components_) == r:
            path.found |= seen._found
        for fitted, start in starts:
            if path.look(start[:r], self.columns_, fitted.shrinkage_):
                self.inner_ = fitted
        for fitted, start in (*starts, (self.inner_, path.alone())):
            if len(start) >= r and path.down(start[:r]):
                self.inner_ = fitted
        path.finish()
        self._found = path.found
        self.worth_, self.columns_, self.shrinkage_ = path.worth, path.columns, path.shrinkage
        self.components_ = fixed_signs(path.components, path.spread)
        self.stand_ins_ = path.stand_ins()
        return self

    def for_folds(self) -> EliminatedSubspace:
        """Return an unfitted copy of as many directions with the start that was best."""
        return EliminatedSubspace([self.inner_.for_folds()], len(self.components_))

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
    if dropped.worth_ <= _STRONG:
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
    X: Any, y: Any, labels: Labels, most: int, seed: int
) -> tuple[int, list[float], dict[int, EliminatedSubspace]]:
    """Return the number of directions by the criterion, its values, and the fits.

    Starts are local gradients, a kernel machine and moments. Two directions more than the best
    number so far are tried. The number is the smallest whose value is within `_STRONG` of the best:
    a direction needs very strong evidence.
    """
    worth, fits = [0.0], {}
    same = [  # Their directions are the first ones of more.
        MomentSubspace("dr", most, random_state=seed),
        GradientSubspace("agop", most, random_state=seed),
    ]
    for one in same:
        one.fit(X, y, labels.weights)
    for r in range(1, most + 1):
        if r > int(np.argmax(worth)) + 2:
            break
        local = GradientSubspace("opg", r, n_anchors=_ANCHORS, random_state=seed)
        local.fit(X, y, labels.weights)
        starts = [(one, one.components_) for one in (local, *same)]
        fits[r] = EliminatedSubspace([]).drop(X, y, labels, starts)
        worth.append(fits[r].worth_)
    return int(np.argmax(np.array(worth) >= max(worth) - _STRONG)), worth, fits


class _Path:
    """The best directions so far, along rounds of elimination.

    Directions in the same columns are found once, whatever the start.
    """

    def __init__(self, X: Any, y: Any, labels: Labels, center: Array, r: int) -> None:
        self.X, self.y, self.labels, self.r = X, y, labels, r
        self.centred = X - center
        white = whiten(X, labels.weights, "exact")
        self.spread = white.scale
        self.varies = np.abs(white.factor).max(axis=1) * white.scale > _VARIES
        self.worth = -np.inf
        self.found: dict[tuple[int, ...], Array] = {}

    def told(self, t: Array, least: float = -np.inf) -> float:
        """Return the information of coordinates (n, r) in nats of all rows.

        Where one split of the rows tells far less than `least`, the others are left out.
        """
        each: list[float] = []
        for split in _SPLITS:
            each.append(float(self.labels.weights @ score_coordinates(self.labels, t, split)))
            if each[0] < least - _HOPELESS:
                break
        return float(np.mean(each))

    def look(self, components: Array, columns: NDArray[np.intp], shrinkage: float) -> bool:
        """Keep directions if they are the best so far, and return whether they are."""
        p, m, r = self.X.shape[1], len(columns), self.r
        if len(components) < r:
            return False
        fewer = r * (m - r) * np.log(self.labels.weights.sum()) / 2 + _choices(p, m)
        worth = self.told(self.centred @ components.T, self.worth + fewer) - fewer
        if worth <= self.worth:
            return False
        self.worth, self.components = worth, components
        self.columns, self.shrinkage = columns, shrinkage
        return True

    def within(self, finder: Any, columns: NDArray[np.intp]) -> tuple[Array, bool]:
        """Return directions made of some columns, and whether they are the best so far."""
        fitted = finder.fit(self.X[:, columns], self.y, sample_weight=self.labels.weights)
        components = np.zeros((len(fitted.components_), self.X.shape[1]))
        components[:, columns] = fitted.components_
        return components, self.look(components, columns, fitted.shrinkage_)

    def down(self, components: Array) -> bool:
        """Go down from directions in all columns, and return whether that led to the best."""
        p, r = self.X.shape[1], self.r
        columns, best = np.arange(p), False
        for m in _sizes(p, r)[1:]:
            strength = ((components[:, columns] * self.spread[columns]) ** 2).sum(axis=0)
            columns = np.sort(columns[np.argsort(-strength, kind="stable")[:m]])
            key = tuple(columns.tolist())
            if key not in self.found:
                finder = GradientSubspace("opg", r, n_anchors=_ANCHORS, random_state=0)
                self.found[key], better = self.within(finder, columns)
                best = best or better
            components = self.found[key]
            if len(components) < r:
                break
        return best

    def alone(self) -> Array:
        """Return a start (r, p) that ranks columns by what each alone says about the target.

        It is the excess of chi squared of a table of their slices over that of chance.
        """
        labels, found = self.labels, np.zeros((self.r, self.X.shape[1]))
        y = labels.slices(_CELLS)
        for j, column in enumerate(self.X.T):
            values = np.unique(column, return_inverse=True)[1]
            x = np.minimum((mid_ranks(values, labels.weights) * _CELLS).astype(int), _CELLS - 1)
            table = np.zeros((_CELLS, y.max() + 1))
            np.add.at(table, (x, y), labels.weights)
            table = table[table.any(axis=1)]
            chance = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
            freedom = max((len(table) - 1) * y.max(), 1)
            excess = float(((table - chance) ** 2 / chance).sum()) / freedom
            found[0, j] = np.sqrt(excess) / self.spread[j] * self.varies[j]
        return found

    def stand_ins(self) -> list[tuple[int, int]]:
        """Return kept columns and dropped ones by which they can be replaced without evidence."""
        kept, weights = self.columns, self.labels.weights[:, None]
        dropped = np.setdiff1d(np.arange(self.X.shape[1]), kept)
        Z = self.centred / self.spread
        near = np.abs(Z[:, kept].T @ (Z[:, dropped] * weights)) > _NEAR * weights.sum()
        if not near.any():
            return []
        t = self.centred @ self.components.T
        least, found, root = self.told(t) - _STRONG, [], np.sqrt(weights)
        for i, j in np.argwhere(near):
            others = Z[:, [*np.delete(kept, i), dropped[j]]]
            again = others @ np.linalg.lstsq(others * root, t * root, rcond=None)[0]
            if self.told(again) > least:
                found.append((int(kept[i]), int(dropped[j])))
        return found

    def finish(self) -> None:
        """Try other finders in the columns that were kept, if they are not all."""
        columns, r = self.columns, self.r
        if r < len(columns) < self.X.shape[1]:
            start = self.components[:, columns]
            passing = MessagePassingSubspace(
                r, start=start, n_iter=_STEPS, staircase=False, random_state=0
            )
            self.within(passing, columns)
            self.within(GradientSubspace("agop", r, random_state=0), columns)


def _sizes(p: int, r: int) -> list[int]:
    """Return numbers of columns, from p down to r."""
    found = [p]
    while found[-1] > r:
        found.append(max(min(ceil(_KEPT * found[-1]), found[-1] - 1), r))
    return found


def _choices(p: int, m: int) -> float:
    """Return the logarithm of the number of ways to choose m of p columns."""
    return float(gammaln(p + 1) - gammaln(m + 1) - gammaln(p - m + 1))
