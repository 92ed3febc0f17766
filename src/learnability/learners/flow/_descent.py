"""Gradient descent of one neuron: the finite-size side of the flows.

With fresh batches a step needs no vector of dimension d. An input has k + 1 coordinates along the
k marked axes and along the part of the weights orthogonal to them. Orthogonal to all these, a sum
of inputs with coefficients c_i has a length that is exactly |c| times a chi variable of d - k - 1
degrees of freedom. A batch that is used again keeps all its coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.labels.link import Link
from learnability.targets.multi_index import MultiIndex

__all__ = ["Rule", "descend_fresh", "descend_reused"]

Array = NDArray[np.float64]
Cover = Callable[[Array, float], Array]
"""(w, power) -> Sigma^power w."""
LARGEST = 1e12


class Rule(NamedTuple):
    """How a step is taken.

    Attributes
    ----------
    flow : str
        "spherical", "normalised" or "whitened".
    activation : Link
        sigma.
    step : float
        The size of a step, in units of time.
    batch : int
        Samples per step.
    """

    flow: str
    activation: Link
    step: float
    batch: int

    def move(self, X: Array, y: Array, w: Array, cover: Cover) -> tuple[Array, Array]:
        """Return the weights after a step, not yet on the sphere, and its coefficients of inputs.

        Parameters
        ----------
        X, y : array, shapes (n, D) and (n,)
            Inputs, in all coordinates or in some of them, and labels.
        w : array, shape (D,)
            Weights in the same coordinates.
        cover : callable
            The covariance of the inputs.
        """
        covered = cover(w, 1.0)
        tau = 1.0 if self.flow == "spherical" else math.sqrt(float(w @ covered))
        h = X @ w / tau
        (slope,) = self.activation.gradient()
        value, rate = (np.asarray(f(h[:, None]), dtype=float) for f in (self.activation, slope))
        c = (y - value) * rate / len(h)
        inputs = tau * c
        change = inputs @ X
        if self.flow == "spherical":
            change = change - float(change @ w) * w
        elif self.flow == "normalised":
            change = change - float(c @ h) * covered
        else:
            change = cover(change, -1.0) - float(c @ h) * w
        return w + 2 * self.step * change, inputs

    def placed(self, w: Array) -> Array:
        """Return the weights, put back on the sphere if the flow is spherical."""
        return w / np.linalg.norm(w) if self.flow == "spherical" else w


def descend_fresh(
    target: MultiIndex, d: int, rule: Rule, start: Array, steps: NDArray[np.int64], seed: int
) -> Array:
    """Return coordinates (T, k + 1) after the given numbers of steps; NaN once diverged.

    Parameters
    ----------
    target, d
        Where the samples come from; d is at least k + 2.
    rule : Rule
        The rule of the steps.
    start : array, shape (k + 1,)
        Coordinates at the beginning: along the marked axes, and the length of the rest.
    steps : array of int
        Numbers of steps after which the weights are recorded, not decreasing.
    seed : int
        The seed of the run.
    """
    rng = np.random.default_rng([seed, 21])
    inputs: Any = target.inputs
    frame = inputs.frame(1, d)
    stretch = np.append(frame.scale, 1.0)
    label = np.append(frame.to_label[0], 0.0)

    def advance(w: Array) -> Array:
        g = rng.standard_normal((rule.batch, len(w)))
        y = target.channel.sample((g @ label)[:, None], rng)
        moved, c = rule.move(g * stretch, y, w, lambda v, power: stretch ** (2 * power) * v)
        outside = float(c @ c) * rng.chisquare(d - len(w))
        moved[-1] = math.hypot(moved[-1], 2 * rule.step * math.sqrt(outside))
        return rule.placed(moved)

    return _watched(advance, start, steps)


def descend_reused(
    target: MultiIndex, d: int, rule: Rule, start: Array, steps: NDArray[np.int64], seed: int
) -> Array:
    """Return the same on one batch of samples that every step uses."""
    X, y, _, _ = next(target.batches(seed, rule.batch, d))
    directions = target.inputs.directions(seed, 1, d)
    axes = directions.marked
    rest = np.random.default_rng([seed, 22]).standard_normal(d)
    rest -= axes.T @ (axes @ rest)
    w = start[:-1] @ axes + start[-1] * rest / np.linalg.norm(rest)

    def cover(v: Array, power: float) -> Array:
        return np.asarray(target.inputs.apply(v[None], directions, power)[0])

    found = _watched(lambda w: rule.placed(rule.move(X, y, w, cover)[0]), w, steps)
    marked = found @ axes.T
    outside = np.sum(found**2, axis=1) - np.sum(marked**2, axis=1)
    return np.column_stack([marked, np.sqrt(np.maximum(outside, 0.0))])


def _watched(advance: Callable[[Array], Array], w: Array, steps: NDArray[np.int64]) -> Array:
    """Return weights after the given numbers of steps."""
    seen, now = [], 0
    with np.errstate(all="ignore"):  # Divergence is reported by the status.
        for count in steps:
            while now < count and np.isfinite(w[0]):
                w = advance(w)
                if not float(w @ w) < LARGEST:
                    w = np.full_like(w, np.nan)
                now += 1
            seen.append(w)
    return np.array(seen)
