"""Functions of small symmetric matrices, as message passing needs twice an iteration.

After a product that has read all samples nothing of LAPACK is left in the cache, and a call takes
longer than a thousand samples of the channel. For two rows Sylvester's formula needs none:

    f(M) = f(low) I + (f(high) - f(low)) / (high - low) (M - low I).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["matrix_function"]


def matrix_function(
    matrix: NDArray[np.float64], function: Callable[[float], float]
) -> NDArray[np.float64]:
    """A function of the eigenvalues of a symmetric matrix (r, r), in its eigenvectors."""
    if len(matrix) != 2:
        values, vectors = np.linalg.eigh(matrix)
        return np.asarray((vectors * [function(float(v)) for v in values]) @ vectors.T)
    (a, b), (_, c) = matrix.tolist()
    centre, radius = 0.5 * (a + c), math.hypot(0.5 * (a - c), b)
    low = centre - radius
    least = function(low)
    slope = (function(centre + radius) - least) / (2 * radius) if radius > 0 else 0.0
    return np.array(
        [[least + slope * (a - low), slope * b], [slope * b, least + slope * (c - low)]]
    )
