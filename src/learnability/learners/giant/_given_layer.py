"""Features of any given first layer, as the theory of its readout needs them.

With standard normal coordinates g of the inputs, x = Sigma^(1/2) g, the field of neuron j is
w_j . g + b_j. A few directions V are treated exactly: the hidden ones, on which the label depends,
and those along which the fields are long (spikes of the inputs, updates of the steps). Given
kappa = V g, the features are equivalent to Gaussian ones; with mu_j = (V w_j) . kappa + b_j and c_j
the length of the rest of w_j they have

    mean E sigma(mu_j + c_j z),   covariance l_j l_k G_jk + q_j q_k G_jk^2 / 2 + r_j 1[j = k],

where G holds the inner products of the rests of the rows, l_j = E[z sigma(mu_j + c_j z)] / c_j,
q_j = E[(z^2 - 1) sigma(mu_j + c_j z)] / c_j^2, and r_j is the rest of the variance; two neurons
with the same start share a part of r_j. Nothing is assumed about the rows: the second layer, the
number of steps and the biases are arbitrary.

The squared length of what is left of g varies by a share s, s^2 = 2 E[cos^2] over pairs of rows,
and all c_j with it. Where that is seen, for rows of few effective dimensions, as a step on few
samples makes them, and for labels with a large mean, which features fit that move together so,
kappa has this length as one more coordinate, with the nodes c_j sqrt(1 +- s). What moves with the
length, along s_j = E_k[cos_jk^2], is then no longer a part of G^2.

References
----------
Dandi, Pesce, Cui, Krzakala, Lu, Loureiro, arXiv:2410.18938; Goldt, Loureiro, Reeves, Krzakala,
Mezard, Zdeborova, MSML 2021 (Gaussian equivalence for given weights).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.gaussian.rules import gauss_normal, product_grid, sobol_normals
from learnability.gaussian.sections import Section
from learnability.gaussian.settled_axes import settled_axes
from learnability.inputs.base import Directions
from learnability.labels.link import Link
from learnability.learners.giant._network import Network
from learnability.learners.measurement import lengths_count
from learnability.targets.base import Target, checked_memory
from learnability.theory.shifted_moments import shifted_moments

__all__ = ["Layer", "LowRank", "given_layer"]

Array = NDArray[np.float64]

_MOST = 6
"""The largest number of directions that are kept besides the hidden ones."""
_SHORT, _LONG = 0.02, 0.1
"""Shares of the squared length of the rows from which a direction is kept, and must be kept."""
_LOG_POINTS = 10
_LENGTHS = 8
_SPACING, _LONGEST_TABLE = 0.1, 200_000
_RANK = 1e-8
"""Share of the largest mean square from which a component is kept; errors change by some 1e-6."""
_TERMS = 10
_ORDERS = 2
"""Degrees of the rest of the field whose covariances between neurons count."""
_UNEVEN = 0.01
"""Relative variance of the squared length from which it is a coordinate."""
_SETTLED, _MOST_NODES = 1e-4, {1: 2000, 2: 250}
"""Accuracy of E[y^2] along the hidden coordinate, and the most nodes there for one and for two kept
directions; faster labels get points."""


class LowRank(NamedTuple):
    """A matrix (K, p) as the product of left (K, q) and right (q, p)."""

    left: Array
    right: Array


class Layer(NamedTuple):
    """The features of a first layer and the labels, at nodes of kappa.

    Attributes
    ----------
    weights : array, shape (K,)
        The weights of the nodes.
    means : LowRank
        E sigma, at nodes and neurons.
    orders : tuple of (array, shape (p, p), LowRank)
        G and G^2 / 2, which the covariance has times l_j l_k and q_j q_k, at nodes and neurons.
    rest : array, shape (K, p)
        The variance r.
    shared : array, shape (K, p / 2), or None
        Covariance of the rests of two paired neurons, j and j + p / 2.
    label : array, shape (K,)
        The label without its noise.
    noise : array, shape (K,)
        Variance of that, and what the nodes miss of the variance of the label.
    """

    weights: Array
    means: LowRank
    orders: tuple[tuple[Array, LowRank], ...]
    rest: Array
    shared: Array | None
    label: Array
    noise: Array


def given_layer(
    network: Network, activation: Link, target: Target, directions: Directions, paired: bool
) -> Layer:
    """Split a first layer into what is kept and what acts as Gaussian.

    Parameters
    ----------
    network : Network
        The network after the steps.
    activation : Link
        The function sigma.
    target : Target
        The target.
    directions : Directions
        Its hidden directions.
    paired : bool
        Whether the second half of the neurons began as the first half did.

    Raises
    ------
    LearnabilityError
        When more directions are long than can be kept.
    """
    inputs = target.inputs
    W = inputs.apply(np.asarray(network.W, dtype=float), directions, 0.5)
    hidden = inputs.apply(directions.hidden.astype(float), directions, 0.5)
    values, vectors = np.linalg.eigh(hidden @ hidden.T)
    V = (vectors / np.sqrt(values)) @ vectors.T @ hidden
    V = np.vstack([V, _long_directions(W - (W @ V.T) @ V)])
    along = W @ V.T
    rest = W - along @ V
    gram = rest @ rest.T
    lengths = np.sqrt(np.diag(gram))
    kappa, weights = _nodes(target.link, len(V))
    fields = kappa @ along.T
    if network.b is not None:
        fields += network.b.astype(float)
    half = len(W) // 2
    correlation = np.diag(gram, half) / (lengths[:half] * lengths[half:]) if paired else None
    label = np.asarray(Section.whole(target.link)(kappa[:, : target.r]), dtype=float)
    noise = target.channel.variance(kappa[:, : target.r])
    # What points miss of Var(y), which is known, is learned as little as noise is.
    seen = float(weights @ ((label - weights @ label) ** 2 + noise))
    noise = noise + (target.label_variance - seen)
    factors, square = [1.0], 0.5 * gram**2
    share = _length_share(gram, lengths, correlation)
    if share**2 > _UNEVEN or lengths_count(target, share**2):
        factors = [math.sqrt(1 + share), math.sqrt(1 - share)]
        square = _without_length(square, lengths, share)
    found = [_moments(activation, fields, c * lengths, correlation) for c in factors]
    means, slopes, curves, rests, pairs = zip(*found, strict=True)
    shared = None if correlation is None else np.vstack(pairs)
    count, scale = len(factors), np.repeat(factors, len(weights))[:, None]
    weights = np.tile(weights / count, count)
    return Layer(
        weights,
        _compressed(np.vstack(means), weights),
        (
            (gram, _compressed(np.vstack(slopes) * scale, weights)),
            (square, _compressed(np.vstack(curves) * scale**2, weights)),
        ),
        np.vstack(rests),
        shared,
        np.tile(label, count),
        np.tile(noise, count),
    )


def _length_share(gram: Array, lengths: Array, correlation: Array | None) -> float:
    """Return the standard deviation of the squared length that all neurons see, over its mean."""
    p = len(gram)
    cosines = gram / np.outer(lengths, lengths)
    total, pairs = float(np.sum(cosines**2)) - p, p * (p - 1)
    if correlation is not None:
        total, pairs = total - 2 * float(correlation @ correlation), pairs - p
    return min(math.sqrt(2 * max(total, 0.0) / pairs), 0.5) if pairs > 0 else 0.0


def _without_length(square: Array, lengths: Array, share: float) -> Array:
    """Return G^2 / 2 without what moves with the squared length, along E_k[cos_jk^2]."""
    squares = lengths**2
    cosines = 2 * square / np.outer(squares, squares)
    along, mean = squares * cosines.mean(axis=1), float(cosines.mean())
    # The squared cosine of a neuron with itself is no part of the length.
    part = min(0.5 * share**2 / mean, 1.0)
    return np.asarray(square - 0.5 * part / mean * np.outer(along, along))


def _long_directions(rows: Array) -> Array:
    """Return unit directions (k, d) along which the rows are long together."""
    p, d = rows.shape
    gram = rows @ rows.T
    values, vectors = np.linalg.eigh(gram)
    values = values[::-1] / np.trace(gram)
    edge = 1.5 * (1 + math.sqrt(p / d)) ** 2 / p  # Rows without a long direction stay below it.
    count = int(np.sum(values > max(_SHORT, edge)))
    if count > _MOST and values[_MOST] > max(_LONG, edge):
        raise LearnabilityError(
            f"The first layer is long along more than {_MOST} directions, and its errors are "
            f"predicted given at most {_MOST} of them: use fewer `steps`, or `simulate`."
        )
    count = min(count, _MOST)
    found = vectors[:, ::-1][:, :count].T @ rows
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True))


def _nodes(link: Link, k: int) -> tuple[Array, Array]:
    """Return nodes (K, k) of the normal law and weights; for r = 1 they split at its breaks."""
    if k <= 2 and link.r == 1:
        section, count = Section.whole(link), 128 if k == 1 else 64
        first = settled_axes(section, [section.breakpoints], count, _SETTLED, _MOST_NODES[k])
        if first is not None:
            return product_grid([*first, *[gauss_normal(np.zeros(0), 32)] * (k - 1)])
    points = sobol_normals(k, _LOG_POINTS + (k > 3), seed=0)
    points = np.vstack([points, -points])
    return points, np.full(len(points), 1 / len(points))


def _compressed(values: Array, weights: Array) -> LowRank:
    """Return values (nodes, neurons) of a function of few coordinates as a product of low rank."""
    second, vectors = np.linalg.eigh((values.T * weights) @ values)
    kept = vectors[:, second > _RANK * max(float(second[-1]), 1e-300)]
    return LowRank(values @ kept, kept.T)


def _moments(
    activation: Link, fields: Array, lengths: Array, correlation: Array | None
) -> tuple[Array, Array, Array, Array, Array | None]:
    """Return mean, slope, curve, rest and what pairs share of it, at nodes and neurons."""
    terms = _TERMS if correlation is not None else _ORDERS
    # Neurons of similar length have tables of their own: those of all have the finest grid for the
    # shortest and the farthest reach for the longest.
    octave = np.floor(np.log2(lengths / lengths.min()) - 1e-9)
    alike = [np.flatnonzero(octave == one) for one in np.unique(octave)]
    groups = [(own, _Tables(activation, fields[:, own], lengths[own], terms)) for own in alike]

    def moment(order: int, power: int = 1) -> Array:
        found = np.empty_like(fields)
        for own, tables in groups:
            found[:, own] = tables.read(order, power)
        return found

    mean, slope, curve = (moment(k) for k in range(3))
    rest = moment(0, 2) - mean**2 - (lengths * slope) ** 2
    rest = np.maximum(rest - 0.5 * (lengths**2 * curve) ** 2, 0.0)
    if correlation is None:
        return mean, slope, curve, rest, None
    half = len(correlation)
    pairs, parts = np.zeros((len(fields), half)), rest.copy()
    for k in range(_ORDERS + 1, terms + 1):
        both = moment(k) * lengths**k / math.sqrt(math.factorial(k))
        pairs += both[:, :half] * both[:, half:] * correlation**k
        parts -= both**2
    parts = np.maximum(parts, 0.0)
    pairs += np.sqrt(parts[:, :half] * parts[:, half:]) * correlation ** (terms + 1)
    return mean, slope, curve, rest, pairs


class _Tables:
    """Moments of sigma and of its square at fields (K, p), for neurons of similar length."""

    def __init__(self, activation: Link, fields: Array, lengths: Array, terms: int) -> None:
        low, high = math.log(lengths.min()) - 1e-3, math.log(lengths.max()) + 1e-3
        angles = (np.arange(_LENGTHS) + 0.5) * math.pi / _LENGTHS
        widths = np.exp(0.5 * (low + high) + 0.5 * (high - low) * np.cos(angles))
        reach = 1.01 * float(np.abs(fields).max()) + 1e-6 * float(widths.min())
        count = max(math.ceil(2 * reach / (_SPACING * float(widths.min()))), 8)
        if count > _LONGEST_TABLE:
            raise LearnabilityError(
                f"The fields of the neurons reach {reach / float(widths.min()):.3g} times as far "
                "as the shortest of their rests, too far for the integrals of their features: use "
                "weaker spikes or smaller steps, or `simulate`."
            )
        checked_memory("The tables of these features", 16.0 * (terms + 4) * len(lengths) * count)
        grid = np.linspace(-reach, reach, count + 1)
        tables = [[_table(activation, grid, w, k, power) for w in widths]
                  for power, k in ((1, terms + 1), (2, 1))]  # fmt: skip
        # Chebyshev interpolation in the logarithm of the length, then cubic in the field.
        place = np.clip((2 * np.log(lengths) - low - high) / (high - low), -1, 1)
        order = np.arange(_LENGTHS)
        share = 2 / _LENGTHS * np.cos(np.outer(np.arccos(place), order))
        share[:, 0] *= 0.5
        mix = share @ np.cos(np.outer(order, angles))
        self.by_power = [
            np.einsum("jw,wkx->kjx", mix, np.array(one), optimize=True) for one in tables
        ]
        self.at = _Place(fields, grid)

    def read(self, order: int, power: int) -> Array:
        """Return the moment of that order of a power of sigma at all fields."""
        table = self.by_power[power - 1]
        return self.at.read(table[order], table[order + 1])


def _table(activation: Link, grid: Array, width: float, order: int, power: int) -> Array:
    """Return moments M_0 ... M_order of sigma^power on a grid, which is taken in blocks."""
    blocks = np.array_split(grid, max(len(grid) // 64, 1))
    return np.concatenate(
        [shifted_moments(activation, block, float(width), order, power) for block in blocks], axis=1
    )


class _Place:
    """The places of fields (K, p) on an even grid, to interpolate tables (p, grid) with slopes."""

    def __init__(self, fields: NDArray[Any], grid: Array) -> None:
        self.step = float(grid[1] - grid[0])
        scaled = (fields - grid[0]) / self.step
        self.below = np.clip(scaled.astype(int), 0, len(grid) - 2)
        self.t = scaled - self.below
        self.row = np.arange(fields.shape[1])

    def read(self, table: Array, slope: Array) -> Array:
        """Return the table at the fields, by cubic Hermite interpolation."""
        t, k, j, h = self.t, self.below, self.row, self.step
        a, b, da, db = table[j, k], table[j, k + 1], h * slope[j, k], h * slope[j, k + 1]
        s = 1 - t
        found = s * s * ((1 + 2 * t) * a + t * da) + t * t * ((3 - 2 * t) * b - s * db)
        return np.asarray(found, dtype=float)
