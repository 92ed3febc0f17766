"""Directions by message passing with a learned channel."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from learnability.errors import LearnabilityError
from learnability.estimators._base import SubspaceEstimator, check_choice, check_count
from learnability.estimators._blind_amp import Passage, WhiteRows
from learnability.estimators._channel import CrossFittedChannel, standardised
from learnability.estimators._judge import score_coordinates
from learnability.estimators._kernel_agop import target_functions
from learnability.estimators._labels import Labels, read_labels, weighted_mean
from learnability.estimators._local_gradients import local_gradients
from learnability.estimators._search import into_white, moment_starts, search
from learnability.estimators._whitening import Whitening, whiten

__all__ = ["MessagePassingSubspace"]

Array = NDArray[np.float64]
_SEARCH_ROWS = 10_000
_SEARCH_EACH = 40
"""Number of rows of the search: in all, or per white coordinate if that is more."""
_LAST_STEPS = 12
"""Steps on all rows after the search."""
_ERRORS = 3.0
"""A direction counts if it adds more information than this many standard errors."""
_OVERLAP_ROWS = 50_000
"""The largest number of rows that decide whether a direction counts, and its overlap."""
_LOCAL_WORK = 1e7
"""Largest n k^2 for which local gradients are tried as a start."""


class MessagePassingSubspace(SubspaceEstimator):
    """Directions by message passing whose channel is learned from the data (blind AMP).

    The output function of Bayes-optimal message passing is the score of p(y | field), which is
    learned from the fields and labels themselves. On Gaussian inputs it needs the fewest samples of
    all methods here. With very many rows (20 000, or 80 per independent column) the search uses
    half as many of them, and all rows are used in the last steps.

    Parameters
    ----------
    n_components : int, default 2
        Number of directions.
    start : {"auto", "moments", "random"} or array of shape (r, p), default "auto"
        Where it begins: moments inside slices of y ("auto" adds local gradients where rows have
        heavy tails or something stays unclear, and random restarts where moments lead nowhere), or
        given directions.
    n_iter : int, default 40
        The largest number of steps of a run.
    damping : float, default 0.8
        Weight of the new iterate.
    staircase : bool, default True
        Whether directions that stayed hidden are sought again, given those that were found.
    random_state : int, RandomState or None, default None
        The seed of the halves of the cross-fitting and of random starts.

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
    fields_ : array, shape (n, r)
        Cavity fields of the rows of positive weight: their coordinates, as they would be without
        the row's own label, of unit variance.
    overlap_ : array, shape (r,)
        Squared overlap with the hidden directions that state evolution predicts for each of its
        own, on Gaussian rows. NaN where a direction is not distinguishable from none:
        without it the other fields say as much about the target, within three standard errors.
    channel_ : tuple
        The channel that won.
    landings_ : list of (int, float)
        Number of directions and information after each landing of the staircase.
    climbed_ : bool
        Whether the staircase found what the run before it had not.
    from_given_ : bool
        Whether moments, or given directions, led there: not local gradients or a random restart.
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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MessagePassingSubspace:
        """Find the directions.

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
        X, y, weights = self._read_counted(X, y, sample_weight)
        labels = read_labels(y, weights)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        whitening = whiten(X, weights, "shrunk")
        rows = WhiteRows(X, whitening, weights)
        r = min(self.n_components, whitening.rank)
        enough = max(_SEARCH_ROWS, _SEARCH_EACH * whitening.rank)
        if len(X) > 2 * enough:  # Search in a part, and refine the result with all rows.
            part = np.sort(rng.permutation(len(X))[:enough])
            some = self._search(
                X[part], labels.take(part), whitening,
                WhiteRows(X[part], whitening, weights[part]), r, rng,
            )  # fmt: skip
            found = search(
                rows, labels, r, rng, starts=[some[0].U], steps=_LAST_STEPS, damping=self.damping,
                staircase=False,
            )  # fmt: skip
            found = (found[0], [*some[1], *found[1]], some[2])
        else:
            found = self._search(X, labels, whitening, rows, r, rng)
        passage, self.landings_, self.from_given_ = found
        self._keep(whitening, passage.U)
        fields = standardised(passage.fields, weights)[0]
        turn = np.sign(weights @ (fields * self._project(X)))
        self.fields_ = fields * np.where(turn == 0, 1.0, turn)
        self.information_ = passage.information
        self.information_error_ = passage.error
        self._labels = labels
        self.__dict__.pop("overlap_", None)  # It may be there from an earlier fit.
        self.channel_ = passage.channel
        self.status_ = passage.status
        self.climbed_ = self.landings_[0][1] + passage.error < passage.information
        self.n_iter_ = max(len(passage.trace), 1)
        return self

    @cached_property
    def overlap_(self) -> Array:
        """The predicted overlaps, computed on first access."""
        return _known_overlap(self._labels, self.status_, self.fields_, self.rank_)

    def _search(
        self, X: Any, labels: Labels, whitening: Whitening, rows: WhiteRows, r: int,
        rng: np.random.Generator,
    ) -> tuple[Passage, list[tuple[int, float]], bool]:  # fmt: skip
        auto = isinstance(self.start, str) and self.start == "auto"
        found: tuple[Passage, list[tuple[int, float]], bool] = search(
            rows, labels, r, rng, starts=self._starts(X, labels, whitening, r, rng),
            steps=self.n_iter, damping=self.damping, staircase=self.staircase,
            restarts=4 if auto else 0, local_start=_local_start(rows, labels, r, rng, auto=auto),
        )  # fmt: skip
        return found

    def for_folds(self) -> MessagePassingSubspace:
        """Return an unfitted copy without the parts of the search that did not help on all rows.

        These are the staircase if it found nothing, and other starts if moments led to the result.
        """
        copy: MessagePassingSubspace = clone(self)
        copy.staircase = self.staircase and self.climbed_
        if isinstance(self.start, str) and self.start == "auto" and self.from_given_:
            copy.start = "moments"
        return copy

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
        return [into_white(whitening, given.T)]


def _known_overlap(labels: Labels, status: str, fields: Array, k: int) -> Array:
    """Return the overlaps that state evolution predicts, NaN for directions that add nothing.

    With g the learned score of a standard field and s the true one, n rows of k coordinates give an
    overlap q with q^2 / (1 - q) = (n / k) E[g s]^2 / E[g^2]. A channel with many parameters has a
    score on noise as well: its square, if taken for signal, would give an overlap to a direction
    that does not exist. With very many rows a part is used, with the number of all.
    """
    if status == "start":
        return np.full(fields.shape[1], np.nan)
    rows = labels.weights.sum()
    some = slice(None, None, -(-len(fields) // _OVERLAP_ROWS))
    labels, fields = labels.take(some), fields[some]
    channel = CrossFittedChannel(labels, fields.shape[1], np.random.default_rng(0))
    learned, signal = channel.strength(fields)
    ratio = np.maximum(signal, 0.0) ** 2 / np.maximum(learned, 1e-300) * rows / k
    found = (np.sqrt(ratio**2 + 4 * ratio) - ratio) / 2
    together = score_coordinates(labels, fields, 0)
    for j in range(len(found)):
        others = score_coordinates(labels, np.delete(fields, j, axis=1), 0)
        gain, error = weighted_mean(together - others, labels.weights)
        if gain <= _ERRORS * error:
            found[j] = np.nan
    return np.asarray(found)


def _local_start(
    rows: WhiteRows, labels: Labels, r: int, rng: np.random.Generator, *, auto: bool
) -> Callable[[], Array] | None:
    """Return a function that computes directions of local gradients, if that is cheap."""
    n, k = rows.shape
    if not auto or rows.Z is None or n < 3 * k or n * k**2 > _LOCAL_WORK:
        return None
    Z, seed = rows.Z, int(rng.integers(2**31))

    def start() -> Array:
        _, vectors = local_gradients(
            Z, target_functions(labels), r, weights=rows.weights, anchors=100, rounds=5,
            rng=np.random.default_rng(seed),
        )  # fmt: skip
        return np.asarray(vectors[:, :r])

    return start
