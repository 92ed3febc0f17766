"""An honest score of a subspace estimator: what the label says about coordinates it never saw.

The estimator is fitted K times on all rows but a fold, the coordinates of the fold's rows are
turned to those of the fit on all rows, and the pooled coordinates get one cross-fitted channel. The
score is its information in nats per row, the mean of log p(y | coordinates) / p(y), with its
standard error; under "cv" it is the cross-validated score of a support vector machine on them.
Neither can be raised by fitting noise: on noise both lie below zero.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from learnability.estimators._channel import CrossFittedChannel
from learnability.estimators._labels import Labels, weighted_mean

__all__ = ["Verdict", "judge"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Verdict:
    """Score of an estimator.

    Attributes
    ----------
    score, error : float
        Held-out information (or score) and its standard error.
    rows : array, shape (n,)
        Its terms.
    coordinates : array, shape (n, r)
        Held-out coordinates of the rows.
    fitted : subspace estimator
        The fit to all rows.
    """

    score: float
    error: float
    rows: Array
    coordinates: Array
    fitted: Any


def _held_out(fitted: Any, X: Any, y: Any, weights: Array, folds: int, seed: int) -> Array:
    """Coordinates of every row by a fit that did not see it, turned to those of the whole fit."""
    n = X.shape[0]
    whole = fitted.transform(X)
    if whole.shape[1] == 0:
        return np.asarray(whole)
    found = np.zeros_like(whole)
    part = np.random.default_rng(seed).permutation(n) % folds
    for fold in range(folds):
        out = part == fold
        other = fitted.for_folds().fit(X[~out], y[~out], sample_weight=weights[~out])
        coordinates = other.transform(X)
        left, _, right = np.linalg.svd(coordinates.T @ whole, full_matrices=False)
        found[out] = coordinates[out] @ (left @ right)
    return found


@threadpool_limits.wrap(limits=1, user_api="blas")  # Small matrices: threads would wait.
def score_coordinates(labels: Labels, coordinates: Array, seed: int, how: str) -> Array:
    """What each row's label says about its held-out coordinates, shape (n,)."""
    n, r = coordinates.shape
    if r == 0:
        return np.zeros(n)
    if how == "cv":
        return _machine(labels, coordinates, seed)
    channel = CrossFittedChannel(labels, r, np.random.default_rng(seed))
    centre = labels.weights @ coordinates / labels.weights.sum()
    return channel.step(coordinates - centre, choose=True)[1]


def judge(
    estimator: Any, X: Any, y: Any, labels: Labels, *, folds: int, seed: int, how: str,
    fitted: Any = None,
) -> Verdict:  # fmt: skip
    """Score an estimator on rows that it did not see.

    A candidate that finds fewer directions than asked for is scored on those, without a warning.

    Parameters
    ----------
    estimator : subspace estimator
        It is cloned.
    X, y : array
        The data.
    labels : Labels
        y as it was read, with the counts of the rows.
    folds, seed : int
        The split.
    how : {"information", "cv"}
        What is scored.
    fitted : subspace estimator, optional
        The fit to all rows, where it is at hand.

    Returns
    -------
    Verdict
    """
    weights = labels.weights
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        if fitted is None:
            fitted = clone(estimator).fit(X, y, sample_weight=weights)
        coordinates = _held_out(fitted, X, y, weights, folds, seed)
    rows = score_coordinates(labels, coordinates, seed, how)
    return Verdict(*weighted_mean(rows, weights), rows, coordinates, fitted)


def _machine(labels: Labels, t: Array, seed: int) -> Array:
    """Explained variance, or accuracy above that of the largest class, of each row."""
    from sklearn.model_selection import KFold, cross_val_predict
    from sklearn.svm import SVC, SVR

    folds = KFold(min(5, len(t)), shuffle=True, random_state=seed)
    t = t / (t.std(axis=0) + 1e-12)
    if labels.kind == "numbers":
        u = labels.scores
        predicted = cross_val_predict(SVR(), t, u, cv=folds)
        return np.asarray((u**2 - (u - predicted) ** 2) / u.var())
    guess = np.bincount(labels.codes).argmax()
    predicted = cross_val_predict(SVC(), t, labels.codes, cv=folds)
    return (predicted == labels.codes).astype(float) - (labels.codes == guess)
