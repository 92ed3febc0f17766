"""Nodes of the fields of a network and of its target, for any activation and link.

Fields (lambda, h) of covariance [[Q, M], [M^T, I]] are written as lambda = M h + L u with
L L^T = Q - M M^T and standard normal (h, u). The nodes of (h, u) stay the same while M and Q
change, so that the label is evaluated once. The coordinates h, along which the link is steep and
may jump, get a product of Gauss rules between its breaks; then

* a plain step of a smooth activation gets Gauss rules in u as well, exact for polynomials, if
  few enough nodes suffice;
* one neuron gets an even grid in u, on which a jump of the activation, or a steep slope that
  depends on the label, costs little wherever it is; the difference of two grids is the error;
* several neurons get scrambled Sobol points in u, others for each h, with both signs; four
  scrambles give the error.

Axes have as many nodes as the label needs (`settled_axes`). Where it oscillates too fast for that
or breaks often, or its breaks lie on no planes z_i = c or are unknown, (h, u) are Sobol points.
Label noise is one more normal variable; a plain step is quadratic in it, and two nodes are exact.
So are they for any random label, of which a plain step sees E[y | z] and Var(y | z); to the other
rules its latent variables are coordinates of the sampled points, like those of neurons.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.quadrature import axis_breaks
from learnability.gaussian.rules import gauss_normal, product_grid, sobol_normals
from learnability.gaussian.sections import Section
from learnability.gaussian.settled_axes import settled_axes
from learnability.labels.channel import Channel
from learnability.labels.link import Link

__all__ = ["Nodes", "nodes_for", "noise_nodes"]

Array = NDArray[np.float64]

_GRID_REACH = 8.0
_MOST_NODES, _MOST_IN_GRIDS = 100_000, 2_000_000
_FEWEST = 50  # Room for points in u under a node of h.
_UNDER = 32  # Where fewer points would be under a node of h, points in all coordinates are better.
_NOISE_NODES, _MOST_NOISE_NODES = 10, 40
_FEWER = 0.8  # Nodes of the hidden coordinates in the second of two grids over those in the first.


class Fineness(NamedTuple):
    """How many nodes the rules have.

    Attributes
    ----------
    gauss : dict
        Number of axes -> nodes on each, when all axes have Gauss rules.
    hidden : dict
        The same for the hidden coordinates alone.
    grids : tuple of int
        Points of the even grids.
    sobol : int
        Logarithm to base 2 of the Sobol points of a scramble, before their signs.
    scrambles : int
        Number of scrambles.
    accuracy : float
        Of the mean square of the label along an axis, relative, where nothing else tells the error.
    """

    gauss: dict[int, int]
    hidden: dict[int, int]
    grids: tuple[int, ...]
    sobol: int
    scrambles: int
    accuracy: float


FINE = Fineness({2: 128, 3: 32, 4: 14}, {1: 100, 2: 24, 3: 10}, (1200, 1000), 14, 4, 1e-5)
"""For equations of motion."""
COARSE = Fineness({2: 48, 3: 20, 4: 10}, {1: 40, 2: 16, 3: 8}, (100,), 14, 1, 1e-4)
"""For the errors of runs, of which there are many and each is wanted to three digits."""


class Nodes(NamedTuple):
    """Nodes of the standard normal variables under the fields.

    Attributes
    ----------
    hidden : array, shape (r, N)
        Coordinates h along the hidden directions.
    own : array, shape (p, N)
        Coordinates u of the weights outside these.
    y : array, shape (N,)
        Labels.
    weights : array, shape (N,)
        Weights that sum to one.
    """

    hidden: Array
    own: Array
    y: Array
    weights: Array


def nodes_for(
    link: Link, activation: Link, p: int, noise: float, plain: bool, fine: bool = True
) -> tuple[Nodes, ...]:
    """Return one rule that is exact to many digits, or several whose spread is the error.

    Parameters
    ----------
    link, activation : Link
        The functions of the target and of the network.
    p : int
        Width of the network.
    noise : float
        Variance of the label noise.
    plain : bool
        Whether averages are at most quadratic in the label.
    fine : bool
        Whether many nodes are wanted.
    """
    return _made(link, activation, p, noise, plain, fine)


@lru_cache(maxsize=32)
def _made(
    link: Link, activation: Link, p: int, noise: float, plain: bool, fine: bool
) -> tuple[Nodes, ...]:
    sizes = FINE if fine else COARSE
    breaks = axis_breaks(Section.whole(link)) if link.breaks is not None else None
    channel = Channel(link, noise)
    random = channel.law is not None
    xi = noise_nodes(1.0 if random else noise, plain)
    sampled = p if plain else p + channel.latents  # Sampled rules have the noise as a coordinate.
    seeds = range(sizes.scrambles)
    sobol = sizes.sobol + (2 if fine and not plain else 0)  # Other rules have points only.
    if breaks is None or link.r not in sizes.hidden:
        rules = [_sobol_rule(link.r + sampled, seed, link.r, sobol) for seed in seeds]
        return tuple(_labelled(channel, p, *rule, xi) for rule in rules)
    values = _label_values(channel)
    smooth = None
    if activation.breaks == () and plain:
        smooth = _gauss_rule(channel, activation, values, breaks, p, sizes)
    if smooth is not None:
        return (_labelled(channel, p, *smooth, xi),)
    one = p == 1 and (plain or not random)
    each = max(sizes.grids) // 2 ** (link.r - 1)
    most = _MOST_IN_GRIDS // (each if one else _FEWEST) // len(xi[0])
    axes = settled_axes(values, breaks, sizes.hidden[link.r], 10 * sizes.accuracy, most)
    crowded = axes is not None and math.prod(len(x) for x, _ in axes) * _UNDER > 2 ** (sobol + 1)
    if axes is None or (crowded and not one):
        rules = [_sobol_rule(link.r + sampled, seed, link.r, sobol) for seed in seeds]
        return tuple(_labelled(channel, p, *rule, xi) for rule in rules)
    hidden = product_grid(axes)
    if one:
        # The second grid has fewer nodes along h as well, so that the two tell the whole error.
        fewer = [
            gauss_normal(b, int(_FEWER * len(x)), 8) for (x, _), b in zip(axes, breaks, strict=True)
        ]
        grids = [
            _grid_rule(product_grid(fewer) if k else hidden, count // 2 ** (link.r - 1))
            for k, count in enumerate(sizes.grids)
        ]
        noises = [xi, noise_nodes(1.0 if random else noise, plain, _FEWER)]
        return tuple(_labelled(channel, p, *grids[k], noises[k]) for k in range(len(grids)))
    layers = [_layered_rule(hidden, sampled, seed, sobol) for seed in seeds]
    return tuple(_labelled(channel, p, *rule, xi) for rule in layers)


def _label_values(channel: Channel) -> Callable[[Array], Array]:
    """Return what the nodes have to integrate: the label, or mean and variance of a random one."""
    if channel.law is None:
        return lambda z: np.asarray(channel.link(z), dtype=float)
    return lambda z: np.stack([np.asarray(channel.link(z)), channel.variance(z)])


def noise_nodes(noise: float, plain: bool, share: float = 1.0) -> tuple[Array, Array]:
    """Rule of the standard normal variable in the label noise: exact for a plain step.

    Other rules put the label into a slope, which is narrow beside strong noise: that has more
    nodes, and a second rule with a `share` of them tells their error.
    """
    if not noise:
        return np.zeros(1), np.ones(1)
    if plain:
        return np.array([-1.0, 1.0]), np.full(2, 0.5)
    count = min(_NOISE_NODES + 8 * max(math.sqrt(noise) - 1, 0.0), _MOST_NOISE_NODES)
    return gauss_normal(np.zeros(0), math.ceil(share * count), 1)


def _labelled(
    channel: Channel, p: int, grid: Array, weights: Array, noise_nodes: tuple[Array, Array]
) -> Nodes:
    """Return nodes (N, r + p) times those of the noise, or with latent variables, and labels."""
    r = channel.link.r
    z, own, latents = grid[:, :r], grid[:, r : r + p], grid[:, r + p :]
    xi, share = noise_nodes
    if latents.shape[1]:
        y, xi, share = channel.labels(z, latents), np.zeros(1), np.ones(1)
    else:
        # Moments of a law are integrals; a product rule has few distinct z, computed once each.
        places, at = (z, slice(None)) if channel.law is None else _places(z)
        mean, variance = np.asarray(channel.link(places)), channel.variance(places)
        y = (mean[at] + np.sqrt(variance[at]) * xi[:, None]).ravel()
    return Nodes(
        np.tile(z.T, len(xi)), np.tile(own.T, len(xi)), y, (share[:, None] * weights).ravel()
    )


def _places(z: Array) -> tuple[Array, Any]:
    """Return the different rows of z, and which of them each row is."""
    places, at = np.unique(z, axis=0, return_inverse=True)
    return places, at.ravel()


def _gauss_rule(
    channel: Channel,
    activation: Link,
    values: Callable[[Array], Array],
    breaks: list[Array],
    p: int,
    sizes: Fineness,
) -> tuple[Array, Array] | None:
    """Return a product of Gauss rules in all coordinates; None if that is too large."""
    link = channel.link
    if activation.degree is not None and link.degree is not None and link.law is None:
        # A squared step has this degree in each coordinate, half of it plus one nodes are exact.
        count = max(activation.degree - 1, 0) + max(activation.degree, link.degree) + 2
        axes = [gauss_normal(b, count) for b in breaks] + [gauss_normal(np.zeros(0), count)] * p
        return product_grid(axes) if math.prod(len(x) for x, _ in axes) <= _MOST_NODES else None
    start = sizes.gauss.get(p + link.r)
    if start is None:
        return None
    slope = activation.derivative()

    def field(z: Array) -> Array:
        return np.stack([np.asarray(part(z), dtype=float) for part in (activation, slope)])

    one = settled_axes(field, [np.zeros(0)], start, sizes.accuracy, _MOST_NODES)
    own = None if one is None else one * p
    room = 0 if own is None else _MOST_NODES // math.prod(len(x) for x, _ in own)
    hidden = settled_axes(values, breaks, start, sizes.accuracy, room) if room else None
    return None if own is None or hidden is None else product_grid([*hidden, *own])


def _grid_rule(hidden: tuple[Array, Array], count: int) -> tuple[Array, Array]:
    """Return an even grid in u for every node of h: exact for smooth functions, fair at jumps."""
    u = (np.arange(count) + 0.5) * 2 * _GRID_REACH / count - _GRID_REACH
    weights = np.exp(-0.5 * u**2)
    h, share = hidden
    grid = np.column_stack([np.repeat(h, count, axis=0), np.tile(u, len(h))])
    return grid, np.outer(share, weights / weights.sum()).ravel()


def _layered_rule(
    hidden: tuple[Array, Array], p: int, seed: int, sobol: int
) -> tuple[Array, Array]:
    """Return Sobol points in u with both signs, others for each pair of nodes h and -h."""
    h, weights = hidden
    pairs = (len(h) + 1) // 2
    each = 2 ** max(int(math.log2(2**sobol / pairs)), 3)
    log2 = math.ceil(math.log2(pairs * each))
    u = sobol_normals(p, log2, seed)[: pairs * each].reshape(pairs, each, p)
    u = np.concatenate([u, -u], axis=1)
    index = np.minimum(np.arange(len(h)), len(h) - 1 - np.arange(len(h)))
    points = np.concatenate(
        [np.broadcast_to(h[:, None], (len(h), 2 * each, h.shape[1])), u[index]], axis=-1
    )
    share = np.repeat(weights / (2 * each), 2 * each)
    return points.reshape(-1, h.shape[1] + p), share


def _sobol_rule(size: int, seed: int, r: int, sobol: int) -> tuple[Array, Array]:
    """Return Sobol points in all coordinates, with both signs of h and of u."""
    points = sobol_normals(size, sobol, seed)
    signs = np.ones((4, 1, size))
    signs[1::2, :, :r] = -1
    signs[2:, :, r:] = -1
    grid = (signs * points).reshape(-1, size)
    return grid, np.full(len(grid), 1 / len(grid))
