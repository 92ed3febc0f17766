"""Gradient descent of one neuron on spiked inputs: the finite-size side of the flows.

With fresh batches a step needs no vector of dimension d: in the frame of `marked` a batch has
three normal coordinates an input, and what its sum with coefficients c_i has outside is
|c| times a chi variable of d - 3 degrees of freedom, exactly. A batch that is used again keeps all
its coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.labels.link import Link
from learnability.targets.spiked_index import SpikedIndex

__all__ = ["descend_fresh", "descend_reused"]

Array = NDArray[np.float64]
LARGEST = 1e12


class _Move(NamedTuple):
    """A step w <- w + sum_i inputs_i x_i (or Sigma^-1 x_i) + own w (or Sigma w)."""

    inputs: Array
    own: float


def _move(flow: str, activation: Link, slope: Link, h: Array, y: Array, tau: float) -> _Move:
    """Half the negative gradient of the mean squared loss, as coefficients."""
    if flow == "spherical":
        value, rate = (np.asarray(f(h[:, None]), dtype=float) for f in (activation, slope))
        return _Move((y - value) * rate / len(h), 0.0)
    v = h / tau
    value, rate = (np.asarray(f(v[:, None]), dtype=float) for f in (activation, slope))
    c = (y - value) * rate / len(h)
    return _Move(tau * c, -float(c @ v))


def descend_fresh(
    target: SpikedIndex,
    d: int,
    flow: str,
    activation: Link,
    step: float,
    batch: int,
    start: Array,
    steps: NDArray[np.int64],
    seed: int,
) -> Array:
    """Coordinates (T, 3) in the marked frame after the given numbers of steps; NaN once diverged.

    Parameters
    ----------
    target, d
        Where the samples come from.
    flow, activation, step, batch
        Of the learner.
    start : array, shape (3,)
        Coordinates at the beginning.
    steps : array of int
        When to look; not decreasing.
    seed : int
        Of the run.
    """
    rng = np.random.default_rng([seed, 21])
    spike, slope = target.at(d), activation.derivative()
    stretch = np.array([math.sqrt(1 + spike.strength), 1.0, 1.0])
    cosines = np.array([*spike.cosines, 0.0])
    w = start.copy()

    def advance() -> Array:
        g = rng.standard_normal((batch, 3))
        y = target.channel.sample((g @ cosines)[:, None], rng)
        field = g @ (stretch * w)
        tau = float(np.linalg.norm(stretch * w))
        move = _move(flow, activation, slope, field, y, tau)
        scale = 1 / stretch if flow == "whitened" else stretch
        own = w if flow == "whitened" else stretch**2 * w
        change = scale * (move.inputs @ g) + move.own * own
        outside = float(move.inputs @ move.inputs) * rng.chisquare(d - 3)
        if flow == "spherical":
            change = change - float(change @ w) * w
        moved = w + 2 * step * change
        moved[2] = math.hypot(moved[2], 2 * step * math.sqrt(outside))
        return moved / np.linalg.norm(moved) if flow == "spherical" else moved

    return _watched(advance, lambda new: w.__setitem__(slice(None), new), w, steps)


def descend_reused(
    target: SpikedIndex,
    d: int,
    flow: str,
    activation: Link,
    step: float,
    batch: int,
    start: Array,
    steps: NDArray[np.int64],
    seed: int,
) -> Array:
    """The same on one batch of `batch` samples that every step uses."""
    X, y, _, _ = target.sample(seed, n=batch, d=d)
    frame, spike, slope = target.frame(seed, d), target.at(d), activation.derivative()
    rest = np.random.default_rng([seed, 22]).standard_normal(d)
    rest -= frame.T @ (frame @ rest)
    w = start[:2] @ frame + start[2] * rest / np.linalg.norm(rest)
    mu, theta = frame[0], spike.strength

    def advance() -> Array:
        along = float(mu @ w)
        tau = math.sqrt(float(w @ w) + theta * along**2)
        move = _move(flow, activation, slope, X @ w, y, tau)
        change = move.inputs @ X
        if flow == "whitened":
            change = change - theta / (1 + theta) * (change @ mu) * mu + move.own * w
        else:
            change = change + move.own * (w + theta * along * mu)
        if flow == "spherical":
            change = change - float(change @ w) * w
        moved = w + 2 * step * change
        return moved / np.linalg.norm(moved) if flow == "spherical" else moved

    found = _watched(advance, lambda new: w.__setitem__(slice(None), new), w, steps)
    marked = found @ frame.T
    outside = np.sum(found**2, axis=1) - np.sum(marked**2, axis=1)
    return np.column_stack([marked, np.sqrt(np.maximum(outside, 0.0))])


def _watched(
    advance: Callable[[], Array],
    put: Callable[[Array], None],
    w: Array,
    steps: NDArray[np.int64],
) -> Array:
    """Weights after the given numbers of steps."""
    seen, now, lost = [], 0, False
    with np.errstate(all="ignore"):  # Divergence is a status.
        for count in steps:
            while now < count and not lost:
                new = advance()
                lost = not float(new @ new) < LARGEST
                put(np.full_like(w, np.nan) if lost else new)
                now += 1
            seen.append(w.copy())
    return np.array(seen)
