"""What a better rule for I(M) says more than a rough one, carried to overlaps close by.

Both rules give positive matrices. The better one F is told as a factor on both sides of the rough
one R, C = R^(-1/2) F R^(-1/2): at an overlap close by, R^(1/2) C R^(1/2) with the R of that overlap
is positive again, and where the rough rule says that nothing is told of a direction nothing is
added. A difference F - R would stay as it is where R ends at zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["NearbyRule"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NearbyRule:
    """The better of two rules as a factor on both sides of the rough one, in posterior units.

    Attributes
    ----------
    factor : array, shape (r, r)
        The identity where both rules agree, or tell nothing.
    least : float
        Information that counts as none; in posterior units it is at most one.
    """

    factor: Array
    least: float

    @staticmethod
    def between(better: Array, rough: Array, least: float = 1e-7) -> NearbyRule:
        """Return the factor between two rules at one overlap.

        Parameters
        ----------
        better, rough : array, shape (r, r)
            What they give there.
        least : float
            Information that counts as none. Where a direction is shut it is to be large beside
            what is left of it there, and small beside what is told of directions that are open.
        """
        inverse = _power(rough, least, -0.5)
        return NearbyRule(inverse @ (better + least * np.eye(len(better))) @ inverse, least)

    def __call__(self, rough: Array) -> Array:
        """Return what the better rule gives at an overlap close by.

        Parameters
        ----------
        rough : array, shape (r, r)
            What the rough one gives at it.
        """
        root = _power(rough, self.least, 0.5)
        return np.asarray(root @ self.factor @ root - self.least * np.eye(len(rough)))


def _power(matrix: Array, least: float, power: float) -> Array:
    """A power of a positive matrix to which the least information is added."""
    values, frame = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return np.asarray((frame * (np.maximum(values, 0.0) + least) ** power) @ frame.T)
