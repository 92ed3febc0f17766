"""Sums of Gaussians around the points of level sets, on a product grid of their centres.

On a grid a Gaussian is a product of one factor for each axis, and along an even axis neighbouring
factors have ratios that change by a constant, so that a few exponentials give them all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["gaussian_sums"]

Array = NDArray[np.float64]
Floats = NDArray[np.floating]

_ENTRIES = 250_000
"""Entries of the factors of the labels that are taken together."""
_SUMS = 1_000_000
"""Entries of the sums of the labels that are taken together."""
_PRODUCTS = 128_000
"""Entries of products of factors that stay in a cache."""
_FAR = 36.0
"""Farther points, in widths, are rounded to zero at the centre of the grid."""


def gaussian_sums(
    z: Array,
    weight: Array,
    start: NDArray[np.intp],
    nodes: list[Array],
    variance: Array,
    dtype: type,
) -> Iterator[tuple[NDArray[np.intp], Array]]:
    """Sums of weight N(z; omega, V) over the points of each label, and their gradients in omega.

    Parameters
    ----------
    z, weight : array, shapes (m, r) and (m,)
        Points.
    start : array, shape (labels + 1,)
        Where the points of each label start, and their number.
    nodes : list of array
        Along each axis, evenly spaced omega; their products are n points.
    variance : array, shape (r,)
        The diagonal matrix V.
    dtype : type
        In which the products are taken.

    Yields
    ------
    labels : array, shape (k,)
        Indices of some of the labels that have points.
    sums : array, shape (1 + r, k, n)
    """
    r, size = z.shape[1], math.prod(len(x) for x in nodes)
    weight = weight / np.sqrt(np.prod(2 * np.pi * variance))
    for labels in _groups(start, sum(len(x) for x in nodes), (1 + r) * size):
        part = slice(start[labels[0]], start[labels[-1] + 1])
        factors = [_factors(z[part, a], nodes[a], float(variance[a]), dtype, r) for a in range(r)]
        first = factors[0]
        first *= weight[part].astype(dtype)
        begin = start[labels] - part.start
        total: Array = np.empty((1 + r, len(labels), size))
        if r == 1:
            total[:] = np.moveaxis(np.add.reduceat(first, begin, axis=2), 1, 2)
        else:
            ends = zip(begin.tolist(), [*begin[1:].tolist(), first.shape[2]], strict=True)
            grid = total.reshape(1 + r, len(labels), -1, len(nodes[-1]))
            for k, (low, high) in enumerate(ends):
                sums = (_pair if r == 2 else _products)([f[..., low:high] for f in factors])
                for component, found in enumerate(sums):
                    grid[component, k] = found
        total[1:] /= np.sqrt(variance)[:, None, None]
        yield labels, total


def _groups(start: NDArray[np.intp], factors: int, sums: int) -> Iterator[NDArray[np.intp]]:
    """Labels with points, some neighbours at a time.

    A point has so many factors, and a label so many sums.
    """
    kept = np.nonzero(np.diff(start) > 0)[0]
    ends = start[kept + 1]
    first = 0
    while first < len(kept):
        most = start[kept[first]] + _ENTRIES // factors
        last = int(np.searchsorted(ends, most, side="right"))
        last = max(min(last, first + _SUMS // sums), first + 1)
        yield kept[first:last]
        first = last


def _factors(z: Array, omega: Array, variance: float, dtype: type, r: int) -> Floats:
    """exp(-t^2 / 2), and the same times t, of t = (z - omega) / sqrt(variance), (2, n, m)."""
    x, centre = z / math.sqrt(variance), omega / math.sqrt(variance)
    found: Array = np.empty((2, len(omega), len(z)))
    plain, gap = found
    np.subtract(x, centre[:, None], out=gap)
    if len(omega) > 3 and np.abs(x).max() < _FAR:
        _by_ratios(x, centre, plain)
    else:
        np.exp(-0.5 * gap**2, out=plain)
    # Products of smaller ones are denormal, and very slow.
    least = float(np.finfo(dtype).tiny) ** (1 / (r + 0.2))
    if np.abs(x).max() + np.abs(centre).max() > math.sqrt(-2 * math.log(least)):
        np.maximum(plain, least, out=plain)
    gap *= plain
    return found.astype(dtype, copy=False)


def _by_ratios(x: Array, centre: Array, found: Array) -> None:
    """Fill in exp(-(x - c)^2 / 2) at even centres c, (n, m), from the middle one outwards."""
    step, middle = float(centre[1] - centre[0]), int(np.abs(centre).argmin())
    gap = x - centre[middle]
    found[middle] = np.exp(-0.5 * gap**2)
    shrink = math.exp(-step * step)
    up = np.exp(step * gap - 0.5 * step * step)
    down = shrink / up
    for ratio, sign, stop in ((up, 1, len(centre)), (down, -1, -1)):
        for k in range(middle + sign, stop, sign):
            np.multiply(found[k - sign], ratio, out=found[k])
            ratio *= shrink


def _pair(factors: list[Floats]) -> tuple[Floats, ...]:
    """Sums of products of two factors (2, n, m) with at most one of them moved."""
    first, last = factors
    n, k = first.shape[1], last.shape[1]
    both = first.reshape(2 * n, -1) @ last.reshape(2 * k, -1).T
    return both[:n, :k], both[n:, :k], both[:n, k:]


def _products(factors: list[Floats]) -> tuple[Array, ...]:
    """Sums of products of several factors (2, n, m) with at most one of them moved."""
    r, points = len(factors), factors[0].shape[2]
    count = math.prod(f.shape[1] for f in factors[:-1])
    total: Array = np.zeros((1 + r, count, factors[-1].shape[1]))
    size = max(_PRODUCTS // count, 64)
    for start in range(0, points, size):
        part = [f[..., start : start + size] for f in factors]
        for which in range(-1, r - 1):
            product = part[0][int(which == 0)]
            for a in range(1, r - 1):
                other = part[a][int(which == a)]
                product = (product[:, None] * other).reshape(-1, other.shape[1])
            total[which + 1] += product @ part[-1][0].T
            if which == -1:
                total[r] += product @ part[-1][1].T
    return tuple(total)
