"""The matrices K_k = E[zeta_k zeta_k^T], with what their errors are estimated from."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from learnability.labels._label_regression import jackknife_error

__all__ = ["ConditionalMoments"]

Array = NDArray[np.float64]

_RESOLUTION = 6e-5


@dataclass(frozen=True, eq=False)
class ConditionalMoments:
    """The matrix K_k = E[zeta_k zeta_k^T] on the unknown coordinates, with its error.

    Attributes
    ----------
    order : int
        The order k.
    matrix : array, shape (q, q)
        The matrix, in the orthonormal products of `multi_indices(m, k)`.
    rules : tuple of array
        The matrix from other quadrature rules.
    replicates : tuple of (array, float)
        The matrix without one replicate of the samples, for each of them, tagged by its half.
    method : str
        ``"symmetry"``, ``"level sets"``, ``"cells"`` or ``"regression"``.
    allowed : int
        Largest rank that the symmetries of g allow.
    """

    order: int
    matrix: Array
    rules: tuple[Array, ...] = field(repr=False)
    replicates: tuple[tuple[Array, float], ...] = field(repr=False)
    method: str
    allowed: int

    def functional(self, function: Callable[[Array], float]) -> tuple[float, float]:
        """Return the value of a function of the matrix, and its error.

        Parameters
        ----------
        function : callable
            Matrix -> number.
        """
        value = function(self.matrix)
        if self.method == "symmetry":
            return value, 0.0
        error = max((abs(function(m) - value) for m in self.rules), default=0.0)
        if self.replicates:
            sampling = jackknife_error([(function(m), tag) for m, tag in self.replicates])
            error = math.hypot(error, sampling, _RESOLUTION * abs(value))
        return value, error + 1e-12 * abs(value)

    def norm_error(self, function: Callable[[Array], Array]) -> float:
        """Return the error, as a spectral norm, of a matrix that samples tell; zero without them.

        Parameters
        ----------
        function : callable
            Matrix -> symmetric matrix.
        """
        variance = 0.0
        for half in {tag for _, tag in self.replicates}:
            found = np.array([function(m) for m, tag in self.replicates if tag == half])
            off = np.linalg.norm(found - found.mean(axis=0), ord=2, axis=(1, 2))
            variance += (len(found) - 1) / len(found) * float(off @ off)
        return math.sqrt(variance)

    @property
    def power(self) -> tuple[float, float]:
        """E|zeta_k|^2 as a Frobenius norm of tensors, k! tr K_k, and its error."""
        return self.functional(lambda m: math.factorial(self.order) * float(np.trace(m)))

    @property
    def entry_error(self) -> float:
        """Error of the largest entry of the matrix."""
        if self.method == "symmetry" or not len(self.matrix):
            return 0.0

        def error_at(i: int) -> float:
            return self.functional(lambda m: float(m[i, i]))[1]

        crossed = self.functional(lambda m: float(m.sum() - np.trace(m)))[1] / len(self.matrix)
        return max(*map(error_at, range(len(self.matrix))), crossed)
