"""Bayes-optimal message passing, run on samples and predicted by its state evolution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.errors import LearnabilityError
from learnability.labels.channel import Channel
from learnability.labels.link import Link
from learnability.labels.posterior import scheme_of
from learnability.learners.alignment import resolved
from learnability.learners.bayes._channel_step import ChannelStep
from learnability.learners.bayes._damped_paths import damped_paths
from learnability.learners.bayes._generalisation import errors, squared_error
from learnability.learners.bayes._iteration import (
    INFORMED,
    Run,
    Start,
    informed_start,
    iterate,
    random_start,
    spectral_start,
)
from learnability.learners.linear_algebra.sharded_rows import sharded
from learnability.learners.protocol import (
    checked_alphas,
    checked_seeds,
    checked_target,
    dataset,
    subspace_overlap,
)
from learnability.learners.spectral import Spectral
from learnability.progress import tracked
from learnability.targets.multi_index import MultiIndex
from learnability.targets.protocol import checked_sizes
from learnability.theory.state_evolution import state_evolution
from learnability.theory.thresholds import weak_recovery

if TYPE_CHECKING:
    import xarray

__all__ = ["BayesAMP"]

UNINFORMED = 0.01
_STARTS = ("auto", "random", "spectral", "informed")
_TRACE_NODES = 12  # Two to this power points an iteration.
_ROUGH = 0.1
"""Residual of the eigenvectors that a run starts from; it does better than they do at once."""


@dataclass(frozen=True)
class BayesAMP:
    """Bayes-optimal approximate message passing, which knows the link and not the weights.

    Parameters
    ----------
    start : {"auto", "random", "spectral", "informed"}
        Where the iteration begins. The first step from a small random start is the mean
        vector, all that directions with E[z | y] != 0 need; "auto" takes it when there are any,
        and the spectral estimate, completed at random, otherwise. "informed" starts at the
        hidden weights and finds the other fixed point where there are two.
    damping : float
        Weight of the new iterate, above 0 and at most 1.
    iterations : int
        At most so many.
    tolerance : float
        Stop when an undamped step would change the estimate by less than this fraction.

    References
    ----------
    Barbier, Krzakala, Macris, Miolane, Zdeborova, PNAS 116 (2019); Aubin, Maillard, Barbier,
    Krzakala, Macris, Zdeborova, NeurIPS 2018; Troiani, Dandi, Defilippis, Zdeborova, Loureiro,
    Krzakala, arXiv:2405.15480.
    """

    numerics_version: ClassVar[int] = 3  # Stored runs of another version are not used again.

    start: str = "auto"
    damping: float = 0.5
    iterations: int = 500
    tolerance: float = 1e-3

    def __post_init__(self) -> None:
        if self.start not in _STARTS:
            raise LearnabilityError(
                f"`start` was given as {self.start!r}, but {', '.join(_STARTS)} are accepted."
            )
        for name, least in (("damping", 0.0), ("tolerance", 0.0)):
            value = getattr(self, name)
            number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
            if not number or not least < value <= 1:
                raise LearnabilityError(
                    f"`{name}` was given as {value!r}, but a number above 0 and at most 1 is "
                    "accepted."
                )
        whole = isinstance(self.iterations, int | np.integer)
        if not whole or isinstance(self.iterations, bool) or self.iterations < 1:
            raise LearnabilityError(
                f"`iterations` was given as {self.iterations!r}, but a whole number from 1 is "
                "accepted."
            )

    def simulate(
        self,
        target: MultiIndex | Link | str,
        *,
        d: int,
        alpha: ArrayLike,
        seeds: int | Sequence[int] = 1,
    ) -> xarray.Dataset:
        """Run message passing on samples, in float32.

        Parameters
        ----------
        target : MultiIndex, Link or str
            Where the samples come from; at most three hidden directions.
        d : int
            Dimension, at least r.
        alpha : float or sequence of float
            Samples over dimension.
        seeds : int or sequence of int
            Number of runs, or their seeds.

        Returns
        -------
        xarray.Dataset
            By alpha and seed: `overlap` and `cosine` (estimate, index) of the posterior means,
            resolved up to the symmetries of the link, `subspace_overlap`, `error`,
            `misclassification`, `iterations`, `status` ("converged", "stopped" at the last
            iteration, "inconsistent" when the estimate is not as long as its own covariance
            says, "diverged"), and `overlap_trace`, `error_trace` by `time`, the iteration.
        """
        target = checked_target(target)
        alphas, chosen = checked_alphas(alpha), checked_seeds(seeds)
        flat = np.atleast_1d(alphas)
        for a in flat:
            checked_sizes(target.r, None, d, float(a), np.float32)
        scheme_of(target.channel)  # A link out of reach is told before the work.
        spectral = self._spectral(target)
        points = [(float(a), seed) for a in flat for seed in chosen]
        found = [
            self._run(target, d, a, seed, spectral)
            for a, seed in tracked(points, "message passing")
        ]
        steps = max(len(run["overlap_trace"]) for run in found)
        for run in found:
            for name in ("overlap_trace", "error_trace"):
                run[name] = _held(run[name], steps)

        def stacked(name: str) -> NDArray[Any]:
            values = np.array([run[name] for run in found])
            return values.reshape(len(flat), len(chosen), *values.shape[1:])

        axes = ("alpha", "seed")
        matrix = ("estimate", "index")
        dims = {
            "overlap": (*axes, *matrix),
            "cosine": (*axes, *matrix),
            "subspace_overlap": axes,
            "error": axes,
            "misclassification": axes,
            "iterations": axes,
            "status": axes,
            "overlap_trace": (*axes, "time", *matrix),
            "error_trace": (*axes, "time"),
        }
        if target.link.values is None:
            del dims["misclassification"]
        return dataset(
            self,
            target,
            "simulate",
            alphas,
            {name: (axis, stacked(name)) for name, axis in dims.items()},
            {"seed": ("seed", chosen), "time": ("time", np.arange(steps))},
            d=int(d),
        )

    def _spectral(self, target: MultiIndex) -> bool:
        if self.start != "auto":
            return self.start == "spectral"
        return _needs_spectrum(target.channel)

    def _run(
        self, target: MultiIndex, d: int, alpha: float, seed: int, spectral: bool
    ) -> dict[str, Any]:
        X, y, W, _ = target.sample(seed, d=d, alpha=alpha, dtype=np.float32)
        if not (np.isfinite(X).all() and np.isfinite(y).all()):
            raise LearnabilityError(
                f"{target.link!r} gives labels that are not finite: message passing cannot run."
            )
        X = sharded(X)
        rng = np.random.default_rng([seed, 3])
        start: Start
        if self.start == "informed":
            start = informed_start(rng, W)
        elif spectral:
            start = spectral_start(Spectral().estimate(target, X, y, seed=seed, tolerance=_ROUGH))
        else:
            start = random_start(rng, target.r, d)
        step = ChannelStep(target.channel, y)
        run = iterate(X, step, start, W, self.damping, self.iterations, self.tolerance)
        return self._observed(target, run, W)

    def _observed(self, target: MultiIndex, run: Run, W: NDArray[Any]) -> dict[str, Any]:
        channel = target.channel
        paths = zip(run.length, run.overlap, run.C, strict=True)
        trace = [squared_error(channel, Q, M, C, _TRACE_NODES) for Q, M, C in paths]
        final = errors(channel, run.length[-1], run.overlap[-1], run.C[-1])
        length = np.sqrt(np.maximum(np.diag(run.length[-1]), 1e-300))
        return {
            "overlap": resolved(run.overlap[-1], target.link),
            "cosine": resolved(run.overlap[-1] / length[:, None], target.link),
            "subspace_overlap": subspace_overlap(run.W, W),
            "error": final.squared,
            "misclassification": final.wrong,
            "iterations": len(run.overlap) - 1,
            "status": run.status,
            "overlap_trace": np.array([resolved(M, target.link) for M in run.overlap]),
            "error_trace": np.array(trace),
        }

    def predict(self, target: MultiIndex | Link | str, *, alpha: ArrayLike) -> xarray.Dataset:
        """State evolution: what message passing reaches in the limit of large d.

        Parameters
        ----------
        target : MultiIndex, Link or str
            Where the samples come from; at most three hidden directions.
        alpha : float or sequence of float
            Samples over dimension.

        Returns
        -------
        xarray.Dataset
            By alpha: `overlap` and `cosine` (estimate, index), `subspace_overlap`, `error`,
            `misclassification` and the `status` of the fixed point. The attributes `alpha_weak`,
            `alpha_algorithmic`, `alpha_information` and `alpha_full` are the thresholds; NaN where
            there is none or it is not known, and `note` says so in words.
        """
        target = checked_target(target)
        alphas = checked_alphas(alpha)
        theory = state_evolution(target.channel)
        points = theory.fixed_points(np.atleast_1d(alphas), self.start == "informed")
        M = np.array([point.M for point in points])
        eye = np.eye(target.r)
        found = [errors(target.channel, m, m, _psd(eye - m)) for m in M]
        length = np.sqrt(np.maximum(np.einsum("aii->ai", M), 0.0))
        cosine = M / np.maximum(length, 1e-150)[:, :, None]
        axes = ("alpha", "estimate", "index")
        variables: dict[str, tuple[tuple[str, ...], Any]] = {
            "overlap": (axes, M),
            "cosine": (axes, cosine),
            "subspace_overlap": (("alpha",), [_captured(m) for m in M]),
            "error": (("alpha",), [e.squared for e in found]),
            "status": (("alpha",), [point.status for point in points]),
        }
        if target.link.values is not None:
            variables["misclassification"] = (("alpha",), [e.wrong for e in found])
        thresholds = theory.thresholds
        return dataset(
            self,
            target,
            "predict",
            alphas,
            variables,
            None,
            alpha_weak=thresholds.weak,
            alpha_algorithmic=thresholds.algorithmic,
            alpha_information=thresholds.information,
            alpha_full=thresholds.full,
            note=theory.note,
        )

    def trace(self, target: MultiIndex | Link | str, *, alpha: float, steps: int) -> xarray.Dataset:
        """State evolution along the iterations, damped as the algorithm is.

        Without damping it is exact. A damped run remembers all earlier estimates: it is then
        the algorithm itself, on data of infinite dimension, of which a finite number of samples
        is followed.

        Parameters
        ----------
        target : MultiIndex, Link or str
            Where the samples come from; at most three hidden directions.
        alpha : float
            Samples over dimension.
        steps : int
            Number of iterations.

        Returns
        -------
        xarray.Dataset
            `overlap_trace` (time, estimate, index), from the overlap of the informed start, or
            from 0.01 for the others, whose own is of order 1 / sqrt(d); and
            `overlap_trace_error`, its standard error, zero without damping.
        """
        target = checked_target(target)
        ratio = checked_alphas(alpha)
        if ratio.ndim or isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
            raise LearnabilityError(
                f"A trace was asked for alpha = {alpha!r} and {steps!r} steps, but one ratio and a "
                "whole number from 1 are accepted."
            )
        begin = INFORMED if self.start == "informed" else UNINFORMED
        if self.damping == 1:
            path = state_evolution(target.channel).trace(float(ratio), steps, begin)
            error = np.zeros_like(path)
        else:
            paths = damped_paths(target.channel, float(ratio), steps, begin, self.damping)
            path = paths.mean(axis=0)
            error = paths.std(axis=0, ddof=1) / np.sqrt(len(paths))
        axes = ("time", "estimate", "index")
        return dataset(
            self,
            target,
            "trace",
            ratio,
            {"overlap_trace": (axes, path), "overlap_trace_error": (axes, error)},
            {"time": ("time", np.arange(steps + 1))},
        )


@lru_cache(maxsize=32)
def _needs_spectrum(channel: Channel) -> bool:
    """Whether no direction shows in the mean vector, but one does in the spectrum."""
    recovery = weak_recovery(channel)
    return not len(recovery.trivial) and bool(np.isfinite(recovery.alpha))


def _held(path: NDArray[Any], steps: int) -> NDArray[Any]:
    """A path kept at its last value up to a common length."""
    return np.concatenate([path, np.repeat(path[-1:], steps - len(path), axis=0)])


def _psd(matrix: NDArray[Any]) -> NDArray[Any]:
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def _captured(M: NDArray[Any]) -> float:
    """Subspace overlap of posterior means of overlap M: rows M W* + noise of covariance M - M^2."""
    values = np.linalg.eigvalsh(0.5 * (M + M.T))
    return float(np.mean(np.clip(values, 0.0, 1.0)))
