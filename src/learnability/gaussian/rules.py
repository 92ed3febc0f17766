"""Quadrature rules for the normal law: what a rule is, and the one-dimensional ones.

A rule is a set of outer nodes, each with its own inner nodes, so that a conditional expectation
given the outer coordinates is an inner sum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.hermite_products import hermite_table, multi_indices
from learnability.gaussian.sections import REACH
from learnability.gaussian.sobol import sobol_uniforms

__all__ = [
    "Rule",
    "composite_legendre",
    "gauss_normal",
    "legendre",
    "normal_measure",
    "product_grid",
    "sobol_normals",
]

Array = NDArray[np.float64]

_BLOCK = 8192  # The products of this many nodes are computed at once.
_MOST_GAUSS = 130  # Beyond this number, composite rules are as accurate and cheaper.


@dataclass(frozen=True)
class Rule:
    """Nodes and weights in the coordinates of a section.

    Attributes
    ----------
    outer, outer_weights : array, shapes (n, k) and (n,)
        Nodes of the first k coordinates; k may be 0, with one node.
    inner, inner_weights : array, shapes (n or 1, p, m - k) and (n or 1, p)
        Nodes of the others, given each outer node. The weights sum to one.
    axes : tuple of (nodes, weights), optional
        One-dimensional rules whose product the inner rule is: sums are then taken axis by axis.
    """

    outer: Array
    outer_weights: Array
    inner: Array
    inner_weights: Array
    axes: tuple[tuple[Array, Array], ...] | None = None

    def evaluate(self, section: Callable[[Array], Array]) -> Array:
        """Return values of a section, or a function of points, at all nodes, shape (n, p)."""
        n, p = len(self.outer), self.inner.shape[1]
        inner = np.broadcast_to(self.inner, (n, p, self.inner.shape[2]))
        outer = np.broadcast_to(self.outer[:, None, :], (n, p, self.outer.shape[1]))
        return section(np.concatenate([outer, inner], axis=-1))

    def mean(self, values: Array) -> float:
        """Return the expectation of values given at the nodes, shape (n, p)."""
        return float(self.outer_weights @ (values * self.inner_weights).sum(axis=1))

    def hermite_moments(self, values: Array, orders: Sequence[int]) -> dict[int, Array]:
        """Return conditional expectations of values times Hermite products given the outer node.

        Parameters
        ----------
        values : array, shape (n, p)
            Values at the nodes.
        orders : sequence of int
            Total orders of the products in the inner coordinates.

        Returns
        -------
        dict
            Order -> array (n, q), for the orthonormal products of `multi_indices`.
        """
        m = self.inner.shape[2]
        if self.axes is None:
            nodes = np.broadcast_to(self.inner, (len(self.outer), *self.inner.shape[1:]))
            return _product_moments(values * self.inner_weights, nodes, orders)
        block = values.reshape(len(values), *(len(x) for x, _ in self.axes))
        for x, w in self.axes:
            block = np.tensordot(block, hermite_table(x, max(orders)) * w, axes=(1, 1))
        return {k: block[(slice(None), *multi_indices(m, k).T)] for k in orders}


def _product_moments(weighted: Array, nodes: Array, orders: Sequence[int]) -> dict[int, Array]:
    """Sums (n, q) of weighted values (n, p) times Hermite products at nodes (n, p, m), by order.

    Products of all coordinates but the last meet those of the last in one product of matrices, for
    as many nodes at a time as stay in the cache.
    """
    n, p, m = nodes.shape
    highest = max(orders)
    lower = range(highest + 1) if m > 1 else (0,)
    before = [tuple(beta) for k in lower for beta in multi_indices(max(m - 1, 1), k).tolist()]
    total = np.zeros((n, len(before), highest + 1))
    rows = max(_BLOCK // max(p, 1), 1)
    for a in range(0, n, rows):
        for b in range(0, p, _BLOCK):
            part = slice(a, a + rows), slice(b, b + _BLOCK)
            table = hermite_table(np.ascontiguousarray(np.moveaxis(nodes[part], -1, 0)), highest)
            left = np.empty((len(before), *table.shape[2:]))
            for row, beta in zip(left, before, strict=True):
                row[...] = weighted[part]
                for i, order in enumerate(beta):
                    if order:
                        row *= table[order, i]
            total[part[0]] += np.matmul(np.moveaxis(left, 0, 1), np.moveaxis(table[:, m - 1], 0, 2))
    place = {beta: j for j, beta in enumerate(before)}
    found = {}
    for k in orders:
        betas = multi_indices(m, k)
        first = [place[tuple(beta[:-1]) if m > 1 else (0,)] for beta in betas.tolist()]
        found[k] = total[:, first, betas[:, -1]]
    return found


@lru_cache(maxsize=256)
def _gauss_piece(low: float, high: float, n: int) -> tuple[Array, Array]:
    """Gauss rule with n nodes for the normal law restricted to [low, high], not normalised."""
    from scipy.linalg import eigh_tridiagonal

    nodes, weights = composite_legendre(np.array([low, high]), 0.5, 24)
    weights = weights * np.exp(-0.5 * nodes**2) / np.sqrt(2 * np.pi)
    mass = weights.sum()
    if mass < 1e-300:
        return np.zeros(0), np.zeros(0)
    n = min(n, len(nodes) // 2)
    diagonal, off = np.zeros(n), np.zeros(n)
    basis = np.zeros((n, len(nodes)))
    vector = np.sqrt(weights / mass)
    for k in range(n):  # This is the Stieltjes procedure, with full reorthogonalisation.
        basis[k] = vector
        diagonal[k] = vector @ (nodes * vector)
        left = nodes * vector - basis[: k + 1].T @ (basis[: k + 1] @ (nodes * vector))
        left = left - basis[: k + 1].T @ (basis[: k + 1] @ left)
        off[k] = np.linalg.norm(left)
        if k + 1 < n:
            vector = left / off[k]
    positions, vectors = eigh_tridiagonal(diagonal, off[: n - 1])
    return np.asarray(positions, dtype=float), np.asarray(mass * vectors[0] ** 2, dtype=float)


@lru_cache(maxsize=64)
def legendre(n: int) -> tuple[Array, Array]:
    """Return Gauss-Legendre nodes and weights on [-1, 1]; the arrays must not be written to."""
    return np.polynomial.legendre.leggauss(n)


def composite_legendre(edges: Array, width: float, n: int) -> tuple[Array, Array]:
    """Return Gauss-Legendre on panels between sorted edges, none wider than `width`."""
    gap = np.diff(edges)
    count = np.maximum(np.ceil(gap / width), gap > 0).astype(int)
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    step = np.divide(gap, count, out=np.zeros_like(gap), where=count > 0)
    panels = np.append(np.repeat(edges[:-1], count) + within * np.repeat(step, count), edges[-1])
    x, w = legendre(n)
    half = 0.5 * np.diff(panels)[:, None]
    nodes = 0.5 * (panels[:-1] + panels[1:])[:, None] + half * x
    return nodes.ravel(), (half * w).ravel()


def gauss_normal(breaks: Array, n: int, least: int = 10) -> tuple[Array, Array]:
    """Return a rule for the normal law with about n nodes, `least` of them between two breaks."""
    inside = breaks[np.abs(breaks) < REACH]
    edges = np.concatenate([[-REACH], inside, [REACH]])
    each = max(n // (len(edges) - 1), least)
    if each > _MOST_GAUSS:
        nodes, weights = composite_legendre(edges, 2 * REACH * 16 / n, 16)
        weights = weights * np.exp(-0.5 * nodes**2)
        return nodes, weights / weights.sum()
    pieces = [
        _gauss_piece(float(a), float(b), each) for a, b in zip(edges[:-1], edges[1:], strict=True)
    ]
    nodes = np.concatenate([p[0] for p in pieces])
    weights = np.concatenate([p[1] for p in pieces])
    return nodes, weights / weights.sum()


def normal_measure(low: Array, high: Array) -> Array:
    """Return the normal probability of intervals, from the side on which both tails are small."""
    from scipy.special import ndtr

    flip = low > 0
    return np.asarray(ndtr(np.where(flip, -low, high)) - ndtr(np.where(flip, -high, low)))


def product_grid(axes: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return the tensor product of one-dimensional rules: nodes (N, k) and weights (N,)."""
    nodes, weights = np.zeros((1, 0)), np.ones(1)
    for x, w in axes:
        nodes = np.column_stack([np.repeat(nodes, len(x), axis=0), np.tile(x, len(nodes))])
        weights = np.repeat(weights, len(w)) * np.tile(w, len(weights))
    return nodes, weights


def sobol_normals(m: int, log2_n: int, seed: int) -> Array:
    """Return scrambled Sobol points mapped to the standard normal law, shape (2**log2_n, m)."""
    from scipy.special import ndtri

    uniform = sobol_uniforms(m, log2_n, np.random.default_rng([seed, m]))
    return np.asarray(ndtri(np.clip(uniform, 1e-15, 1 - 1e-15)))
