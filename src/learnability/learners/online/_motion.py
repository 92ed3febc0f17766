"""Equations of motion of the order parameters of one-pass SGD as d grows, for any marked axes.

The time t is steps / d. With the overlaps M (p, k) of the weights with the marked axes of the
inputs, N = M scale and C = Q - M M^T, fields are lambda = N g + (outside), g standard normal along
the axes, and the label depends on z = T g alone, T = `to_label`. Let B (k - r, k) be orthonormal
rows with T B^T = 0, the axes across, and K = N B^T. Given z, the fields are N T^T z + L u with
L L^T = C + K K^T, and B g has the mean K^T L^-T u. So only averages over (z, u) are needed: with U
the direction of `_reuse` at X X^T / d = I and D = E[U (L u)^T],

    E[U g^T] = E[U z^T] T + D (L L^T)^-1 K B,
    dM/dt = step E[U g^T] scale,
    dC/dt = step (X + X^T) + step^2 E[U U^T] / b,    X = D - D (L L^T)^-1 K K^T,
    da/dt = second_step E[V]

for batches of b samples; on the sphere the change of length is subtracted from every row. Isotropic
inputs have T = 1 and no axes across. Normalised rules have fields tau^-1 lambda of unit variance,
multiply U by tau, and subtract step E[U v] times Sigma w, or w. It is assumed that X X^T / d = 1
and that a step changes M little: the largest scale^2 / d has to be small. The look-ahead enters U,
so that the equations hold for repetition too.

References
----------
Saad and Solla, Phys. Rev. E 52 (1995); Goldt, Advani, Saxe, Krzakala, Zdeborova, NeurIPS 2019;
Arnaboldi, Dandi, Krzakala, Pesce, Stephan, arXiv:2405.15459 (repetition); Mousavi-Hosseini, Wu,
Suzuki, Erdogdu, NeurIPS 2023 (normalised rules).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.sections import complement
from learnability.inputs import Frame
from learnability.learners.online._steps import Recipe

__all__ = ["Averages", "Averaging", "Drift", "Path", "Point", "Rates", "drift_in", "fields", "flow"]

Array = NDArray[np.float64]
LARGEST = 1e8
"""A squared length at which a solution counts as diverged."""
_SINGULAR = 1e-15
"""Smaller eigenvalues of the fields' covariance given z, relatively, count as zero."""


class Rates(NamedTuple):
    """Step sizes in units of 1 / d at a time."""

    step: float
    inner: float
    second_step: float


class Point(NamedTuple):
    """Order parameters, their time derivatives, or the law of fields.

    Attributes
    ----------
    rest, overlap, second : array, shapes (p, p), (p, k), (p,)
        C = Q - M M^T, M and the second layer. For fields: their covariance given z, and their
        covariance with z, which has k = r.
    """

    rest: Array
    overlap: Array
    second: Array


class Averages(NamedTuple):
    """Averages of the directions U and V of both layers over fields.

    Attributes
    ----------
    hidden : array, shape (p, r)
        E[U z^T].
    rest : array, shape (p, p)
        E[U (fields - their mean given z)^T].
    squared : array, shape (p, p)
        E[U U^T].
    second : array, shape (p,)
        E[V].
    """

    hidden: Array
    rest: Array
    squared: Array
    second: Array


class Path(NamedTuple):
    """A solution at the requested times; the arrays of `Point` with the times first.

    Attributes
    ----------
    rest, overlap, second : array
        NaN after a divergence.
    diverged : bool
    """

    rest: Array
    overlap: Array
    second: Array
    diverged: bool


Drift = Callable[[Point, Rates], Point]
"""Time derivatives of the order parameters of free weights."""
Averaging = Callable[[Point, Rates], Averages]
"""Averages at a law of fields."""


def fields(
    rest: Array, overlap: Array, frame: Frame, beside: Array | None = None
) -> tuple[Array, Array, Array]:
    """Return the law of fields with order parameters C (..., p, p) and M (..., p, k).

    `beside` are the axes across, if they are known. The result is the covariance of the fields
    given z, their covariance with z, and their standard deviations (..., p).
    """
    if beside is None:
        beside = complement(frame.to_label, len(frame.scale))
    stretched = overlap * frame.scale
    variance = np.einsum("...jj->...j", rest) + (stretched**2).sum(axis=-1)
    across = stretched @ beside.T
    given = rest + across @ np.swapaxes(across, -1, -2)
    return given, stretched @ frame.to_label.T, np.sqrt(np.maximum(variance, 1e-300))


