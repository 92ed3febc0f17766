"""The estimator to begin with: several candidates, and a judge."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from learnability.errors import LearnabilityError
from learnability.estimators._base import SubspaceEstimator, check_choice, check_count, fixed_signs
from learnability.estimators._judge import Verdict, average, contenders, judge, settled
from learnability.estimators._labels import Labels, read_labels, weighted_mean
from learnability.estimators._report import (
    IndexReport,
    blind_methods,
    rows_needed,
    warnings_of,
)
from learnability.estimators._whitening import GAUSSIAN, Whitening, tail_weight, whiten
from learnability.estimators.dimension import count_directions
from learnability.estimators.gradient_subspace import GradientSubspace
from learnability.estimators.message_passing_subspace import MessagePassingSubspace
from learnability.estimators.moment_subspace import MomentSubspace
from learnability.progress import tracked

__all__ = ["CANDIDATES", "IndexSubspace"]

CANDIDATES = ("message_passing", "opg", "agop", "giant", "dr", "sir", "save", "phd", "learned")
_LOCAL_WORK = 3e7
"""Largest n k^2 for which local gradients are tried by default."""
_KERNEL_ROWS = 4000
"""Most rows for which a kernel machine is tried by default."""
_SAID = 3.0
"""Standard errors that a score must exceed to say anything."""
_FLATTERED = 0.5
"""Standard errors of the difference that the best is flattered by against an average."""
_KNOWN = 0.9
"""Predicted overlap from which message passing is taken at its word, on Gaussian-like rows."""


class IndexSubspace(SubspaceEstimator):
    """The few linear combinations of x that y depends on, link unknown.

    Candidates of all families are fitted, and the one whose coordinates say most about y on rows
    that it did not see is kept, or the average of those that are tied where it says more. With less
    than three rows for each independent column only first moments are tried.

    Parameters
    ----------
    n_components : int or "auto", default "auto"
        Number of directions; "auto" finds it, and 0 is an answer.
    candidates : "auto" or list of names, default "auto"
        Among message_passing, opg, agop, giant, dr, sir, save, phd and learned.
    judge : {"auto", "information", "cv"}, default "auto"
        Held-out information of a learned channel in nats, or the cross-validated score of a support
        vector machine; "auto" takes information where there are at least fifty rows, with the tails
        of Gaussian ones. First moments of few rows are always judged by the machine.
    max_components : int, default 5
        Most directions that "auto" tries.
    folds : int or "auto", default "auto"
        Folds of the judge; "auto" takes three for information, and for cv five, or ten below
        300 rows.
    random_state : int, RandomState or None, default None
        Fixes everything.

    Attributes
    ----------
    components_ : array, shape (r, p)
        The directions, orthonormal in the metric of the covariance of x.
    center_ : array, shape (p,)
        Mean of x.
    chosen_ : str
        The candidate that won, or "average".
    score_, score_error_ : float
        Its held-out score and standard error.
    held_out_ : array, shape (n, r)
        Coordinates of the rows by fits that did not see them.
    report_ : IndexReport
        Scores, number of directions by each rule, advice; prints as sentences.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from learnability.estimators import IndexSubspace
    >>> X, y = load_diabetes(return_X_y=True)
    >>> found = IndexSubspace(n_components=1, random_state=0).fit(X, y)
    >>> found.transform(X).shape
    (442, 1)
    """

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
        X : array, shape (n, p)
            The inputs.
        y : array, shape (n,) or (n, outputs)
            The target: numbers, of which only the order counts, or classes.
        sample_weight : array, shape (n,), optional
            Counts of the rows.

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
        X, y, weights = self._read_counted(X, y, sample_weight)
        labels = read_labels(y, weights)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        whitening = whiten(X, weights, "auto")
        tails = tail_weight(X, whitening, weights)
        counted_rows = float(weights.sum())
        how, folds = settled(self.judge, self.folds, counted_rows, whitening, tails)
        names = self._names(len(X), whitening.rank)
        if whitening.has_few_rows(counted_rows):
            names = ["sir"]
        dimension = None
        counted: dict[int, Verdict] = {}
        if self.n_components != "auto":
            r = int(self.n_components)
        else:
            dimension, counted = count_directions(
                X, y, labels, self.max_components, whitening, folds=folds, seed=seed, how=how
            )
            r = dimension.cv
        verdicts: dict[str, Verdict] = {}
        if r:
            verdicts = self._compare(
                X, y, labels, names, r, seed, tails, how, folds, counted.get(r)
            )
        self._choose(X, labels, verdicts, whitening)
        overlap = np.asarray(getattr(self.estimator_, "overlap_", []))
        self.report_ = IndexReport(
            rows=len(X),
            columns=X.shape[1],
            rank=whitening.rank,
            n_components=len(self.components_),
            chosen=self.chosen_,
            judge=how,
            scores={name: (verdict.score, verdict.error) for name, verdict in verdicts.items()},
            dimension=None if dimension is None else dimension.to_dict(),
            overlap=[float(q) for q in overlap],
            rows_for_good_overlap=rows_needed(overlap, len(X)) if len(overlap) else None,
            blind=blind_methods(labels, self.held_out_) if len(self.components_) else {},
            warnings=warnings_of(counted_rows, whitening, tails, self.score_, self.score_error_),
        )
        return self

    def _names(self, n: int, rank: int) -> list[str]:
        if isinstance(self.candidates, str):
            if self.candidates != "auto":
                check_choice("candidates", self.candidates, ("auto", *CANDIDATES))
                return [self.candidates]
            names = ["message_passing", "dr", "sir"]
            if n <= _KERNEL_ROWS:
                names.append("agop")
            if n * rank**2 <= _LOCAL_WORK:
                names.append("opg")
            return names
        names = list(self.candidates)
        if not names or any(name not in CANDIDATES for name in names):
            raise LearnabilityError(
                f"`candidates` was given as {names!r}, but names among {', '.join(CANDIDATES)} are "
                "accepted."
            )
        return names

    def _compare(
        self, X: Any, y: Any, labels: Labels, names: list[str], r: int, seed: int, tails: float,
        how: str, folds: int, known: Verdict | None,
    ) -> dict[str, Verdict]:  # fmt: skip
        """The verdicts on the candidates, message passing first.

        Where the rows have the tails of Gaussian ones, on which its theory rests, message passing
        that says something is its own judge: its cavity fields are coordinates that never saw the
        label of their row, with all other rows at work. Where it also knows all of its directions
        no other candidate is tried. Where a machine judges, those that are tied are averaged.
        """
        if known and isinstance(known.fitted, MomentSubspace):  # Few rows: no other candidate.
            return {"sir": known}
        verdicts: dict[str, Verdict] = {}
        fits: dict[str, Any] = {}
        if "message_passing" in names and self.candidates == "auto":
            finder = _finder("message_passing", r, seed)
            fitted = known.fitted if known else finder.fit(X, y, sample_weight=labels.weights)
            fits["message_passing"] = fitted
            score, error = fitted.information_, fitted.information_error_
            if tails < GAUSSIAN and how == "information" and score > _SAID * error:
                fields = fitted.fields_
                verdicts["message_passing"] = Verdict(
                    score, error, np.zeros(0), fields, fitted.components_, fitted, fields, []
                )
                if (fitted.overlap_ >= _KNOWN).all():
                    return verdicts
            elif known:
                verdicts["message_passing"] = known
        for name in tracked([name for name in names if name not in verdicts], "candidates"):
            verdicts[name] = judge(
                _finder(name, r, seed), X, y, labels, folds=folds, seed=seed, how=how,
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
            self.held_out_: NDArray[Any] = np.zeros((len(X), 0))
            self._keep(whitening, np.zeros((whitening.rank, 0)))
            return
        verdicts = contenders(verdicts, labels)
        self.chosen_ = max(verdicts, key=lambda name: verdicts[name].score)
        best = verdicts[self.chosen_]
        if "average" in verdicts:  # The best of several is flattered by having been chosen.
            behind, error = weighted_mean(best.rows - verdicts["average"].rows, labels.weights)
            if behind <= _FLATTERED * error:
                self.chosen_ = "average"
        if best.score <= _SAID * best.error:  # Nobody says anything by itself.
            safe = [name for name in ("average", "message_passing") if name in verdicts]
            self.chosen_ = safe[0] if safe else self.chosen_
        verdict = verdicts[self.chosen_]
        self.score_, self.score_error_ = verdict.score, verdict.error
        self.held_out_ = verdict.coordinates
        self.estimator_ = verdict.fitted
        self.components_ = fixed_signs(verdict.components, whitening.scale)
        self.center_ = self.estimator_.center_
        self.rank_ = self.estimator_.rank_
        self.shrinkage_ = self.estimator_.shrinkage_


def _finder(name: str, r: int, seed: int) -> Any:
    """A candidate by its name."""
    if name == "message_passing":
        return MessagePassingSubspace(r, random_state=seed)
    if name in ("opg", "agop", "giant"):
        return GradientSubspace(name, r, n_anchors=100, random_state=seed)
    return MomentSubspace(name, r, random_state=seed)
