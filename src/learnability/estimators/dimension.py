"""The number of directions, by a criterion, held-out rows, permutations, and the bulk's edge.

criterion     each number of directions gets as many columns as an extended Bayesian criterion likes
              best; the number is the smallest from 1 on whose criterion is within three nats of the
              best, if that is above five, and else 0. It is taken where it is not zero, and one
              more direction wherever the permutations below and held-out rows show it.
cv            the smallest r whose held-out information is within two standard errors of the best,
              or whose score by a machine, on rows that are not Gaussian, is within half of one,
              if the best exceeds zero by three; r grows until one more direction adds nothing, or
              two more where the permutations below show that there are more. Information is that
              of halves of the rows; where permutations show another number of directions, fits to
              four fifths of the rows decide how many there are, by the same errors, and also
              where halves show none. It is taken where the criterion shows nothing, or is not used.
permutation   given the directions found so far, the strongest first and second moments of the
              residual labels are compared with their values when the label depends on the
              coordinates alone: its ranks given them are shuffled, classes are drawn anew.
bulk edge     the same moments are compared with their Gaussian null law; this is a quick check, and
              goes no further than the other rules.

They err in different ways, so the report says whether the number that is taken is that of the
permutations. With fewer than three rows per independent column the directions are those of first
moments or of few columns, whichever score higher, and only held-out rows are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from learnability.estimators._base import as_seed, check_count
from learnability.estimators._candidates import candidate_names
from learnability.estimators._count_fits import WIDEST, CountFits
from learnability.estimators._elimination import EliminatedSubspace, can_drop, count_by_worth
from learnability.estimators._judge import (
    Verdict,
    settled,
)
from learnability.estimators._labels import Labels, read_labels, weighted_mean
from learnability.estimators._whitening import Whitening, tail_weight, whiten
from learnability.estimators.message_passing_subspace import MessagePassingSubspace
from learnability.progress import tracked

__all__ = ["DimensionReport", "count_directions", "dimension_report"]

Array = NDArray[np.float64]
_SURE = 3.0
"""The score must exceed zero by this many standard errors for there to be any direction."""
_SPARED = {"information": 2.0, "cv": 0.5}
"""Fewer directions are preferred if they are behind the best by at most these standard errors.

Information counts the directions that exist; a machine is meant to predict, and the score of the
best is slightly too high because it was chosen.
"""
_MOST_ROWS = 8_000
_MOST_EACH = 60
"""Number of rows that are used for counting: in all, or per white coordinate if that is more."""
_AGAIN = 5
"""Factor by which more rows are used if the first show nothing."""
_CLOSE = 50_000
"""Largest number of white coordinates in all rows for which more folds are tried."""


@dataclass(frozen=True)
class DimensionReport:
    """Number of directions by four rules.

    Attributes
    ----------
    chosen : int
        The number that is taken.
    criterion : int or None
        The number by the criterion of few columns; None where rows are too few or too many for it.
    cv : int or None
        The number by held-out rows; None where the criterion finds some directions.
    permutation : int or None
        The number by permutations, at most one beyond those that were looked at; None where rows
        are few or coordinates too many to shuffle.
    bulk_edge : int or None
        The number by the Gaussian null law; at most one beyond those that the other two have
        looked at, and None where there are few rows.
    agree : bool or None
        Whether the number that is taken and that by permutation agree.
    scores, errors : list of float
        Held-out information, or score of a machine, of r = 0, 1, ... and its standard error.
    worth : list of float or None
        The criterion of r = 0, 1, ... in nats.
    rows : int or None
        Number of rows that were used, if not all.
    """

    chosen: int
    criterion: int | None
    cv: int | None
    permutation: int | None
    bulk_edge: int | None
    agree: bool | None
    scores: list[float]
    errors: list[float]
    worth: list[float] | None = None
    rows: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain numbers."""
        return asdict(self)

    def __str__(self) -> str:
        """Return one line, with the rules that were run."""
        said = f"directions: {self.chosen} by held-out rows"
        if self.criterion:
            few = "by the criterion of few columns"
            more = self.chosen > self.criterion
            said = f"{said}, {self.criterion} {few}" if more else f"directions: {self.chosen} {few}"
        if self.permutation is not None:
            agreed = "they agree" if self.agree else "they disagree: look at both"
            said += f", {self.permutation} by permutation ({agreed})"
        if self.bulk_edge is not None:
            said += f", {self.bulk_edge} above the bulk edge"
        if self.rows is not None:
            said += f"; counted on {self.rows} of the rows"
        return said


