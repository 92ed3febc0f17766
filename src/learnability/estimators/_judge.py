"""An honest score of a subspace estimator, from the coordinates of rows that it never saw.

The estimator is fitted K times on all rows but a fold. Then

information   the coordinates of the folds' rows are turned to those of the fit on all rows, and the
              pooled coordinates get one cross-fitted channel. The score is its information in nats
              per row, the mean of log p(y | coordinates) / p(y);
cv            a support vector machine is fitted to the coordinates of the rows outside each fold
              and predicts those inside. The score is the explained variance of the normal scores of
              numbers, or the accuracy above chance of classes with equal weights.

Neither can be raised by fitting noise: on noise both lie below zero. Candidates that are tied may
be better together: the average of their projectors is judged on the same folds.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from learnability.estimators._channel import CrossFittedChannel
from learnability.estimators._labels import Labels, weighted_mean
from learnability.estimators._lazy_rows import is_lazy
from learnability.estimators._whitening import GAUSSIAN, Whitening

__all__ = [
    "Verdict",
    "average",
    "contenders",
    "halves",
    "judge",
    "row_folds",
    "score_coordinates",
    "settled",
]

Array = NDArray[np.float64]
_LEAST_ROWS = 50
"""Fewer rows than this are too few to fit a channel."""
_FEW_ROWS = 300
"""Fewer rows than this are judged by a machine in ten folds by default, more in five."""
_TIED = 2.0
"""Standard errors of their difference within which two candidates are tied."""
_NOTHING = 1e-9
"""A coordinate with a smaller spread counts as constant."""
_MACHINE_ROWS = 2000
"""The largest number of rows to which a support vector machine is fitted."""


@dataclass(frozen=True)
class Verdict:
    """Score of an estimator.

    Attributes
    ----------
    score, error : float
        Held-out information (or score) and its standard error.
    rows : array, shape (n,)
        Terms of the score, whose mean it is.
    coordinates : array, shape (n, r)
        Held-out coordinates of the rows.
    components : array, shape (r, p)
        Directions of the fit to all rows.
    fitted : subspace estimator
        The fit to all rows; for an average, the fit of its best member.
    whole : array, shape (n, r)
        Coordinates by the fit to all rows.
    views : list of arrays, shape (n, r)
        Coordinates of all rows by the fits without each fold.
    """

    score: float
    error: float
    rows: Array
    coordinates: Array
    components: Array
    fitted: Any
    whole: Array
    views: list[Array]


def settled(how: str, folds: Any, n: float, whitening: Whitening, tails: float) -> tuple[str, int]:
    """Return what is scored, and in how many folds, where either is "auto".

    By default it is information, in three folds, if there are enough rows and their tails are
    Gaussian; else a machine, in five folds, or in ten for few rows. Where only first moments can be
    used, a machine judges in any case: a channel would find something in such noise.
    """
    if whitening.has_few_rows(n) or (how == "auto" and (n < _LEAST_ROWS or tails >= GAUSSIAN)):
        how = "cv"
    elif how == "auto":
        how = "information"
    if folds == "auto":
        folds = 3 if how == "information" else 10 if n < _FEW_ROWS else 5
    return how, folds


def judge(
    estimator: Any, X: Any, y: Any, labels: Labels, *, folds: int, seed: int, how: str,
    fitted: Any = None,
) -> Verdict:  # fmt: skip
    """Score an estimator on rows that it did not see.

    A candidate that finds fewer directions than requested is scored on those, without a warning.

    Parameters
    ----------
    estimator : subspace estimator
        The estimator, which is cloned.
    X, y : array
        The data.
    labels : Labels
        The labels as read from y, with the counts of the rows.
    folds, seed : int
        Number of folds and seed of the split.
    how : {"information", "cv"}
        What is scored.
    fitted : subspace estimator, optional
        The fit to all rows, if there is one already.

    Returns
    -------
    Verdict
    """
    weights = labels.weights
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        if fitted is None:
            fitted = clone(estimator).fit(X, y, sample_weight=weights)
        whole = np.asarray(fitted.transform(X))
        views = _views(fitted.for_folds(), X, y, labels, min(folds, len(weights)), seed)
    return _verdict(labels, whole, views, seed, how, fitted.components_, fitted)


def halves(estimator: Any, X: Any, y: Any, labels: Labels, seed: int) -> list[Array]:
    """Return coordinates (n, r) of all rows by fits that did not see one half or the other.

    Those of the second are rotated to match the first.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        views = _views(estimator, X, y, labels, 2, seed)
    if views[0].shape[1] != views[1].shape[1]:
        fewest = min(view.shape[1] for view in views)
        views = [view[:, :fewest] for view in views]
    left, _, right = np.linalg.svd(views[1].T @ views[0], full_matrices=False)
    return [views[0], views[1] @ (left @ right)]


