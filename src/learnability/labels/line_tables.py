"""P(y | z) of a random label on a line of hidden space, as a table over nodes of both.

Everything that the theory of one unknown coordinate needs is a product of this table with Gaussian
weights. Nodes on the line are split at the breaks of the law and as close as its width asks for;
labels with a density are integrated on panels that follow the width of the law.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.hermite_products import hermite_table
from learnability.gaussian.rules import composite_legendre
from learnability.gaussian.sections import REACH, Section
from learnability.labels.continuous_laws import GaussianLaw
from learnability.labels.finite_laws import FiniteLaw
from learnability.labels.laws import Law

__all__ = ["LineTable", "line_table"]

Array = NDArray[np.float64]
Function = Callable[[Array], Array]

_WIDEST = 0.5
_SHARE = 0.8  # A panel is as long as this fraction of the width of the law.
_LEAST = 1e-9  # Panels are graded down to this distance of a point where the width vanishes.
_MOST_PANELS = 6000
_MOST_ENTRIES = 4e8
_AT_A_TIME = 2**16
"""Entries of a table that stay in a cache while their moments are taken."""


@dataclass(frozen=True)
class LineTable:
    """The law of the label given a standard normal coordinate t.

    Attributes
    ----------
    y, width : array, shape (J,)
        Labels, and weights of the sum or integral over them.
    t, weight : array, shape (I,)
        Nodes on the line, and weights of an integral over dt.
    at : callable
        Labels (n,) -> their probability or density at each node, (n, I).
    """

    y: Array
    width: Array
    t: Array
    weight: Array
    at: Callable[[Array], Array]

    @cached_property
    def chance(self) -> Array:
        """Probability or density of each label at each node, shape (J, I)."""
        return self.at(self.y)

    @property
    def normal(self) -> Array:
        """Weights of the standard normal law, shape (I,)."""
        return self.weight * np.exp(-0.5 * self.t**2) / math.sqrt(2 * math.pi)

    def moments(self, order: int) -> Array:
        """Return P(y) E[h_k(t) | y] for k = 0 ... order, shape (order + 1, J)."""
        products = hermite_table(self.t, order) * self.normal
        rows = max(_AT_A_TIME // len(self.t), 1)
        parts = [
            products @ self.at(self.y[first : first + rows]).T
            for first in range(0, len(self.y), rows)
        ]
        return np.concatenate(parts, axis=1)

    def means(self, y: Array, order: int) -> Array:
        """Return E[h_k(t) | y] of one order at labels (n,); NaN for labels that do not occur."""
        chance = self.at(y)
        mass = chance @ self.normal
        with np.errstate(all="ignore"):
            found = chance @ (hermite_table(self.t, order)[order] * self.normal) / mass
        return np.where(mass > 1e-290, found, np.nan)

    def squared_moments(self, order: int) -> Array:
        """Return E[ E[h_k(t) | y]^2 ] for k = 0 ... order."""
        found = self.moments(order)
        with np.errstate(all="ignore"):
            return np.where(found[0] > 1e-290, found**2 / found[0], 0.0) @ self.width


def line_table(
    law: Law, A: Array, b: Array, noise: float, finest: float = math.inf, nodes: int = 12
) -> LineTable | None:
    """Return the table of a law on the line b + A t; None when it would be too large.

    Parameters
    ----------
    law : Law
        A law of finitely many labels, of counts, or of normal labels.
    A, b : array, shapes (r, 1) and (r,)
        The line.
    noise : float
        Variance of added Gaussian noise.
    finest : float
        A further width that the panels on the line have to resolve.
    nodes : int
        Number of nodes of each panel.
    """
    if isinstance(law, FiniteLaw):
        return _finite(law, A, b, noise, finest, nodes)
    if isinstance(law, GaussianLaw):
        return _normal(law, A, b, noise, finest, nodes)
    return None


def _finite(
    law: FiniteLaw, A: Array, b: Array, noise: float, finest: float, nodes: int
) -> LineTable:
    breaks = [np.zeros(0)]
    if not law.latents:
        breaks += [Section(link, A, b).breakpoints for link in law.carriers]
    edges = _sorted(np.concatenate([[-REACH, REACH], *breaks]))
    width = min(0.25 * _WIDEST, _SHARE * finest)
    t, weight = composite_legendre(edges, width, nodes)
    chance = law.marginal(t[:, None] @ A.T + b)
    labels = np.array(law.labels)
    if noise == 0:

        def of_label(wanted: Array) -> Array:
            same = np.abs(wanted[:, None] - labels) <= 1e-6 * (1 + np.abs(labels))
            return np.asarray(same.astype(float) @ chance)

        return LineTable(labels, np.ones(len(labels)), t, weight, of_label)
    sigma = math.sqrt(noise)
    around = _sorted((labels[:, None] + sigma * np.linspace(-9, 9, 25)).ravel())
    y, dy = composite_legendre(around[np.diff(around, prepend=-np.inf) > 0.1 * sigma], sigma, nodes)

    def mixed(wanted: Array) -> Array:
        kernel = np.exp(-0.5 * ((wanted[:, None] - labels) / sigma) ** 2)
        return np.asarray(kernel / (sigma * math.sqrt(2 * math.pi)) @ chance)

    return LineTable(y, dy, t, weight, mixed)


def _normal(
    law: GaussianLaw, A: Array, b: Array, noise: float, finest: float, nodes: int
) -> LineTable | None:
    def on_line(link: Callable[[Array], Array]) -> Function:
        return lambda t: np.asarray(link(t[..., None] @ A.T + b), dtype=float)

    mean, variance = on_line(law.mean), on_line(law.variance)

    def deviation(t: Array) -> Array:
        return np.sqrt(np.maximum(variance(t) + noise, 0.0))

    breaks = [Section(link, A, b).breakpoints for link in (law.mean, law.variance)]
    edges = _sorted(np.concatenate([[-REACH, REACH], *breaks, _zeros(variance)]))

    def width(t: Array) -> Array:
        """Return the length over which the law of the label changes."""
        h = 1e-5
        slope = np.abs(mean(t + h) - mean(t - h)) + np.abs(deviation(t + h) - deviation(t - h))
        return np.minimum(
            np.minimum(_WIDEST, finest), deviation(t) / np.maximum(slope / (2 * h), 1e-12)
        )

    panels = _paved(edges, width)
    if panels is None:
        return None
    t, weight = composite_legendre(panels, np.inf, nodes)
    at, spread = mean(t), deviation(t)
    keep = (spread > 0) & (np.abs(t) < REACH)
    t, weight, at, spread = t[keep], weight[keep], at[keep], spread[keep]
    seen = np.abs(t) < 8.3
    low, high = float((at - 8 * spread)[seen].min()), float((at + 8 * spread)[seen].max())
    folds = mean(edges[1:-1]) if len(edges) > 2 else np.zeros(0)
    levels = _sorted(np.concatenate([[low, high], folds[(folds > low) & (folds < high)]]))
    sample = np.arange(0, len(t), max(len(t) // 1500, 1))

    def room(y: Array) -> Array:
        gap = np.abs(y[:, None] - at[sample]) / 4
        return np.asarray((spread[sample] + gap).min(axis=1))

    grid = _paved(levels, room, 1.0)
    if grid is None or (len(grid) * nodes) * len(t) > _MOST_ENTRIES:
        return None
    y, dy = composite_legendre(grid, np.inf, nodes)

    scale, height = 1 / (math.sqrt(2) * spread), 1 / (spread * math.sqrt(2 * math.pi))

    def density(wanted: Array) -> Array:
        found: Array = wanted[:, None] - at
        found *= scale
        found *= found
        np.negative(found, out=found)
        np.exp(found, out=found)
        found *= height
        return found

    return LineTable(y, dy, t, weight, density)


def _zeros(variance: Function) -> Array:
    """Points where the variance touches zero, found as minima of its logarithm."""
    from scipy.optimize import minimize_scalar

    grid = np.linspace(-REACH, REACH, 2001) + 1e-4 * math.sqrt(2)
    with np.errstate(divide="ignore"):
        values = variance(grid)
    found = []
    inside = np.nonzero((values[1:-1] <= values[:-2]) & (values[1:-1] <= values[2:]))[0] + 1
    for k in inside:
        best = minimize_scalar(
            lambda x: float(variance(np.array([x]))[0]),
            bounds=(grid[k - 1], grid[k + 1]),
            method="bounded",
            options={"xatol": 1e-13},
        )
        if best.fun <= 1e-12 * values.max():
            found.append(round(float(best.x), 9))
    return np.array(found)


def _sorted(points: Array) -> Array:
    points = np.sort(points)
    return np.asarray(points[np.diff(points, prepend=-np.inf) > 1e-9])


def _paved(edges: Array, width: Function, most: float = math.inf) -> Array | None:
    """Edges of panels as long as a width allows, between given edges; None if they are too many.

    A panel next to an edge at which the width vanishes is halved again and again.
    """
    found = [edges[:1]]
    scale = float(edges[-1] - edges[0])
    for a, b in zip(edges[:-1], edges[1:], strict=True):
        cells = np.linspace(
            a, b, max(math.ceil((b - a) / most) if math.isfinite(most) else 1, 1) + 1
        )
        while True:
            length = np.diff(cells)
            inner = cells[:-1, None] + length[:, None] * np.array([0.03, 0.5, 0.97])
            allowed = _SHARE * width(inner.ravel()).reshape(inner.shape).max(axis=1)
            split = (length > allowed) & (length > _LEAST * scale)
            if not split.any():
                break
            middle = 0.5 * (cells[:-1] + cells[1:])[split]
            cells = np.sort(np.concatenate([cells, middle]))
            if len(cells) > _MOST_PANELS:
                return None
        found.append(cells[1:])
    return np.concatenate(found)
