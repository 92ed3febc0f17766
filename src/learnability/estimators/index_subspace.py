"""The estimator to begin with: it fits several candidates and judges them on held-out rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from learnability.estimators._base import SubspaceEstimator, check_choice, check_count, fixed_signs
from learnability.estimators._candidates import candidate, candidate_names
from learnability.estimators._cautions import (
    exchanged,
    fewer_given,
    lone_rows,
    rows_lost,
    twins,
    warnings_of,
)
from learnability.estimators._confidence import (
    Confidence,
    beyond_halves,
    coarse_directions,
    confidence,
)
from learnability.estimators._copies import copied_rows, copies_said, merged_rows, row_of_copy
from learnability.estimators._dependence import UNDECIDED, dependence
from learnability.estimators._elimination import in_few_columns
from learnability.estimators._judge import (
    Verdict,
    average,
    contenders,
    halves,
    judge,
    row_folds,
    settled,
)
from learnability.estimators._labels import Labels, read_labels, weighted_mean
from learnability.estimators._report import IndexReport, blind_methods, overlaps, rows_needed
from learnability.estimators._whitening import GAUSSIAN, Whitening, tail_weight, whiten
from learnability.estimators.dimension import DimensionReport, count_directions
from learnability.estimators.moment_subspace import MomentSubspace
from learnability.estimators.sparse_subspace import SparseSubspace
from learnability.progress import tracked

__all__ = ["IndexSubspace"]

_SAID = 3.0
"""A score counts if it exceeds this many standard errors."""
_FLATTERED = 0.5
"""The best must be ahead of the average by more than this many standard errors to be chosen."""
_HALVES = 20_000
"""The largest number of rows that are halved to see how well directions are known."""
_KNOWN = 0.9
"""Predicted overlap from which message passing is trusted, on rows with Gaussian tails."""


class IndexSubspace(SubspaceEstimator):
    """The few linear combinations of x on which y depends through an unknown link.

    Candidates of all families are fitted, and the one whose coordinates predict y best on rows that
    it did not see is kept, or the average of those that are tied if it is better. Where there is
    very strong evidence that fewer columns make up the directions, the others are dropped. With
    fewer than three rows per independent column only first moments and few columns are tried.

    Parameters
    ----------
    n_components : int or "auto", default "auto"
        Number of directions; "auto" finds it, and 0 is an answer.
    candidates : "auto" or list of names, default "auto"
        Names among message_passing, opg, agop, giant, sparse, dr, sir, save, phd and learned.
    judge : {"auto", "information", "cv"}, default "auto"
        Held-out information of a learned channel in nats, or the cross-validated score of a support
        vector machine; "auto" takes information where there are at least fifty rows, with the tails
        of Gaussian ones. First moments of few rows are always judged by the machine.
    max_components : int, default 5
        The largest number of directions that "auto" tries.
    folds : int or "auto", default "auto"
        Folds of the judge; "auto" takes three for information, and for cv five, or ten below
        300 rows.
    random_state : int, RandomState or None, default None
        The seed of everything that is random.

    Attributes
    ----------
    components_ : array, shape (r, p)
        The directions, orthonormal in the metric of the covariance of x, those that held-out rows
        support first.
    center_ : array, shape (p,)
        Mean of x.
    chosen_ : str
        The candidate that won, "average", or "elimination" where columns were dropped.
    score_, score_error_ : float
        Its held-out score and standard error.
    held_out_ : array, shape (n, r)
        Coordinates of the rows by fits that did not see them.
    own_mean_ : array, shape (r,)
        Mean of the coordinates of the rows of the fit, by which they are known again.
    report_ : IndexReport
        Scores, number of directions by each rule, advice; prints as sentences.
    sampled_ : (int, int)
        Rows of a Dask collection that were drawn at random, and all that there are.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from learnability.estimators import IndexSubspace
    >>> X, y = load_diabetes(return_X_y=True)
    >>> found = IndexSubspace(n_components=1, random_state=0).fit(X, y)
    >>> found.transform(X).shape
    (442, 1)
    """

    held_out_: NDArray[Any]
    own_mean_: NDArray[Any]
    estimator_: Any

    def __init__(
        self, n_components: Any = "auto", candidates: Any = "auto", judge: str = "auto",
        max_components: int = 5, folds: Any = "auto", random_state: Any = None,
    ) -> None:  # fmt: skip
        self.n_components = n_components
        self.candidates = candidates
        self.judge = judge
        self.max_components = max_components
        self.folds = folds
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> IndexSubspace:
        """Find the directions, and how many there are.

        Parameters
        ----------
        X : array, Dask array or Dask data frame, shape (n, p)
            The inputs; from a Dask collection as many rows are drawn as easily fit into memory.
        y : array, shape (n,) or (n, outputs)
            The target: numbers, of which only the order counts, or classes.
        sample_weight : array, shape (n,), optional
            Weights of the rows, relative to each other: a row that counts twice is no new evidence.

        Returns
        -------
        IndexSubspace
        """
        if self.n_components != "auto":
            check_count("n_components", self.n_components)
        check_choice("judge", self.judge, ("auto", "information", "cv"))
        check_count("max_components", self.max_components)
        if self.folds != "auto":
            check_count("folds", self.folds, 2)
        every, y, weights = self._read_counted(X, y, sample_weight)
        X, copies = every, copied_rows(every, y)
        if copies is not None:
            X, y, weights = merged_rows(copies, X, y, weights)
        weights = weights / weights.mean()  # Neither copies nor weights are new rows.
        labels = read_labels(y, weights)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        whitening = whiten(X, weights, "auto")
        tails = tail_weight(X, whitening, weights)
        counted_rows = float(weights.sum())
        how, folds = settled(self.judge, self.folds, counted_rows, whitening, tails)
        names = candidate_names(self.candidates, len(X), counted_rows, whitening)
        dimension = by_worth = None
        counted: dict[int, Verdict] = {}
        if self.n_components != "auto":
            r = int(self.n_components)
        else:
            dimension, counted, by_worth = count_directions(
                X, y, labels, self.max_components, whitening, folds=folds, seed=seed, how=how,
                few_names=names,
            )  # fmt: skip
            r = dimension.chosen
        verdicts: dict[str, Verdict] = {}
        if r:
            verdicts = self._compare(
                X, y, labels, names, r, seed, tails, how, folds, counted.get(r)
            )
        self._choose(X, labels, verdicts, whitening)
        if verdicts and self.candidates == "auto" and not whitening.has_few_rows(counted_rows):
            name = in_few_columns(
                X, y, labels, verdicts, self.chosen_, folds=folds, seed=seed, how=how,
                known=by_worth,
            )  # fmt: skip
            self._take(name, verdicts[name], whitening)
        self.report_ = self._report(
            X, y, labels, verdicts, whitening, tails, how, dimension, seed, counted.get(r)
        )
        self.own_mean_ = self._project(every).mean(axis=0)
        if copies is not None:
            self.report_.warnings.append(copies_said(len(every), len(X)))
            self.held_out_ = self.held_out_[row_of_copy(copies)]
        return self

    def _report(
        self, X: Any, y: Any, labels: Labels, verdicts: dict[str, Verdict], whitening: Whitening,
        tails: float, how: str, dimension: DimensionReport | None, seed: int,
        counted: Verdict | None,
    ) -> IndexReport:  # fmt: skip
        """Return the report on what was found; directions are ordered by their support."""
        n, r = float(labels.weights.sum()), len(self.components_)
        undecided: dict[str, str] = {}
        dependent = dependence(X, labels, seed)
        supported: int | None = r
        known: list[tuple[float, float, float] | None] = [None] * r
        if r:
            reason = beyond_halves(n, whitening)
            if reason is not None:
                supported = r if self.score_ > _SAID * self.score_error_ else None
            else:
                sure, times = self._halves(X, y, labels, verdicts, seed, counted)
                supported = sure.supported
                self._turn(sure.turn, whitening.scale)
                known = overlaps(
                    sure.agreement, supported, times, whitening.rank,
                    dropped=self.chosen_ == "elimination",
                )  # fmt: skip
                coarse = coarse_directions(X, self.components_ * whitening.scale)
                if r >= whitening.rank:
                    reason, known = "all columns together hold any direction", [None] * r
                elif any(one is None for one in known[:supported]):
                    reason = "the halves of the rows agree no better than chance on a direction"
                if r < whitening.rank and coarse[:supported].any():
                    reason = (
                        "columns with few values make up most of a direction, and on them several "
                        "directions may say the same"
                    )
                    known = [None if bad else q for q, bad in zip(known, coarse, strict=True)]
            what = "overlap with the true directions"
            if dependent is not None:
                what, reason, supported, known = UNDECIDED, dependent.reason, None, [None] * r
            if reason is not None:
                undecided[what] = reason
        names = getattr(self, "feature_names_in_", None)
        found = [
            *warnings_of(n, whitening, tails, self.score_, self.score_error_),
            *lone_rows(X, whitening, labels.weights),
            *rows_lost(getattr(self, "sampled_", (0, 0)), known),
            *([] if dependent is None else [dependent.caution]),
            *exchanged(getattr(self.estimator_, "stand_ins_", []), names),
            *twins(X, labels, names),
            *fewer_given(self.n_components, r, whitening.rank),
        ]
        return IndexReport(
            rows=len(X),
            columns=X.shape[1],
            rank=whitening.rank,
            n_components=r,
            chosen=self.chosen_,
            judge=how,
            scores={name: (verdict.score, verdict.error) for name, verdict in verdicts.items()},
            dimension=None if dimension is None else dimension.to_dict(),
            supported=supported,
            overlap=known,
            rows_for_good_overlap=rows_needed(known, n),
            undecided=undecided,
            blind=blind_methods(labels, self.held_out_[:, :supported]) if supported else {},
            warnings=found,
            target=labels.sentence,
        )

    def _halves(
        self,
        X: Any,
        y: Any,
        labels: Labels,
        verdicts: dict[str, Verdict],
        seed: int,
        counted: Verdict | None,
    ) -> tuple[Confidence, float]:
        """Return the confidence by fits to two halves, and the ratio of all rows to a half."""
        order = np.random.default_rng(seed).permutation(len(X))[:_HALVES]
        some = np.sort(order) if len(order) < len(X) else slice(None)
        X, y, part = X[some], y[some], labels.take(some)
        if self.chosen_ == "message_passing" and counted and len(counted.views) == 2:
            views = counted.views
        elif self.chosen_ == "average":
            judged = [
                judge(verdict.fitted, X, y, part, folds=2, seed=seed, how="information",
                      fitted=verdict.fitted)
                for name, verdict in contenders(verdicts, labels).items() if name != "average"
            ]  # fmt: skip
            mixed = average(judged, part, seed, "information")
            views = (mixed or judged[0]).views
        else:
            views = halves(self.estimator_.for_folds(), X, y, part, seed)
        first = next(row_folds(len(X), 2, seed))
        found = confidence(part, self._project(X), views, first, seed)
        return found, 2 * len(labels.weights) / len(X)

    def _turn(self, turn: NDArray[Any], scale: NDArray[Any]) -> None:
        """Replace the directions by other combinations of them."""
        components = turn.T @ self.components_
        self.components_ = fixed_signs(components, scale)
        signs = np.sign((components * self.components_).sum(axis=1))
        self.held_out_ = self.held_out_ @ turn * signs

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return coordinates of the rows of X.

        Parameters
        ----------
        X : array, shape (n, p)
            The inputs.

        Returns
        -------
        array, shape (n, r)
            ``(X - center_) components_^T``; one column of zeros where no direction was found, so
            that what follows in a pipeline predicts the mean.
        """
        found = super().transform(X)
        return found if found.shape[1] else np.zeros((len(found), 1))

    @property
    def _n_features_out(self) -> int:
        return max(len(self.components_), 1)

    def _compare(
        self, X: Any, y: Any, labels: Labels, names: list[str], r: int, seed: int, tails: float,
        how: str, folds: int, known: Verdict | None,
    ) -> dict[str, Verdict]:  # fmt: skip
        """Return the verdicts on the candidates, message passing first.

        Where the rows have Gaussian tails, which its theory assumes, message passing that finds
        something is its own judge: its cavity fields are coordinates that do not depend on the
        label of their row, but use all other rows. Where it also knows all of its directions, no
        other candidate is tried. Where a machine judges, candidates that are tied are averaged.
        """
        if known and isinstance(known.fitted, SparseSubspace | MomentSubspace):  # Few rows.
            return {"sparse" if isinstance(known.fitted, SparseSubspace) else "sir": known}
        verdicts: dict[str, Verdict] = {}
        fits: dict[str, Any] = {}
        if "message_passing" in names and self.candidates == "auto":
            finder = candidate("message_passing", r, seed)
            fitted = (
                known.fitted
                if known and known.fitted
                else finder.fit(X, y, sample_weight=labels.weights)
            )
            fits["message_passing"] = fitted
            score, error = fitted.information_, fitted.information_error_
            if tails < GAUSSIAN and how == "information" and score > _SAID * error:
                fields = fitted.fields_
                verdicts["message_passing"] = Verdict(
                    score, error, np.zeros(0), fields, fitted.components_, fitted, fields, []
                )
                if (fitted.overlap_ >= _KNOWN).all():
                    return verdicts
            elif known and how == "cv":
                verdicts["message_passing"] = known
        for name in tracked([name for name in names if name not in verdicts], "candidates"):
            verdicts[name] = judge(
                candidate(name, r, seed), X, y, labels, folds=folds, seed=seed, how=how,
                fitted=fits.get(name),
            )  # fmt: skip
        if how == "cv":
            tied = average(contenders(verdicts, labels).values(), labels, seed, how)
            if tied is not None:
                verdicts["average"] = tied
        return verdicts

    def _choose(
        self, X: Any, labels: Labels, verdicts: dict[str, Verdict], whitening: Whitening
    ) -> None:
        if not verdicts:
            self.chosen_, self.score_, self.score_error_ = "none", 0.0, 0.0
            self.estimator_ = None
            self.held_out_ = np.zeros((len(X), 0))
            self._keep(whitening, np.zeros((whitening.rank, 0)))
            return
        verdicts = contenders(verdicts, labels)
        self.chosen_ = max(verdicts, key=lambda name: verdicts[name].score)
        best = verdicts[self.chosen_]
        if "average" in verdicts:  # The score of the best is too high because it was chosen.
            behind, error = weighted_mean(best.rows - verdicts["average"].rows, labels.weights)
            if behind <= _FLATTERED * error:
                self.chosen_ = "average"
        if best.score <= _SAID * best.error:  # No candidate is clearly above zero.
            safe = [name for name in ("average", "message_passing") if name in verdicts]
            self.chosen_ = safe[0] if safe else self.chosen_
        self._take(self.chosen_, verdicts[self.chosen_], whitening)

    def _take(self, name: str, verdict: Verdict, whitening: Whitening) -> None:
        """Keep the directions of a candidate."""
        self.chosen_ = name
        self.score_, self.score_error_ = verdict.score, verdict.error
        self.held_out_ = verdict.coordinates
        self.estimator_ = verdict.fitted
        self.components_ = fixed_signs(verdict.components, whitening.scale)
        self.center_ = self.estimator_.center_
        self.rank_ = self.estimator_.rank_
        self.shrinkage_ = self.estimator_.shrinkage_
