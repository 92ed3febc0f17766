"""Exact averages over two correlated normal coordinates of a function that is constant on boxes.

With h_i and k_j the standardised edges and w the value on each box, summing by parts gives

    E w = w_last - sum_i A_i Phi(h_i) - sum_j B_j Phi(k_j) + sum_ij D_ij Phi_2(h_i, k_j; rho),

where A, B and D are the differences of w along the last row, the last column, and both. The
gradient in the means needs normal probabilities of one coordinate alone. Phi_2 is Phi Phi plus
Plackett's integral over the angle, which a few nodes give to 1e-8: three for correlations up to
0.3, sixteen for 0.99; twice as many in double precision. In NumPy: for some thousands of samples a
compiled call costs more than this.

References
----------
Plackett, Biometrika 41 (1954); Drezner and Wesolowsky, J. Statist. Comput. Simul. 35 (1990).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.links._particles import special
from learnability.links._rules import legendre

__all__ = ["Jumps", "box_average"]

_NODES = ((0.3, 3), (0.7, 5), (0.95, 10), (1.0, 16))
"""Nodes of Plackett's integral for correlations up to a size."""


class Jumps(NamedTuple):
    """How a function that is constant on I + 1 times J + 1 boxes changes from one to the next.

    Attributes
    ----------
    last : array, shape (...)
        The value on the last box.
    along : array, shape (I, ...)
        Changes in the first coordinate, on the last boxes of the second.
    across : array, shape (J, ...)
        Changes in the second, on the last boxes of the first.
    corner : array, shape (I, J, ...)
        Changes of the changes.
    """

    last: NDArray[Any]
    along: NDArray[Any]
    across: NDArray[Any]
    corner: NDArray[Any]

    @staticmethod
    def of(values: NDArray[Any]) -> Jumps:
        """Those of values (I + 1, J + 1, ...) on the boxes."""
        first = np.diff(values, axis=0)
        return Jumps(
            values[-1, -1], first[:, -1], np.diff(values[-1], axis=0), np.diff(first, axis=1)
        )


def box_average(
    jumps: Jumps,
    edges: tuple[NDArray[Any], NDArray[Any]],
    mean: tuple[NDArray[Any], NDArray[Any]],
    root: NDArray[Any],
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """E w(z) and its gradient in the two means.

    Parameters
    ----------
    jumps : Jumps
        Of w; the last axes broadcast with those of the means.
    edges : pair of arrays, shapes (I,) and (J,)
        Where the two coordinates are cut, in rising order.
    mean : pair of arrays, shape (...)
        Means of the coordinates, of the same type.
    root : array, shape (2, 2)
        Cholesky factor of their covariance, lower triangular.

    Returns
    -------
    average, first, second : array, shape (...)
        The average and its derivatives in the two means. The error is absolute: an average far
        below max |w| has few digits.
    """
    ndtr = special(np).ndtr
    # Python's numbers, which leave arrays of single precision as they are.
    size = float(root[0, 0]), math.hypot(root[1, 0], root[1, 1])
    rho, tail = float(root[1, 0]) / size[1], float(root[1, 1]) / size[1]
    average, (h, k) = (
        jumps.last,
        (
            [_Edge((float(e) - m) / s) for e in cuts]
            for cuts, m, s in zip(edges, mean, size, strict=True)
        ),
    )
    # Loops over edges, of which there are few: sums over a short first axis cost more.
    slopes = [np.zeros_like(m) for m in mean]
    for i, a in enumerate(h):
        average = average - jumps.along[i] * a.below
        slopes[0] += jumps.along[i] * a.density
    for j, b in enumerate(k):
        average = average - jumps.across[j] * b.below
        slopes[1] += jumps.across[j] * b.density
    for i, a in enumerate(h):
        for j, b in enumerate(k):
            corner = jumps.corner[i, j]
            average = average + corner * (a.below * b.below + _plackett(a.at, b.at, rho))
            slopes[0] -= corner * a.density * ndtr((b.at - rho * a.at) / tail)
            slopes[1] -= corner * b.density * ndtr((a.at - rho * b.at) / tail)
    return average, slopes[0] / size[0], slopes[1] / size[1]


class _Edge:
    """An edge in standard units, with the normal probability below it and the density at it."""

    def __init__(self, at: NDArray[Any]) -> None:
        self.at = at
        self.below = special(np).ndtr(at)
        self.density = np.exp(-0.5 * at * at) * (1 / math.sqrt(2 * math.pi))


def _plackett(h: NDArray[Any], k: NDArray[Any], rho: float) -> NDArray[Any]:
    """Phi_2(h, k; rho) - Phi(h) Phi(k)."""
    count = next(count for most, count in _NODES if abs(rho) <= most)
    nodes, weights = legendre(count if h.dtype == np.float32 else 2 * count)
    angle = math.asin(rho)
    squares, product = h * h + k * k, h * k
    found = np.zeros_like(product)
    for sine, weight in zip(np.sin(0.5 * angle * (1 + nodes)), weights, strict=True):
        rate = 1 / (1 - sine**2)
        found += float(weight) * np.exp(float(sine * rate) * product - float(0.5 * rate) * squares)
    return angle / (4 * math.pi) * found
