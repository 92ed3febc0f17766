"""Runs of message passing that do not settle, or not with all directions, are tried again.

The data choose between the runs.

The Bethe free entropy of a fixed point of message passing approximates log P(y | X) / d, a quantity
of the data and not of the hidden directions:

    (1/d) sum_i [log Z_out(y_i, omega_i, C) + g_i^T C g_i / 2]
        - [tr C + tr W W^T - r - log det C] / 2.

References
----------
Krzakala, Manoel, Tramel, Zdeborova, "Variational free energies for compressed sensing", ISIT 2014.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.learners.bayes._channel_step import ChannelStep
from learnability.learners.bayes._iteration import Run, Start, matrix_function
from learnability.learners.linear_algebra.thin_products import project
from learnability.statuses import Status

__all__ = ["free_entropy", "settled"]

_FOUND = 0.1
"""An overlap below which a direction counts as not found, and a variance below which as found."""
_KICK = 3.0
_LEAST = 0.03
"""Smaller variances count as this one. Of a direction that is known without noise the free entropy
has no bound, and runs that know it would be compared by when they were stopped."""


def settled(
    attempt: Callable[[Start, float], Run],
    X: NDArray[Any],
    step: ChannelStep,
    start: Start,
    fresh: Iterable[Start],
    damping: float,
    exact: bool = False,
    go_on: Callable[[Start], Run] | None = None,
) -> Run:
    """Return the first run that settles with all directions or none, or the best of all.

    Close to where a direction opens a sample of finite size may have no fixed point at all, and
    runs wander. A covariance that is kept diagonal, as reflections of the link make it on average,
    then loses what is found: there the run goes on with a full one. A run that has lost a
    direction is started again.

    Parameters
    ----------
    attempt : callable
        (start, weight of the new iterate) -> a run.
    X : array, shape (n, d)
        Samples.
    step : ChannelStep
        Of their labels.
    start : Start
        Of the first run.
    fresh : iterable of Start
        Random ones, of further runs: with half the weight of the one before where that did not
        settle, and with what it has found where it settled with some directions alone.
    damping : float
        Weight of the new iterate in the first run.
    exact : bool
        Whether labels have no noise. The estimate of a damped run may then be exact long before
        its covariance, which never follows: a run that is inconsistent is tried without damping.
    go_on : callable, optional
        What a first run that stops goes on with, instead of the first of the random starts. It
        is taken where no run settles, unless another has found more directions.
    """
    runs, again = [attempt(start, damping)], iter(fresh)
    first, further = runs[0], None
    wandering = first.status is Status.STOPPED and not _lost(first)
    if go_on is not None and wandering and any(True for _ in again):
        further = go_on(Start(first.W, first.C[-1], first.held))
        runs.append(further)
    for other in again:
        last = runs[-1]
        shut = _shut(last)
        if last.status is not Status.DIVERGED and 0.5 < np.trace(shut) < len(shut) - 0.5:
            # What is found is kept, and the rest, which fell to zero before, is tried again.
            kicked = Start(last.W + _KICK * (shut @ other.W), last.C[-1], last.held)
            runs.append(attempt(kicked, damping))
        elif exact and last.status is Status.INCONSISTENT and len(runs) == 1:
            runs.append(attempt(other, 1.0))
        elif last.status is not Status.CONVERGED or _lost(last):
            damping = 0.5 * damping
            runs.append(attempt(other, damping))
        else:
            break
    if len(runs) == 1:
        return first
    # A run that is not consistent with itself, or has diverged, has no free entropy, and of runs
    # that wander it is not that of a fixed point: below the trivial one where much is found.
    sound = [run for run in runs if run.status is Status.CONVERGED]
    if not sound:
        stopped = [run for run in runs if run.status is Status.STOPPED]
        most = max((_found(run)[-1] for run in stopped), default=0)
        sound = [run for run in stopped if _found(run)[-1] == most]
        if any(run is further for run in sound):
            sound = [run for run in sound if run is further]
    return max(sound, key=lambda run: free_entropy(X, step, run), default=first)


def _found(run: Run) -> NDArray[np.intp]:
    """How many combinations of rows a run knows, along its iterations."""
    return np.asarray(np.sum(np.linalg.eigvalsh(run.C) < _FOUND, axis=1))


def _lost(run: Run) -> bool:
    """Whether a run had found a combination of rows, and no longer has it at its end."""
    return bool(_found(run).max() > _found(run)[-1])


def _shut(run: Run) -> NDArray[np.float32]:
    """Projection (r, r) on combinations of rows of which a run has found next to nothing."""
    values, vectors = np.linalg.eigh(np.eye(len(run.C[-1])) - run.C[-1])
    shut = vectors[:, values < _FOUND]
    return np.asarray(shut @ shut.T, dtype=run.W.dtype)


def free_entropy(X: NDArray[Any], step: ChannelStep, run: Run) -> float:
    """Return the Bethe free entropy of a run, for each dimension.

    Parameters
    ----------
    X : array, shape (n, d)
        Samples.
    step : ChannelStep
        Of their labels.
    run : Run
        A run that has settled.
    """
    C, d = run.C[-1], X.shape[1]
    omega = project(X, run.W) - C.astype(X.dtype) @ run.g
    g = run.g.astype(float)
    raised = matrix_function(C, lambda value: max(value, _LEAST))
    samples = step.log_evidence(omega, raised) + 0.5 * float(np.sum(g * (C @ g)))
    lengths = float(np.trace(raised) + np.trace(run.length[-1])) - len(C)
    value = samples / d - 0.5 * (lengths - float(np.linalg.slogdet(raised)[1]))
    return value if math.isfinite(value) else -math.inf
