"""The information E[g_out g_out^T] of links on boxes, by exact integrals; overlaps diagonal.

With M = diag(q), omega_j ~ N(0, q_j) and V = I - M the probability of a box is a product of
one-dimensional ones, so that the sum over labels and the integral over omega are sums of outer
products. When the link is smooth in one coordinate, that one is integrated through the label.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.rules import composite_legendre, normal_measure
from learnability.labels.label_nodes import LabelNodes
from learnability.labels.posterior import BoxPosterior

__all__ = ["FiniteInformation", "RootInformation"]

Array = NDArray[np.float64]
Rule = Callable[[float, Array], tuple[Array, Array]]
_RootLabels = tuple[Array, Array, Array, NDArray[np.intp]]

KNOWN = 1 - 1e-10
"""Beyond this overlap a coordinate counts as known."""
_EVEN = {3: (0.45, 5.6), 4: (0.6, 4.6)}
"""Distance of omega in posterior widths, and the largest one, where so many are open."""
_MOST_NODES = 400_000
_GRID = ((0.1, 7.5), (0.2, 4.8))
"""Distance and largest omega of the smooth coordinate, the second where three are open."""
_FAR = 14.0
"""Roots this far from the true one, in posterior widths, tell nothing."""
_BLOCK = 400_000


def omega_rule(q: float, marks: Array, n: int = 8) -> tuple[Array, Array]:
    """A rule for omega ~ N(0, q), n nodes per panel, refined at sqrt(1 - q) around the marks."""
    if q <= 0:
        return np.zeros(1), np.ones(1)
    spread, width = math.sqrt(q), math.sqrt(1 - min(q, KNOWN))
    near = (marks[:, None] + width * np.array([-8, -4, -2, -1, 0, 1, 2, 4, 8])).ravel()
    even = np.linspace(-9, 9, 13) * spread
    edges = np.sort(np.concatenate([even, near[np.abs(near) < 9 * spread]]))
    edges = edges[np.diff(edges, prepend=-np.inf) > 1e-3 * min(spread, width)]
    omega, weight = composite_legendre(edges, np.inf, n)
    weight = weight * np.exp(-0.5 * (omega / spread) ** 2)
    return omega, weight / weight.sum()


def even_rule(q: float, step: float, reach: float) -> tuple[Array, Array]:
    """A trapezoidal rule for omega ~ N(0, q), exact for what is smooth over sqrt(1 - q).

    Parameters
    ----------
    q : float
        Overlap.
    step : float
        Distance of nodes, in units of sqrt(1 - q).
    reach : float
        The largest node, in units of sqrt(q).
    """
    if q <= 0:
        return np.zeros(1), np.ones(1)
    spread = math.sqrt(q)
    width = min(step * math.sqrt(1 - min(q, KNOWN)), 0.8 * spread)
    count = math.ceil(reach * spread / width)
    omega: Array = (np.arange(-count, count, dtype=float) + 0.5) * width
    weight = np.exp(-0.5 * (omega / spread) ** 2)
    return omega, weight / weight.sum()


def graded_rule(q: float, marks: Array) -> tuple[Array, Array]:
    """A rule for omega ~ N(0, q) close to q = 1: few nodes, most of them around the marks."""
    if q <= 0:
        return np.zeros(1), np.ones(1)
    spread, width = math.sqrt(q), math.sqrt(1 - min(q, KNOWN))
    near = (marks[:, None] + width * np.array([-6.5, -4, -2.2, -1, 0, 1, 2.2, 4, 6.5])).ravel()
    edges = np.unique(np.concatenate([[-5 * spread, 5 * spread], near]))
    edges = edges[(np.abs(edges) <= 5 * spread) & (np.diff(edges, prepend=-np.inf) > 0.2 * width)]
    omega, weight = composite_legendre(edges, 2.5 * spread, 4)
    weight = weight * np.exp(-0.5 * (omega / spread) ** 2)
    return omega, weight / weight.sum()


def interval_masses(edges: Array, omega: Array, v: float) -> tuple[Array, Array]:
    """P(z in each interval between edges) for z ~ N(omega, v), and its derivative, (k, n)."""
    ends = np.concatenate([[-np.inf], edges, [np.inf]])[:, None]
    t = (ends - omega) / math.sqrt(v)
    mass = normal_measure(t[:-1], t[1:])
    density = np.exp(-0.5 * t**2) / math.sqrt(2 * math.pi * v)
    return mass, density[:-1] - density[1:]


class _Products:
    """Probabilities of groups of boxes, and their gradients, on the product grid of omega.

    A sign of a coordinate listed in `even` changes nothing. The rule for omega takes an overlap
    and the edges.
    """

    def __init__(
        self, edges: list[Array], q: Array, rule: Rule = omega_rule, even: tuple[int, ...] = ()
    ) -> None:
        self.weight = np.ones(1)
        self._mass, self._slope = [], []
        known: dict[tuple[float | bool, ...], tuple[Array, Array, Array]] = {}
        for j, (e, overlap) in enumerate(zip(edges, q.tolist(), strict=True)):
            alike = (overlap, j in even, *e)  # Coordinates that are alike are computed once.
            if alike not in known:
                omega, weight = rule(overlap, e)
                if j in even and overlap > 0:  # One half of the axis tells the other.
                    omega, weight = omega[omega > 0], 2 * weight[omega > 0]
                known[alike] = (weight, *interval_masses(e, omega, 1 - min(overlap, KNOWN)))
            weight, mass, slope = known[alike]
            self.weight = np.multiply.outer(self.weight, weight).ravel()
            self._mass.append(mass)
            self._slope.append(slope)

    def group(self, cells: list[tuple[int, ...]]) -> tuple[Array, Array]:
        """Return P (n,) and its gradient (k, n) of a union of boxes."""
        k = len(self._mass)
        total = np.zeros((k + 1, len(self.weight)))
        for cell in cells:
            for which in range(-1, k):
                part = np.ones(1)
                for j in range(k):
                    table = self._slope if j == which else self._mass
                    part = np.multiply.outer(part, table[j][cell[j]]).ravel()
                total[which + 1] += part
        return total[0], total[1:]


@dataclass(frozen=True, eq=False)
class FiniteInformation:
    """For links with finitely many values, constant on boxes; with or without noise."""

    scheme: BoxPosterior

    @cached_property
    def _groups(self) -> list[tuple[float, list[tuple[int, ...]]]]:
        groups: dict[float, list[tuple[int, ...]]] = {}
        for cell, value in zip(*self.scheme.flat_boxes, strict=True):
            key = next((v for v in groups if abs(v - value) < 1e-9 * (1 + abs(v))), float(value))
            groups.setdefault(key, []).append(cell)
        return sorted(groups.items())

    @cached_property
    def _even(self) -> tuple[int, ...]:
        """Coordinates of which one half is enough: each has a reflection of its own.

        A symmetry of the link reflects it, others perhaps, but none of those chosen before.
        """
        r = len(self.scheme.edges)
        flips = [
            s.signs for s in self.scheme.channel.link.symmetries if s.permutation == tuple(range(r))
        ]
        chosen: list[int] = []
        for j in range(r):
            if any(f[j] < 0 and all(f[i] > 0 for i in chosen) for f in flips):
                chosen.append(j)
        return tuple(chosen)

    def _rule(self, q: Array) -> Rule:
        """Panels, or even nodes where many coordinates are open and these are few enough."""
        count = int(np.count_nonzero(q))
        if count <= 2:
            return omega_rule
        step, reach = _EVEN[min(count, max(_EVEN))]
        nodes = [2 * reach * math.sqrt(x / (1 - min(x, KNOWN))) / step for x in q if x > 0]
        if math.prod(nodes) / 2 ** len(self._even) < _MOST_NODES:
            return lambda overlap, edges: even_rule(overlap, step, reach)
        if count > 3:
            return graded_rule
        return partial(omega_rule, n=6 if len(self._even) > 1 else 4)

    def __call__(self, q: Array) -> Array:
        """E[g_j^2] for each coordinate j, at overlaps q (r,)."""
        products = _Products(list(self.scheme.edges), q, self._rule(q), self._even)
        found = [products.group(cells) for _, cells in self._groups]
        mass, slope = np.array([f[0] for f in found]), np.array([f[1] for f in found])
        noise = self.scheme.channel.noise
        if noise == 0:
            ratio = slope**2 / np.maximum(mass, 1e-290)[:, None]
            return np.asarray(np.einsum("ljn,n->j", ratio, products.weight))
        values = np.array([v for v, _ in self._groups])
        sigma = math.sqrt(noise)
        marks = (values[:, None] + sigma * np.array([-8, -5, -3, -1.5, 0, 1.5, 3, 5, 8])).ravel()
        edges = np.sort(marks)
        edges = edges[np.diff(edges, prepend=-np.inf) > 0.3 * sigma]
        y, weight = composite_legendre(edges, 1.5 * sigma, 8)
        law = np.exp(-0.5 * ((y[:, None] - values) / sigma) ** 2) / (sigma * math.sqrt(2 * np.pi))
        total = np.zeros(len(self.scheme.edges))
        for part, w in zip(np.array_split(law, 16), np.array_split(weight, 16), strict=True):
            density = np.maximum(part @ mass, 1e-290)
            for j in range(len(total)):
                total[j] += np.einsum(
                    "yn,n,y->", (part @ slope[:, j]) ** 2 / density, products.weight, w
                )
        return total


@dataclass(frozen=True, eq=False)
class RootInformation:
    """For links without noise that are smooth in one coordinate and constant on boxes else."""

    scheme: BoxPosterior

    @property
    def blurred(self) -> float:
        """Most of V E[g^2] that labels hide which are equal only to rounding.

        On such a piece of the line the posterior is at most as wide as V; where several pieces
        share a value, which of them it is may be hidden too.
        """
        total = 0.0
        for levels, _ in self.scheme.functions:
            values = levels.pieces.flat_values
            for low, high in levels.pieces.saturated:
                t, weight = composite_legendre(np.array([low, high]), 0.5, 12)
                weight = weight * np.exp(-0.5 * t**2) / math.sqrt(2 * math.pi)
                own = levels.value(np.array([0.5 * (low + high)]))
                shared = np.count_nonzero(np.abs(values - own) <= 1e-9 * (1 + np.abs(own))) > 1
                total += float((1 + t**2 if shared else np.ones_like(t)) @ weight)
        return total

    @lru_cache(maxsize=2)  # noqa: B019  (one instance a channel, kept with it)
    def _labels(self, n: int) -> _RootLabels:
        """Roots (b, m), logs of their weights, widths of labels (m,), the function of each root."""
        functions = [levels for levels, _ in self.scheme.functions]
        counts = [len(levels.pieces.branches) for levels in functions]
        roots, logs, widths = [], [], []
        for part in LabelNodes(functions)(n):
            density = (np.exp(-0.5 * part.roots**2) * part.weights).sum(axis=0) * part.widths
            kept = density > 1e-17
            at = np.zeros((sum(counts), int(kept.sum())))
            log = np.full_like(at, -np.inf)
            at[part.branches] = part.roots[:, kept]
            log[part.branches] = np.log(part.weights[:, kept])
            roots.append(at)
            logs.append(log)
            widths.append(part.widths[kept])
        owner = np.repeat(np.arange(len(functions)), counts)
        return (
            np.concatenate(roots, axis=1),
            np.concatenate(logs, axis=1),
            np.concatenate(widths),
            owner,
        )

    def __call__(self, q: Array) -> Array:
        """E[g_j^2] for each coordinate j, at overlaps q (r,)."""
        axis, order = self.scheme.smooth, self.scheme.order
        assert axis is not None
        rest = order[1:]
        known = float(q[axis]) >= KNOWN
        # Where three coordinates are open the integral has as many dimensions, and fewer nodes.
        busy = bool(not known and q[axis] > 0 and np.count_nonzero(q[rest] > 0) > 1)
        products = _Products(
            [self.scheme.edges[i] for i in rest], q[rest], partial(omega_rule, n=3 if busy else 8)
        )
        groups = [products.group(cells) for _, cells in self.scheme.functions]
        mass, slope = np.array([g[0] for g in groups]), np.array([g[1] for g in groups])
        found = np.zeros(len(q))
        if known:  # The label of a known coordinate tells the function.
            ratio = slope**2 / np.maximum(mass, 1e-290)[:, None]
            found[rest] = np.einsum("fjn,n->j", ratio, products.weight)
            found[axis] = np.inf
            return found
        labels = self._labels(4 if busy else 12)
        for flat, moved, weight, own in self._told(float(q[axis]), labels, busy):
            for start in range(0, len(weight), 20000):
                part = slice(start, start + 20000)
                total = np.maximum(flat[:, part].T @ mass, 1e-290)
                # Each omega counts as often as the label is that of its true root, or of any.
                chance = total * products.weight if own is None else products.weight * mass[own]
                for j, tables in (
                    (axis, (moved, mass)),
                    *zip(rest, ((flat, t) for t in slope.transpose(1, 0, 2)), strict=True),
                ):
                    score = tables[0][:, part].T @ tables[1] / total
                    found[j] += weight[part] @ (score**2 * chance).sum(axis=1)
        return found

    def _told(
        self, overlap: float, labels: _RootLabels, busy: bool
    ) -> Iterator[tuple[Array, Array, Array, int | None]]:
        """What omega of the smooth coordinate tells of each function.

        Yields the density of the label under each function (f, n) and its gradient, the weights
        (n,), and the function of the true root. On a grid of omega all roots are true ones; close
        to perfect recovery, where such a grid is too fine, omega is drawn around each root.
        """
        roots, log_inverse, widths, owner = labels
        v = 1 - overlap
        step, reach = _GRID[busy]
        if overlap <= 0 or reach * math.sqrt(overlap / v) / step < 64 * len(roots):
            omega, weight = even_rule(overlap, step, reach)
            size = max(1, _BLOCK // len(omega))
            for start in range(0, len(widths), size):
                part = slice(start, start + size)
                flat, moved = _densities(roots[:, part], log_inverse[:, part], owner, omega, v)
                scale = 1 / math.sqrt(2 * math.pi * v)
                both = (widths[part, None] * weight).ravel()
                yield flat * scale, moved * scale, both, None
            return
        x, wx = composite_legendre(np.linspace(-8.5, 8.5, 17), np.inf, 3 if busy else 8)
        wx = wx * np.exp(-0.5 * x**2)
        wx = wx / wx.sum()
        for b in range(len(roots)):  # The true root is z, and omega = q z + sqrt(q (1 - q)) x.
            chance = np.exp(-0.5 * roots[b] ** 2 + log_inverse[b]) * widths / math.sqrt(2 * math.pi)
            use = chance > 1e-16
            omega = overlap * roots[b, use][:, None] + math.sqrt(overlap * v) * x
            far = np.abs(roots[:, use] - roots[b, use]) > _FAR * math.sqrt(v)
            log = np.where(far, -np.inf, log_inverse[:, use])
            flat, moved = _densities(roots[:, use], log, owner, omega, v)
            yield flat, moved, (chance[use][:, None] * wx).ravel(), int(owner[b])


def _densities(
    roots: Array, log_inverse: Array, owner: NDArray[np.intp], omega: Array, v: float
) -> tuple[Array, Array]:
    """Density of labels under each function, and its gradient in omega, both (f, m n)."""
    count = int(owner[-1]) + 1
    flat = np.zeros((count, roots.shape[1], omega.shape[-1]))
    moved = np.zeros_like(flat)
    for b in np.nonzero((log_inverse > -np.inf).any(axis=1))[0]:
        distance = roots[b, :, None] - omega
        share = np.exp(log_inverse[b, :, None] - 0.5 * distance**2 / v)
        flat[owner[b]] += share
        moved[owner[b]] += share * distance / v
    return flat.reshape(count, -1), moved.reshape(count, -1)
