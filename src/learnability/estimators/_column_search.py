"""The search for the columns of which directions are made, by a criterion.

From a finder's directions in all columns the weakest are dropped little by little: those columns
are kept whose standardised weights are largest, local gradients find the directions again in them,
which ranks the columns anew, and so on down to as many columns as directions. From the best columns
on single ones are exchanged: dropped columns come in that show in moments with what the directions
leave open, and kept ones go out whose weights say less than they cost. In-sample information of the
coordinates and the extended Bayesian criterion

    n I(m) - d log(n) / 2 - log C(p, m),     d = max over s <= r of s (m - s),

judge m columns among p: r directions in m columns have r (m - r) free parameters, and are never
taken for simpler than fewer directions. A channel fitted to half of the rows screens; those that
come out best are judged by one that is fitted to nine tenths of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from learnability.estimators._blind_amp import WhiteRows, pass_messages
from learnability.estimators._channel import CrossFittedChannel, standardised
from learnability.estimators._judge import score_coordinates
from learnability.estimators._labels import Labels, mid_ranks
from learnability.estimators._search import into_white
from learnability.estimators._staircase import residuals
from learnability.estimators._whitening import whiten
from learnability.estimators.gradient_subspace import GradientSubspace

__all__ = ["ANCHORS", "STRONG", "ColumnSearch", "Made"]

Array = NDArray[np.float64]
Columns = NDArray[np.intp]
STRONG = 5.0
"""Logarithm of the odds that are very strong evidence (Kass and Raftery)."""
ANCHORS = 200
"""Of the local gradients."""
_KEPT = 0.6
"""Share of the columns that is kept in each round."""
_STEPS = 12
_DAMPING = 0.8
"""Of message passing in the columns that were kept."""
_CELLS = 6
"""Slices of a column, and of the target, in a table of both."""
_NEAR = 0.7
"""Correlation from which a dropped column may take the place of one that was kept."""
_PARTS = 10
"""Parts of the rows, without each of which the channel is fitted in the end: halves, which screen,
lose a part of what several directions say together, and depend on the split by several nats.
"""
_FINALISTS = 2
_FAR = 20.0
"""Nats by which directions may be behind the best for message passing to be tried."""
_CLEAR = 2.0
"""Nats by which directions made of more columns must be ahead of others."""
_ROUNDS = 4
"""The largest number of rounds in which columns are exchanged."""
_NEW = 2
"""The largest number of columns that come in at a time."""
_VARIES = 1e-6
"""Least size of the row of a column that varies in the factor that whitens standard columns."""


@dataclass(frozen=True)
class Made:
    """Directions made of some columns.

    Attributes
    ----------
    worth : float
        The criterion by what screens.
    components : array, shape (r, p)
        The directions.
    columns : array of int
        The columns.
    shrinkage : float
        Weight of the identity in their correlation matrix.
    start : subspace estimator
        The fit to all columns that led there.
    """

    worth: float
    components: Array
    columns: Columns
    shrinkage: float
    start: Any


class ColumnSearch:
    """What was found so far for r directions.

    Directions in the same columns are found once, whatever the start.

    Parameters
    ----------
    X : array, shape (n, p)
        The inputs.
    y : array
        The target.
    labels : Labels
        The same as labels, with the counts of the rows.
    center : array, shape (p,)
        Mean of x.
    r : int
        Number of directions.
    brief : bool
        Whether what screens is all that is asked, as in folds.
    """

    def __init__(
        self, X: Any, y: Any, labels: Labels, center: Array, r: int, *, brief: bool = False
    ) -> None:
        self.X, self.y, self.labels, self.r, self.brief = X, y, labels, r, brief
        self.centred = X - center
        white = whiten(X, labels.weights, "exact")
        self.spread = white.scale
        self.varies = np.abs(white.factor).max(axis=1) * white.scale > _VARIES
        self.found: dict[tuple[int, ...], Array] = {}
        self.made: list[Made] = []
        self.start: Any = None
        self._sure: dict[int, float] = {}

    @property
    def best(self) -> Made:
        """The best so far, by what screens."""
        return max(self.made, key=lambda one: one.worth)

    def sure(self, one: Made) -> float:
        """Return the criterion by a channel that is fitted to most of the rows."""
        if self.brief:
            return one.worth
        if id(one) not in self._sure:
            told = self.told(self.centred @ one.components.T, _PARTS)
            self._sure[id(one)] = told - self.cost(len(one.columns))
        return self._sure[id(one)]

    def leader(self, old: Made | None = None) -> Made:
        """Return the best, for sure, or the old one where that is not worse.

        One with more columns must be ahead of it clearly: many are tried.
        """
        order = sorted(self.made, key=lambda one: -one.worth)[:_FINALISTS]
        whole = [one for one in self.made if len(one.columns) == self.X.shape[1]]
        if old is None and whole and self.best.worth - max(one.worth for one in whole) < _FAR:
            order.append(max(whole, key=lambda one: one.worth))
        found = max(order, key=self.sure)
        if old is None:
            return found
        margin = _CLEAR * (len(found.columns) > len(old.columns))
        return found if self.sure(found) > self.sure(old) + margin else old

    def told(self, t: Array, parts: int = 2) -> float:
        """Return the information of coordinates (n, r) in nats of all rows.

        The channel is fitted without each of some parts of the rows.
        """
        return float(self.labels.weights @ score_coordinates(self.labels, t, 0, parts))

    def cost(self, m: int) -> float:
        """Return what m columns cost."""
        free = max(s * (m - s) for s in range(1, self.r + 1))
        weight = np.log(self.labels.weights.sum()) / 2
        return float(free * weight) + _choices(self.X.shape[1], m)

    def look(self, components: Array, columns: Columns, shrinkage: float) -> None:
        """Take directions into account, if they are as many as they should be."""
        if len(components) < self.r:
            return
        worth = self.told(self.centred @ components.T) - self.cost(len(columns))
        self.made.append(Made(worth, components, columns, shrinkage, self.start))

    def near(self) -> bool:
        """Return whether the last directions are not far behind the best."""
        return bool(self.made and self.made[-1].worth > self.best.worth - _FAR)

    def within(self, finder: Any, columns: Columns) -> Array:
        """Return directions made of some columns."""
        fitted = finder.fit(self.X[:, columns], self.y, sample_weight=self.labels.weights)
        components = np.zeros((len(fitted.components_), self.X.shape[1]))
        components[:, columns] = fitted.components_
        self.look(components, columns, fitted.shrinkage_)
        return components

    def local(self, columns: Columns) -> Array:
        """Return directions by local gradients in some columns."""
        key = tuple(columns.tolist())
        if key not in self.found:
            finder = GradientSubspace("opg", self.r, n_anchors=ANCHORS, random_state=0)
            self.found[key] = self.within(finder, columns)
        return self.found[key]

    def down(self, components: Array) -> None:
        """Go down from directions in all columns."""
        columns = np.arange(self.X.shape[1])
        for m in _sizes(len(columns), self.r)[1:]:
            strength = ((components[:, columns] * self.spread[columns]) ** 2).sum(axis=0)
            columns = np.sort(columns[np.argsort(-strength, kind="stable")[:m]])
            components = self.local(columns)
            if len(components) < self.r:
                break

    def grow(self, components: Array, columns: Columns) -> None:
        """Look for one more direction than these, which are made of some columns."""
        come = self._unseen(components, columns)
        for count in (1, _NEW, 2 * _NEW):
            more = np.sort(np.concatenate([columns, come[:count]]))
            if len(more) >= self.r and len(come) >= count:
                found = self.local(more)
                if self.near():
                    self._passed(found, more)

    def exchange(self) -> Made:
        """Exchange single columns while that makes the best better, and return it."""
        best = self.leader()
        for _ in range(_ROUNDS):
            kept, self.start = best.columns, best.start
            come = self._unseen(best.components, kept)
            go = self._weak(best.components, kept)
            tried = [
                np.union1d(kept, come[:1]),
                np.union1d(kept, come[:_NEW]),
                np.setdiff1d(kept, go[:1]),
                np.setdiff1d(kept, go),
                np.setdiff1d(np.union1d(kept, come[:1]), go[:1]),
            ]
            for columns in tried:
                new = len(columns) >= self.r and not np.array_equal(columns, kept)
                if new and tuple(columns.tolist()) not in self.found:
                    found = self.local(columns)
                    if self.near():
                        self._passed(found, columns)
            old, best = best, self.leader(best)
            if best is old:
                break
        return best

    def finish(self, best: Made) -> Made:
        """Return the best, after other finders in its columns, if these are not all."""
        columns, self.start = best.columns, best.start
        if not self.r < len(columns) < self.X.shape[1]:
            return best
        self._passed(best.components, columns)
        if not self.brief:
            self.within(GradientSubspace("agop", self.r, random_state=0), columns)
        return self.leader(best)

    def _passed(self, components: Array, columns: Columns) -> None:
        """Improve directions by message passing in their columns."""
        if not self.r < len(columns) or len(components) < self.r:
            return
        X, weights = self.X[:, columns], self.labels.weights
        whitening = whiten(X, weights, "shrunk")
        passage = pass_messages(
            WhiteRows(X, whitening, weights),
            CrossFittedChannel(self.labels, self.r, np.random.default_rng(0)),
            into_white(whitening, components[:, columns].T),
            steps=_STEPS,
            damping=_DAMPING,
        )
        found = np.zeros_like(components)
        found[:, columns] = whitening.pull_back(passage.U).T
        self.look(found, columns, whitening.shrinkage)

    def _unseen(self, components: Array, columns: Columns) -> Columns:
        """Return dropped columns, those first that show in what the directions leave open.

        Residual functions of the label, times one and each coordinate, are correlated with what is
        left of the column given those that were kept.
        """
        weights = self.labels.weights
        others = np.flatnonzero(self.varies)
        others = others[~np.isin(others, columns)]
        if not len(others):
            return others
        t = standardised(self.centred @ components.T, weights)[0]
        features = residuals(self.labels, t).features()
        root = np.sqrt(weights)[:, None]
        kept = self.centred[:, columns] / self.spread[columns]
        rest = self.centred[:, others] / self.spread[others]
        rest = rest - kept @ np.linalg.lstsq(kept * root, rest * root, rcond=None)[0]
        size = np.maximum(weights @ rest**2, 1e-9 * weights.sum())
        strength = (((features * weights) @ rest) ** 2).sum(axis=0) / size
        order = np.argsort(-strength, kind="stable")
        return np.asarray(others[order[: 2 * _NEW]])

    def _weak(self, components: Array, columns: Columns) -> Columns:
        """Return kept columns whose weights say less than they cost, the weakest first."""
        weights, m = self.labels.weights, len(columns)
        if m <= self.r:
            return columns[:0]
        t = self.centred @ components.T
        channel = CrossFittedChannel(self.labels, self.r, np.random.default_rng(0))
        g = channel.step(t, choose=True)[0]
        fisher = (g * weights[:, None]).T @ g
        kept = self.centred[:, columns] / self.spread[columns]
        inverse = np.linalg.pinv((kept * weights[:, None]).T @ kept / weights.sum())
        alone = 1 / np.maximum(np.diag(inverse), 1e-300)
        w = components[:, columns] * self.spread[columns]
        said = alone * np.einsum("aj,ab,bj->j", w, fisher, w) / 2
        order = np.argsort(said, kind="stable")[: m - self.r]
        weak = said[order] < self.cost(m) - self.cost(m - 1)
        weak[:1] = True
        return np.asarray(columns[order[weak]])

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

    def stand_ins(self, components: Array, kept: Columns) -> list[tuple[int, int]]:
        """Return kept columns and dropped ones by which they can be replaced without evidence."""
        weights = self.labels.weights[:, None]
        dropped = np.setdiff1d(np.arange(self.X.shape[1]), kept)
        Z = self.centred / self.spread
        near = np.abs(Z[:, kept].T @ (Z[:, dropped] * weights)) > _NEAR * weights.sum()
        if not near.any():
            return []
        t = self.centred @ components.T
        least, found, root = self.told(t, _PARTS) - STRONG, [], np.sqrt(weights)
        for i, j in np.argwhere(near):
            others = Z[:, [*np.delete(kept, i), dropped[j]]]
            again = others @ np.linalg.lstsq(others * root, t * root, rcond=None)[0]
            if self.told(again, _PARTS) > least:
                found.append((int(kept[i]), int(dropped[j])))
        return found


def _sizes(p: int, r: int) -> list[int]:
    """Return numbers of columns, from p down to r."""
    found = [p]
    while found[-1] > r:
        found.append(max(min(ceil(_KEPT * found[-1]), found[-1] - 1), r))
    return found


def _choices(p: int, m: int) -> float:
    """Return the logarithm of the number of ways to choose m of p columns."""
    return float(gammaln(p + 1) - gammaln(m + 1) - gammaln(p - m + 1))