def _views(estimator: Any, X: Any, y: Any, labels: Labels, folds: int, seed: int) -> list[Array]:
    """Return coordinates of all rows by fits without each fold."""
    found: list[Array] = []
    for out in row_folds(len(labels.weights), folds, seed):
        if len(np.unique(labels.codes[~out])) < 2:  # Nothing can be learned from a constant.
            found.append(np.zeros((len(out), 1)))
            continue
        if is_lazy(X):  # A row without weight is left out.
            other = clone(estimator).fit(X, y, sample_weight=labels.weights * ~out)
        else:
            other = clone(estimator).fit(X[~out], y[~out], sample_weight=labels.weights[~out])
        found.append(np.asarray(other.transform(X)))
    return found


def contenders(verdicts: dict[str, Verdict], labels: Labels) -> dict[str, Verdict]:
    """Return the verdicts without those on fewer directions that are not clearly better.

    More directions were requested, and a tie is no reason to return fewer.
    """
    most = max(len(verdict.components) for verdict in verdicts.values())
    full = {name: one for name, one in verdicts.items() if len(one.components) == most}
    best = max(full.values(), key=lambda verdict: verdict.score)
    for name, verdict in verdicts.items():
        if name not in full and len(verdict.rows) == len(best.rows):
            ahead, error = weighted_mean(verdict.rows - best.rows, labels.weights)
            if ahead > _TIED * error:
                full[name] = verdict
    return full


def average(verdicts: Iterable[Verdict], labels: Labels, seed: int, how: str) -> Verdict | None:
    """Return the verdict on the average projector of the candidates that are tied with the best.

    Each has the weight exp(-z^2 / 2), where z is the number of standard errors by which it is
    behind. Candidates that found fewer directions without some fold are left out. The result is
    None if no candidate is tied with the best.
    """
    verdicts = [one for one in verdicts if all(view.shape == one.whole.shape for view in one.views)]
    if not verdicts:
        return None
    best = max(verdicts, key=lambda verdict: verdict.score)
    members, shares = [], []
    for verdict in verdicts:
        behind, error = weighted_mean(best.rows - verdict.rows, labels.weights)
        if behind <= _TIED * error and verdict.components.shape == best.components.shape:
            members.append(verdict)
            shares.append(np.exp(-((behind / max(error, 1e-12)) ** 2) / 2))
    if len(members) < 2 or not len(best.components):
        return None

    def together(each: list[Array], rows: Any) -> list[Array]:
        return _maps([t[rows] for t in each], shares, labels.weights[rows])

    wholes = [member.whole for member in members]
    maps = together(wholes, slice(None))
    views = []
    for fold, out in enumerate(row_folds(len(best.whole), len(best.views), seed)):
        each = [member.views[fold] for member in members]
        views.append(_mixed(each, together(each, ~out)))
    components = _mixed([member.components.T for member in members], maps).T
    return _verdict(labels, _mixed(wholes, maps), views, seed, how, components, best.fitted)


def _mixed(tables: list[Array], maps: list[Array]) -> Array:
    return np.asarray(sum(table @ one for table, one in zip(tables, maps, strict=True)))


