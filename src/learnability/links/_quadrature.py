"""Rules that integrate a section against the standard normal law.

Five of them, chosen by where the section breaks:

* smooth, or broken on planes of one orthonormal frame: a product of Gauss rules, each for the
  normal law restricted to an interval between two breaks (Stieltjes procedure, Gautschi 2004,
  section 2.2). Converges geometrically, exact for polynomials.
* broken on planes in general position: coordinate after coordinate, split where the order of the
  planes changes.
* m = 2 with curved breaks: exact one-dimensional rules along lines, split where the line meets a
  break, over an outer rule that is split where the pattern of these crossings changes.
* m = 3, 4 with curved breaks: the same lines over a product rule in the other coordinates.
* otherwise (m > 4, or breaks that nobody declared): scrambled Sobol points, repeated for a
  standard error.

A rule is a set of outer nodes, each with its own inner nodes, so that a conditional expectation
given the outer coordinates is an inner sum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.links._sections import REACH, Section, complement, roots_on_lines

__all__ = [
    "Rule",
    "gauss_normal",
    "hermite_products",
    "multi_indices",
    "product_grid",
    "rules_for",
    "sobol_normals",
]

Array = NDArray[np.float64]

MOST_NODES = 4_000_000
_PANEL = 1.2
_LINE_NODES = 14
_AXIS_NODES = {1: 900, 2: 260, 3: 96, 4: 36}
_FEW_AXIS_NODES = {1: 60, 2: 40, 3: 28, 4: 24}
_BLIND_NODES = {1: 900, 2: 700, 3: 128, 4: 40}
_LINES = {2: (20, 14), 3: (56, 38), 4: (18, 12)}
_ARRANGEMENT_PANELS = 8
_ARRANGEMENT_NODES = {2: (16, 12), 3: (9, 7), 4: (5, 4)}
_MOST_GAUSS = 130  # Beyond this, composite rules are as exact and cheaper to make.


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

    def evaluate(self, section: Section) -> Array:
        """Values at all nodes, shape (n, p)."""
        n, p = len(self.outer), self.inner.shape[1]
        inner = np.broadcast_to(self.inner, (n, p, self.inner.shape[2]))
        outer = np.broadcast_to(self.outer[:, None, :], (n, p, self.outer.shape[1]))
        return section(np.concatenate([outer, inner], axis=-1))

    def mean(self, values: Array) -> float:
        """Expectation of values given at the nodes, shape (n, p)."""
        return float(self.outer_weights @ (values * self.inner_weights).sum(axis=1))

    def hermite_moments(self, values: Array, orders: Sequence[int]) -> dict[int, Array]:
        """Conditional expectations of values times Hermite products given the outer node.

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
            weighted = values * self.inner_weights
            nodes = np.broadcast_to(self.inner, (len(self.outer), *self.inner.shape[1:]))
            return {
                k: np.stack(
                    [(weighted * f).sum(axis=1) for f in hermite_products(nodes, k)], axis=1
                )
                for k in orders
            }
        block = values.reshape(len(values), *(len(x) for x, _ in self.axes))
        for x, w in self.axes:
            block = np.tensordot(block, hermite_table(x, max(orders)) * w, axes=(1, 1))
        return {k: block[(slice(None), *multi_indices(m, k).T)] for k in orders}


@lru_cache(maxsize=256)
def multi_indices(m: int, order: int) -> NDArray[np.int64]:
    """All multi-indices of a given order, shape (q, m), in lexicographic order."""
    if m == 0:
        return np.zeros((1 if order == 0 else 0, 0), dtype=int)
    if m == 1:
        return np.array([[order]])
    return np.concatenate(
        [
            np.column_stack([np.full(len(rest), first), rest])
            for first in range(order, -1, -1)
            for rest in [multi_indices(m - 1, order - first)]
        ]
    )


def root_factorials(betas: NDArray[np.int64]) -> Array:
    """sqrt(beta!) of multi-indices (q, m)."""
    return np.array([math.sqrt(math.prod(map(math.factorial, row))) for row in betas.tolist()])


