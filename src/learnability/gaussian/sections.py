"""A link seen on an affine piece of its space, and where it breaks there.

Every integral of the library is taken over a section s -> g(A s + b): the whole space in a rotated
frame, or what is left of it when some directions are fixed. This module also finds the planes
and, on lines, the points where a section jumps or has a kink.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.errors import LinkError
from learnability.expressions.crossings import points_beside_breaks
from learnability.gaussian.break_search import (
    broken_planes,
    detected_breaks,
    distinct,
    zero_planes,
)
from learnability.gaussian.functions import REACH, Function
from learnability.gaussian.line_roots import roots_on_lines, roots_together

__all__ = ["PARALLEL", "REACH", "Section"]

Array = NDArray[np.float64]
PARALLEL = 1e-8
"""Planes whose unit normals differ by less than this count as parallel."""
_AXIS_SCAN, _MOST_SIGNS, _MOST_GROUPS = 769, 50, 6


@dataclass(frozen=True)
class Section:
    """The function s -> g(A s + b) on R^m.

    Parameters
    ----------
    link : Function
        The function g, such as a link.
    A : array, shape (r, m)
        Orthonormal columns.
    b : array, shape (r,)
        Offset, orthogonal to the columns of `A`.
    """

    link: Function
    A: Array
    b: Array

    @staticmethod
    def whole(link: Function) -> Section:
        """Return the link itself."""
        return Section(link, np.eye(link.r), np.zeros(link.r))

    @property
    def m(self) -> int:
        """Dimension of the section."""
        return int(self.A.shape[1])

    def __call__(self, s: ArrayLike) -> Array:
        """Return values at points of shape (..., m).

        Raises
        ------
        LinkError
            When one of them is not finite.
        """
        z = self.points(np.asarray(s, dtype=float))
        value = np.asarray(self.link(z), dtype=float)
        if not np.isfinite(value).all():
            at = z[~np.isfinite(value)][0]
            reason = (
                "a link must be finite almost everywhere within nine standard deviations."
                if np.abs(at).max() <= REACH
                else "its tails are too heavy to be integrated."
            )
            where = np.round(at, 3).tolist()
            raise LinkError(f"The link {self.link!r} is not finite at z = {where}; {reason}")
        return value

    def points(self, s: Array) -> Array:
        """Return the points A s + b of the link's own space."""
        if self._is_whole:
            return s
        return s @ self.A.T + self.b

    @cached_property
    def _is_whole(self) -> bool:
        return np.array_equal(self.A, np.eye(self.link.r)) and not self.b.any()

    def inside(self, frame: Array) -> Section:
        """The section in the coordinates of the orthonormal rows of `frame`, shape (k, m)."""
        return Section(self.link, self.A @ frame.T, self.b)

    def fix(self, frame: Array, value: ArrayLike) -> Section:
        """Return the section with its coordinates along the rows of `frame` fixed to `value`.

        The remaining coordinates are those of `complement(frame)`.
        """
        offset = self.A @ (frame.T @ np.asarray(value, dtype=float))
        return Section(self.link, self.A @ complement(frame, self.m).T, self.b + offset)

    def slope(self, t: Array) -> Array:
        """Return the derivative of a one-dimensional section at the points t."""
        if self.link.tree is None:
            step = 6e-6 * np.maximum(1.0, np.abs(t))
            up, down = t + step, t - step
            return (self(up[..., None]) - self(down[..., None])) / (up - down)
        points = self.points(t[..., None])
        gradient = self.link.gradient()
        return np.asarray(
            sum(self.A[i, 0] * gradient[i](points) for i in range(self.link.r) if self.A[i, 0])
        )

    @cached_property
    def break_functions(self) -> tuple[Callable[[Array], Array], ...] | None:
        """Functions of (..., m) points whose zero sets hold every break; None when not known.

        Where nobody declared the breaks of the function, they are searched for on planes.
        """
        breaks = _break_functions(self.link)
        if breaks is None:
            return None

        def on_section(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
            return lambda s: np.asarray(function(self.points(s)), dtype=float)

        return tuple(on_section(function) for function in breaks)

    @cached_property
    def beside_breaks(self) -> Array:
        """Points (k, m) on both sides of the breaks, in cells that samples may never meet."""
        return points_beside_breaks(self.break_functions or (), self.m)

    def cells(self, s: Array) -> Array:
        """Return a number at points (..., m) that encodes the signs of the break functions."""
        found = np.zeros(np.shape(s)[:-1])
        for j, function in enumerate((self.break_functions or ())[:_MOST_SIGNS]):
            found += 2.0**j * (function(s) > 0)
        return found

    @cached_property
    def rare_points(self) -> Array:
        """Points (k, m) in cells between curved breaks that some thousand samples do not meet."""
        if self.break_functions is None or self.planes is not None:
            return np.zeros((0, self.m))
        samples = np.random.default_rng(53).standard_normal((2**12, self.m))
        beside = self.beside_breaks
        return np.asarray(beside[~np.isin(self.cells(beside), self.cells(samples))])

    @property
    def hides_cells(self) -> bool:
        """Whether there are rare cells in three dimensions or more, where rules miss them."""
        return self.m > 2 and len(self.rare_points) > 0

    def rare_edges(self, axis: int) -> Array:
        """Return the ends and the middle of each group of rare points on one coordinate."""
        ordered = np.sort(self.rare_points[:, axis])
        if not len(ordered):
            return ordered
        groups = np.split(ordered, np.nonzero(np.diff(ordered) > 0.3)[0] + 1)[:_MOST_GROUPS]
        return np.concatenate([[g[0], 0.5 * (g[0] + g[-1]), g[-1]] for g in groups])

    @cached_property
    def symmetries(self) -> list[Array]:
        """Orthogonal matrices (m, m) of the section that leave its values unchanged."""
        from learnability.gaussian.invariances import invariances

        found = []
        for matrix in invariances(self.link):
            turn = self.A.T @ matrix @ self.A
            stays = np.allclose(turn @ turn.T, np.eye(self.m), atol=1e-9)
            if stays and np.allclose(matrix @ self.b, self.b, atol=1e-12):
                found.append(turn)
        return found

    @cached_property
    def planes(self) -> tuple[tuple[Array, Array], ...] | None:
        """Breaks on parallel planes as (unit direction (m,), sorted positions).

        The answer is None when some break is not a plane, or the breaks are not known and m > 1.
        """
        if self.m == 1:
            return ((np.ones(1), self.breakpoints),)
        if self.break_functions is None:
            return None
        found: list[tuple[Array, Array]] = []
        for function in self.break_functions:
            direction = _only_direction(function, self.m)
            if direction is None:
                return None
            if not direction.any():
                continue
            origin = np.zeros((1, self.m))
            positions = roots_on_lines(
                function, origin, direction, close_pairs=True, scan=_AXIS_SCAN
            )[0]
            positions = positions[np.isfinite(positions)]
            for k, (known, old) in enumerate(found):
                cosine = float(known @ direction)
                if np.linalg.norm(direction - np.sign(cosine) * known) < PARALLEL:
                    positions = np.sort(np.concatenate([old, np.sign(cosine) * positions]))
                    found[k] = (known, distinct(positions))
                    break
            else:
                found.append((direction, positions))
        return tuple(found)

    @cached_property
    def breakpoints(self) -> Array:
        """Sorted break points of a one-dimensional section within the reach."""
        if self.break_functions is None:
            return detected_breaks(lambda t: self(t[..., None]))
        roots = roots_together(self.break_functions, np.zeros((1, 1)), np.ones(1), _AXIS_SCAN)
        found = np.concatenate([np.zeros(0), *(r[0] for r in roots)])
        return distinct(np.sort(found[np.isfinite(found)]))


@lru_cache(maxsize=256)
def _break_functions(link: Function) -> tuple[Callable[[Array], Array], ...] | None:
    """Return functions that vanish where a function breaks; planes where that is possible."""
    if link.breaks is None:
        return broken_planes(link)
    found: list[Callable[[Array], Array]] = []
    for function in link.breaks:
        curved = link.r > 1 and _only_direction(function, link.r) is None
        found += (zero_planes(function) if curved else None) or (function,)
    return tuple(found)


def complement(frame: Array, m: int) -> Array:
    """Return orthonormal rows that complete the orthonormal rows of `frame` to a basis of R^m.

    Coordinate axes are preferred, so that a frame of axes is completed by axes.
    """
    projector = np.eye(m) - frame.T @ frame
    return basis_of(projector, m - len(frame))


def basis_of(projector: Array, k: int) -> Array:
    """Return a basis (k, m) of the range of a projector, as close to the axes as it allows."""
    rows: list[Array] = []
    left = projector.copy()
    for _ in range(k):
        axis = int(np.argmax(np.round(np.diag(left), 9)))
        row = left[axis] / np.linalg.norm(left[axis])
        rows.append(row)
        left = left - np.outer(row, row)
    basis = np.array(rows).reshape(k, projector.shape[0])
    if k:  # One more pass removes the rounding that the subtraction leaves.
        q, upper = np.linalg.qr(basis.T)
        basis = (q * np.sign(np.diag(upper))).T
    basis[np.abs(basis) < 1e-12] = 0.0
    return basis


def _only_direction(function: Callable[[Array], Array], m: int) -> Array | None:
    """The unit direction that a function depends on; zeros if on none; None if on several."""
    points = np.random.default_rng(11).standard_normal((24, m))
    step = 1e-5
    gradient = np.stack(
        [
            (function(points + step * e) - function(points - step * e)) / (2 * step)
            for e in np.eye(m)
        ],
        axis=-1,
    )
    gradient = gradient[np.isfinite(gradient).all(axis=-1)]
    if np.abs(gradient).max(initial=0.0) <= 1e-7 * np.abs(function(points)).max():
        return np.zeros(m)
    _, size, vectors = np.linalg.svd(gradient, full_matrices=False)
    if len(size) > 1 and size[1] > 1e-6 * size[0]:
        return None
    direction = vectors[0]
    direction[np.abs(direction) < 1e-9] = 0.0
    direction = direction * np.sign(direction[np.argmax(np.abs(direction) > 0.1)])
    return np.asarray(direction / np.linalg.norm(direction))