def _maps(coordinates: list[Array], shares: list[float], weights: Array) -> list[Array]:
    """Return maps of the coordinates of several fits, each (n, r), to those of their average.

    The average is that of the projectors. White coordinates of a fit are Z Q with Z^T Z / n = 1 and
    an orthonormal Q, so that the leading eigenvectors of the average of Q Q^T follow from the
    singular vectors of all of them side by side.
    """
    r = coordinates[0].shape[1]
    roots = np.sqrt(weights / weights.sum())[:, None]
    white = []
    for t, share in zip(coordinates, shares, strict=True):
        _, values, turn = np.linalg.svd(t * roots, full_matrices=False)
        white.append((turn.T / np.maximum(values, _NOTHING)) @ turn * np.sqrt(share))
    side = np.concatenate([t @ one for t, one in zip(coordinates, white, strict=True)], axis=1)
    _, values, turn = np.linalg.svd(side * roots, full_matrices=False)
    parts = np.split(turn[:r].T / np.maximum(values[:r], _NOTHING), len(coordinates))
    return [one @ part for one, part in zip(white, parts, strict=True)]


def row_folds(n: int, count: int, seed: int) -> Iterator[NDArray[np.bool_]]:
    """Return which rows are left out, fold by fold."""
    part = np.random.default_rng(seed).permutation(n) % count
    return (part == fold for fold in range(count))


def _verdict(
    labels: Labels, whole: Array, views: list[Array], seed: int, how: str, components: Array,
    fitted: Any,
) -> Verdict:  # fmt: skip
    held_out = np.zeros_like(whole)
    rows = np.zeros(len(whole))
    for view, out in zip(views, row_folds(len(whole), len(views), seed), strict=True):
        if whole.shape[1] == 0:
            break
        left, _, right = np.linalg.svd(view.T @ whole, full_matrices=False)
        held_out[out] = view[out] @ (left @ right)
        if how == "cv" and view.shape[1]:  # A fold may find no direction, which tells nothing.
            rows[out] = _machine(labels, view, out, seed)
    if how == "information":
        rows = score_coordinates(labels, held_out, seed)
    mean, error = weighted_mean(rows, labels.weights)
    return Verdict(mean, error, rows, held_out, components, fitted, whole, views)


# The matrices are so small that threads would only wait.
@threadpool_limits.wrap(limits=1, user_api="blas")  # type: ignore[untyped-decorator]
def score_coordinates(labels: Labels, coordinates: Array, seed: int, parts: int = 2) -> Array:
    """Return log p(y | coordinates) / p(y) of each row, from held-out coordinates, shape (n,).

    The channel is fitted without each of some parts of the rows.
    """
    n, r = coordinates.shape
    if r == 0:
        return np.zeros(n)
    channel = CrossFittedChannel(labels, r, np.random.default_rng(seed), parts=parts)
    centre = labels.weights @ coordinates / labels.weights.sum()
    return channel.step(coordinates - centre, choose=True)[1]


def _machine(labels: Labels, t: Array, out: NDArray[np.bool_], seed: int) -> Array:
    """Return the scores of a fold's rows by a support vector machine fitted to the others."""
    from sklearn.svm import SVC, SVR

    rows = np.flatnonzero(~out)
    rows = np.random.default_rng(seed).permutation(rows)[:_MACHINE_ROWS]
    t = t / (t[rows].std(axis=0) + 1e-12)
    weights = labels.weights[rows]
    if labels.kind == "numbers":
        u = labels.scores
        predicted = SVR().fit(t[rows], u[rows], sample_weight=weights).predict(t[out])
        return np.asarray((u[out] ** 2 - (u[out] - predicted) ** 2) / u.var())
    counts = np.bincount(labels.codes, weights=labels.weights)
    heavy = labels.weights.sum() / (len(counts) * counts)
    codes = labels.codes[rows]
    predicted = np.full(int(out.sum()), codes[0])
    if (codes != codes[0]).any():
        machine = SVC(class_weight=dict(enumerate(heavy)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # Many classes are intended here.
            predicted = machine.fit(t[rows], codes, sample_weight=weights).predict(t[out])
    right = heavy[labels.codes[out]] * (predicted == labels.codes[out])
    return np.asarray(right - 1 / len(counts))
