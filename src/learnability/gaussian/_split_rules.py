"""Rules for breaks that are not aligned with the coordinates.

For planes in general position, a rule is made coordinate after coordinate and split where the order
of the planes changes. For curved breaks, exact one-dimensional rules run along lines and are split
where the line meets a break, over a rule in the other coordinates; for m = 2 that outer rule is
split where the pattern of the crossings changes.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.line_roots import roots_together
from learnability.gaussian.rules import Rule, gauss_normal, product_grid
from learnability.gaussian.sections import REACH, Section

__all__ = ["MOST_NODES", "line_rules", "plane_rules"]

Array = NDArray[np.float64]

MOST_NODES = 4_000_000
_PANEL = 1.2
_LINE_NODES = 14
_LINES = {2: (20, 14), 3: (56, 38), 4: (18, 12)}
_PROBES = {2: 25, 3: 7, 4: 5}
_MOST_CROSSINGS = 48  # On a line that meets more breaks, sampled points are as good and cheaper.
_ARRANGEMENT_PANELS = 8
_STEEPEST = 2.0
_ARRANGEMENT_NODES = {2: (16, 12), 3: (9, 7), 4: (5, 4)}


def plane_rules(section: Section, known: int) -> list[Rule] | None:
    """Return two rules for breaks on planes; None when the planes are not known or too many."""
    if section.planes is None or section.m not in _ARRANGEMENT_NODES:
        return None
    rules = [_arrangement_rule(section, known, n) for n in _ARRANGEMENT_NODES[section.m]]
    found = [rule for rule in rules if rule is not None]
    return found if len(found) == len(rules) else None


def line_rules(section: Section, known: int) -> list[Rule] | None:
    """Return two rules for breaks of any shape; None when they are not known, or too many."""
    if section.break_functions is None or section.m not in _LINES or section.hides_cells:
        return None
    some = gauss_normal(np.zeros(0), _PROBES[section.m])
    if _crossings(section, product_grid([some] * (section.m - 1))[0]).shape[1] > _MOST_CROSSINGS:
        return None
    rules = [_line_rule(section, known, axes) for axes in _outer_axes(section)]
    return (
        rules
        if section.rare_points.size == 0 or all(map(partial(_meets, section), rules))
        else None
    )


def _meets(section: Section, rule: Rule) -> bool:
    """Whether a rule has a node in every rare cell."""
    met = rule.evaluate(section.cells)
    return bool(np.isin(section.cells(section.rare_points), met).all())


def _arrangement_rule(section: Section, known: int, n: int) -> Rule | None:
    """Make a rule coordinate by coordinate, split where the order of the break planes changes.

    A sum over the last coordinate has kinks where two planes meet. These sets are planes of the
    other coordinates, so the same holds one dimension lower.
    """
    levels = _projected_planes(section)
    if levels is None:
        return None
    panels = _panels()
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


def _panels() -> Array:
    return np.linspace(-REACH, REACH, _ARRANGEMENT_PANELS + 1)


def _projected_planes(section: Section) -> list[tuple[Array, Array]] | None:
    """Return for each k the planes x_k = offset - normal . (x_1 ... x_{k-1}) to split at.

    The answer is None when there are too many.
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
        # A plane that is almost parallel to the axis runs along it within a thin strip of the
        # other coordinates, which is then split as finely as the axis itself.
        met += [
            (u, c - edge) for u, c in steep if np.linalg.norm(u) > _STEEPEST for edge in _panels()
        ]
        planes = _distinct_planes(flat + met)
    return levels[::-1]


def _distinct_planes(planes: list[tuple[Array, float]]) -> list[tuple[Array, float]]:
    """Return the planes with unit normals, each once, if they have a normal and are in reach."""
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


def _line_rule(section: Section, known: int, axes: list[tuple[Array, Array]]) -> Rule:
    """Return lines along the last coordinate over rules in the others, `known` of them outer."""
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


def _crossings(section: Section, outer: Array) -> Array:
    """Return where lines along the last coordinate meet a break, shape (n, k), padded with inf."""
    along = np.eye(section.m)[-1]
    origins = np.column_stack([outer, np.zeros(len(outer))])
    roots = roots_together(section.break_functions or (), origins, along)
    return np.concatenate([np.zeros((len(outer), 0)), *roots], axis=1)


def _outer_axes(section: Section) -> list[list[tuple[Array, Array]]]:
    """Return rules for all coordinates but the last, at two orders."""
    if section.m == 2:
        changes = _pattern_changes(section)
        return [[_split_axis(changes, n)] for n in _LINES[2]]
    return [[gauss_normal(np.zeros(0), n)] * (section.m - 1) for n in _LINES[section.m]]


def _split_axis(changes: Array, n: int) -> tuple[Array, Array]:
    """Return a rule for the first coordinate of a plane, split where the crossings change."""
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
        roots = roots_together(functions, origins, direction, 193)
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
    grid = np.unique(np.concatenate([grid, section.rare_edges(0)]))
    seen = pattern(grid)
    left = np.array([k for k in range(len(grid) - 1) if seen[k] != seen[k + 1]], dtype=int)
    low, high = grid[left], grid[left + 1]
    low_pattern = [seen[k] for k in left]
    for _ in range(40 if len(left) else 0):
        middle = 0.5 * (low + high)
        same = np.array([a == b for a, b in zip(pattern(middle), low_pattern, strict=True)])
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.asarray(0.5 * (low + high))