def hermite_table(x: Array, order: int) -> Array:
    """Orthonormal Hermite polynomials He_k / sqrt(k!) of orders 0 ... order, along axis 0."""
    table = np.empty((order + 1, *x.shape))
    table[0] = 1.0
    if order:
        table[1] = x
    for k in range(1, order):
        table[k + 1] = (x * table[k] - np.sqrt(k) * table[k - 1]) / np.sqrt(k + 1)
    return table


def hermite_products(z: Array, order: int) -> Array:
    """Orthonormal products of Hermite polynomials of total order `order`, shape (q, ...)."""
    if order == 1:
        return np.moveaxis(z, -1, 0)
    if order == 2:
        columns = np.ascontiguousarray(np.moveaxis(z, -1, 0))
        pairs = [np.repeat(np.arange(len(beta)), beta) for beta in multi_indices(len(columns), 2)]
        return np.stack(
            [
                (columns[i] ** 2 - 1) / math.sqrt(2) if i == j else columns[i] * columns[j]
                for i, j in pairs
            ]
        )
    table = hermite_table(np.moveaxis(z, -1, 0), order)
    products = []
    for beta in multi_indices(z.shape[-1], order):
        factors = [table[b, i] for i, b in enumerate(beta) if b]
        product = np.ones(z.shape[:-1]) if not factors else factors[0]
        for factor in factors[1:]:
            product = product * factor
        products.append(product)
    return np.array(products)


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
    for k in range(n):  # Lanczos with full reorthogonalisation: the Stieltjes procedure, stably.
        basis[k] = vector
        diagonal[k] = vector @ (nodes * vector)
        left = nodes * vector - basis[: k + 1].T @ (basis[: k + 1] @ (nodes * vector))
        left = left - basis[: k + 1].T @ (basis[: k + 1] @ left)
        off[k] = np.linalg.norm(left)
        if k + 1 < n:
            vector = left / off[k]
    positions, vectors = eigh_tridiagonal(diagonal, off[: n - 1])
    return np.asarray(positions, dtype=float), np.asarray(mass * vectors[0] ** 2, dtype=float)


def composite_legendre(edges: Array, width: float, n: int) -> tuple[Array, Array]:
    """Gauss-Legendre on panels between sorted edges, none wider than `width`."""
    parts = [
        np.linspace(a, b, max(int(np.ceil((b - a) / width)), 1) + 1)[:-1]
        for a, b in zip(edges[:-1], edges[1:], strict=True)
        if b > a
    ]
    panels = np.concatenate([*parts, edges[-1:]])
    x, w = np.polynomial.legendre.leggauss(n)
    half = 0.5 * np.diff(panels)[:, None]
    nodes = 0.5 * (panels[:-1] + panels[1:])[:, None] + half * x
    return nodes.ravel(), (half * w).ravel()


def gauss_normal(breaks: Array, n: int, least: int = 10) -> tuple[Array, Array]:
    """A rule for the normal law with about n nodes, `least` of them between two breaks."""
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


def sobol_normals(m: int, log2_n: int, seed: int) -> Array:
    """Scrambled Sobol points mapped to the standard normal law, shape (2**log2_n, m)."""
    from scipy.special import ndtri
    from scipy.stats import qmc

    uniform = qmc.Sobol(m, scramble=True, rng=np.random.default_rng([seed, m])).random_base2(log2_n)
    return np.asarray(ndtri(np.clip(uniform, 1e-15, 1 - 1e-15)))


