"""A link seen on an affine piece of its space, and where it breaks there.

Every integral of the library is taken over a section s -> g(A s + b): the whole space in a rotated
frame, or what is left of it when some directions are fixed. This module also finds the planes
and, on lines, the points where a section jumps or has a kink.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.errors import LinkError
from learnability.gaussian.functions import Function

__all__ = ["REACH", "Section", "roots_on_lines"]

REACH = 9.5
"""Integrals run over [-REACH, REACH] in each coordinate; the mass outside is 2e-21."""

Array = NDArray[np.float64]
_SCAN = 769
_SCAN_MANY = 193  # It is used for more than 512 lines.
_BISECTIONS = 55


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
            where = np.round(z[~np.isfinite(value)][0], 3).tolist()
            raise LinkError(
                f"The link {self.link!r} is not finite at z = {where}; "
                "a link must be finite almost everywhere within nine standard deviations."
            )
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
        """Functions of (..., m) points whose zero sets hold every break; None when not known."""
        if self.link.breaks is None:
            return None

        def on_section(function: Function) -> Callable[[Array], Array]:
            return lambda s: np.asarray(function(self.points(s)), dtype=float)

        return tuple(on_section(function) for function in self.link.breaks)

    @cached_property
    def symmetries(self) -> list[Array]:
        """Orthogonal matrices (m, m) of the section that leave its values unchanged."""
        found = []
        for symmetry in self.link.symmetries:
            turn = self.A.T @ symmetry.matrix @ self.A
            stays = np.allclose(turn @ turn.T, np.eye(self.m), atol=1e-9)
            fixes = np.allclose(symmetry.matrix @ self.b, self.b, atol=1e-12)
            if symmetry.character == 1 and stays and fixes:
                found.append(turn)
        return found

    @cached_property
    def planes(self) -> tuple[tuple[Array, Array], ...] | None:
        """Breaks on parallel planes as (unit direction (m,), sorted positions).

        None when some break is not a plane, or when the breaks are not known and m > 1.
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
            positions = roots_on_lines(function, np.zeros((1, self.m)), direction)[0]
            positions = positions[np.isfinite(positions)]
            for k, (known, old) in enumerate(found):
                cosine = float(known @ direction)
                if abs(abs(cosine) - 1) < 1e-10:
                    positions = np.sort(np.concatenate([old, np.sign(cosine) * positions]))
                    found[k] = (known, _distinct(positions))
                    break
            else:
                found.append((direction, positions))
        return tuple(found)

    @cached_property
    def breakpoints(self) -> Array:
        """Sorted break points of a one-dimensional section within the reach."""
        if self.break_functions is None:
            return _detected_breaks(lambda t: self(t[..., None]))
        roots = [
            roots_on_lines(function, np.zeros((1, 1)), np.ones(1))[0]
            for function in self.break_functions
        ]
        found = np.concatenate([np.zeros(0), *roots])
        return _distinct(np.sort(found[np.isfinite(found)]))


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
    return basis + 0.0


