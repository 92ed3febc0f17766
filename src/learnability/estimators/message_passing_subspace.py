"""Directions by message passing with a learned channel."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from learnability.errors import LearnabilityError
from learnability.estimators._accumulator import Accumulator
from learnability.estimators._base import SubspaceEstimator, check_choice, check_count
from learnability.estimators._blind_amp import Passage, WhiteRows, pass_messages
from learnability.estimators._channel import CrossFittedChannel, standardised
from learnability.estimators._labels import Labels, read_labels
from learnability.estimators._moments import (
    leading_directions,
    learned_directions,
    tilted_directions,
)
from learnability.estimators._staircase import proposals, residual_labels
from learnability.estimators._whitening import WIDE, Whitening, whiten

__all__ = ["MessagePassingSubspace", "moment_starts", "search"]

Array = NDArray[np.float64]
_SURE = 0.5
"""Predicted overlap below which a direction is sought again."""
_ERRORS = 3.0
"""Standard errors that information must exceed to count."""
_HEAT = 12
"""Steps after which starts are compared."""
_FEW = 100
"""Fewer rows than this are too few for restarts and a staircase."""


class MessagePassingSubspace(SubspaceEstimator):
    """Directions by message passing whose channel is learned from the data (blind AMP).

    The output function of Bayes-optimal message passing is the score of p(y | field), which is
    learned from the fields and labels themselves. On Gaussian inputs it needs the fewest samples of
    all methods here.

    Parameters
    ----------
    n_components : int, default 2
        Number of directions.
    start : {"auto", "moments", "random"} or array of shape (r, p), default "auto"
        Where it begins: moments inside slices of y ("auto" adds random restarts when they lead
        nowhere), or given directions.
    n_iter : int, default 40
        Most steps of a run.
    damping : float, default 0.8
        Weight of the new iterate.
    staircase : bool, default True
        Seek directions that stayed dark again, given those that were found.
    random_state : int, RandomState or None, default None
        Halves of the cross-fitting and random starts.

    Attributes
    ----------
    components_ : array, shape (r, p)
        The directions, orthonormal in the metric of the covariance of x.
    center_ : array, shape (p,)
        Mean of x.
    information_ : float
        Cross-fitted information of the label in the fields, in nats per row; not above three
        `information_error_` means that nothing was found.
    information_error_ : float
        Its standard error.
    overlap_ : array, shape (r,)
        Squared overlap with the hidden directions that the run predicts for each of its own.
    channel_ : tuple
        The channel that won.
    landings_ : list of (int, float)
        Number of directions and information after each landing of the staircase.
    status_ : str
        "converged", "stopped" or "diverged"; "start" when message passing found nothing and its
        start is returned.
    """

    def __init__(
        self, n_components: int = 2, start: Any = "auto", n_iter: int = 40,
        damping: float = 0.8, staircase: bool = True, random_state: Any = None,
    ) -> None:  # fmt: skip
        self.n_components = n_components
        self.start = start
        self.n_iter = n_iter
        self.damping = damping
        self.staircase = staircase
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> MessagePassingSubspace:
        """Find the directions.

        Parameters
        ----------
        X : array, shape (n, p)
            The inputs.
        y : array, shape (n,) or (n, outputs)
            The target: numbers, of which only the order counts, or classes.

        Returns
        -------
        MessagePassingSubspace
        """
        check_count("n_components", self.n_components)
        check_count("n_iter", self.n_iter)
        if not 0 < self.damping <= 1:
            raise LearnabilityError(
                f"`damping` was given as {self.damping!r}, but a number in (0, 1] is accepted."
            )
        if isinstance(self.start, str):
            check_choice("start", self.start, ("auto", "moments", "random"))
        X, y = self._read(X, y)
        labels = read_labels(y, np.ones(len(X)))
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        whitening = whiten(X, np.ones(len(X)), "shrunk")
        rows = WhiteRows(X, whitening)
        r = min(self.n_components, whitening.rank)
        found = search(
            rows, labels, r, rng, starts=self._starts(X, labels, whitening, r, rng),
            steps=self.n_iter, damping=self.damping, staircase=self.staircase,
            restarts=4 if isinstance(self.start, str) and self.start == "auto" else 0,
        )  # fmt: skip
        passage, self.landings_ = found
        self._keep(whitening, passage.U)
        self.information_ = passage.information
        self.information_error_ = passage.error
        self.overlap_ = passage.overlap
        self.channel_ = passage.channel
        self.status_ = passage.status
        self.n_iter_ = max(len(passage.trace), 1)
        return self

    def _starts(
        self, X: Any, labels: Labels, whitening: Whitening, r: int, rng: np.random.Generator
    ) -> list[Array]:
        if isinstance(self.start, str):
            if self.start == "random":
                return [rng.standard_normal((whitening.rank, r))]
            return moment_starts(X, labels, whitening, r, rng)
        given = np.atleast_2d(np.asarray(self.start, dtype=float))
        if given.shape != (r, X.shape[1]):
            raise LearnabilityError(
                f"`start` has shape {given.shape}, but ({r}, {X.shape[1]}) is accepted."
            )
        return [_into_white(whitening, given.T)]


def moment_starts(
    X: Any, labels: Labels, whitening: Whitening, r: int, rng: np.random.Generator
) -> list[Array]:
    """Starts from moments, in the coordinates of `whitening`: dr, and learned preprocessing."""
    n = len(X)
    sums = Accumulator(whitening.center)
    sums.add(X, np.ones(n), labels.slices(10 if n >= 500 else 6))
    own = whiten(X, np.ones(n), "auto")
    ordered = labels.kind == "numbers"
    moments = sums.moments(own, ordered=ordered)
    found = []
    if n >= 3 * own.rank:
        found.append(leading_directions(moments, "dr", r)[1][:, :r])
        if n < 20 * own.rank and own.rank <= 600:
            found.append(learned_directions(moments, r, rng, starts=4, steps=25)[1])
    else:
        found.append(leading_directions(moments, "sir", r)[1])
        if ordered and own.rank <= WIDE:
            found += tilted_directions(moments, r)
    filled = []
    for U in found:
        more = rng.standard_normal((own.rank, max(r - U.shape[1], 0)))
        filled.append(_into_white(whitening, own.pull_back(np.column_stack([U[:, :r], more]))))
    return filled


def _into_white(whitening: Whitening, columns: Array) -> Array:
    """Directions (p, r) that multiply x - c as directions of white space."""
    return np.linalg.qr(np.linalg.lstsq(whitening.factor, columns, rcond=None)[0])[0]


def search(
    rows: WhiteRows, labels: Labels, r: int, rng: np.random.Generator, *, starts: list[Array],
    steps: int, damping: float, staircase: bool, restarts: int = 0,
) -> tuple[Passage, list[tuple[int, float]]]:  # fmt: skip
    """Message passing from the best of several starts, with a staircase where directions stay dark.

    Returns
    -------
    tuple
        The best run, and (directions, information) of each landing. When no run carries
        information the first start is returned as it was, with status "start".
    """
    seed = int(rng.integers(2**31))

    def run(start: Array, count: int, width: int = r, *, curves: bool = False) -> Passage:
        channel = CrossFittedChannel(labels, width, np.random.default_rng(seed), curves=curves)
        return pass_messages(rows, channel, start, steps=count, damping=damping)

    short = min(_HEAT, steps)
    best = _best([run(U, short) for U in starts])
    few = rows.shape[0] < _FEW
    for _ in range(restarts if not (few or _informed(best)) else 0):
        best = _best([best, run(rng.standard_normal((rows.shape[1], r)), short)])
        if _informed(best):
            break
    if steps > short and best.status != "converged":
        best = _best([best, run(best.U, steps)])
    if labels.kind == "numbers" and _sure(best) and best.channel[0] == "logit":
        best = _best([best, run(best.U, short, curves=True)])
    landings = [(r, best.information)]
    if staircase and not few and r > 1 and (r > 2 or not _sure(best)):
        sure = int((best.overlap >= _SURE).sum())
        for known in sorted({1, min(max(sure, 1), r - 1)}):
            best, more = _climb(rows, labels, r, known, best, run, seed, steps, damping)
            landings += more
    if not _informed(best):
        best = replace(best, U=np.linalg.qr(starts[0])[0], overlap=best.overlap * 0, status="start")
    return best, landings


def _climb(
    rows: WhiteRows, labels: Labels, r: int, known: int, best: Passage, run: Any, seed: int,
    steps: int, damping: float,
) -> tuple[Passage, list[tuple[int, float]]]:  # fmt: skip
    """Take the directions that are known best, and seek the others given them.

    Information adds along the staircase: that of the known directions, and that of the new ones
    about what the known ones leave open. A last run of all together is taken where it says more.
    """
    base = run(best.U[:, :known], min(2 * _HEAT, steps), known)
    landings = [(known, base.information)]
    t = standardised(base.fields)[0]
    left, _ = residual_labels(labels, t)
    short = min(_HEAT, steps)
    for _, U in proposals(rows, labels, base.U, base.fields, r - known)[:2]:
        channel = CrossFittedChannel(left, r - known, np.random.default_rng(seed), covariates=t)
        new = pass_messages(rows, channel, U, steps=2 * short, damping=damping, outside=base.U)
        # Residual ranks: the chain rule adds. Classes are the same, now given all fields.
        before = base.information if labels.kind == "numbers" else 0.0
        chain = replace(
            new, U=np.column_stack([base.U, new.U]), information=before + new.information,
            error=float(np.hypot(base.error, new.error)),
            overlap=np.concatenate([base.overlap, new.overlap]),
            fields=np.column_stack([base.fields, new.fields]),
        )  # fmt: skip
        joint = run(chain.U, steps)
        both = _best([chain, joint])
        landings.append((r, both.information))
        best = _best([best, both])
        if new.information > _ERRORS * new.error and (new.overlap >= _SURE).all():
            break
    return best, landings


def _best(passages: list[Passage]) -> Passage:
    return max(passages, key=lambda passage: passage.information)


def _informed(passage: Passage) -> bool:
    """Whether the run says something at all."""
    return passage.information > _ERRORS * passage.error


def _sure(passage: Passage) -> bool:
    """Whether the run says something and knows all of its directions."""
    return _informed(passage) and bool((passage.overlap >= _SURE).all())
