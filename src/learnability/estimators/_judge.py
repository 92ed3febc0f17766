"""An honest score of a subspace estimator: what its coordinates say about rows it never saw.

The estimator is fitted K times on all rows but a fold. Then

information   the coordinates of the folds' rows are turned to those of the fit on all rows, and the
              pooled coordinates get one cross-fitted channel. The score is its information in nats
              per row, the mean of log p(y | coordinates) / p(y);
cv            a support vector machine is fitted to the coordinates of the rows outside each fold
              and predicts those inside: explained variance of the normal scores of numbers,
              accuracy above chance of classes that weigh the same.

Neither can be raised by fitting noise: on noise both lie below zero. Candidates that are tied may
say more together: the average of their projectors is judged on the same folds.
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
"""Fewer rows than this do not teach a channel what to say."""
_FEW_ROWS = 300
"""Fewer rows than this are judged by a machine in ten folds by default."""
_TIED = 2.0
"""Standard errors of their difference within which two candidates are tied."""
_NOTHING = 1e-9
"""Spread of a coordinate that is none."""
_MACHINE_ROWS = 2000
"""Most rows that a support vector machine is fitted to."""


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
    components : array, shape (r, p)
        Directions of the fit to all rows.
    fitted : subspace estimator
        That fit; of an average, the fit of its best member.
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

    Information, in three folds, where there are rows enough that have the tails of Gaussian ones;
    elsewhere a machine, in five folds, or ten of few rows. Where first moments are all there is a
    machine judges whatever was asked for: a channel finds something in any such noise.
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
        whole = np.asarray(fitted.transform(X))
        views = _views(fitted.for_folds(), X, y, labels, min(folds, len(weights)), seed)
    return _verdict(labels, whole, views, seed, how, fitted.components_, fitted)


def halves(estimator: Any, X: Any, y: Any, labels: Labels, seed: int) -> list[Array]:
    """Coordinates (n, r) of all rows by fits that did not see the first half, and the second.

    The second are turned to the first.
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
        if len(np.unique(labels.codes[~out])) < 2:  # Nothing is learned from a constant.
            found.append(np.zeros((len(out), 1)))
            continue
        if is_lazy(X):  # A row without weight is not there.
            other = clone(estimator).fit(X, y, sample_weight=labels.weights * ~out)
        else:
            other = clone(estimator).fit(X[~out], y[~out], sample_weight=labels.weights[~out])
        found.append(np.asarray(other.transform(X)))
    return found


def contenders(verdicts: dict[str, Verdict], labels: Labels) -> dict[str, Verdict]:
    """Return the verdicts without those on fewer directions that are not clearly ahead.

    More directions were asked for, and a tie is no reason to return fewer.
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

    Each counts exp(-z^2 / 2), z being the number of standard errors that it is behind. Candidates
    that found fewer directions without some fold are left out. None where the best has no rival.
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
    """Return the white coordinates of the average projector of several fits, each (n, r).

    White coordinates of a fit are Z Q with Z^T Z / n = 1 and an orthonormal Q, so that the leading
    eigenvectors of the average of Q Q^T are right singular vectors of all of them side by side.
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
        if how == "cv":
            rows[out] = _machine(labels, view, out, seed)
    if how == "information":
        rows = score_coordinates(labels, held_out, seed)
    mean, error = weighted_mean(rows, labels.weights)
    return Verdict(mean, error, rows, held_out, components, fitted, whole, views)


# Small matrices: threads would wait.
@threadpool_limits.wrap(limits=1, user_api="blas")  # type: ignore[untyped-decorator]
def score_coordinates(labels: Labels, coordinates: Array, seed: int) -> Array:
    """Return what each row's label says about its held-out coordinates, in nats, shape (n,)."""
    n, r = coordinates.shape
    if r == 0:
        return np.zeros(n)
    channel = CrossFittedChannel(labels, r, np.random.default_rng(seed))
    centre = labels.weights @ coordinates / labels.weights.sum()
    return channel.step(coordinates - centre, choose=True)[1]


def _machine(labels: Labels, t: Array, out: NDArray[np.bool_], seed: int) -> Array:
    """Score of the rows of a fold by a support vector machine on the others' coordinates (n, r)."""
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
            warnings.simplefilter("ignore", UserWarning)  # Many classes are what was asked for.
            predicted = machine.fit(t[rows], codes, sample_weight=weights).predict(t[out])
    right = heavy[labels.codes[out]] * (predicted == labels.codes[out])
    return np.asarray(right - 1 / len(counts))
