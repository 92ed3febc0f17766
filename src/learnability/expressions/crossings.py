"""Points on both sides of the surfaces where a function breaks, however small its cells are.

A cell such as the disc (z1 - 3)^2 + (z2 - 0.3)^2 < 1e-4 is so improbable that no sample meets it,
but the function whose sign bounds it leads there: from random points it is followed downhill until
its sign changes, and the change is then bracketed by bisection. From there the other breaks are
searched for along the surface, which finds cells that several breaks bound together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["points_beside_breaks"]

Array = NDArray[np.float64]
Break = Callable[[Any], Any]

_STARTS, _STEPS, _HALVINGS = 32, 48, 24
_REACH = 8.0  # Beyond it the normal law has a mass below 1e-14.
_MOST_BREAKS = 12
_LEAST_STEP = 1e-9


def points_beside_breaks(breaks: Sequence[Break], r: int) -> Array:
    """Return pairs of points close to each other between which a break function changes its sign.

    Parameters
    ----------
    breaks : sequence of callable
        Each maps an (n, r) array to an (n,) array; at most twelve of them are used.
    r : int
        Number of variables.

    Returns
    -------
    array, shape (2 * k, r)
        The first k points lie on one side, the last k on the other.
    """
    rng = np.random.default_rng(20240202)
    used = list(breaks)[:_MOST_BREAKS]
    starts = 1.5 * rng.standard_normal((_STARTS, r))
    everywhere = np.broadcast_to(np.eye(r), (_STARTS, r, r))
    first = [_pairs(f, starts, everywhere, rng) for f in used]
    found = list(first)
    for i, (low, high) in enumerate(first):
        if r == 1 or not len(low) or len(used) > 6:
            continue
        beside = np.concatenate([low[:8], high[:8]])
        along = _tangents(used[i], beside)
        found += [_pairs(f, beside, along, rng) for j, f in enumerate(used) if j != i]
    lows, highs = zip(*found, strict=True) if found else ((), ())
    return np.concatenate([np.zeros((0, r)), *lows, *highs])


def _values(function: Break, points: Array) -> Array:
    with np.errstate(all="ignore"):
        value = np.asarray(function(points), dtype=float)
    return np.where(np.isnan(value), np.inf, value)


def _pairs(
    function: Break, starts: Array, frames: Array, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Points (k, r) on both sides of a change of sign, reached from starts along rows of frames."""
    n, k, r = frames.shape
    x = starts.copy()
    size = _values(function, x)
    sign = np.where(size < 0, -1.0, 1.0)
    size = sign * size
    step, number = np.ones(n), np.arange(n)
    lows, highs = [], []
    for _ in range(_STEPS):
        turn = np.linalg.qr(rng.standard_normal((k, k)))[0]
        moves = np.einsum("ij,njr->nir", turn, frames[number])
        moves = np.concatenate([moves, -moves], axis=1) * step[:, None, None]
        trial = x[:, None, :] + moves
        far = np.linalg.norm(trial, axis=-1) > _REACH
        value = sign[:, None] * _values(function, trial.reshape(-1, r)).reshape(trial.shape[:2])
        value = np.where(far, np.inf, value)
        best = value.argmin(axis=1)
        lowest = np.take_along_axis(value, best[:, None], axis=1)[:, 0]
        target = np.take_along_axis(trial, best[:, None, None], axis=1)[:, 0]
        crossed = lowest < 0
        lows.append(x[crossed])
        highs.append(target[crossed])
        better = lowest < size
        x = np.where(better[:, None], target, x)
        size = np.where(better, lowest, size)
        step = np.where(better, 1.4 * step, 0.5 * step)
        left = ~crossed & (step > _LEAST_STEP) & np.isfinite(size)
        x, size, step = x[left], size[left], step[left]
        sign, number = sign[left], number[left]
        if not len(x):
            break
    low, high = np.concatenate(lows), np.concatenate(highs)
    below = _values(function, low) < 0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        same = ((_values(function, middle) < 0) == below)[:, None]
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return low, high


def _tangents(function: Break, points: Array) -> Array:
    """Orthonormal rows (n, r - 1, r) along the surface of a function at points on it."""
    r = points.shape[1]
    step = 1e-5
    with np.errstate(invalid="ignore"):  # Both values may be infinite.
        gradient = np.stack(
            [
                _values(function, points + step * e) - _values(function, points - step * e)
                for e in np.eye(r)
            ],
            axis=-1,
        )
    gradient = np.where(np.isfinite(gradient), gradient, 0.0)
    normal = gradient / np.maximum(np.linalg.norm(gradient, axis=1, keepdims=True), 1e-300)
    return np.linalg.svd(normal[:, None, :])[2][:, 1:, :]
