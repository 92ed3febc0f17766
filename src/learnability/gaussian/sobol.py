"""Scrambled Sobol points of a few dimensions, the same bit for bit as those of SciPy.

Most learners integrate over such points. Importing `scipy.stats` for them alone would take half a
second of each call of the command line.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["sobol_uniforms"]

_BITS = 30
_POLYNOMIALS: tuple[tuple[int, int, tuple[int, ...]], ...] = (
    (1, 0, (1,)),
    (2, 1, (1, 3)),
    (3, 1, (1, 3, 1)),
    (3, 2, (1, 1, 1)),
    (4, 1, (1, 1, 3, 3)),
    (4, 4, (1, 3, 5, 13)),
    (5, 2, (1, 1, 5, 5, 17)),
    (5, 4, (1, 1, 5, 5, 5)),
    (5, 7, (1, 1, 7, 11, 19)),
)
"""Degree, coefficients and first direction numbers of each dimension after the first."""


def sobol_uniforms(m: int, log2_n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return scrambled Sobol points in the unit cube, shape (2**log2_n, m).

    They are scrambled by a random lower triangular matrix of bits and a random shift.

    References
    ----------
    S. Joe, F. Y. Kuo, "Constructing Sobol sequences with better two-dimensional projections", SIAM
    J. Sci. Comput. 30, 2635 (2008). J. Matousek, "On the L2-discrepancy for anchored boxes", J.
    Complexity 14, 527 (1998).
    """
    if m > 1 + len(_POLYNOMIALS):
        from scipy.stats import qmc

        return np.asarray(qmc.Sobol(m, scramble=True, rng=rng).random_base2(log2_n))
    rng = rng.spawn(1)[0]  # SciPy does the same.
    powers = 1 << np.arange(_BITS, dtype=np.int64)
    shifts = rng.integers(2, size=(m, _BITS), dtype=np.uint32) @ powers
    scrambles = np.tril(rng.integers(2, size=(m, _BITS, _BITS), dtype=np.uint32), -1)
    points: NDArray[np.int64] = np.empty((1 << log2_n, m), dtype=np.int64)
    for axis in range(m):
        bits = _direction_numbers(axis)[:log2_n, None] >> np.arange(_BITS)[::-1] & 1
        scrambled = bits @ (scrambles[axis] + np.eye(_BITS, dtype=np.int64)).T % 2
        points[0, axis] = shifts[axis]
        for k, number in enumerate(scrambled @ powers[::-1]):
            # In the order of the Gray code each half is the one before it, reversed.
            points[1 << k : 2 << k, axis] = points[: 1 << k, axis][::-1] ^ number
    return np.asarray(points * 2.0**-_BITS)


def _direction_numbers(axis: int) -> NDArray[Any]:
    """The direction numbers of one dimension, shape (_BITS,), the first in the highest bit."""
    numbers = [1] * _BITS
    if axis:
        degree, coefficients, first = _POLYNOMIALS[axis - 1]
        numbers[:degree] = first
        for k in range(degree, _BITS):
            numbers[k] = numbers[k - degree] ^ numbers[k - degree] << degree
            for j in range(1, degree):
                if coefficients >> (degree - 1 - j) & 1:
                    numbers[k] ^= numbers[k - j] << j
    return np.array([number << (_BITS - 1 - k) for k, number in enumerate(numbers)])