def drift_in(frame: Frame, recipe: Recipe, averaging: Averaging) -> Drift:
    """Return the drift of order parameters in a frame of marked axes.

    Parameters
    ----------
    frame : Frame
        The marked axes.
    recipe : Recipe
        The learner.
    averaging : callable
        Averages at a law of fields.
    """
    beside = complement(frame.to_label, len(frame.scale))
    rule = recipe.normalisation

    def drift(at: Point, rates: Rates) -> Point:
        rest, along, tau = fields(at.rest, at.overlap, frame, beside)
        tau = np.ones(len(rest)) if rule == "none" else tau
        law = Point(rest / (tau[:, None] * tau), along / tau[:, None], at.second)
        mean = averaging(law, rates)
        outside = tau[:, None] * mean.rest * tau
        on_axes = tau[:, None] * mean.hidden @ frame.to_label
        if len(beside):
            across = (at.overlap * frame.scale) @ beside.T
            on_across = outside @ _divided(across, rest)
            on_axes = on_axes + on_across @ beside
            outside = outside - on_across @ across.T
        linear = outside + outside.T
        moved = on_axes / frame.scale if rule == "whitened" else on_axes * frame.scale
        if rule != "none":
            own = np.diag(mean.rest) + (mean.hidden * law.overlap).sum(axis=1)  # E[U v].
            linear = linear - (own[:, None] + own) * at.rest
            taken = own[:, None] * at.overlap
            moved = moved - (taken if rule == "whitened" else taken * frame.scale**2)
        squared = mean.squared * (tau[:, None] * tau)
        return Point(
            rates.step * linear + rates.step**2 / recipe.batch * squared,
            rates.step * moved,
            rates.second_step * mean.second,
        )

    return drift


def _divided(across: Array, rest: Array) -> Array:
    """Return (L L^T)^-1 K, for K in the range of L."""
    values, vectors = np.linalg.eigh(rest)
    least = _SINGULAR * max(float(values[-1]), 1e-300)
    inverse = np.where(values > least, 1 / np.maximum(values, least), 0.0)
    return np.asarray((vectors * inverse) @ vectors.T @ across)


def flow(
    drift: Drift,
    start: Point,
    times: Array,
    rates: Callable[[float], Rates],
    spherical: bool,
    trained: bool,
    tolerance: float,
    ends: Callable[[Point], float] | None = None,
) -> tuple[Path, float]:
    """Integrate the equations of motion.

    Parameters
    ----------
    drift : callable
        The drift of free weights.
    start : Point
        Order parameters at time 0.
    times : array, shape (T,)
        Times from 0 on, not decreasing.
    rates : callable
        Time -> Rates.
    spherical, trained : bool
        Whether the rows keep unit length, and whether the second layer moves.
    tolerance : float
        Relative error of a step.
    ends : callable, optional
        The solution ends where this function of the order parameters reaches zero.

    Returns
    -------
    Path, float
        The solution, and the time at which it ended by `ends`; infinite if it did not.
    """
    from scipy.integrate import solve_ivp

    p, k = start.overlap.shape

    def unpacked(x: Array) -> Point:
        C = x[: p * p].reshape(p, p)
        return Point(0.5 * (C + C.T), x[p * p : p * (p + k)].reshape(p, k), x[p * (p + k) :])

    def derivative(t: float, x: Array) -> Array:
        at = unpacked(x)
        rest, overlap, second = drift(at, rates(t))
        if spherical:
            # This keeps the length, also where rounding has changed it.
            length = np.diag(at.rest) + (at.overlap**2).sum(axis=1)
            growth = 0.5 * np.diag(rest) + (at.overlap * overlap).sum(axis=1)
            growth = growth / length
            overlap = overlap - growth[:, None] * at.overlap
            rest = rest - (growth[:, None] + growth) * at.rest
        second = second if trained else np.zeros(p)
        return np.concatenate([rest.ravel(), overlap.ravel(), second])

    def size(t: float, x: Array) -> float:
        at = unpacked(x)
        return LARGEST - float(np.trace(at.rest) + (at.overlap**2).sum() + (at.second**2).sum())

    def aim(t: float, x: Array) -> float:
        return ends(unpacked(x)) if ends is not None else 1.0

    events = [size, aim]
    for event in events:
        event.terminal = True  # type: ignore[attr-defined]
    x0 = np.concatenate([start.rest.ravel(), start.overlap.ravel(), start.second])
    # The interval has a positive length even if time 0 alone is asked for.
    grid = np.unique(np.concatenate([[0.0], times]))
    with np.errstate(over="ignore", invalid="ignore"):
        found = solve_ivp(
            derivative,
            (0.0, max(float(grid[-1]), 1e-9)),
            x0,
            t_eval=grid,
            events=events,
            rtol=tolerance,
            atol=0.01 * tolerance,
        )
    grown, there = found.t_events or ([], [])
    states = np.full((len(grid), len(x0)), np.nan)
    states[: len(found.t)] = found.y.T
    points = [unpacked(x) for x in states[np.searchsorted(grid, times)]]
    path = Path(
        np.array([q.rest for q in points]),
        np.array([q.overlap for q in points]),
        np.array([q.second for q in points]),
        found.status < 0 or len(grown) > 0,
    )
    return path, float(there[0]) if len(there) else np.inf
