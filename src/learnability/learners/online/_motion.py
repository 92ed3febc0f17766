"""Equations of motion of the order parameters of one-pass SGD as d grows.

With steps / d as time t, fields (lambda, h) of covariance [[Q, M], [M^T, I]] and U the direction
of `_reuse` at X X^T / d = I, a batch of b samples a step moves C = Q - M M^T, M and a by

    dM/dt = step E[U h^T],
    dQ/dt = step E[U lambda^T + lambda U^T] + step^2 E[U U^T] / b,
    da/dt = second_step E[V];

on the sphere the change of length is taken out of every row. The look-ahead enters U, so that
the equations hold for repetition too. SAM divides by the length of the gradient of its batch, in
which the inputs are orthogonal: the sample's own |u|^2 plus those of b - 1 others, which are
independent of it and drawn among the nodes.

References
----------
Saad and Solla, Phys. Rev. E 52 (1995); Goldt, Advani, Saxe, Krzakala, Zdeborova, NeurIPS 2019;
Arnaboldi, Dandi, Krzakala, Pesce, Stephan, arXiv:2405.15459 (repetition).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.learners.networks.starts import root_of
from learnability.learners.online._averages import Nodes
from learnability.learners.online._engines import Recipe
from learnability.learners.online._reuse import directions, network_gradient

__all__ = [
    "Drift",
    "Path",
    "Point",
    "Rates",
    "averaged_drift",
    "direction_of",
    "flow",
    "rest_of_the_batch",
]

Array = NDArray[np.float64]
LARGEST = 1e8
"""A squared length at which a solution counts as diverged."""


class Rates(NamedTuple):
    """Step sizes in units of 1 / d at a time."""

    step: float
    inner: float
    second_step: float


class Point(NamedTuple):
    """Order parameters, or their time derivatives.

    Attributes
    ----------
    rest, overlap, second : array, shapes (p, p), (p, r), (p,)
        C = Q - M M^T, M and the second layer.
    """

    rest: Array
    overlap: Array
    second: Array


class Path(NamedTuple):
    """A solution at the asked times; the arrays of `Point` with the times first.

    Attributes
    ----------
    rest, overlap, second : array
        NaN after a divergence.
    status : str
        "solved" or "diverged".
    """

    rest: Array
    overlap: Array
    second: Array
    status: str


Drift = Callable[[Point, Rates], Point]


def averaged_drift(
    recipe: Recipe, nodes: Nodes, linear: Callable[[Point], Any] | None = None
) -> Drift:
    """The drift of free weights as averages over nodes, for any rule, activation and link.

    Parameters
    ----------
    recipe : Recipe
        The learner and the link.
    nodes : Nodes
        Nodes of the fields.
    linear : callable, optional
        More exact averages of the terms linear in the step (`_termwise.linear_terms`).
    """
    b = recipe.batch
    others = rest_of_the_batch(nodes.weights, b - 1 if recipe.rule == "sam" else 0)

    def drift(at: Point, rates: Rates) -> Point:
        L = root_of(at.rest)
        field = at.overlap @ nodes.hidden + L @ nodes.own
        U, V = direction_of(recipe, at, field, nodes.y, rates, others)
        weighted = U * nodes.weights
        squared = rates.step**2 / b * (weighted @ U.T)
        if linear is None:
            hidden, cross = weighted @ nodes.hidden.T, weighted @ nodes.own.T @ L
            second = V @ nodes.weights
        else:
            hidden, cross, second = linear(at)
        rest = rates.step * (cross + cross.T) + squared
        return Point(rest, rates.step * hidden, rates.second_step * second)

    return drift


def rest_of_the_batch(weights: Array, count: int) -> list[NDArray[np.intp]]:
    """For every node `count` others, drawn by their weights: the places of each of these."""
    rng = np.random.default_rng(5)
    total = np.cumsum(weights)
    # Even steps from a random point on, in random order: every draw has the law of the weights.
    even = (np.arange(len(weights)) + 0.5) / len(weights) * total[-1]
    drawn = np.minimum(np.searchsorted(total, even), len(weights) - 1)
    return [drawn[rng.permutation(len(weights))] for _ in range(count)]


def direction_of(
    recipe: Recipe,
    at: Point,
    field: Array,
    y: Array,
    rates: Rates,
    others: Sequence[NDArray[np.intp]] = (),
) -> tuple[Array, Array]:
    """U and V (p, N) of both layers on samples with these fields (p, N) and labels (N,).

    `others` has the places of the further samples in the batch of each.
    """

    def power(square: Array) -> Array:
        own = square.sum(axis=0)
        return np.asarray(sum((own[place] for place in others), own))

    slope = recipe.activation.derivative()
    gradient = network_gradient(at.second, y, recipe.activation, slope, recipe.loss)
    return directions(
        recipe.rule,
        gradient,
        field,
        lambda u: u,
        power,
        rates.inner,
        recipe.repetitions,
    )


def flow(
    drift: Drift,
    start: Point,
    times: Array,
    rates: Callable[[float], Rates],
    spherical: bool,
    trained: bool,
    tolerance: float,
    reach: float | None = None,
    closeness: Callable[[Point], float] | None = None,
) -> tuple[Path, float]:
    """Integrate the equations of motion.

    Parameters
    ----------
    drift : callable
        Of free weights.
    start : Point
        At time 0.
    times : array, shape (T,)
        Not decreasing, from 0 on.
    rates : callable
        Time -> Rates.
    spherical, trained : bool
        Whether the rows keep unit length, and whether the second layer moves.
    tolerance : float
        Relative error of a step.
    reach : float, optional
        End when the closeness gets here.
    closeness : callable, optional
        By default the largest |cosine| of a neuron with a hidden direction.

    Returns
    -------
    Path, float
        The solution, and the time at which it ended by `reach`; infinite if it did not.
    """
    from scipy.integrate import solve_ivp

    p, r = start.overlap.shape

    def unpacked(x: Array) -> Point:
        C = x[: p * p].reshape(p, p)
        return Point(0.5 * (C + C.T), x[p * p : p * (p + r)].reshape(p, r), x[p * (p + r) :])

    def derivative(t: float, x: Array) -> Array:
        at = unpacked(x)
        d = drift(at, rates(t))
        rest, overlap = d.rest, d.overlap
        if spherical:
            # Also pulls rounding errors of the length back.
            length = np.diag(at.rest) + (at.overlap**2).sum(axis=1)
            growth = 0.5 * np.diag(rest) + (at.overlap * overlap).sum(axis=1)
            growth = growth / length
            overlap = overlap - growth[:, None] * at.overlap
            rest = rest - (growth[:, None] + growth) * at.rest
        second = d.second if trained else np.zeros(p)
        return np.concatenate([rest.ravel(), overlap.ravel(), second])

    def size(t: float, x: Array) -> float:
        at = unpacked(x)
        return LARGEST - float(np.trace(at.rest) + (at.overlap**2).sum() + (at.second**2).sum())

    def aim(t: float, x: Array) -> float:
        return (closeness or largest_cosine)(unpacked(x)) - (reach or 0.0)

    events = [size] if reach is None else [size, aim]
    for event in events:
        event.terminal = True  # type: ignore[attr-defined]
    x0 = np.concatenate([start.rest.ravel(), start.overlap.ravel(), start.second])
    # A moment beyond the last time, so that a solution at time 0 alone is one too.
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
    met = found.t_events or [np.zeros(0)] * 2
    lost = found.status < 0 or len(met[0]) > 0
    ended = float(met[1][0]) if reach is not None and len(met[1]) else np.inf
    states = np.full((len(grid), len(x0)), np.nan)
    states[: len(found.t)] = found.y.T
    points = [unpacked(x) for x in states[np.searchsorted(grid, times)]]
    return Path(
        np.array([q.rest for q in points]),
        np.array([q.overlap for q in points]),
        np.array([q.second for q in points]),
        "diverged" if lost else "solved",
    ), ended


def largest_cosine(at: Point) -> float:
    """Largest |cosine| of a neuron with a hidden direction."""
    length = np.diag(at.rest) + (at.overlap**2).sum(axis=1)
    return float(np.sqrt((at.overlap**2 / np.maximum(length, 1e-300)[:, None]).max()))
