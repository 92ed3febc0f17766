"""Averages of the directions of a step over nodes of the fields, for any rule, activation and link.

SAM divides by the length of the gradient of its batch, whose inputs are orthogonal: its square is
the sample's own |u|^2 plus those of b - 1 others, which are independent of it and drawn among the
nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.learners.networks.starts import root_of
from learnability.learners.online._motion import Averages, Averaging, Point, Rates
from learnability.learners.online._nodes import Nodes
from learnability.learners.online._reuse import directions, network_gradient
from learnability.learners.online._steps import Recipe

__all__ = ["direction_of", "node_averages"]

Array = NDArray[np.float64]

_DRAWN = 64
"""The largest number of further samples of a batch that are drawn; they stand for all others."""


def node_averages(
    recipe: Recipe, nodes: Nodes, linear: Callable[[Point], Any] | None = None
) -> Averaging:
    """Return averages over nodes.

    Parameters
    ----------
    recipe : Recipe
        The learner and the link.
    nodes : Nodes
        Nodes of the fields.
    linear : callable, optional
        More exact averages of the terms linear in U and V (`_termwise.linear_terms`).
    """
    count = recipe.batch - 1 if recipe.rule == "sam" else 0
    others = _rest_of_the_batch(nodes.weights, min(count, _DRAWN))

    def averages(at: Point, rates: Rates) -> Averages:
        L = root_of(at.rest)
        field = at.overlap @ nodes.hidden + L @ nodes.own
        U, V = direction_of(recipe, at, field, nodes.y, rates, others)
        weighted = U * nodes.weights
        squared = weighted @ U.T
        if linear is not None:
            hidden, rest, second = linear(at)
            return Averages(hidden, rest, squared, second)
        rest = weighted @ nodes.own.T @ L
        return Averages(weighted @ nodes.hidden.T, rest, squared, V @ nodes.weights)

    return averages


def _rest_of_the_batch(weights: Array, count: int) -> list[NDArray[np.intp]]:
    """Return `count` arrays with the place of a further node for every node, drawn by weight."""
    rng = np.random.default_rng(5)
    total = np.cumsum(weights)
    # Even steps through the cumulative weights, in random order: every draw has their law.
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
    """Return U and V (p, N) of both layers on samples with these fields (p, N) and labels (N,).

    `others` has the places of the further samples in the batch of each. In a longer batch they
    stand for all further samples: the sum keeps its mean and its variance.
    """

    def power(square: Array) -> Array:
        own = square.sum(axis=0)
        total = np.asarray(sum((own[place] for place in others), own))
        further, k = recipe.batch - 1, len(others)
        if 0 < k < further:
            mean = own[others[0]].mean()
            total = own + further * mean + np.sqrt(further / k) * (total - own - k * mean)
        return total

    slope = recipe.activation.derivative()
    gradient = network_gradient(at.second, y, recipe.activation, slope, recipe.loss)
    return directions(
        recipe.rule, gradient, field, lambda u: u, power, rates.inner, recipe.repetitions
    )
