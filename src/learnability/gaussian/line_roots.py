"""Roots of functions along lines, including two that lie close to each other.

A line is scanned, and every change of sign is bracketed. Where a smooth function turns back, its
lowest point is looked for. Where it turns back in a kink, such as |z - 3| - 1e-6, that kink is a
root of another function, so the roots of each function are tried as points of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.functions import REACH

__all__ = ["roots_on_lines", "roots_together"]

Array = NDArray[np.float64]
Function = Callable[[Array], Array]

_SCAN = 769
_SCAN_MANY = 193  # This many points are used for more than 512 lines.
_BISECTIONS = 55
_BLOCK = 2**14
"""Points of a scan whose values are taken at a time, and stay in cache."""


def roots_together(
    functions: Sequence[Function], origins: Array, direction: Array, scan: int | None = None
) -> list[Array]:
    """Return roots of several functions along parallel lines, including close pairs.

    Parameters
    ----------
    functions : sequence of callable
        Each maps (..., m) points to (...) values.
    origins : array, shape (n, m)
        A point of each line.
    direction : array, shape (m,)
        Unit vector along the lines.
    scan : int, optional
        Number of points of each line.

    Returns
    -------
    list of array, shape (n, k)
        For each function the sorted positions along each line, padded with inf.
    """
    found = [roots_on_lines(f, origins, direction, close_pairs=True, scan=scan) for f in functions]
    if len(functions) < 2:
        return found
    more = []
    for j, function in enumerate(functions):
        others = np.concatenate([r for k, r in enumerate(found) if k != j], axis=1)
        new = _missed(function, origins, direction, found[j], others)
        more.append(found[j] if new is None else np.sort(np.hstack([found[j], new]), axis=1))
    return more


def _missed(
    function: Function, origins: Array, direction: Array, known: Array, others: Array
) -> Array | None:
    """Roots (n, k) where the sign changes next to roots of others, and no root is known yet."""
    ends = np.full((len(origins), 1), REACH)
    others, known = np.minimum(others, REACH), np.minimum(known, REACH)
    points = np.sort(np.hstack([-ends, others, known, ends]), axis=1)
    probes = np.sort(np.hstack([others, 0.5 * (points[:, 1:] + points[:, :-1])]), axis=1)
    values = function(origins[:, None, :] + probes[..., None] * direction)
    passed = (known[:, None, :] < probes[..., None]).sum(axis=2)
    odd = (values[:, 1:] * values[:, :-1] < 0) & (passed[:, 1:] == passed[:, :-1])
    line, k = np.nonzero(odd)
    if not len(line):
        return None
    root = _bracketed_roots(
        lambda which, t: function(origins[line[which]] + t[:, None] * direction),
        *(probes[line, k], probes[line, k + 1], values[line, k], values[line, k + 1]),
    )
    found = np.full(odd.shape, np.inf)
    found[line, k] = root
    return np.sort(found, axis=1)[:, : int(odd.sum(axis=1).max())]


def roots_on_lines(
    function: Callable[[Array], Array],
    origins: Array,
    direction: Array,
    close_pairs: bool = False,
    scan: int | None = None,
) -> Array:
    """Return roots of a function along parallel lines.

    Parameters
    ----------
    function : callable
        It maps (..., m) points to (...) values.
    origins : array, shape (n, m)
        A point of each line.
    direction : array, shape (m,)
        Unit vector along the lines.
    close_pairs : bool
        Look for two roots between neighbouring points, where the function turns back.
    scan : int, optional
        Number of points of each line.

    Returns
    -------
    array, shape (n, k)
        Sorted positions along each line, padded with inf; k is the largest number found.
    """
    # An irrational shift keeps scan points off roots at round numbers, where a value of exactly
    # zero could hide a change of sign.
    if scan is None:
        scan = _SCAN_MANY if len(origins) > 512 else _SCAN
    grid = np.linspace(-REACH, REACH, scan) + np.sqrt(2) * 1e-6

    def along(line: NDArray[np.intp], t: Array) -> Array:
        return function(origins[line] + t[:, None] * direction)

    values = np.concatenate(
        [
            function(block[:, None, :] + grid[:, None] * direction)
            for block in np.array_split(origins, len(origins) * scan // _BLOCK + 1)
        ]
    )
    signs = np.sign(values)
    line, left = np.nonzero(signs[:, :-1] * signs[:, 1:] < 0)
    brackets = [line, grid[left], grid[left + 1], values[line, left], values[line, left + 1]]
    if close_pairs:
        brackets = _with_close_pairs(along, grid, values, brackets)
        order = np.lexsort((brackets[1], brackets[0]))
        brackets = [part[order] for part in brackets]
    line, *ends = brackets
    root = _bracketed_roots(lambda which, t: along(line[which], t), *ends)
    count = np.bincount(line, minlength=len(origins))
    found = np.full((len(origins), max(int(count.max(initial=0)), 0)), np.inf)
    slot = np.arange(len(line)) - np.concatenate([[0], np.cumsum(count)])[line]
    found[line, slot] = root
    return found


def _with_close_pairs(
    along: Callable[[NDArray[np.intp], Array], Array],
    grid: Array,
    values: Array,
    brackets: list[Any],
) -> list[Any]:
    """Add brackets on both sides of a turning point that lies beyond zero."""
    size = np.abs(values)
    same = (values[:, 1:-1] * values[:, :-2] > 0) & (values[:, 1:-1] * values[:, 2:] > 0)
    dips = same & (size[:, 1:-1] < size[:, :-2]) & (size[:, 1:-1] <= size[:, 2:])
    line, k = np.nonzero(dips)
    low, high = grid[k], grid[k + 2]
    sign = np.sign(values[line, k + 1])
    x = np.stack([low, grid[k + 1], high])
    f = sign * np.stack([values[line, k], values[line, k + 1], values[line, k + 2]])
    for _ in range(6):  # Each step goes to the bottom of a parabola through the three lowest.
        if not len(line):
            break
        with np.errstate(all="ignore"):
            a, b = x[1] - x[0], x[1] - x[2]
            p, q = a * (f[1] - f[2]), b * (f[1] - f[0])
            new = x[1] - 0.5 * (a * p - b * q) / (p - q)
        new = np.where((new > low) & (new < high), new, 0.5 * (x[0] + x[1]))
        value = sign * along(line, new)
        x, f = np.concatenate([x, new[None]]), np.concatenate([f, value[None]])
        best = np.argsort(f, axis=0)[:3]
        x, f = np.take_along_axis(x, best, axis=0), np.take_along_axis(f, best, axis=0)
        best = np.argsort(x, axis=0)
        x, f = np.take_along_axis(x, best, axis=0), np.take_along_axis(f, best, axis=0)
        lowest = f.min(axis=0)
        moving = (lowest > 0) & (lowest < 1e3 * np.abs(np.ptp(f, axis=0)))
        moving |= lowest <= 0
        line, low, high, sign, k = line[moving], low[moving], high[moving], sign[moving], k[moving]
        x, f = x[:, moving], f[:, moving]
    lowest = np.argmin(f, axis=0)
    at = np.take_along_axis(x, lowest[None], axis=0)[0]
    bottom = np.take_along_axis(f, lowest[None], axis=0)[0]
    crossed = bottom < 0
    line, k, at, bottom = line[crossed], k[crossed], at[crossed], (sign * bottom)[crossed]
    left = [line, grid[k], at, values[line, k], bottom]
    right = [line, at, grid[k + 2], bottom, values[line, k + 2]]
    return [np.concatenate(parts) for parts in zip(brackets, left, right, strict=True)]


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
    root = low.copy()  # A first step to the exact middle must not look as if it had converged.
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
