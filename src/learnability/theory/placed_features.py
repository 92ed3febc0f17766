"""Features on inputs that are seen through a place: kept coordinates, and the length of the rest.

Inputs have kept coordinates kappa (the hidden ones, and those of noise that all neurons share) and
a rest of D coordinates and length r; neurons have coordinates along kappa and a rest of length c
whose direction is random. With t the cosine between both rests,

    sigma(u . kappa + c r t) = sum_a sqrt(N_a) S_a(kappa, r; u, c) sqrt(N_a) P_a(t) + finer degrees,

P_a the Gegenbauer polynomials of P_a(1) = 1, and each of the N_a harmonics of degree a has the
radial part S_a. The target is a function of kappa alone and so has the degree 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.quadrature import adapted_frame, axis_breaks
from learnability.gaussian.rules import (
    composite_legendre,
    gauss_normal,
    product_grid,
    sobol_normals,
)
from learnability.gaussian.sections import Section
from learnability.labels.link import Link
from learnability.theory.radial import gegenbauer, harmonics, length_nodes
from learnability.theory.trained_neurons import Neurons

__all__ = ["LEAST", "Placed", "placed_features"]

Array = NDArray[np.float64]

LEAST = 4
"""The least dimension of the rest of an input."""
_DEGREES = 5
"""Angular degrees that are kept; finer ones act as noise and as a ridge."""
_LENGTHS = 3
_MOST_SHARED = 2
_GRID, _MOST_ALONG, _LEAST_ALONG = 3000, 40, 7
"""About how many nodes kappa has, and how many along one coordinate at most and at least."""
_LOG_POINTS, _MOST_PLACES = 11, 12_000
_RARE = 1e-9
_GROUPS = 10
"""Groups of neurons, each of which has one length c."""
_WIDEST = 12.0


class Placed(NamedTuple):
    """Features and target at places of the inputs.

    Attributes
    ----------
    weights : array, shape (q,)
        Weights of the places.
    distances : array, shape (q,)
        Squared length of the hidden coordinates.
    label : array, shape (q,)
        The target.
    sizes : array, shape (a,)
        Numbers N_a of harmonics.
    radial : array, shape (a, q, m)
        The S_a, at places and neurons.
    power : array, shape (q, m)
        The mean square of the features, all degrees together.
    """

    weights: Array
    distances: Array
    label: Array
    sizes: Array
    radial: Array
    power: Array

    def variance(self) -> float:
        """Return the variance of the target at these places."""
        centred = self.label - self.weights @ self.label
        return float(self.weights @ centred**2)

    def scaled(self, factor: float) -> Placed:
        """Return the same with a target whose differences from its mean are so much larger."""
        mean = self.weights @ self.label
        return self._replace(label=mean + factor * (self.label - mean))


def placed_features(
    link: Link, activation: Link, neurons: Neurons, d: int, fewer: bool = False
) -> Placed:
    """Return the features of neurons and the target, at nodes of the law of the places.

    Parameters
    ----------
    link, activation : Link
        The target function and sigma.
    neurons : Neurons
        The law of the neurons.
    d : int
        Dimension, at least `LEAST` above the numbers of hidden and of shared directions.
    fewer : bool
        Whether to take fewer nodes, whose difference tells how many are enough.
    """
    kept = neurons.shared[:, :_MOST_SHARED]
    lost = np.sum(neurons.shared[:, _MOST_SHARED:] ** 2, axis=1)
    lengths = np.sqrt(neurons.rest**2 + lost)
    section = Section.whole(link)
    frame = adapted_frame(section)
    turned = section.inside(frame)
    kappa, weights = _places(turned, kept.shape[1], fewer)
    fields = kappa @ np.hstack([neurons.hidden @ frame.T, kept]).T
    D = d - link.r - kept.shape[1]
    halves, shares = length_nodes(D, _LENGTHS - fewer)
    radii = np.sqrt(2 * halves)
    breaks = Section.whole(activation).breakpoints
    found = np.empty((_DEGREES + 1, len(radii), *fields.shape))
    order = np.argsort(lengths, kind="stable")
    for group in np.array_split(order, min(_GROUPS, len(lengths))):
        length = math.sqrt(float(np.mean(lengths[group] ** 2)))
        own = fields[:, group]
        for i, radius in enumerate(radii):
            reach = (float(own.min()), float(own.max()))
            table = _table(activation, breaks, reach, radius * length, D)
            found[:, i][:, :, group] = np.moveaxis(table(own), 2, 0)
    sizes = np.array([harmonics(D, a) for a in range(_DEGREES)])
    flat = found.reshape(_DEGREES + 1, -1, fields.shape[1])
    hidden = kappa[:, : link.r]
    label, squares = np.asarray(turned(hidden), dtype=float), np.sum(hidden**2, axis=1)
    count = len(radii)
    return Placed(
        np.outer(shares, weights).ravel(), np.tile(squares, count), np.tile(label, count),
        sizes, flat[:-1] / np.sqrt(sizes)[:, None, None], flat[-1],
    )  # fmt: skip


def _places(section: Section, shared: int, fewer: bool) -> tuple[Array, Array]:
    """Return nodes of kappa and their weights."""
    breaks = axis_breaks(section)
    nodes = {0: 1, 1: 4, 2: 3}[shared]
    each = min(int((_GRID / nodes**shared) ** (1 / section.m)), _MOST_ALONG)
    axes = []
    if breaks is not None and each >= _LEAST_ALONG:
        each -= 2 * fewer
        axes = [gauss_normal(one, each, least=max(each // 2, 4)) for one in breaks]
        axes += [gauss_normal(np.zeros(0), nodes)] * shared
    if not axes or math.prod(len(one) for one, _ in axes) > _MOST_PLACES:
        points = sobol_normals(section.m + shared, _LOG_POINTS - fewer, seed=1)
        points = np.vstack([points, -points])
        return points, np.full(len(points), 1 / len(points))
    points, weights = product_grid(axes)
    seen = weights > _RARE
    return points[seen], weights[seen] / weights[seen].sum()


def _table(
    activation: Link, breaks: Array, reach: tuple[float, float], length: float, D: int
) -> Callable[[Array], Array]:
    """Return E[sigma(z + length t) sqrt(N_a) P_a(t)] and E[sigma^2] as splines of z."""
    from scipy.interpolate import make_interp_spline

    width = length / math.sqrt(D)
    count = max(math.ceil((reach[1] - reach[0]) / (0.1 * width)), 16)
    z = np.linspace(*reach, count + 1)
    log = math.lgamma(D / 2) - math.lgamma((D - 1) / 2) - 0.5 * math.log(math.pi)
    parts = []
    for block in np.array_split(z, max(len(z) // 32, 1)):
        far = min(1.0, _WIDEST / math.sqrt(D)) * length
        low, high = float(block[0]) - far, float(block[-1]) + far
        inside = np.sort(breaks[(breaks > low) & (breaks < high)])
        x, weights = composite_legendre(np.concatenate([[low], inside, [high]]), width, 10)
        t = np.clip((x - block[:, None]) / length, -1.0, 1.0)
        with np.errstate(divide="ignore"):
            density = np.exp(0.5 * (D - 3) * np.log1p(-(t**2)) + log) / length * weights
        value = np.asarray(activation(x[:, None]), dtype=float)
        parts.append([*((density * gegenbauer(D, t, _DEGREES)) @ value), density @ value**2])
    table = np.concatenate([np.array(part) for part in parts], axis=1)
    found: Callable[[Array], Array] = make_interp_spline(z, table.T, k=5)
    return found