def dimension_report(
    X: Any, y: Any, max_components: int = 5, permutations: int = 19, folds: Any = "auto",
    random_state: Any = 0, sample_weight: Any = None,
) -> DimensionReport:  # fmt: skip
    """Find the number of directions by four rules.

    Parameters
    ----------
    X : array, shape (n, p)
        The inputs.
    y : array, shape (n,) or (n, outputs)
        The target.
    max_components : int
        Largest number that is tried.
    permutations : int
        Number of shuffles at each step.
    folds : int or "auto"
        Folds of the held-out score; "auto" as in IndexSubspace.
    random_state : int, RandomState or None
        Fixes everything.
    sample_weight : array, shape (n,), optional
        Counts of the rows.

    Returns
    -------
    DimensionReport
    """
    check_count("permutations", permutations)
    if folds != "auto":
        check_count("folds", folds, 2)
    X, y, weights = MessagePassingSubspace()._read_counted(X, y, sample_weight)
    labels = read_labels(y, weights)
    whitening = whiten(X, labels.weights, "auto")
    how, folds = settled(
        "auto", folds, weights.sum(), whitening, tail_weight(X, whitening, weights)
    )
    report: DimensionReport = count_directions(
        X, y, labels, max_components, whitening, permutations=permutations, folds=folds,
        seed=as_seed(random_state), how=how,
    )[0]  # fmt: skip
    return report


# The matrices are so small that threads would only wait.
@threadpool_limits.wrap(limits=1, user_api="blas")  # type: ignore[untyped-decorator]
def count_directions(
    X: Array, y: Any, labels: Labels, most: int, whitening: Whitening, *, permutations: int = 19,
    folds: int, seed: int, how: str, few_names: Sequence[str] | None = None,
) -> tuple[DimensionReport, dict[int, Verdict], EliminatedSubspace | None]:  # fmt: skip
    """Return the report, verdicts on numbers of directions, and the fit if the criterion took it.

    With few rows the best of the finders in `few_names` is used; by default these are the finders
    that `IndexSubspace` tries.
    """
    most = min(check_count("max_components", most), whitening.rank)
    few = whitening.has_few_rows(labels.weights.sum())
    if few and labels.kind == "classes":
        most = min(most, len(labels.values) - 1)  # The means of the classes span no more.
    enough = max(_MOST_ROWS, _MOST_EACH * whitening.rank)
    order = np.random.default_rng(seed).permutation(len(X))
    for part in (enough, _AGAIN * enough):
        thinned = len(X) > part
        rows = np.sort(order[:part]) if thinned else slice(None)
        some, given, codes = X[rows], y[rows], labels.take(rows)
        names = few_names or candidate_names("auto", len(some), codes.weights.sum(), whitening)
        counter = CountFits(
            some, given, codes, whitening, folds, seed, how, permutations, few, tuple(names)
        )
        cv = criterion = worth = None
        if not few and can_drop(some, codes, whitening.rank):
            criterion, worth, dropped = count_by_worth(
                some, given, codes, most, seed, counter.fits, counter.more
            )
        if criterion:
            chosen, verdicts = _beyond(counter, criterion, most)
        else:
            counter.fits, counter.tests = {}, {}
            cv, verdicts = _by_held_out_rows(counter, most)
            chosen = cv
        if chosen or not thinned:
            break
    shuffled = edge = None
    if not few:  # If they are few, white rows look alike whatever the label.
        shuffled, edge = _by_moments(counter, most, max(*verdicts, chosen, 0))
    report = DimensionReport(
        chosen, criterion, cv, shuffled, edge, None if shuffled is None else shuffled == chosen,
        [0.0, *(verdict.score for verdict in verdicts.values())],
        [0.0, *(verdict.error for verdict in verdicts.values())],
        worth, len(some) if thinned else None,
    )  # fmt: skip
    if criterion:
        return report, {}, dropped[chosen] if chosen == criterion and not thinned else None
    if cv in counter.brief:
        del verdicts[cv]  # It was judged by a brief run only, and is to be judged again.
    elif cv and not thinned:
        verdicts[cv] = replace(verdicts[cv], fitted=counter.fit(cv))
    return report, {} if thinned else verdicts, None


