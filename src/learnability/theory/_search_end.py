"""The search for a fixed point of state evolution, its starts and its ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from learnability.statuses import Status
from learnability.theory._relaxation import (
    FixedPoint,
    allowed,
    ended,
    opened,
    pushed,
    response,
    shut_error,
    updated,
)
from learnability.theory._slopes import Slopes, followed, physical
from learnability.theory.information import LabelInformation

__all__ = ["different", "iterated", "nothing_found", "random_overlaps", "search_end"]

Array = NDArray[np.float64]

_CLOSE = 0.03
"""A function I(M) that is smooth around an overlap holds this far from it."""
_CLOSER = 3e-4
"""The same where it is corrected by an exact integral."""
_APART = 1e-3
"""Fixed points closer than this, beyond their errors, are the same."""
_MOST_CENTRES = 4
"""How often a function I(M) that is smooth around an overlap is moved to another."""
_AJAR = 0.01
_NOTHING = 1e-5
"""Largest overlap, left by the rules for I(0), that counts as none."""


def iterated(
    information: LabelInformation,
    tolerance: Callable[[Array], float],
    alpha: float,
    M: Array,
    plain: int = 4,
) -> FixedPoint:
    """Return the fixed point that steps from an overlap lead to.

    Directions that end at zero are tried again with a small overlap. Where steps go on without an
    end nothing is known of it, and the error is one.

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
    plain : int
        Number of steps before the first extrapolation.
    """
    for count in range(_MOST_CENTRES):
        around = information.around(M, closely=count > 0)

        def one_step(at: Array, around: Callable[[Array], Array] = around) -> Array:
            return updated(alpha * around(at))

        found, status = opened(one_step, tolerance, M, plain)
        moved, M = float(np.abs(found - M).max()), physical(found)
        close = _CLOSER if information.exact_at(found) else _CLOSE
        if status is not Status.CONVERGED or (moved < close and count > 0):
            break
    if status is not Status.CONVERGED:
        return FixedPoint(found, status, np.ones_like(found))
    found, left = ended(one_step, found)
    error = information.error_at(found) + tolerance(found)
    spread = error * response(one_step, found) + left
    # Rules that are exact while directions are shut tell nothing of how these open.
    ajar = information.error_at(physical(found + _AJAR * np.eye(len(found))))
    spread += shut_error(one_step, found, max(error, ajar))
    return FixedPoint(found, status, np.minimum(spread, 1.0))


def nothing_found(information: LabelInformation, alpha: float, least: float) -> FixedPoint | None:
    """Return no overlap where nothing is learned; None where something may be.

    Below the weak-recovery threshold the overlap zero is stable, if one label tells nothing of a
    mean direction. What the rules leave of I(0) is the error.

    Parameters
    ----------
    information : LabelInformation
        I(M).
    alpha : float
        Samples over dimension.
    least : float
        The least that the threshold may be.
    """
    if alpha >= least:
        return None
    zero = np.zeros((information.r, information.r))
    left = np.abs(alpha * information.finely(zero)) / (1 - alpha / least)
    return FixedPoint(zero, Status.CONVERGED, left) if left.max() < _NOTHING else None


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
    if found is None or pushed(one_step, found, tolerance(found)) is not None:
        return None
    if np.abs(found - M).max() > (_CLOSER if information.exact_at(found) else _CLOSE):
        return None
    least = tolerance(found)
    error = (information.error_at(found) + least) * allowed(moves) + least * (found != 0)
    return FixedPoint(found, Status.CONVERGED, np.minimum(error, 1.0))


def random_overlaps(r: int, count: int, diagonal: bool) -> Iterator[Array]:
    """Return overlaps at random from which a search may start, the same in every call.

    Parameters
    ----------
    r, count : int
        Number of directions, and of overlaps.
    diagonal : bool
        Whether they are diagonal.
    """
    rng = np.random.default_rng(31)
    for _ in range(count):
        frame = np.linalg.qr(rng.standard_normal((r, r)))[0]
        if diagonal:
            frame = np.eye(r)
        yield (frame * rng.uniform(0.1, 0.9, r)) @ frame.T


def different(points: Sequence[FixedPoint]) -> list[FixedPoint]:
    """Return the fixed points that converged, each once."""
    found: list[FixedPoint] = []
    for point in points:
        apart = [np.abs(point.M - d.M) - 3 * (point.error + d.error) for d in found]
        if point.status is Status.CONVERGED and all(a.max() > _APART for a in apart):
            found.append(point)
    return found