def rules_for(section: Section, known: int = 0, constant: bool = False) -> tuple[list[Rule], str]:
    """Rules whose spread tells the error, best first, and how they were made.

    Parameters
    ----------
    section : Section
        What is to be integrated, in coordinates whose first `known` are the outer ones.
    known : int
        Number of coordinates to condition on.
    constant : bool
        Whether the section is constant between its breaks, so that few nodes are exact.

    Returns
    -------
    rules : list of Rule
        Two deterministic rules of different order, or eight randomised ones.
    how : str
        ``"product"``, ``"planes"``, ``"lines"`` or ``"sobol"``.
    """
    aligned = _axis_breaks(section)
    size = (_FEW_AXIS_NODES if constant else _AXIS_NODES).get(section.m)
    if aligned is not None and size is not None:
        rules = [_product_rule(aligned, n, known) for n in (size, int(0.75 * size))]
        if rules[0] is not None and rules[1] is not None:
            return [rules[0], rules[1]], "product"
    if section.planes is not None and section.m in _ARRANGEMENT_NODES and known < section.m:
        split = [_arrangement_rule(section, known, n) for n in _ARRANGEMENT_NODES[section.m]]
        if split[0] is not None and split[1] is not None:
            return [split[0], split[1]], "planes"
    if section.break_functions is not None and 2 <= section.m <= 4 and known < section.m:
        return [_line_rule(section, known, axes) for axes in _outer_axes(section)], "lines"
    if known == 0:
        return [_sobol_rule(section, seed) for seed in range(8)], "sobol"
    # Unknown breaks: products of Gauss rules that ignore them converge slowly, and the two orders
    # tell how slowly.
    plain = [np.zeros(0)] * section.m
    size = _BLIND_NODES.get(section.m, 0)
    rules = [_product_rule(plain, n, known) for n in (size, int(0.7 * size))]
    if rules[0] is None or rules[1] is None or not size:
        raise LearnabilityError(
            f"Conditional expectations of a link in {section.m} variables were asked, "
            "but they are computed for at most 4."
        )
    return [rules[0], rules[1]], "product"


def _axis_breaks(section: Section) -> list[Array] | None:
    """Break positions on each coordinate axis; None if some break is not on such a plane."""
    planes = section.planes
    if planes is None:
        return None
    found = [np.zeros(0)] * section.m
    for direction, positions in planes:
        axis = int(np.argmax(np.abs(direction)))
        if abs(direction[axis]) < 1 - 1e-10:
            return None
        found[axis] = np.sort(np.concatenate([found[axis], np.sign(direction[axis]) * positions]))
    return found


def _product_rule(breaks: list[Array], n: int, known: int) -> Rule | None:
    axes = [gauss_normal(b, n) for b in breaks]
    if np.prod([len(x) for x, _ in axes]) > MOST_NODES:
        return None
    outer, outer_weights = product_grid(axes[:known])
    inner, inner_weights = product_grid(axes[known:])
    return Rule(outer, outer_weights, inner[None], inner_weights[None], tuple(axes[known:]))


