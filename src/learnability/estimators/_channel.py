"""The channel of message passing when the link is unknown: the score of p(y | w), cross-fitted.

The output function of Bayes-optimal message passing is the gradient of log p(y | omega), the
density of the label given the cavity field, both of which are observed. It is learned from one half
of the rows and evaluated on the other, and so is the information, the mean of
log p(y | omega) / p(y) in nats; where the rows are many times the parameters, nine tenths of the
rows are used instead. Several channels, coarse and fine, softmax of bins and Gaussian around a
curve, compete by that information every few steps: as the directions improve, finer ones win.

References
----------
Kamilov, Rangan, Fletcher, Unser, IEEE Trans. Inf. Theory 60 (2014) 2969, for channels with unknown
parameters; Rangan, ISIT 2011.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.estimators._labels import Labels, weighted_mean
from learnability.estimators._location_channel import LocationChannel
from learnability.estimators._logit_channel import LogitChannel, bins_of
from learnability.estimators._products import Products, products
from learnability.estimators._whitening import row_blocks

__all__ = ["CrossFittedChannel", "standardised"]

Array = NDArray[np.float64]
_MOST_ROWS = 2000
"""The largest number of rows of a half to which a channel is fitted."""
_FAR = 4.0
"""Fields beyond this many standard deviations count as this many."""
_LOGITS = {
    1: ((2, 20.0), (4, 2.0), (6, 2.0)),
    2: ((2, 2.0), (4, 2.0), (4, 20.0)),
    3: ((2, 2.0), (4, 2.0), (4, 20.0)),
    4: ((2, 2.0), (3, 20.0)),
}
"""Number of fields -> degrees and ridges of the softmax channels."""
_BINS = 16
_OUTLIERS = 0.01
"""Share of rows that may be outliers, on which a channel says nothing."""
_RICH = 600
"""From this many rows on, numbers are cut into more bins and have more functions."""
_STEP = 1e-3
"""Step of a field in the numerical derivative of a score."""
_FOLDS = 10
_MANY = 60
"""Rows per parameter from which a channel is fitted once, and corrected for each fold."""
_JURY_ROWS = 10_000
"""Number of rows on which channels compete, drawn evenly from twice as many or more."""
_TINY = 100
"""With fewer rows than this only the two coarsest channels are used."""


class CrossFittedChannel:
    """Channels for r fields, cross-fitted.

    Parameters
    ----------
    labels : Labels
        The labels of the rows.
    r : int
        Number of fields.
    rng : numpy.random.Generator
        The source of the split of the rows.
    covariates : array, shape (n, s), optional
        Known standard fields that the label may depend on as well.
    curves : bool
        Whether to leave the softmax channels out: near a sharp link they can trap the iteration,
        as they are good enough to keep the fields where they are.
    parts : int
        Number of parts of the rows, each of which is evaluated by a channel fitted to the others.
    """

    def __init__(
        self, labels: Labels, r: int, rng: np.random.Generator, covariates: Array | None = None,
        *, curves: bool = False, parts: int = 2,
    ) -> None:  # fmt: skip
        n = len(labels.codes)
        self.parts = parts
        # Rows are kept in this order, one half after the other.
        self._order = rng.permutation(n)
        self._back = np.argsort(self._order)
        labels = labels.take(self._order)
        self._weights = labels.weights
        covariates = np.zeros((n, 0)) if covariates is None else covariates
        self.covariates = covariates[self._order]
        total = r + self.covariates.shape[1]
        rich = n >= _RICH
        self.bins = bins_of(labels, _BINS if rich else 10, 8 if rich and total < 3 else 5)
        self._scores = labels.scores
        settings: list[tuple[str, Any]] = [
            ("logit", setting) for setting in _LOGITS.get(total, ((2, 2.0), (2, 20.0)))
        ]
        if n < _TINY:
            settings = [("logit", (2, 20.0))]
        if labels.kind == "numbers" and not labels.tied:  # A density cannot describe ties.
            settings += [("location", width) for width in (0.6, 1.5) if n >= _TINY or width > 1]
        curves = curves and any(name == "location" for name, _ in settings)
        self.settings = [s for s in settings if not curves or s[0] == "location"]
        self.chosen: tuple[str, Any] | None = None
        self._models: dict[Any, Any] = {}
        self._jury_models: dict[Any, Any] = {}

    def step(self, omega: Array, *, choose: bool) -> tuple[Array, Array]:
        """Return the score of every row and the information in its label.

        Parameters
        ----------
        omega : array, shape (n, r)
            Cavity fields.
        choose : bool
            Whether all channels compete again.

        Returns
        -------
        tuple of arrays
            Gradient of log p(y | omega), (n, r), and log p(y | omega) / p(y), (n,).
        """
        w, root = standardised(omega[self._order], self._weights)
        joint = np.column_stack([self.covariates, w])
        if choose or self.chosen is None:
            score, ratio = self._compete(joint)
        else:
            at = products(joint, _degree(self.chosen))
            score, ratio = self._evaluate(self.chosen, at, 2)
        score = score[:, self.covariates.shape[1] :] @ root
        return score[self._back], ratio[self._back]

    def _compete(self, joint: Array) -> tuple[Array, Array]:
        """Choose a channel, and return its score and ratio for every row.

        If there are very many rows, a part of them chooses.
        """
        every = max(1, len(joint) // _JURY_ROWS)
        jury = self if every == 1 else self._thinned(slice(None, None, every))
        at = products(joint[::every], max(_degree(setting) for setting in self.settings))
        found = {setting: jury._evaluate(setting, at, 4) for setting in self.settings}
        means = {setting: weighted_mean(found[setting][1], jury._weights)[0] for setting in found}
        self.chosen = max(means, key=means.__getitem__)
        self._race(means)
        if every == 1:
            return found[self.chosen]
        return self._evaluate(self.chosen, products(joint, _degree(self.chosen)), 4)

    def _thinned(self, rows: slice) -> CrossFittedChannel:
        """Return the same channels for some of the rows, with fits of their own."""
        jury = copy(self)
        jury.bins = self.bins.take(rows)
        jury._scores, jury._weights = self._scores[rows], self._weights[rows]
        jury._models = self._jury_models
        return jury

    def _race(self, information: dict[tuple[str, Any], float]) -> None:
        """Drop the worst softmax channel while there are more than two; curves stay."""
        logits = sorted(
            (setting for setting in information if setting[0] == "logit"),
            key=lambda setting: -information[setting],
        )
        if len(logits) > 2:
            self.settings = [setting for setting in self.settings if setting != logits[-1]]

    def strength(self, omega: Array) -> tuple[Array, Array]:
        """Return the mean square of the score of each field, and its product with the true score.

        The channel g did not see the rows on which it is evaluated, so that its mean product with
        the true score s is E[g s] = E[g w] - E[dg / dw], by integration by parts over Gaussian
        fields: what g learned from noise enters its square but not this product.

        Parameters
        ----------
        omega : array, shape (n, r)
            Fields of unit covariance.

        Returns
        -------
        tuple of arrays
            Both of shape (r,).
        """
        if self.chosen is None:
            self.step(omega, choose=True)
        chosen: Any = self.chosen
        w, _ = standardised(omega[self._order], self._weights)
        degree = _degree(chosen)
        fitted = list(self._fitted(chosen, products(w, degree), 4))
        score = self._scored(fitted, products(w, degree))[0]
        shares = self._weights / self._weights.sum()
        signal = shares @ (score * w)
        for j, e in enumerate(_STEP * np.eye(w.shape[1])):
            up, down = (self._scored(fitted, products(w + h, degree))[0][:, j] for h in (e, -e))
            signal[j] -= shares @ (up - down) / (2 * _STEP)
        return shares @ score**2, signal

    def _evaluate(self, setting: tuple[str, Any], at: Products, steps: int) -> tuple[Array, Array]:
        return self._scored(self._fitted(setting, at, steps), at)

    def _scored(
        self, fitted: Iterable[tuple[slice, LogitChannel | LocationChannel]], at: Products
    ) -> tuple[Array, Array]:
        score, ratio = np.empty_like(at.w), np.empty(len(at.w))
        for part, model in fitted:
            for rows in row_blocks(part.start, part.stop):
                if isinstance(model, LogitChannel):
                    found = model.score(at.take(rows), self.bins.take(rows))
                else:
                    found = model.score(at.take(rows), self._scores[rows])
                score[rows], ratio[rows] = found
        # A share of the rows may be outliers, so that no single row has too much weight.
        likely = (1 - _OUTLIERS) * np.exp(np.minimum(ratio, 50.0))
        return score * (likely / (likely + _OUTLIERS))[:, None], np.log(likely + _OUTLIERS)

    def _fitted(
        self, setting: tuple[str, Any], at: Products, steps: int
    ) -> Iterator[tuple[slice, LogitChannel | LocationChannel]]:
        """Yield parts of the rows, each with a channel that was fitted to other rows."""
        n = len(at.w)
        name, options = setting
        if name == "logit":
            model = self._models.setdefault(setting, LogitChannel(*options))
            if n >= _MANY * model.parameters(at, self.bins):
                rows = slice(0, n, max(1, n // (2 * _MOST_ROWS)))
                some, bins = at.take(rows), self.bins.take(rows)
                others = model.fit(some, bins, steps).left_out(some, bins, _parts(len(some.w)))
                yield from zip(_parts(n), others, strict=True)
                return
        for other in _parts(n, self.parts):
            seen = np.r_[: other.start, other.stop : n]
            rows = seen[:: max(1, len(seen) // _MOST_ROWS)]
            key = (setting, other.start)
            if name == "logit":
                logit = self._models.setdefault(key, LogitChannel(*options))
                yield other, logit.fit(at.take(rows), self.bins.take(rows), steps)
            else:
                curve = self._models.setdefault(key, LocationChannel(width=options))
                yield other, curve.fit(at.take(rows), self._scores[rows], self._weights[rows])


def _parts(n: int, count: int = _FOLDS) -> list[slice]:
    """Return equal parts of n rows."""
    ends = [n * part // count for part in range(count + 1)]
    return [slice(first, last) for first, last in pairwise(ends)]


def _degree(setting: tuple[str, Any]) -> int:
    """Return the degree of the polynomials that a channel needs."""
    return int(setting[1][0]) if setting[0] == "logit" else LocationChannel.degree


def standardised(omega: Array, weights: Array) -> tuple[Array, Array]:
    """Return fields w of unit covariance, bounded, and the matrix T with w = omega T."""
    values, vectors = np.linalg.eigh(omega.T @ (omega * weights[:, None]) / weights.sum())
    values = np.maximum(values, 1e-6 * values[-1] + 1e-12)
    root = (vectors / np.sqrt(values)) @ vectors.T
    return np.clip(omega @ root, -_FAR, _FAR), root
