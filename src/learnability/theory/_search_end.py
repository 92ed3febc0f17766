"""The end of the search for a fixed point of state evolution, from an overlap close to it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from learnability.statuses import Status
from learnability.theory._relaxation import FixedPoint, allowed, pushed, updated
from learnability.theory._slopes import Slopes, followed
from learnability.theory.information import LabelInformation

__all__ = ["CLOSE", "CLOSER", "search_end"]

Array = NDArray[np.float64]

CLOSE = 0.03
"""A function I(M) that is smooth around an overlap holds this far from it."""
CLOSER = 3e-4
"""The same where it is corrected by an exact integral."""


def search_end(
    information: LabelInformation,
    tolerance: Callable[[Array], float],
    alpha: float,
    M: Array,
    moves: Array,
    slopes: Slopes,
) -> FixedPoint | None:
    """Return the fixed point close to an overlap; None where it is not found so.

    Parameters
    ----------
    information : LabelInformation
        I(M).
    tolerance : callable
        M -> the size of a change that means nothing.
    alpha : float
        Samples over dimension.
    M : array, shape (r, r)
        The start.
    moves : array, shape (r, r)
        By how much the fixed point moves for each relative change of alpha, which is what an
        error of I(M) amounts to.
    slopes : Slopes
        Those of ratios close to this one; they take in the steps that are made.
    """
    around = information.around(M)

    def one_step(at: Array) -> Array:
        return updated(alpha * around(at))

    slopes.learn(moves, M @ M - M)  # What a change of alpha does to a step, moves make up for.
    found = followed(one_step, tolerance, M, slopes)
    if found is None or pushed(one_step, found) is not None:
        return None
    if np.abs(found - M).max() > (CLOSER if information.exact_at(found) else CLOSE):
        return None
    least = tolerance(found)
    error = (information.error_at(found) + least) * allowed(moves) + least * (found != 0)
    return FixedPoint(found, Status.CONVERGED, np.minimum(error, 1.0))