def product_grid(axes: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Tensor product of one-dimensional rules: nodes (N, k) and weights (N,)."""
    nodes, weights = np.zeros((1, 0)), np.ones(1)
    for x, w in axes:
        nodes = np.column_stack([np.repeat(nodes, len(x), axis=0), np.tile(x, len(nodes))])
        weights = np.repeat(weights, len(w)) * np.tile(w, len(weights))
    return nodes, weights


def _crossings(section: Section, outer: Array) -> Array:
    """Where lines along the last coordinate meet a break, shape (n, k), padded with inf."""
    along = np.eye(section.m)[-1]
    origins = np.column_stack([outer, np.zeros(len(outer))])
    roots = [roots_on_lines(f, origins, along) for f in section.break_functions or ()]
    return np.concatenate([np.zeros((len(outer), 0)), *roots], axis=1)


def _along_lines(section: Section, outer: Array) -> tuple[Array, Array]:
    """Nodes (n, p) and weights of the last coordinate, split where each line meets a break."""
    panels = np.linspace(-REACH, REACH, int(2 * REACH / _PANEL) + 1)
    edges = np.broadcast_to(panels, (len(outer), len(panels)))
    edges = np.concatenate([edges, _crossings(section, outer)], axis=1)
    edges = np.sort(np.where(np.isfinite(edges), edges, REACH), axis=1)
    x, w = np.polynomial.legendre.leggauss(_LINE_NODES)
    half = 0.5 * np.diff(edges, axis=1)[..., None]
    nodes = (0.5 * (edges[:, 1:] + edges[:, :-1])[..., None] + half * x).reshape(len(outer), -1)
    weights = (half * w).reshape(len(outer), -1) * np.exp(-0.5 * nodes**2)
    return nodes, weights / weights.sum(axis=1, keepdims=True)


def _line_rule(section: Section, known: int, axes: list[tuple[Array, Array]]) -> Rule:
    """Lines along the last coordinate over rules in the others, the first `known` outer."""
    base, base_weights = product_grid(axes)
    nodes, weights = _along_lines(section, base)
    points = np.concatenate(
        [np.broadcast_to(base[:, None, :], (*nodes.shape, section.m - 1)), nodes[..., None]],
        axis=-1,
    )
    outer, outer_weights = product_grid(axes[:known])
    count = len(outer)
    inner_weights = (base_weights[:, None] * weights).reshape(count, -1) / outer_weights[:, None]
    inner = points.reshape(count, -1, section.m)[..., known:]
    return Rule(outer, outer_weights, inner, inner_weights)


def _outer_axes(section: Section) -> list[list[tuple[Array, Array]]]:
    """Rules for all coordinates but the last, at two orders."""
    if section.m == 2:
        changes = _pattern_changes(section)
        return [[_split_axis(changes, n)] for n in _LINES[2]]
    return [[gauss_normal(np.zeros(0), n)] * (section.m - 1) for n in _LINES[section.m]]


def _arrangement_rule(section: Section, known: int, n: int) -> Rule | None:
    """Coordinate after coordinate, split where the order of the break planes changes.

    A sum over the last coordinate has kinks where two planes meet. These sets are planes of the
    other coordinates, so the same holds one dimension lower.
    """
    levels = _projected_planes(section)
    if levels is None:
        return None
    panels = np.linspace(-REACH, REACH, _ARRANGEMENT_PANELS + 1)
    x, w = np.polynomial.legendre.leggauss(n)
    total = math.prod((len(panels) - 1 + len(c)) * n for _, c in levels)
    if total > MOST_NODES:
        return None
    nodes, weights = np.zeros((1, 0)), np.ones(1)
    outer, outer_weights = nodes, weights
    for k, (normals, offsets) in enumerate(levels, start=1):
        crossings = offsets - nodes @ normals.T  # Normals are scaled to a last component of one.
        crossings = np.clip(crossings, -REACH, REACH)
        edges = np.sort(
            np.concatenate([np.broadcast_to(panels, (len(nodes), len(panels))), crossings], axis=1),
            axis=1,
        )
        half = 0.5 * np.diff(edges, axis=1)[..., None]
        last = (0.5 * (edges[:, 1:] + edges[:, :-1])[..., None] + half * x).reshape(len(nodes), -1)
        share = (half * w).reshape(len(nodes), -1) * np.exp(-0.5 * last**2)
        share /= share.sum(axis=1, keepdims=True)
        nodes = np.column_stack([np.repeat(nodes, last.shape[1], axis=0), last.ravel()])
        weights = (weights[:, None] * share).ravel()
        if k == known:
            outer, outer_weights = nodes, weights
    inner = nodes.reshape(len(outer), -1, section.m)[..., known:]
    with np.errstate(all="ignore"):
        inner_weights = weights.reshape(len(outer), -1) / outer_weights[:, None]
    return Rule(
        outer, outer_weights, inner, np.where(np.isfinite(inner_weights), inner_weights, 0.0)
    )


def _projected_planes(section: Section) -> list[tuple[Array, Array]] | None:
    """For each coordinate k the planes x_k = offset - normal . (x_1 ... x_{k-1}) to split at.

    None when there are too many.
    """
    planes = [(u, float(c)) for u, positions in section.planes or () for c in positions]
    levels: list[tuple[Array, Array]] = []
    for k in range(section.m, 0, -1):
        steep = [(u[:-1] / u[-1], c / u[-1]) for u, c in planes if abs(u[-1]) > 1e-10]
        flat = [(u[:-1], c) for u, c in planes if abs(u[-1]) <= 1e-10]
        if len(steep) > 40:
            return None
        levels.append(
            (
                np.array([u for u, _ in steep]).reshape(len(steep), k - 1),
                np.array([c for _, c in steep]),
            )
        )
        met = [(u - v, c - e) for i, (u, c) in enumerate(steep) for v, e in steep[:i]]
        planes = _distinct_planes(flat + met)
    return levels[::-1]


def _distinct_planes(planes: list[tuple[Array, float]]) -> list[tuple[Array, float]]:
    """Planes with unit normals, each once, empty ones left out."""
    found: dict[tuple[float, ...], tuple[Array, float]] = {}
    for normal, offset in planes:
        size = float(np.linalg.norm(normal))
        if size < 1e-10:
            continue
        first = normal[np.argmax(np.abs(normal) > 1e-10 * size)]
        scale = math.copysign(size, first)
        unit, position = normal / scale, offset / scale
        if abs(position) < REACH * math.sqrt(len(normal)):
            found[tuple(np.round([*unit, position], 9) + 0.0)] = (unit, position)
    return list(found.values())


def _split_axis(changes: Array, n: int) -> tuple[Array, Array]:
    """A rule for the first coordinate of a plane, split where the crossings change."""
    edges = np.concatenate([[-REACH], changes, [REACH]])
    # The cosine map makes square-root ends, where a line leaves a curved break, analytic.
    x, w = np.polynomial.legendre.leggauss(n)
    angle, weight = 0.5 * np.pi * (x + 1), 0.5 * np.pi * w
    panels = np.concatenate(
        [
            np.linspace(a, b, int(np.ceil((b - a) / 1.5)) + 1)[:-1]
            for a, b in zip(edges[:-1], edges[1:], strict=True)
        ]
    )
    panels = np.append(panels, REACH)
    half = 0.5 * np.diff(panels)[:, None]
    nodes = (panels[:-1, None] + half * (1 - np.cos(angle))).ravel()
    weights = (half * np.sin(angle) * weight).ravel() * np.exp(-0.5 * nodes**2)
    return nodes, weights / weights.sum()


def _pattern_changes(section: Section) -> Array:
    """Outer positions of a plane where the order of the crossings along its lines changes."""
    functions = section.break_functions or ()
    direction = np.eye(2)[1]

    def pattern(x: Array) -> list[tuple[int, ...]]:
        origins = np.column_stack([x, np.zeros(len(x))])
        roots = [roots_on_lines(f, origins, direction, coarse=True) for f in functions]
        position = np.concatenate(roots, axis=1)
        owner = np.concatenate([np.full(r.shape[1], k) for k, r in enumerate(roots)])
        order = np.argsort(position, axis=1, kind="stable")
        known = np.take_along_axis(np.isfinite(position), order, axis=1)
        at = np.column_stack([x, np.full(len(x), -REACH)])
        start = np.stack([np.sign(f(at)) for f in functions], axis=1)
        return [
            (*map(int, s), *(int(owner[j]) for j, ok in zip(o, k, strict=True) if ok))
            for s, o, k in zip(start, order, known, strict=True)
        ]

    grid = np.linspace(-REACH, REACH, 384) + np.sqrt(2) * 1e-7
    seen = pattern(grid)
    left = np.array([k for k in range(len(grid) - 1) if seen[k] != seen[k + 1]], dtype=int)
    low, high = grid[left], grid[left + 1]
    low_pattern = [seen[k] for k in left]
    for _ in range(40 if len(left) else 0):
        middle = 0.5 * (low + high)
        same = np.array([a == b for a, b in zip(pattern(middle), low_pattern, strict=True)])
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return 0.5 * (low + high)


def _sobol_rule(section: Section, seed: int) -> Rule:
    points = sobol_normals(section.m, 17, seed)
    weights = np.full((1, len(points)), 1 / len(points))
    return Rule(np.zeros((1, 0)), np.ones(1), points[None], weights)


def adapted_frame(section: Section) -> Array:
    """An orthonormal frame (m, m) whose axes carry the break planes, as far as those allow."""
    return adapted_complement(section, np.zeros((0, section.m)))


def adapted_complement(section: Section, known: Array) -> Array:
    """Orthonormal rows that complete `known`, normals of break planes first."""
    rows = known
    for direction, _ in section.planes or ():
        if len(rows) == 0 or np.abs(rows @ direction).max() < 1e-9:
            rows = np.vstack([rows, direction])
    return np.vstack([rows[len(known) :], complement(rows, section.m)])
