"""The channel of message passing when nobody knows the link: the score of p(y | w), cross-fitted.

The output function of Bayes-optimal message passing is the gradient of log p(y | omega), a density
of pairs that are both at hand: the label and the cavity field. It is learned from one half of the
rows and evaluated on the other, and so is the information, the mean of log p(y | omega) / p(y) in
nats. Several channels, coarse and fine, softmax of bins and Gaussian around a curve, compete by
that information every few steps: as the directions get better, finer ones win.

References
----------
Kamilov, Rangan, Fletcher, Unser, IEEE Trans. Inf. Theory 60 (2014) 2969, for channels with unknown
parameters; Rangan, ISIT 2011.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.estimators._labels import Labels
from learnability.estimators._location_channel import LocationChannel
from learnability.estimators._logit_channel import LogitChannel, bins_of

__all__ = ["CrossFittedChannel", "standardised"]

Array = NDArray[np.float64]
_MOST_ROWS = 2000
"""Rows of a half that a channel is fitted to."""
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
"""Share of rows that a channel leaves unexplained."""
_TINY = 100
"""Fewer rows than this get the two coarsest channels only."""


class CrossFittedChannel:
    """Channels for r fields, fitted on two halves of the rows.

    Parameters
    ----------
    labels : Labels
        The labels of the rows.
    r : int
        Number of fields.
    rng : numpy.random.Generator
        Splits the rows.
    covariates : array, shape (n, s), optional
        Known standard fields that the label may depend on as well.
    curves : bool
        Leave the softmax channels out: near a sharp link they are a trap, good enough to keep
        the fields where they are.
    """

    def __init__(
        self, labels: Labels, r: int, rng: np.random.Generator, covariates: Array | None = None,
        *, curves: bool = False,
    ) -> None:  # fmt: skip
        n = len(labels.codes)
        order = rng.permutation(n)
        self.halves = (np.sort(order[: n // 2]), np.sort(order[n // 2 :]))
        self.covariates = np.zeros((n, 0)) if covariates is None else covariates
        total = r + self.covariates.shape[1]
        self.bins = bins_of(labels, _BINS if n >= 600 else 10, 8 if total < 3 else 5)
        self.scores = labels.scores
        settings: list[tuple[str, Any]] = [
            ("logit", setting) for setting in _LOGITS.get(total, ((2, 2.0), (2, 20.0)))
        ]
        if n < _TINY:
            settings = [("logit", (2, 20.0))]
        if labels.kind == "numbers":
            settings += [("location", width) for width in (0.6, 1.5) if n >= _TINY or width > 1]
        self.settings = [s for s in settings if not curves or s[0] == "location"]
        self.chosen: tuple[str, Any] | None = None
        self._models: dict[Any, Any] = {}

    def step(self, omega: Array, *, choose: bool) -> tuple[Array, Array]:
        """Score of every row and what its label tells.

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
        w, root = standardised(omega)
        joint = np.column_stack([self.covariates, w])
        if choose or self.chosen is None:
            found = {setting: self._evaluate(setting, joint, 4) for setting in self.settings}
            self.chosen = max(found, key=lambda setting: float(found[setting][1].mean()))
            self._race({setting: float(found[setting][1].mean()) for setting in found})
            score, ratio = found[self.chosen]
        else:
            score, ratio = self._evaluate(self.chosen, joint, 2)
        return score[:, self.covariates.shape[1] :] @ root, ratio

    def _race(self, information: dict[tuple[str, Any], float]) -> None:
        """Leave the last softmax channel out once there are more than two; curves stay."""
        logits = sorted(
            (setting for setting in information if setting[0] == "logit"),
            key=lambda setting: -information[setting],
        )
        if len(logits) > 2:
            self.settings = [setting for setting in self.settings if setting != logits[-1]]

    def _evaluate(self, setting: tuple[str, Any], w: Array, steps: int) -> tuple[Array, Array]:
        score, ratio = np.empty_like(w), np.empty(len(w))
        for half, (own, other) in enumerate((self.halves, self.halves[::-1])):
            rows = own[:: max(1, len(own) // _MOST_ROWS)]
            key = (setting, half)
            if setting[0] == "logit":
                logit = self._models.setdefault(key, LogitChannel(*setting[1]))
                logit.fit(w[rows], self.bins.take(rows), steps)
                score[other], ratio[other] = logit.score(w[other], self.bins.take(other))
            else:
                location = self._models.setdefault(key, LocationChannel(width=setting[1]))
                location.fit(w[rows], self.scores[rows])
                score[other], ratio[other] = location.score(w[other], self.scores[other])
        # A share of the rows may be anything: no single row can then weigh too much.
        likely = (1 - _OUTLIERS) * np.exp(np.minimum(ratio, 50.0))
        return score * (likely / (likely + _OUTLIERS))[:, None], np.log(likely + _OUTLIERS)


def standardised(omega: Array) -> tuple[Array, Array]:
    """Fields of unit covariance, bounded, and the matrix T with w = omega T."""
    values, vectors = np.linalg.eigh(omega.T @ omega / len(omega))
    values = np.maximum(values, 1e-6 * values[-1] + 1e-12)
    root = (vectors / np.sqrt(values)) @ vectors.T
    return np.clip(omega @ root, -_FAR, _FAR), root
