"""The information E[g_out g_out^T] of links on boxes, by exact integrals; overlaps diagonal.

With M = diag(q), omega_j ~ N(0, q_j) and V = I - M the probability of a box is a product of
one-dimensional ones, so that the sum over labels and the integral over omega are sums of outer
products. When the link is smooth in one coordinate, that one is integrated through the label:
between two neighbouring critical values y = y_c + s^2, in which the roots are analytic.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.rules import composite_legendre
from learnability.labels.posterior import BoxPosterior

__all__ = ["FiniteInformation", "RootInformation"]

Array = NDArray[np.float64]
Rule = Callable[[float, Array], tuple[Array, Array]]

KNOWN = 1 - 1e-10
"""Beyond this overlap a coordinate counts as known."""
_EVEN = {3: (0.45, 5.6), 4: (0.6, 4.6)}
"""Distance of omega in posterior widths, and the largest one, where so many are open."""
_MOST_NODES = 400_000


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
    from scipy.special import ndtr

    ends = np.concatenate([[-np.inf], edges, [np.inf]])[:, None]
    t = (ends - omega) / math.sqrt(v)
    low, high = t[:-1], t[1:]
    mass = np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
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

    @lru_cache(maxsize=2)  # noqa: B019  (one instance a channel, kept with it)
    def _labels(self, n: int) -> tuple[Array, Array, Array, NDArray[np.intp]]:
        """Roots (b, m), logs of 1 / slope, weights of labels (m,), the function of each root."""
        functions = self.scheme.functions
        branches = [levels.pieces.branches for levels, _ in functions]
        units = [levels.unit for levels, _ in functions]
        levels_at = [
            np.concatenate([b.at_low, b.at_high]) * u for b, u in zip(branches, units, strict=True)
        ]
        critical = np.unique(np.round(np.concatenate(levels_at), 12))
        size = np.abs(critical).max()
        critical = critical[np.diff(critical, prepend=-np.inf) > 1e-9 * size]
        grading = np.concatenate([[0.0], 2.0 ** -np.arange(n, -1, -1)])
        s, w = composite_legendre(grading, 0.1 if n == 8 else 0.25, n)
        y, weight = [], []
        for below, above in zip(critical[:-1], critical[1:], strict=True):
            half = 0.5 * (above - below)
            y += [below + half * s**2, above - half * s**2]
            weight += [2 * half * s * w] * 2
        labels = np.concatenate(y)
        found = [levels.roots_of(labels) for levels, _ in functions]
        roots = np.concatenate([f[0] for f in found])
        log_inverse = np.concatenate([np.where(f[2], -f[1], -np.inf) for f in found])
        owner = np.repeat(np.arange(len(found)), [len(f[0]) for f in found])
        density = np.exp(-0.5 * roots**2 + log_inverse).sum(axis=0) * np.concatenate(weight)
        kept = density > 1e-17
        return roots[:, kept], log_inverse[:, kept], np.concatenate(weight)[kept], owner

    def __call__(self, q: Array) -> Array:
        """E[g_j^2] for each coordinate j, at overlaps q (r,)."""
        axis, order = self.scheme.smooth, self.scheme.order
        assert axis is not None
        rest = order[1:]
        known = float(q[axis]) >= KNOWN
        # Where three coordinates are open the integral has as many dimensions, and fewer nodes.
        busy = not known and q[axis] > 0 and np.count_nonzero(q[rest] > 0) > 1
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
        overlap, v = float(q[axis]), 1 - float(q[axis])
        if np.any(q[rest] > 0):  # Even sums of a smooth integrand converge fast.
            step = max(min(0.4, 0.6 * math.sqrt(v / overlap)), 0.12)
            x = np.arange(-4.8, 4.8 + step, 0.45) if busy else np.arange(-8.4, 8.4 + step, step)
            wx = np.exp(-0.5 * x**2)
        else:
            x, wx = composite_legendre(np.linspace(-8.5, 8.5, 17), np.inf, 8)
            wx = wx * np.exp(-0.5 * x**2)
        wx = wx / wx.sum()
        roots, log_inverse, weight, owner = self._labels(4 if busy else 8)
        count = len(self.scheme.functions)
        for b in range(len(roots)):  # The true root is z, and omega = q z + sqrt(q (1 - q)) x.
            use = np.isfinite(log_inverse[b])
            chance = np.exp(-0.5 * roots[b, use] ** 2 + log_inverse[b, use]) * weight[use]
            chance = chance / math.sqrt(2 * math.pi)
            use = np.nonzero(use)[0][chance > 1e-16]
            chance = chance[chance > 1e-16]
            omega = overlap * roots[b, use][:, None] + math.sqrt(overlap * v) * x
            distance = roots[:, use][:, :, None] - omega
            exponent = log_inverse[:, use][:, :, None] - 0.5 * distance**2 / v
            share = np.exp(exponent - exponent.max(axis=0))
            by_function = np.array([share[owner == f].sum(axis=0) for f in range(count)])
            moved = np.array([(share * distance)[owner == f].sum(axis=0) for f in range(count)])
            both = (chance[:, None] * wx).ravel()
            flat, moved = by_function.reshape(count, -1), moved.reshape(count, -1)
            own = products.weight * mass[owner[b]]
            for start in range(0, len(both), 20000):
                part = slice(start, start + 20000)
                total = np.maximum(flat[:, part].T @ mass, 1e-290)
                found[axis] += both[part] @ ((moved[:, part].T @ mass / v / total) ** 2 @ own)
                for k, j in enumerate(rest):
                    found[j] += both[part] @ ((flat[:, part].T @ slope[:, k] / total) ** 2 @ own)
        return found
