"""The iteration of Bayes-optimal message passing on one data set.

With x ~ N(0, I_d), the rows of W the posterior means of r unit directions, and C the average
posterior covariance,

    omega = W X^T - C g_old,   g = g_out(y, omega, C),   A = g g^T / d,
    W <- (I + A)^{-1} (g X / d + A W),   C <- (I + A)^{-1}.

With damping the new W and C are averaged with the old ones, and so is g_old: the memory term
must be that of the averaged W, or the iteration never comes to rest. A = g g^T / d equals the sum
of -d g_out over d on average and is never negative, which the latter can be. Only thin products
read X.

Labels without noise, whose directions are found exactly, need more. Let e be the variance of the
error and c what is taken for it. For linear labels A is alpha e / c^2, and rho = e / c becomes
1 + alpha (rho - 1)^2: where alpha (rho - 1) > 1 the covariance runs away from the error, and a run
loses what it had found. There B = -sum_i d g_out / d, alpha / c in that case, takes the place of A
where it is positive, F, the average of (I + B)^{-1} g as W is one, that of C g_old, and

    W <- (I + B)^{-1} (g X / d + B W),   S = F F^T / d,   M^2 = W W^T - S,   C <- (I - M)^2 + S:

the estimate is M W* and a random part of covariance S. At the fixed point it is the same algorithm.

References
----------
Rangan, ISIT 2011; Aubin, Maillard, Barbier, Krzakala, Macris, Zdeborova, NeurIPS 2018, algorithm 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from learnability.learners.linear_algebra.thin_products import collect, project
from learnability.statuses import Status

__all__ = [
    "INFORMED",
    "Run",
    "Start",
    "informed_start",
    "iterate",
    "matrix_function",
    "random_start",
    "spectral_start",
]

Array = NDArray[np.float64]

_START = 0.1
"""Size of a random start; entries of size one leave many runs stuck."""
INFORMED = 0.95
"""Overlap of the informed start."""
_LEAST = 1e-6
"""Smallest variance, at the resolution of float32: the directions are known."""
_KNOWN = 1e-3
"""Posterior variances at which the directions count as known. Without noise they would fall for
ever, and below the error of the estimate the iteration loses what it has found."""
_HELD = 1e-4
"""Variance of a direction that is held as known exactly."""
_FOUND = 0.5
"""Posterior variance below which a direction is found: one that is known may claim as much, where
steps of the estimate are shorter than it expects."""
_SMALL = 0.1
"""Below this size changes of the estimate are counted in absolute terms."""


@dataclass(frozen=True)
class Start:
    """Where a run begins: W (r, d), C (r, r), and what is held as known exactly from a run before.

    `held` (r, r) is a projection.
    """

    W: NDArray[Any]
    C: Array
    held: Array | None = None


@dataclass(frozen=True)
class Run:
    """A finished run.

    Attributes
    ----------
    W : array, shape (r, d)
        The posterior mean.
    C : array, shape (steps + 1, r, r)
        Posterior covariance along the iterations.
    overlap, length : array, shape (steps + 1, r, r)
        W W*^T and W W^T along the iterations.
    g : array, shape (r, n)
        g_out of the samples, averaged as W is.
    status : Status
        "converged", "stopped", "inconsistent" or "diverged".
    held : array, shape (r, r)
        Projection on combinations of rows that are held as known exactly.
    """

    W: NDArray[Any]
    C: Array
    overlap: Array
    length: Array
    g: NDArray[Any]
    status: Status
    held: Array


def random_start(rng: np.random.Generator, r: int, d: int) -> Start:
    """A small random estimate that knows nothing."""
    return Start(_START * rng.standard_normal((r, d)) / np.sqrt(d), np.eye(r))


def spectral_start(estimate: NDArray[Any]) -> Start:
    """An estimate with orthonormal rows, taken as one of overlap 0.1."""
    return Start(np.sqrt(_START) * estimate, (1 - _START) * np.eye(len(estimate)))


def informed_start(rng: np.random.Generator, W: NDArray[Any]) -> Start:
    """The hidden directions, blurred as a posterior mean of that overlap would be."""
    r, d = W.shape
    blur = np.sqrt(INFORMED * (1 - INFORMED) / d)
    return Start(INFORMED * W + blur * rng.standard_normal((r, d)), (1 - INFORMED) * np.eye(r))


# Thin products gain nothing from threads, which wait for each other and for the channel's.
@threadpool_limits.wrap(limits=1, user_api="blas")  # type: ignore[untyped-decorator]
def iterate(
    X: Any,
    channel_step: Callable[[NDArray[Any], Array], NDArray[Any]],
    start: Start,
    hidden: NDArray[Any],
    damping: float,
    iterations: int,
    tolerance: float,
    project: Callable[..., NDArray[Any]] = project,
    collect: Callable[..., NDArray[Any]] = collect,
    diagonal: bool = False,
    exact: bool = False,
    with_information: Callable[[NDArray[Any], Array], tuple[NDArray[Any], Array | None]]
    | None = None,
) -> Run:
    """Run message passing until it stands still.

    Parameters
    ----------
    X : array, shape (n, d)
        Samples; read, never copied.
    channel_step : callable
        (omega (r, n), C (r, r)) -> g_out (r, n).
    start : Start
        The first estimate.
    hidden : array, shape (r, d)
        W*, for the overlaps alone.
    damping : float
        Weight of the new iterate.
    iterations : int
        The largest number of iterations.
    tolerance : float
        Stop when an undamped step would change the estimate by less than this fraction.
    project, collect : callable
        The thin products with X.
    diagonal : bool
        Whether reflections of the link keep the overlap diagonal: C is then made so. Else two
        rows that mix both directions compete with the directions themselves for very long.
    exact : bool
        Whether labels without noise let directions be known exactly. One that is, beside others
        that are not, is held from then on: the estimate of its variance does not fall to zero
        with its error, and labels next to zero of that direction would tell nothing of the others.
    with_information : callable, optional
        (omega, C) -> (g_out, -sum of its derivatives (r, r) or None), for labels without noise.

    Returns
    -------
    Run
    """
    d, r = X.shape[1], len(hidden)
    W, C = np.asarray(start.W, dtype=X.dtype), start.C
    memory, echo = np.zeros((2, r, len(X)), dtype=X.dtype)
    states = [((W @ hidden.T).astype(float), (W @ W.T).astype(float), C)]
    status, held = Status.STOPPED, np.zeros((r, r)) if start.held is None else start.held
    free = (np.eye(r) - held).astype(X.dtype)
    begin = states[0][1] - states[0][1] @ states[0][1]  # The random part of a posterior mean.
    for _ in range(iterations):
        if with_information is None:
            g, slope = channel_step(project(X, W) - C.astype(X.dtype) @ memory, C), None
        else:
            g, slope = with_information(project(X, W) - echo, C)
        if held.any():
            g = free @ g
        memory += damping * (g - memory)
        A = spread = _bounded((g @ g.T).astype(float) / d, diagonal)
        if slope is not None:
            A = _positive(_bounded(free @ slope @ free / d, diagonal), spread)
        pull = collect(X, g) / X.dtype.type(d) + A.astype(X.dtype) @ W
        if not (np.isfinite(A).all() and np.isfinite(pull).all()):
            status = Status.DIVERGED
            break
        gain = matrix_function(A, lambda value: 1 / (1 + value))
        new = gain.astype(X.dtype) @ pull
        move = new - W
        if held.any():
            new, move = free @ new, free @ move
        change = float(np.linalg.norm(move))
        size = max(float(np.linalg.norm(new)), _SMALL)
        W = W + damping * move
        length = (W @ W.T).astype(float)
        if slope is None:
            C = (1 - damping) * C + damping * gain
            echo = C.astype(X.dtype) @ memory
        else:
            echo += damping * (gain.astype(X.dtype) @ g - echo)
            begin = (1 - damping) ** 2 * begin
            C = _of_parts(length, (echo @ echo.T).astype(float) / d + begin)
        C = np.diag(np.diag(C)) if diagonal else C
        known = _known_exactly(C, length, move, held) if exact else held
        if known.any():
            held, free = known, (np.eye(r) - known).astype(X.dtype)
            memory, echo, C = free @ memory, free @ echo, free @ C @ free + _HELD * held
        states.append(((W @ hidden.T).astype(float), length, C))
        if change <= tolerance * size or float(np.abs(C).max()) <= _KNOWN:
            status = Status.CONVERGED
            break
    overlap, length, covariance = (np.array(values) for values in zip(*states, strict=True))
    if status is not Status.DIVERGED and _inconsistent(length[-1], covariance[-1], d):
        status = Status.INCONSISTENT
    return Run(W, covariance, overlap, length, memory, status, held)


def _bounded(matrix: Array, diagonal: bool) -> Array:
    """A symmetric matrix, or its diagonal, whose eigenvalues are as large as numbers resolve."""
    matrix = np.diag(np.diag(matrix)) if diagonal else 0.5 * (matrix + matrix.T)
    if not np.abs(matrix).max() > 1 / _LEAST:
        return matrix
    return matrix_function(matrix, lambda value: min(value, 1 / _LEAST))


def _positive(slope: Array, spread: Array) -> Array:
    """The derivative of the sums where it is positive, and their covariance elsewhere."""
    if not np.isfinite(slope).all():
        return slope
    values, vectors = np.linalg.eigh(slope)
    good, other = vectors[:, values > 0], vectors[:, values <= 0]
    inner = other @ (other.T @ spread @ other) @ other.T
    return np.asarray((good * values[values > 0]) @ good.T + inner)


def _of_parts(length: Array, random: Array) -> Array:
    """Covariance of the error of an estimate of given W W^T whose random part has this one."""
    overlap = matrix_function(length - random, lambda value: math.sqrt(max(value, 0.0)))
    short = np.eye(len(length)) - overlap
    return matrix_function(short @ short + random, lambda value: min(max(value, _LEAST), 1.0))


def _known_exactly(C: Array, length: Array, move: NDArray[Any], held: Array) -> Array:
    """Projection (r, r) on those that are held and on further directions that are known exactly.

    Their estimate has unit length, and a step, which is about as long as its error, no longer
    moves it.
    """
    values, vectors = np.linalg.eigh(C + held)
    own = np.einsum("ia,ij,ja->a", vectors, length, vectors)
    steps = np.sum((vectors.T @ move) ** 2, axis=1)
    known = (values < _FOUND) & (np.abs(1 - own) < _HELD) & (steps < 0.1 * _HELD)
    return np.asarray(held + vectors[:, known] @ vectors[:, known].T)


def _inconsistent(length: Array, C: Array, d: int) -> bool:
    """Whether the estimate is not as long as its own covariance says: W W^T far from I - C."""
    gap = np.abs(length - (np.eye(len(C)) - C)).max()
    return bool(gap > 0.1 + 2 / np.sqrt(d))


def matrix_function(
    matrix: NDArray[np.float64], function: Callable[[float], float]
) -> NDArray[np.float64]:
    """A function of the eigenvalues of a symmetric matrix (r, r), in its eigenvectors.

    After a product that has read all samples nothing of LAPACK is left in the cache, and a call
    takes longer than a thousand samples of the channel. Two rows need none, by Sylvester's formula
    f(M) = f(low) I + (f(high) - f(low)) / (high - low) (M - low I).
    """
    if len(matrix) != 2:
        values, vectors = np.linalg.eigh(matrix)
        return np.asarray((vectors * [function(float(v)) for v in values]) @ vectors.T)
    (a, b), (_, c) = matrix.tolist()
    centre, radius = 0.5 * (a + c), math.hypot(0.5 * (a - c), b)
    low = centre - radius
    least = function(low)
    slope = (function(centre + radius) - least) / (2 * radius) if radius > 0 else 0.0
    return np.array(
        [[least + slope * (a - low), slope * b], [slope * b, least + slope * (c - low)]]
    )