def _beyond(counter: CountFits, found: int, most: int) -> tuple[int, dict[int, Verdict]]:
    """Return the number of directions from that of the criterion on, and verdicts on more.

    The criterion may miss a direction that is made of many columns. Where moments show that there
    are more, one more is taken if held-out rows support it.
    """
    verdicts: dict[int, Verdict] = {}
    informed = replace(counter, how="information")  # Not by a machine, whatever the rows.
    while found < most and counter.more(found):
        for r in (found, found + 1):
            verdicts[r] = verdicts.get(r) or informed.verdict(r, more=True)
        rows = verdicts[found + 1].rows - verdicts[found].rows
        gain, error = weighted_mean(rows, counter.labels.weights)
        if gain <= _SPARED["information"] * error:
            break
        found += 1
    return found, verdicts


def _by_held_out_rows(counter: CountFits, most: int) -> tuple[int, dict[int, Verdict]]:
    """Return the choice by held-out information, or score, and the verdicts from r = 1 on.

    One more direction is tried than the best so far, or two where moments show that there are more;
    with few rows directions are added one by one.
    """
    verdicts: dict[int, Verdict] = {}
    labels, best = counter.labels, 0
    for r in tracked(range(1, most + 1), "directions"):
        more = not counter.few and (r == 1 or counter.more(best) is not False)
        if r > best + (2 if more else 1):
            break
        verdicts[r] = counter.verdict(r, more=more)
        if not (more or counter.few):
            counter.brief.add(r)
        if verdicts[r].score > (verdicts[best].score if best else 0.0):
            best = r
    if best == 0 or verdicts[best].score <= _SURE * verdicts[best].error:
        best = 0
    for r in range(1, best):
        gain, error = weighted_mean(verdicts[best].rows - verdicts[r].rows, labels.weights)
        if gain <= _SPARED[counter.how] * error:
            best = r
            break
    if counter.how == "information" and not counter.few:
        best = _looked_closer(counter, best, most)
    if best and best not in verdicts:
        verdicts[best] = counter.verdict(best, more=True)
        counter.brief.discard(best)
    return best, verdicts


def _looked_closer(counter: CountFits, found: int, most: int) -> int:
    """Return the number of directions by more folds, where permutations show another number.

    Moments may show nothing of a function that oscillates, so that none is always looked at again.
    """
    if counter.X.shape[0] * counter.whitening.rank > _CLOSE:
        return found

    def adds(before: int, after: int) -> bool:
        known = counter.closer(before) if before else np.zeros(len(counter.X))
        gain, error = weighted_mean(counter.closer(after) - known, counter.labels.weights)
        return gain > (_SPARED["information"] if before else _SURE) * error

    while found and counter.more(found - 1) is False and not adds(found - 1, found):
        found -= 1
    more = True
    while more and found < most and (found == 0 or counter.more(found)):
        steps = 2 if counter.more(found) else 1
        next_ones = range(found + 1, min(found + steps, most) + 1)
        found, more = next(((r, True) for r in next_ones if adds(found, r)), (found, False))
    return found


def _by_moments(counter: CountFits, most: int, looked: int) -> tuple[int | None, int]:
    """Return the choices by permutation and by the bulk edge, as far as fits exist."""
    narrow = counter.whitening.rank <= WIDEST
    shuffled: int | None = None
    edge: int | None = None
    s = 0
    for s in range(most + 1):
        if s > looked:
            break
        stands_out, above = counter.remains(s)
        if edge is None and not above:
            edge = s
        if narrow and shuffled is None and not stands_out:
            shuffled = s
        if edge is not None and (shuffled is not None or not narrow):
            break
    none = min(most, looked + 1) if narrow else None  # More was not looked at.
    return (none if shuffled is None else shuffled), (s if edge is None else edge)