def roots_on_lines(
    function: Callable[[Array], Array],
    origins: Array,
    direction: Array,
    coarse: bool = False,
) -> Array:
    """Return roots of a function along parallel lines.

    Parameters
    ----------
    function : callable
        From (..., m) points to (...) values.
    origins : array, shape (n, m)
        A point of each line.
    direction : array, shape (m,)
        Unit vector along the lines.
    coarse : bool
        Look for roots on fewer points of each line.

    Returns
    -------
    array, shape (n, k)
        Sorted positions along each line, padded with inf; k is the largest number found.
    """
    # An irrational shift keeps scan points off roots at round numbers, where a value of exactly
    # zero could hide a change of sign.
    scan = _SCAN_MANY if coarse or len(origins) > 512 else _SCAN
    grid = np.linspace(-REACH, REACH, scan) + np.sqrt(2) * 1e-6

    def along(line: NDArray[np.intp], t: Array) -> Array:
        return function(origins[line] + t[:, None] * direction)

    values = np.concatenate(
        [
            function(block[:, None, :] + grid[:, None] * direction)
            for block in np.array_split(origins, len(origins) // 1024 + 1)
        ]
    )
    signs = np.sign(values)
    line, left = np.nonzero(signs[:, :-1] * signs[:, 1:] < 0)
    root = _bracketed_roots(
        lambda which, t: along(line[which], t),
        grid[left],
        grid[left + 1],
        values[line, left],
        values[line, left + 1],
    )
    count = np.bincount(line, minlength=len(origins))
    found = np.full((len(origins), max(int(count.max(initial=0)), 0)), np.inf)
    slot = np.arange(len(line)) - np.concatenate([[0], np.cumsum(count)])[line]
    found[line, slot] = root
    return found


def _bracketed_roots(
    function: Callable[[NDArray[np.intp], Array], Array],
    low: Array,
    high: Array,
    f_low: Array,
    f_high: Array,
) -> Array:
    """Return roots in brackets: Illinois steps while they converge, bisection for the rest.

    `function` takes the numbers of the brackets and a point in each.
    """
    which = np.arange(len(low))
    low, high, f_low, f_high = low.copy(), high.copy(), f_low.copy(), f_high.copy()
    root = 0.5 * (low + high)
    moved = high - low
    for _ in range(10):
        if not len(which):
            return root
        with np.errstate(all="ignore"):
            new = (low * f_high - high * f_low) / (f_high - f_low)
        new = np.where((new > low) & (new < high), new, 0.5 * (low + high))
        value = function(which, new)
        left = np.sign(value) == np.sign(f_low)
        f_high = np.where(left, 0.5 * f_high, value)
        f_low = np.where(left, value, 0.5 * f_low)
        hit = value == 0.0
        low, high = np.where(left | hit, new, low), np.where(left & ~hit, high, new)
        moved, root = np.abs(new - root), new
        if (moved < 1e-14 * (1 + np.abs(root))).all():
            return root
    slow = np.nonzero(moved > 1e-13 * (1 + np.abs(root)))[0]
    low, high, sign_low = low[slow], high[slow], np.sign(f_low[slow])
    for _ in range(_BISECTIONS if len(slow) else 0):
        middle = 0.5 * (low + high)
        inside = np.sign(function(slow, middle)) == sign_low
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    root[slow] = 0.5 * (low + high)
    return root


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


def _distinct(sorted_points: Array) -> Array:
    """Return points that are at least 1e-9 apart."""
    keep = np.diff(sorted_points, prepend=-np.inf) > 1e-9
    return sorted_points[keep]


def _detected_breaks(function: Callable[[Array], Array]) -> Array:
    """Return jumps and kinks of a function of one variable whose breaks nobody declared.

    Zooms into the cells of a grid whose second difference stands out, and keeps a point if the
    jump of the value or of the slope survives at a spacing of 1e-5.
    """
    grid = np.linspace(-REACH, REACH, 4097) + np.sqrt(2) * 1e-6
    values = function(grid)
    bend = np.abs(np.diff(values, 2))
    around = np.maximum(np.roll(bend, 3), np.roll(bend, -3))
    found = []
    for k in np.nonzero(bend > 8 * around + 1e-9 * np.abs(values).max())[0]:
        low, high = grid[k], grid[k + 2]
        while high - low > 4e-5:
            fine = np.linspace(low, high, 17)
            j = int(np.argmax(np.abs(np.diff(function(fine), 2))))
            low, high = fine[j], fine[j + 2]
        slopes = np.diff(function(np.linspace(low - 1e-4, high + 1e-4, 8))[[0, 1, 6, 7]])
        before, across, after = slopes
        width = (high - low + 2e-4) / 7
        jump = abs(across) > 20 * (abs(before) + abs(after)) + 1e-12
        kink = abs(after - before) / width > 1e-3 * (abs(after) + abs(before)) / width + 1e-9
        if jump or kink:
            found.append(_located(function, low, high, jump))
    return _distinct(np.sort(np.array(found)))


def _located(function: Callable[[Array], Array], low: float, high: float, jump: bool) -> float:
    """Return the position of a jump by bisection, or of a kink as the crossing of two tangents."""
    if jump:
        below = float(function(np.array([low]))[0])
        above = float(function(np.array([high]))[0])
        while high - low > 1e-13 * max(1.0, abs(high)):
            middle = 0.5 * (low + high)
            if middle in (low, high):
                break
            value = float(function(np.array([middle]))[0])
            low, high = (middle, high) if abs(value - below) < abs(value - above) else (low, middle)
        return 0.5 * (low + high)
    width = 1e-3
    left = low - width * np.array([2.0, 1.0, 0.0])
    right = high + width * np.array([0.0, 1.0, 2.0])
    difference = np.polyfit(left - low, function(left), 2) - np.polyfit(
        right - low, function(right), 2
    )
    roots = np.roots(difference)
    roots = np.real(roots[np.abs(np.imag(roots)) < 1e-12])
    inside = roots[np.abs(roots) < 10 * (high - low) + 1e-4]
    return low + float(inside[np.argmin(np.abs(inside))]) if len(inside) else 0.5 * (low + high)
