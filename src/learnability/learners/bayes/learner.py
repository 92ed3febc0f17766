"""Bayes-optimal message passing, run on samples and predicted by its state evolution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.fields import choice, number, record, whole
from learnability.labels.channel import Channel
from learnability.labels.posterior import box_posterior, scheme_of
from learnability.learners.base import Found, Learner, Question, Side, Support
from learnability.learners.bayes._channel_step import ChannelStep
from learnability.learners.bayes._generalisation import errors, expected_errors, squared_error
from learnability.learners.bayes._iteration import (
    INFORMED,
    Run,
    Start,
    informed_start,
    iterate,
    random_start,
    spectral_start,
)
from learnability.learners.bayes._settled import settled
from learnability.learners.linear_algebra.sharded_rows import sharded
from learnability.learners.measurement import resolved, subspace_overlap
from learnability.learners.spectral import Spectral
from learnability.targets.multi_index import MultiIndex
from learnability.theory.information import keeps_diagonal, label_information
from learnability.theory.relevant_directions import RelevantDirections, relevant_directions
from learnability.theory.thresholds import spectrum_is_needed

if TYPE_CHECKING:
    from learnability.theory.state_evolution import FixedPoint

__all__ = ["BayesAMP"]

UNINFORMED = 0.01
_TRACE_NODES = 12  # An iteration has two to this power points.
_ROUGH = 0.1
"""Residual of the eigenvectors that a run starts from; it does better than they do at once."""


@record
class BayesAMP(Learner):
    """Bayes-optimal approximate message passing, which knows the link and not the weights.

    The first step from a small random start is the mean vector, all that directions with
    E[z | y] != 0 need; the start "auto" takes it when there are any, and the spectral estimate,
    completed at random, otherwise. "informed" starts at the hidden weights and finds the other
    fixed point where there are two.

    References
    ----------
    Barbier, Krzakala, Macris, Miolane, Zdeborova, PNAS 116 (2019); Aubin, Maillard, Barbier,
    Krzakala, Macris, Zdeborova, NeurIPS 2018; Troiani, Dandi, Defilippis, Zdeborova, Loureiro,
    Krzakala, arXiv:2405.15480.
    """

    name: ClassVar[str] = "bayes-amp"
    numerics_version: ClassVar[int] = 12
    supports: ClassVar[Support] = Support(
        most_directions=4, laws=("finite", "counts", "normal", "density", "latent")
    )
    questions: ClassVar[tuple[Question, ...]] = (
        Question(
            "values",
            "What message passing reaches.",
            ("overlap", "cosine", "subspace_overlap", "error", "misclassification", "status"),
            simulate=Side(
                needs=("d", "alpha"), observables=("iterations", "overlap_trace", "error_trace")
            ),
            predict=Side(needs=("alpha",)),
        ),
        Question(
            "path",
            "The overlap along the iterations.",
            ("overlap_trace",),
            simulate=Side(needs=("d", "alpha"), observables=("error_trace", "status")),
            predict=Side(needs=("alpha", "steps")),
        ),
    )

    start: str = choice(
        "auto", ("auto", "random", "spectral", "informed"), help="Where the iteration begins."
    )
    damping: float = number(0.5, above=0, at_most=1, help="Weight of the new iterate.")
    iterations: int = whole(500, help="The largest number of iterations.")
    tolerance: float = number(
        1e-3, above=0, at_most=1,
        help="The run stops when an undamped step would change the estimate by less than this "
        "fraction.",
    )  # fmt: skip
    restarts: int = whole(
        2, at_least=0,
        help="How many times a run from the start `auto` is tried again when it does not settle, "
        "or not with all directions; the run of the largest free entropy is taken.",
    )  # fmt: skip

    def check_target(self, question: str, verb: str, target: Any, at: Mapping[str, Any]) -> None:
        """Refuse a link whose posterior is out of reach, before the work."""
        channel = relevant_directions(target.channel).channel
        if channel.link.r < 4 or channel.law is not None or box_posterior(channel) is not None:
            scheme_of(channel)
            return
        label_information(channel)
        if channel.noise > 0 and not (verb == "predict" and self._explicit(question)):
            raise LearnabilityError(
                f"Runs of message passing on {target.link!r}, of four directions, need labels "
                "without noise: the posterior of a noisy one is an integral over all of them that "
                "would take minutes a step. `predict` answers."
            )

    def _explicit(self, question: str) -> bool:
        """Whether the prediction needs no posteriors of single samples."""
        return question == "values" or self.damping == 1

    def run_one(self, question: str, target: Any, at: Mapping[str, Any], seed: int) -> Found:
        """One run on samples, in float32."""
        found = self._run(target, at["d"], at["alpha"], seed)
        names = next(q for q in self.questions if q.name == question).names("simulate")
        steps = len(found["overlap_trace"])
        return Found(
            {name: values for name, values in found.items() if name in names},
            {"time": np.arange(steps)},
        )

    def _spectral(self, channel: Channel) -> bool:
        if self.start != "auto":
            return self.start == "spectral"
        return spectrum_is_needed(channel)

    def _run(self, target: MultiIndex, d: int, alpha: float, seed: int) -> dict[str, Any]:
        drawn = target.unrounded()
        X, y, W, _ = drawn.sample(seed, d=d, alpha=alpha, dtype=np.float32)
        if not (np.isfinite(X).all() and np.isfinite(y).all()):
            raise LearnabilityError(
                f"{target.link!r} gives labels that are not finite: message passing cannot run."
            )
        X, told = sharded(X), relevant_directions(drawn.channel)
        channel, hidden = told.channel, told.basis.astype(W.dtype) @ W
        rng, r = np.random.default_rng([seed, 3]), len(hidden)
        start: Start
        if self.start == "informed":
            start = informed_start(rng, hidden)
        elif self._spectral(channel):
            small = MultiIndex(channel.link, noise=channel.noise)
            start = spectral_start(Spectral().estimate(small, X, y, seed=seed, tolerance=_ROUGH))
        else:
            start = random_start(rng, r, d)
        step = ChannelStep(channel, y)
        diagonal = keeps_diagonal(channel)
        exact = label_information(channel).exponent == 0

        def attempt(first: Start, damping: float, diagonal: bool = diagonal) -> Run:
            found: Run = iterate(
                X, step, first, hidden, damping, self.iterations, self.tolerance,
                diagonal=diagonal, exact=exact,
                with_information=step.with_information if exact else None,
            )  # fmt: skip
            return found

        again = self.restarts if self.start == "auto" else 0
        fresh = (random_start(rng, r, d) for _ in range(again))
        freely = partial(attempt, damping=self.damping, diagonal=False) if diagonal else None
        run = settled(attempt, X, step, start, fresh, self.damping, exact, freely)
        return self._observed(target, told, run, W)

    def _observed(
        self, target: MultiIndex, told: RelevantDirections, run: Run, W: NDArray[Any]
    ) -> dict[str, Any]:
        overlap, length = told.outer(run.overlap), told.outer(run.length)
        unknown = told.outer(run.C) + np.eye(target.r) - told.basis.T @ told.basis
        label = relevant_directions(target.channel)
        paths = [label.inner(N) for N in (length, overlap, unknown)]
        trace = [
            squared_error(label.channel, Q, M, C, _TRACE_NODES)
            for Q, M, C in zip(*paths, strict=True)
        ]
        final, length = errors(label.channel, *(path[-1] for path in paths)), length[-1]
        size = np.sqrt(np.maximum(np.diag(length), 1e-300))
        seen = {
            "overlap": resolved(overlap[-1], target.link),
            "cosine": resolved(overlap[-1] / size[:, None], target.link),
            "subspace_overlap": subspace_overlap(run.W, W),
            "error": final.squared,
            "misclassification": final.wrong,
            "iterations": len(run.overlap) - 1,
            "status": run.status,
            "overlap_trace": np.array([resolved(M, target.link) for M in overlap]),
            "error_trace": np.array(trace),
        }
        if target.link.values is None:
            del seen["misclassification"]
        return seen

    def theory(
        self, question: str, target: Any, at: Mapping[str, Any], seeds: Sequence[int] | None
    ) -> Found:
        """State evolution, at its fixed points or along the iterations."""
        from learnability.theory.state_evolution import state_evolution

        if question == "path":
            return self._path(target, at["alpha"], at["steps"])
        theory = state_evolution(target.channel)
        points = theory.fixed_points(at["alpha"], self.start == "informed")
        values = _overlaps(points, target.r)
        told = relevant_directions(target.channel)
        size = np.abs(told.basis)
        pairs = [(told.inner(point.M), size @ point.error @ size.T) for point in points]
        found = [expected_errors(told.channel, M, spread) for M, spread in pairs]
        values |= {
            "error": [e.squared for e in found],
            "error_stderr": [e.squared_error for e in found],
            "status": [point.status for point in points],
        }
        if target.link.values is not None:
            values["misclassification"] = [e.wrong for e in found]
            values["misclassification_stderr"] = [e.wrong_error for e in found]
        return Found(values, attrs={**asdict(theory.thresholds_at_hand), "note": theory.note})

    def sketch(
        self, question: str, target: Any, at: Mapping[str, Any], most_steps: int
    ) -> Found | None:
        """Overlaps from a rough state evolution, where every ratio has such a one."""
        from learnability.theory.sketch import sketched_fixed_point

        if question == "path":
            return None
        informed = self.start == "informed"
        points = [
            sketched_fixed_point(target.channel, float(alpha), informed, most_steps)
            for alpha in at["alpha"]
        ]
        told = [point for point in points if point is not None]
        return Found(_overlaps(told, target.r)) if len(told) == len(points) else None

    def _path(self, target: MultiIndex, alphas: NDArray[Any], steps: int) -> Found:
        """State evolution along the iterations, damped as the algorithm is.

        Without damping it is exact. A damped run remembers all earlier estimates: it is then
        the algorithm itself, on data of infinite dimension, of which a finite number of samples
        is followed. The start is the overlap of the informed one, or 0.01 for the others, whose
        own is of order 1 / sqrt(d).
        """
        from learnability.learners.bayes._damped_paths import damped_paths
        from learnability.theory.state_evolution import state_evolution

        begin = INFORMED if self.start == "informed" else UNINFORMED
        told = relevant_directions(target.channel)
        means, errors = [], []
        for alpha in alphas:
            if self.damping == 1:
                paths = state_evolution(told.channel).trace(float(alpha), steps, begin)[None]
            else:
                paths = damped_paths(told.channel, float(alpha), steps, begin, self.damping)
            paths = told.outer(paths)
            means.append(paths.mean(axis=0))
            spread = paths.std(axis=0, ddof=1) if len(paths) > 1 else np.zeros_like(paths[0])
            errors.append(spread / np.sqrt(len(paths)))
        return Found(
            {"overlap_trace": np.array(means), "overlap_trace_stderr": np.array(errors)},
            {"time": np.arange(steps + 1)},
        )


def _overlaps(points: Sequence[FixedPoint], r: int) -> dict[str, Any]:
    """The observables that are overlaps, with their errors, at each fixed point."""
    M = np.array([point.M for point in points])
    spread = np.array([point.error for point in points])
    square = np.maximum(np.einsum("aii->ai", M), 0.0)
    length = np.maximum(np.sqrt(square), 1e-150)[:, :, None]
    # An error of the length turns into one of the cosine.
    own = np.einsum("aii->ai", spread)[:, :, None] / np.maximum(2 * length**2, 1e-150)
    return {
        "overlap": M,
        "overlap_stderr": spread,
        "cosine": M / length,
        "cosine_stderr": np.minimum(spread / length + np.abs(M) / length * own, 1.0),
        "subspace_overlap": [_captured(m) for m in M],
        "subspace_overlap_stderr": np.einsum("aii->a", spread) / r,
    }


def _captured(M: NDArray[Any]) -> float:
    """Subspace overlap of posterior means of overlap M: rows M W* + noise of covariance M - M^2."""
    values = np.linalg.eigvalsh(0.5 * (M + M.T))
    return float(np.mean(np.clip(values, 0.0, 1.0)))
