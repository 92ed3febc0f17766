"""Averages of one neuron when the link is constant in a hidden coordinate between its breaks.

The label of He4(z1) + sign(z1 z2 z3) does not change with z3 until z3 crosses a break. Write the
field as l = m . h + m_e z + c u, with z such a coordinate, h the others and c^2 = Q - M M^T; then
m_e z + c u = s t with s^2 = m_e^2 + c^2, t is standard normal, and given t

    z ~ N(k t, 1 - k^2),    k = m_e / s.

The direction U of a step depends on z only through t and the interval I between two breaks, so that
the integral over z is known: P(z in I | t) and E[z 1_I | t] follow from Phi and phi. There remain
Gauss rules between the breaks of the other coordinates, finer along those with which the label
varies, and an even grid in t: one dimension fewer than (h, z, u), without a jump.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.quadrature import axis_breaks
from learnability.gaussian.rules import product_grid
from learnability.gaussian.sections import Section
from learnability.gaussian.settled_axes import settled_axes
from learnability.labels.link import Link
from learnability.learners.online._averages import direction_of
from learnability.learners.online._motion import Averages, Averaging, Point, Rates
from learnability.learners.online._nodes import noise_nodes
from learnability.learners.online._steps import Recipe

__all__ = ["flat_axes", "flat_axis_averages"]

Array = NDArray[np.float64]
_GRIDS = {True: (64, 56), False: (160, 136)}
"""Points in t of two grids, for plain steps and for others, whose slopes depend on the label."""
_REACH = 8.0
_MOVING, _FLAT, _BETWEEN = 100, 6, 10
"""Nodes on an axis with which the label moves; and between two breaks where it does not, and where
it does."""
_ACCURACY, _FEWER = 1e-5, 0.8
_MOST_NODES = 1_000_000


def flat_axes(link: Link, breaks: list[Array]) -> list[int]:
    """Return coordinates with breaks between which the link does not depend on them."""
    z = np.random.default_rng(7).standard_normal((256, link.r))
    found = []
    for k, edges in enumerate(breaks):
        moved = z.copy()
        cell = np.searchsorted(edges, z[:, k])
        low = np.concatenate([[-9.0], edges])[cell]
        high = np.concatenate([edges, [9.0]])[cell]
        moved[:, k] = low + (high - low) * np.random.default_rng(8).random(len(z))
        if len(edges) and np.allclose(link(z), link(moved), rtol=1e-12, atol=1e-12):
            found.append(k)
    return found


def flat_axis_averages(recipe: Recipe, noise: float) -> list[Averaging]:
    """Return averages with two grids, whose difference is their error, or an empty list.

    They need one neuron with a smooth activation, several hidden directions, breaks on planes
    z_i = c, labels without latent variables and samples that act independently.
    """
    link = recipe.link
    coupled = recipe.rule == "sam" and recipe.batch > 1  # A common length couples the samples.
    smooth = recipe.activation.breaks == ()
    one = recipe.width == 1 and link.r > 1 and link.law is None
    if not one or link.breaks is None or coupled or not smooth:
        return []
    breaks = axis_breaks(Section.whole(link))
    flat = [] if breaks is None else flat_axes(link, breaks)
    if breaks is None or not flat:
        return []
    last = flat.pop()
    plain = recipe.rule == "plain"
    grids, xi = _GRIDS[plain], noise_nodes(noise, plain)
    inside = _inside(breaks[last])
    others = [k for k in range(link.r) if k != last]
    count = {k: _FLAT * (len(breaks[k]) + 1) if k in flat else _MOVING for k in others}

    def labels(z: Array) -> Array:
        return np.stack([np.asarray(link(np.insert(z, last, x, axis=1))) for x in inside])

    most = _MOST_NODES // max(grids) // len(xi[0])
    least = {k: _FLAT if k in flat else _BETWEEN for k in others}
    axes = settled_axes(
        labels,
        [breaks[k] for k in others],
        [count[k] for k in others],
        _ACCURACY,
        most,
        [least[k] for k in others],
    )
    if axes is None:
        return []
    # The second grid has fewer nodes of the noise too, so that the two tell the whole error.
    noises = (xi, noise_nodes(noise, plain, _FEWER))
    return [
        _averages(recipe, noise, *product_grid([*axes, one]), breaks[last], last, n)
        for one, n in zip(noises, grids, strict=True)
    ]


def _inside(edges: Array) -> Array:
    """Return a point of each interval between the edges and beyond them."""
    return np.concatenate([[edges[0] - 1], 0.5 * (edges[1:] + edges[:-1]), [edges[-1] + 1]])


def _averages(
    recipe: Recipe, noise: float, nodes: Array, weights: Array, edges: Array, last: int, count: int
) -> Averaging:
    """Return averages from nodes (N, r) of the other coordinates and, last, of the noise."""
    from scipy.special import ndtr

    others = [k for k in range(recipe.link.r) if k != last]
    t = (np.arange(count) + 0.5) * 2 * _REACH / count - _REACH
    density = np.exp(-0.5 * t**2)
    share = np.outer(weights, density / density.sum())
    ends = np.concatenate([[-np.inf], edges, [np.inf]])
    inside = _inside(edges)
    points = np.insert(nodes[:, :-1][None].repeat(len(inside), 0), last, inside[:, None], axis=2)
    y = np.asarray(recipe.link(points), dtype=float) + math.sqrt(noise) * nodes[:, -1]
    labels = np.repeat(y[:, :, None], count, axis=2)  # (interval, N, count)

    def averages(at: Point, rates: Rates) -> Averages:
        m, c2 = at.overlap[0], max(float(at.rest[0, 0]), 0.0)
        s = max(math.sqrt(m[last] ** 2 + c2), 1e-150)
        k, spread = m[last] / s, max(math.sqrt(c2) / s, 1e-150)
        cut = (ends[:, None] - k * t) / spread
        bell = np.exp(-0.5 * cut**2) / math.sqrt(2 * math.pi)
        chance = np.diff(ndtr(cut), axis=0)  # (interval, count)
        mean = k * t * chance - spread * np.diff(bell, axis=0)
        field = np.broadcast_to((nodes[:, :-1] @ m[others])[:, None] + s * t, labels.shape)
        U, V = (
            part.reshape(labels.shape)
            for part in direction_of(recipe, at, field.reshape(1, -1), labels.ravel(), rates)
        )
        weighted = U * share * chance[:, None]
        hidden = np.zeros(recipe.link.r)
        hidden[others] = weighted.sum(axis=(0, 2)) @ nodes[:, :-1]
        hidden[last] = (U * share * mean[:, None]).sum()
        # E[U c u], for the part of the field outside the hidden directions.
        cross = (weighted * (s * t)).sum() - m[last] * hidden[last]
        second = (V * share * chance[:, None]).sum()
        squared = (weighted * U).sum()
        return Averages(
            hidden[None], np.array([[cross]]), np.array([[squared]]), np.array([second])
        )

    return averages
