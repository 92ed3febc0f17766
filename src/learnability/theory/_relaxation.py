"""Fixed points of the map M -> A (I + A)^{-1} by iteration, and their response to its errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from learnability.statuses import Status
from learnability.theory._slopes import Slopes, cleaned, followed, physical

__all__ = [
    "FixedPoint",
    "allowed",
    "ended",
    "opened",
    "pushed",
    "relaxed",
    "response",
    "shut_error",
    "updated",
]

Array = NDArray[np.float64]
Map = Callable[[Array], Array]

_MOST_STEPS = 200
_LONGEST = 100.0
_RELAXATION = 1.7
_CLOSE = 5e-3
_MIXED_STEPS = 12
_SHUT = 1e-4
"""Largest overlap of directions that count as zero."""
_PUSH = 1e-3
"""Small overlap from which directions at zero are tried again."""
_PUSHES = (1e-4, 1e-2)
"""Small overlaps that tell how fast they grow and how this ends."""
_SLOWEST, _FARTHEST = 20.0, 0.1
"""Overlaps of so many steps that count as zero may still be on their way; and how far they go."""
_HELD = 12
"""Steps after which open directions have followed a change of others."""
_PROBE = 1e-3
"""Size of the change of M that measures the slope of the map."""


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """An overlap M that is a fixed point of state evolution.

    Attributes
    ----------
    M : array, shape (r, r)
        The overlap.
    status : Status
        How the search for it ended.
    error : array, shape (r, r)
        How far errors of the information of a label, and of the search, may have moved M.
    """

    M: Array
    status: Status
    error: Array


def updated(A: Array) -> Array:
    """Return A (I + A)^{-1}; a direction that is known exactly remains so.

    Parameters
    ----------
    A : array, shape (r, r)
        A symmetric matrix, infinite on the diagonal where a direction is known.
    """
    if not np.isfinite(A).all():
        known = ~np.isfinite(np.diag(A))
        own = np.where(known, 0.0, np.diag(A))
        return np.diag(np.where(known, 1.0, own / (1 + own)))
    return np.asarray(np.linalg.solve(np.eye(len(A)) + A, A))


def relaxed(
    one_step: Map, tolerance: Callable[[Array], float], M: Array, plain: int = 4
) -> tuple[Array, Status]:
    """Iterate, stretching steps that shrink evenly along one line; then extrapolate.

    After a step stretched by s the next one is 1 - s (1 - ratio) times as long, with the ratio
    of the slowest direction: a stretch of 1 / (1 - ratio) would reach the fixed point. Nine tenths
    of it are used, so that the fixed point nearest to the start is not missed.

    Parameters
    ----------
    one_step : callable
        M -> the next M.
    tolerance : callable
        M -> the size of a step that counts as zero.
    M : array, shape (r, r)
        The start.
    plain : int
        Number of steps before the first extrapolation; 0 for a start close to the fixed point.

    Returns
    -------
    M : array, shape (r, r)
    status : Status
        "converged" or "stopped".
    """
    stretch, before = 1.0, np.zeros_like(M)
    for count in range(_MOST_STEPS):
        step = one_step(M) - M
        size = float(np.abs(step).max())
        if size <= tolerance(M):
            return cleaned(M + step), Status.CONVERGED
        if count >= plain and size <= _CLOSE:
            found = _extrapolated(one_step, tolerance, M, step)
            if found is not None:
                return found, Status.CONVERGED
        same, length = float(np.sum(step * before)), float(np.sum(before**2))
        even = same**2 > 0.98 * length * float(np.sum(step**2))
        if count < 4 or not even or same >= length:
            stretch = 1.0 if count < 4 else _RELAXATION
        else:
            wanted = 0.9 * stretch / (1 - same / length)
            stretch = min(max(wanted, 1.0), 3 * stretch, _LONGEST)
        M, before = physical(M + stretch * step), step
    return cleaned(M), Status.STOPPED


def opened(
    one_step: Map,
    tolerance: Callable[[Array], float],
    M: Array,
    plain: int = 4,
    slopes: Slopes | None = None,
) -> tuple[Array, Status]:
    """Iterate; directions that end at zero are then tried again from a small overlap.

    Parameters and return values are those of `relaxed`. If slopes of neighbouring maps are given,
    they are followed first.
    """
    near = None if slopes is None else followed(one_step, tolerance, M, slopes)
    found, status = (near, Status.CONVERGED) if near is not None else (M, Status.STOPPED)
    if near is None:
        found, status = relaxed(one_step, tolerance, M, plain)
    for _ in range(len(M)):
        start = pushed(one_step, found, tolerance(found))
        if start is None:
            return _without_rest(one_step, tolerance, found, status)
        found, status = relaxed(one_step, tolerance, start)
    return found, status


def _without_rest(
    one_step: Map, tolerance: Callable[[Array], float], M: Array, status: Status
) -> tuple[Array, Status]:
    """A fixed point without what steps towards zero left when they became too small to go on."""
    values, vectors = np.linalg.eigh(M)
    left = (values > _SHUT) & (values < _shut_below(tolerance(M)))
    if status is not Status.CONVERGED or not left.any():
        return M, status
    return relaxed(one_step, tolerance, (vectors * np.where(left, 0.0, values)) @ vectors.T, 0)


def pushed(one_step: Map, M: Array, least: float = 0.0) -> Array | None:
    """Return M with an overlap of the directions at zero; None where a small one does not grow.

    A small overlap p becomes p (growth - fall p), and stops at (growth - 1) / fall: close to the
    ratio at which a direction opens steps towards it are too small to be told from none.

    Parameters
    ----------
    one_step : callable
        M -> the next M.
    M : array, shape (r, r)
        A fixed point.
    least : float
        The size of a step that counts as zero.
    """
    values, vectors = np.linalg.eigh(M)
    at_zero = values < _shut_below(least)
    shut = vectors[:, at_zero]
    if not shut.size:
        return None
    here = shut @ shut.T
    others = (vectors * np.where(at_zero, 0.0, values)) @ vectors.T
    answer = shut.T @ one_step(np.asarray(others + _PUSH * here)) @ shut
    sizes, turned = np.linalg.eigh(answer)
    growth = float(sizes[-1]) / _PUSH
    if growth <= 1 + 1e-3:
        return None
    start = np.asarray(others + _PUSH * here)
    if (growth - 1) * _PUSH > least:
        return start
    most = shut @ turned[:, -1:]
    more = shut.T @ one_step(np.asarray(others + _PUSHES[1] * here)) @ shut
    fall = (growth - float(np.linalg.eigvalsh(more)[-1]) / _PUSHES[1]) / (_PUSHES[1] - _PUSH)
    far = min((growth - 1) / fall, _FARTHEST) if fall > 0 else _FARTHEST
    return np.asarray(start + far * most @ most.T)


def _shut_below(least: float) -> float:
    """Overlap below which steps towards zero or away from it are smaller than one that counts."""
    return max(_SHUT, _SLOWEST * least)


def shut_error(one_step: Map, M: Array, relative: float) -> Array:
    """Return how large overlaps of directions at zero may be, (r, r).

    A small overlap p of such directions becomes p (growth - fall p). Close to the ratio at which
    they open the growth is one up to the error of the information: an overlap of
    (growth - 1) / fall is then not excluded.

    Parameters
    ----------
    one_step : callable
        M -> the next M.
    M : array, shape (r, r)
        A fixed point.
    relative : float
        Relative error of the information of a label.
    """
    values, vectors = np.linalg.eigh(M)
    shut = vectors[:, values < _SHUT]
    if not shut.size:
        return np.zeros_like(M)
    here, grown = np.asarray(shut @ shut.T), []
    others = (vectors * np.where(values < _SHUT, 0.0, values)) @ vectors.T
    for size in _PUSHES:
        answer = shut.T @ one_step(np.asarray(others + size * here)) @ shut
        grown.append(float(np.linalg.eigvalsh(answer)[-1]) / size)
    room = grown[0] * (1 + relative) - 1
    fall = (grown[0] - grown[1]) / (_PUSHES[1] - _PUSHES[0])
    if room <= 0:
        return np.zeros_like(M)
    most = min(room / fall, 1.0) if fall > 0 else 1.0
    held, rest = others, np.eye(len(M)) - here
    for _ in range(_HELD):  # What is open follows what may be open beside it.
        held = rest @ one_step(physical(held + most * here)) @ rest
    return np.asarray(np.abs(here) * most + np.abs(held - others))


def _extrapolated(
    one_step: Map, tolerance: Callable[[Array], float], M: Array, step: Array
) -> Array | None:
    """Return the fixed point near M by Anderson mixing of the last steps; None if it strays."""
    origin, reach = M, 200 * float(np.abs(step).max())
    points, steps = [M], [step]
    for _ in range(_MIXED_STEPS):
        if len(points) == 1:
            new = M + step
        else:
            dx = np.array([(b - a).ravel() for a, b in pairwise(points)]).T
            df = np.array([(b - a).ravel() for a, b in pairwise(steps)]).T
            share = np.linalg.lstsq(df, step.ravel(), rcond=1e-6)[0]
            new = M + step - ((dx + df) @ share).reshape(M.shape)
        values = np.linalg.eigvalsh(0.5 * (new + new.T))
        if values[0] < -1e-6 or values[-1] >= 1 or np.abs(new - origin).max() > reach:
            return None
        moved = float(np.abs(new - M).max())
        M = physical(new)
        step = one_step(M) - M
        points, steps = [*points[-3:], M], [*steps[-3:], step]
        if max(moved, float(np.abs(step).max())) <= 3 * tolerance(M):
            return cleaned(M + step)
    return None


def ended(one_step: Map, M: Array) -> tuple[Array, Array]:
    """Return where steps that shrink evenly would end, and the error of this.

    Parameters
    ----------
    one_step : callable
        M -> the next M.
    M : array, shape (r, r)
        An overlap close to a fixed point.

    Returns
    -------
    M, error : array, shape (r, r)
    """
    step = one_step(M) - M
    size = float(np.sum(step**2))
    if size < 1e-18:
        return M, np.abs(step)
    second = one_step(physical(M + step)) - M - step
    ratio = float(np.sum(second * step)) / size
    if not 0 <= ratio < 1:
        return M, np.abs(step) / max(1 - abs(ratio), 1e-3)
    rest = step / max(1 - ratio, 1e-3)
    moved = physical(M + rest)
    return cleaned(moved), 0.5 * np.abs(moved - M)


def response(one_step: Map, M: Array) -> Array:
    """Return how far a fixed point M moves per relative change of the information of a label.

    A relative change e of I(M) moves one step by e B, B = (I + A)^{-1} A (I + A)^{-1} with
    M = A (I + A)^{-1}, that is B = M - M^2. The steps that follow multiply it by the slope of the
    map along it, so that it ends at e B / (1 - slope). Errors of I(M) need not be multiples of it:
    an entry that is small beside both of its directions is off by what these allow.

    Parameters
    ----------
    one_step : callable
        M -> the next M.
    M : array, shape (r, r)
        A fixed point.

    Returns
    -------
    array, shape (r, r)
        |B| / (1 - slope), at least what `allowed` tells, at most one.
    """
    moved = M - M @ M
    size = float(np.abs(moved).max())
    if size <= 1e-9:
        return np.asarray(np.abs(moved))
    # The probe goes towards smaller overlaps, where the map is resolved best.
    probe = -min(_PROBE / size, 0.5) * moved
    answer = one_step(physical(M + probe)) - one_step(M)
    slope = float(np.sum(answer * probe) / np.sum(probe**2))
    return np.asarray(np.minimum(allowed(moved) / max(1 - slope, 1e-6), 1.0))


def allowed(moved: Array) -> Array:
    """Return how large entries may be beside those of both of their directions, (r, r).

    Parameters
    ----------
    moved : array, shape (r, r)
        By how much an overlap moves for each relative change of I(M).
    """
    own = np.sqrt(np.abs(np.diag(moved)))
    # Errors of a score are a share of the largest one: I_ii of a weak direction is off by more.
    return np.asarray(np.maximum(np.abs(moved), own.max() * np.sqrt(np.outer(own, own))))
