"""Rules that integrate a section against the standard normal law.

There are five, chosen by where the section breaks:

* smooth, or broken on planes of one orthonormal frame: a product of Gauss rules, each for the
  normal law restricted to an interval between two breaks (Stieltjes procedure, Gautschi 2004,
  section 2.2). It converges geometrically and is exact for polynomials. Where g^2 is not negligible
  at the end of the usual reach (m = 1, 2), panels reach four times as far.
* broken on planes in general position: coordinate after coordinate, split where the order of the
  planes changes.
* m = 2 with curved breaks: exact one-dimensional rules along lines, split where the line meets a
  break, over an outer rule that is split where the pattern of these crossings changes.
* m = 3, 4 with curved breaks: the same lines over a product rule in the other coordinates.
* otherwise (m > 4, or breaks that nobody declared): scrambled Sobol points, repeated for a
  standard error.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.gaussian._split_rules import MOST_NODES, line_rules, plane_rules
from learnability.gaussian.rules import (
    Rule,
    composite_legendre,
    gauss_normal,
    product_grid,
    sobol_normals,
)
from learnability.gaussian.sections import PARALLEL, REACH, Section, complement

__all__ = ["adapted_complement", "adapted_frame", "axis_breaks", "rules_for", "sampled_rules"]

Array = NDArray[np.float64]

_AXIS_NODES = {1: 900, 2: 260, 3: 96, 4: 36}
_FEW_AXIS_NODES = {1: 60, 2: 40, 3: 28, 4: 24}
_WIDE_REACH = 37.0  # Beyond it the density is below 1e-297.
_WIDE_PANELS = {1: (0.5, 16), 2: (1.0, 10)}  # These are width and nodes, by the dimension.
_BLIND_NODES = {1: 900, 2: 700, 3: 128, 4: 40}


def rules_for(section: Section, known: int = 0, constant: bool = False) -> tuple[list[Rule], str]:
    """Return rules whose spread tells the error, best first, and how they were made.

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
    aligned = axis_breaks(section)
    size = (_FEW_AXIS_NODES if constant else _AXIS_NODES).get(section.m)
    if aligned is not None and size is not None:
        heavy = section.m in _WIDE_PANELS and _has_heavy_tails(section)
        rules = [_product_rule(aligned, n, known, heavy) for n in (size, int(0.75 * size))]
        if rules[0] is not None and rules[1] is not None:
            return [rules[0], rules[1]], "product"
    if known < section.m:
        if (planes := plane_rules(section, known)) is not None:
            return planes, "planes"
        if (lines := line_rules(section, known)) is not None:
            return lines, "lines"
    if len(section.rare_points):
        raise LearnabilityError(
            f"{section.link!r} has a cell between curved boundaries that is so small that no node "
            "of its integrals meets it, so they are not known."
        )
    if known == 0:
        return sampled_rules(section), "sobol"
    # Products of Gauss rules that ignore unknown breaks converge slowly, and the two orders
    # tell how slowly.
    plain = [np.zeros(0)] * section.m
    size = _BLIND_NODES.get(section.m, 0)
    rules = [_product_rule(plain, n, known) for n in (size, int(0.7 * size))]
    if rules[0] is None or rules[1] is None or not size:
        raise LearnabilityError(
            f"Conditional expectations of a link in {section.m} variables were asked for, "
            "but they are computed for at most 4."
        )
    return [rules[0], rules[1]], "product"


def axis_breaks(section: Section) -> list[Array] | None:
    """Return break positions on each coordinate axis; None if some break is not on such a plane."""
    planes = section.planes
    if planes is None:
        return None
    found = [np.zeros(0)] * section.m
    for direction, positions in planes:
        axis = int(np.argmax(np.abs(direction)))
        if np.linalg.norm(np.delete(direction, axis)) > PARALLEL:
            return None
        found[axis] = np.sort(np.concatenate([found[axis], np.sign(direction[axis]) * positions]))
    return found


def _has_heavy_tails(section: Section) -> bool:
    """Return whether g^2 times the normal density is not negligible at the end of the reach."""
    t = np.linspace(-REACH, REACH, 96)
    lines = np.concatenate([np.eye(section.m), np.ones((1, section.m)) / np.sqrt(section.m)])
    origin = 0.01 * np.sqrt(2 + np.arange(section.m))  # Poles lie on the axes themselves.
    with np.errstate(all="ignore"):
        values = np.asarray(section.link(section.points(origin + t[:, None] * lines[:, None, :])))
        square = values**2 * np.exp(-0.5 * t**2)
    return bool(square[:, [0, -1]].max() > 1e-10 * square.max())


def _wide_axis(breaks: Array, n: int, m: int) -> tuple[Array, Array]:
    """Return a rule that reaches as far as the normal density can be told from zero."""
    edges = np.concatenate([[-_WIDE_REACH], breaks, [_WIDE_REACH]])
    width, nodes = _WIDE_PANELS[m]
    x, weight = composite_legendre(edges, width, max(nodes * n // _AXIS_NODES[m], 4))
    weight = weight * np.exp(-0.5 * x**2)
    return x, weight / weight.sum()


def _product_rule(breaks: list[Array], n: int, known: int, heavy: bool = False) -> Rule | None:
    axes = [_wide_axis(b, n, len(breaks)) if heavy else gauss_normal(b, n) for b in breaks]
    if np.prod([len(x) for x, _ in axes]) > MOST_NODES:
        return None
    outer, outer_weights = product_grid(axes[:known])
    inner, inner_weights = product_grid(axes[known:])
    return Rule(outer, outer_weights, inner[None], inner_weights[None], tuple(axes[known:]))


def sampled_rules(section: Section) -> list[Rule]:
    """Return eight randomised rules, whose spread is the error whatever the breaks are."""
    return [_sobol_rule(section, seed) for seed in range(8)]


def _sobol_rule(section: Section, seed: int) -> Rule:
    points = sobol_normals(section.m, 17, seed)
    weights = np.full((1, len(points)), 1 / len(points))
    return Rule(np.zeros((1, 0)), np.ones(1), points[None], weights)


def adapted_frame(section: Section) -> Array:
    """An orthonormal frame (m, m) whose axes carry the break planes, as far as those allow."""
    return adapted_complement(section, np.zeros((0, section.m)))


def adapted_complement(section: Section, known: Array) -> Array:
    """Return orthonormal rows that complete `known`, normals of break planes first."""
    rows = known
    for direction, _ in section.planes or ():
        if len(rows) == 0 or np.abs(rows @ direction).max() < 1e-9:
            rows = np.vstack([rows, direction])
    return np.vstack([rows[len(known) :], complement(rows, section.m)])
