"""Cells {g = v} with curved boundaries are integrated exactly along lines, adaptively across them.

Along a line a cell is a union of intervals between the zeros of the break functions, and its
Hermite moments follow from the antiderivative -h_{k-1} phi / sqrt(k). What is left is smooth but
for square roots and kinks where a line touches a boundary: intervals of the next coordinate are
halved until two rules agree, for all values of the coordinates before it at once, and so on. The
squares E[h | y, z_U]^2 are averaged over the known coordinates in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.hermite_products import hermite_table, multi_indices
from learnability.gaussian.line_roots import roots_together
from learnability.gaussian.sections import REACH, Section, complement

__all__ = ["MOST_DIRECTIONS", "CurvedCells"]

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Integrand = Callable[[Indices, Array], Array]

MOST_DIRECTIONS = 3
"""Cells in more dimensions than this are left to other rules."""

_PANELS = np.array([-REACH, -4.0, -2.2, -1.1, 0.0, 1.1, 2.2, 4.0, REACH])
_ROUNDS = 24
_RARE = 0.02
_RARE_TOLERANCE = {2: 1e-11, 3: 1e-9}
_FINE_SCAN = {2: 5e-9, 3: 5e-7}  # Below these tolerances lines are scanned finely.
_SCANS, _PROBES = (49, 97, 193), 512
_LOOSER = 100  # An average of averages is smoother: its error is well below what two rules show.
_KRONROD = np.array(
    [
        [0.99145537112081263, 0.02293532201052922, 0.0],
        [0.94910791234275852, 0.06309209262997855, 0.12948496616886969],
        [0.86486442335976907, 0.10479001032225018, 0.0],
        [0.74153118559939443, 0.14065325971552591, 0.27970539148927666],
        [0.58608723546769113, 0.16900472663926790, 0.0],
        [0.40584515137739716, 0.19035057806478540, 0.38183005050511894],
        [0.20778495500789846, 0.20443294007529889, 0.0],
    ]
)
_MIDDLE = (0.20948214108472782, 0.41795918367346938)
_NODES = np.concatenate([-_KRONROD[:, 0], [0.0], _KRONROD[::-1, 0]])
_FINE = np.concatenate([_KRONROD[:, 1], [_MIDDLE[0]], _KRONROD[::-1, 1]])
_COARSE = np.concatenate([_KRONROD[:, 2], [_MIDDLE[1]], _KRONROD[::-1, 2]])


@dataclass(frozen=True)
class CurvedCells:
    """The cells of a section with finitely many labels.

    Parameters
    ----------
    section : Section
        A section with m = 2 or 3.
    labels : array, shape (n,)
        Its values, sorted.
    known : array, shape (j, m)
        Orthonormal rows: directions to condition on, j < m.
    """

    section: Section
    labels: Array
    known: Array

    def moments(self, orders: Sequence[int], tolerance: float) -> tuple[Array, dict[int, Array]]:
        """Return masses (n,) and moments, order -> (n, q), of the cells when nothing is known.

        Parameters
        ----------
        orders : sequence of int
            Orders of the orthonormal Hermite products.
        tolerance : float
            Tolerance of each interval.
        """
        found = self._given(np.zeros((1, 0)), orders, tolerance)
        return found[0][0, :, 0], {k: found[k][0] for k in orders}

    def grams(self, orders: Sequence[int], tolerance: float) -> dict[int, Array]:
        """Return E[zeta zeta^T] of zeta = E[h | y, known coordinates], order -> (q, q).

        Parameters
        ----------
        orders : sequence of int
            Orders of the orthonormal products of `complement(known)`.
        tolerance : float
            Tolerance of each interval.
        """
        sizes = [len(multi_indices(self.section.m - len(self.known), k)) for k in orders]

        def squares(u: Array) -> Array:
            found = self._given(u, orders, tolerance)
            mass = found[0]
            with np.errstate(all="ignore"):
                share = np.where(mass > 1e-14, 1 / mass, 0.0)
            grams = [np.einsum("nvq,nvp->nqp", found[k] * share, found[k]) for k in orders]
            return np.concatenate([g.reshape(len(u), -1) for g in grams], axis=1)

        panels = self._panels[: len(self.known)]
        total = _averages(lambda owner, u: squares(u), np.zeros((1, 0)), panels, tolerance)[0]
        parts = np.split(total, np.cumsum([q * q for q in sizes])[:-1])
        return {k: p.reshape(q, q) for k, p, q in zip(orders, parts, sizes, strict=True)}

    def _given(self, u: Array, orders: Sequence[int], tolerance: float) -> dict[int, Array]:
        """Return moments of the cells given known coordinates (n, j): order -> (n, labels, q)."""
        m, j = self.section.m, len(self.known)
        betas = {k: multi_indices(m - j, k) for k in dict.fromkeys([0, *orders])}
        every = np.concatenate(list(betas.values()))
        turned, functions, scan = self._lines
        highest = max(betas)
        if scan is None:
            scan = 769 if tolerance < _FINE_SCAN[m] else 193

        def on_lines(owner: Indices, x: Array) -> Array:
            points = np.hstack([u[owner], x])
            line = _line_moments(turned, functions, self.labels, points, highest, scan)
            before = hermite_table(x, highest)  # (order, n, m - j - 1)
            product = np.ones((len(x), len(every)))
            for i in range(x.shape[1]):
                product *= before[every[:, i], :, i].T
            return (line[:, :, every[:, -1]] * product[:, None, :]).reshape(len(x), -1)

        panels = self._panels[j : m - 1]
        total = _averages(on_lines, u, panels, tolerance).reshape(len(u), len(self.labels), -1)
        ends = np.cumsum([len(b) for b in betas.values()])
        return dict(zip(betas, np.split(total, ends[:-1], axis=2), strict=True))

    @property
    def least_mass(self) -> float:
        """Probability of the rarest label, to a few percent."""
        values = self.section(np.random.default_rng(53).standard_normal((2**14, self.section.m)))
        near = np.searchsorted(0.5 * (self.labels[1:] + self.labels[:-1]), values)
        share = float(np.bincount(near, minlength=len(self.labels)).min() / len(values))
        if share > _RARE:
            return share
        mass = self.moments([], _RARE_TOLERANCE[self.section.m])[0]
        return float(mass.min())

    @cached_property
    def _panels(self) -> list[Array]:
        """First edges of the averages on each coordinate; rare cells add edges of their own."""
        edges = [self._lines[0].rare_edges(i) for i in range(self.section.m)]
        return [np.unique(np.concatenate([_PANELS, e])) for e in edges]

    @cached_property
    def _lines(self) -> tuple[Section, list[Callable[[Array], Array]], int | None]:
        """The section, functions that change sign with the label, and the points that scan a line.

        Steps do not turn back: only a finer scan sees two that are close to each other, and the
        tolerance decides how fine it is.
        """
        m = self.section.m
        turned = self.section.inside(np.vstack([self.known, complement(self.known, m)]))
        if turned.break_functions is not None:
            functions = list(turned.break_functions)
            return turned, functions, _enough(functions, m)
        middle = 0.5 * (self.labels[1:] + self.labels[:-1])
        return turned, [lambda s, c=c: turned(s) - c for c in middle], None  # type: ignore[misc]


def _enough(functions: list[Callable[[Array], Array]], m: int) -> int:
    """Points of a line that find, on many lines, all zeros that four times the most points find."""
    origins = np.random.default_rng(47).standard_normal((_PROBES, m))
    origins[:, -1], along = 0.0, np.eye(m)[-1]

    def zeros(scan: int) -> list[Array]:
        found = roots_together(functions, origins, along, scan)
        return [np.isfinite(roots).sum(axis=1) for roots in found]

    fine = zeros(4 * _SCANS[-1])
    for scan in _SCANS[:-1]:
        if all(np.array_equal(a, b) for a, b in zip(zeros(scan), fine, strict=True)):
            return scan
    return _SCANS[-1]


def _line_moments(
    section: Section,
    functions: list[Callable[[Array], Array]],
    labels: Array,
    points: Array,
    order: int,
    scan: int,
) -> Array:
    """Moments (n, labels, order + 1) of the last coordinate on each cell, given the others."""
    from scipy.special import ndtr

    n = len(points)
    origins = np.column_stack([points, np.zeros(n)])
    along = np.eye(section.m)[-1]
    roots = roots_together(functions, origins, along, scan)
    inside = np.sort(np.concatenate([np.zeros((n, 0)), *roots], axis=1), axis=1)
    ends = np.full((n, 1), REACH)
    edges = np.concatenate([-ends, np.minimum(inside, REACH), ends], axis=1)
    middle = 0.5 * (edges[:, 1:] + edges[:, :-1])
    values = section(origins[:, None, :] + middle[..., None] * along)
    owner = np.searchsorted(0.5 * (labels[1:] + labels[:-1]), values)
    integral = np.empty((order + 1, *edges.shape))
    integral[0] = ndtr(edges)
    if order:
        density = np.exp(-0.5 * edges**2) / math.sqrt(2 * math.pi)
        table = hermite_table(edges, order - 1)
        for k in range(1, order + 1):
            integral[k] = -density * table[k - 1] / math.sqrt(k)
    pieces = np.diff(integral, axis=2)
    return np.stack([(pieces * (owner == v)).sum(axis=2).T for v in range(len(labels))], axis=1)


def _averages(
    function: Integrand, prefix: Array, panels: Sequence[Array], tolerance: float
) -> Array:
    """Average over further standard normal coordinates, shape (n, D), one row for each prefix.

    `function` takes the number of the prefix and points of the further coordinates, each of which
    has its first panels.
    """
    n = len(prefix)
    if not panels:
        return function(np.arange(n), np.zeros((n, 0)))
    if len(panels) == 1:
        return _adaptive(lambda owner, x: function(owner, x[:, None]), n, panels[0], tolerance)

    def inner(owner: Indices, x: Array) -> Array:
        """Return averages over the last coordinate."""
        return _adaptive(
            lambda which, y: function(owner[which], np.column_stack([x[which], y])),
            len(owner),
            panels[1],
            tolerance,
        )

    return _adaptive(inner, n, panels[0], _LOOSER * tolerance)


def _adaptive(function: Integrand, owners: int, panels: Array, tolerance: float) -> Array:
    """Integrate against the normal density for every owner; halve panels until they settle."""
    count = len(panels) - 1
    owner = np.repeat(np.arange(owners), count)
    low, high = np.tile(panels[:-1], owners), np.tile(panels[1:], owners)
    total: Array | None = None
    for step in range(_ROUNDS):
        half = 0.5 * (high - low)
        x = 0.5 * (high + low)[:, None] + half[:, None] * _NODES
        flat = function(np.repeat(owner, len(_NODES)), x.ravel())
        values = flat.reshape(*x.shape, -1) * np.exp(-0.5 * x**2)[..., None]
        values *= half[:, None, None] / math.sqrt(2 * math.pi)
        fine = np.einsum("k,nkd->nd", _FINE, values)
        error = np.abs(fine - np.einsum("k,nkd->nd", _COARSE, values)).max(axis=1)
        settled = (error <= tolerance) | (step == _ROUNDS - 1)
        if total is None:
            total = np.zeros((owners, fine.shape[1]))
        np.add.at(total, owner[settled], fine[settled])
        low, high, owner = low[~settled], high[~settled], owner[~settled]
        if not len(owner):
            break
        middle = 0.5 * (low + high)
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
        owner = np.concatenate([owner, owner])
    assert total is not None
    return total
