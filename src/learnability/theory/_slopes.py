"""Fixed points close to known ones, along the slopes that earlier steps have told.

References
----------
Anderson, Journal of the ACM 12 (1965), 547; Fang and Saad, Numerical Linear Algebra with
Applications 16 (2009), 197, section 3.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["Slopes", "cleaned", "followed", "physical"]

Array = NDArray[np.float64]
Map = Callable[[Array], Array]

_STEPS = 12
_APART = 0.2
"""A change of M tells something of its own where so much of it is at right angles to later ones."""
_STRETCHED, _FARTHEST = 200.0, 0.1
"""A fixed point is not farther than this from a start close to it: in steps, and in M."""


class Slopes:
    """The slopes of M -> step of neighbouring maps, as the steps taken so far tell them.

    They are right for the last changes of M, the latest first, as long as these point in different
    directions; at right angles to them a step leads to its fixed point.
    """

    def __init__(self) -> None:
        self._changes: list[tuple[Array, Array]] = []

    def rest(self, step: Array) -> Array:
        """The change of M after which there would be no step."""
        if not self._changes:
            return step
        dx, df = (np.array(c).T for c in zip(*self._changes, strict=True))
        slopes = (dx + df) @ np.linalg.pinv(dx) - np.eye(len(dx))
        found = np.linalg.lstsq(slopes, -step.ravel(), rcond=1e-6)[0]
        return np.asarray(found.reshape(step.shape))

    def learn(self, moved: Array, change: Array) -> None:
        """Take in by how much a step has changed where M has moved."""
        size = float(np.linalg.norm(moved))
        if size <= 1e-12:
            return
        kept = [(moved.ravel() / size, change.ravel() / size)]
        span = [kept[0][0]]
        for pair in self._changes:
            own = pair[0] - sum(float(u @ pair[0]) * u for u in span)
            if np.linalg.norm(own) > _APART:
                kept.append(pair)
                span.append(own / np.linalg.norm(own))
        self._changes = kept

    def forget(self) -> None:
        """Start anew."""
        self._changes = []


def followed(
    one_step: Map,
    tolerance: Callable[[Array], float],
    M: Array,
    slopes: Slopes,
) -> Array | None:
    """Return the fixed point close to M along known slopes; None where they do not lead to it.

    Parameters
    ----------
    one_step : callable
        M -> the next M.
    tolerance : callable
        M -> the size of a change that means nothing.
    M : array, shape (r, r)
        The start.
    slopes : Slopes
        They take in the steps that are made.
    """
    origin, step = M, one_step(M) - M
    reach = min(_STRETCHED * float(np.abs(step).max()), _FARTHEST)
    for count in range(_STEPS):
        rest = slopes.rest(step)
        new = M + rest
        values = np.linalg.eigvalsh(0.5 * (new + new.T))
        if values[0] < -1e-6 or values[-1] >= 1 or np.abs(new - origin).max() > reach:
            break
        size, least = max(float(np.abs(rest).max()), float(np.abs(step).max())), tolerance(M)
        if size <= (3 if count else 1) * least:
            return cleaned(new)
        new = physical(new)
        after = one_step(new) - new
        slopes.learn(new - M, after - step)
        if float(np.abs(after).max()) > 2 * float(np.abs(step).max()):
            break
        M, step = new, after
    slopes.forget()
    return None


def physical(M: Array) -> Array:
    """Return the nearest symmetric matrix with eigenvalues in [0, 1)."""
    values, vectors = np.linalg.eigh(0.5 * (M + M.T))
    return np.asarray((vectors * np.clip(values, 1e-12, 1 - 1e-12)) @ vectors.T)


def cleaned(M: Array) -> Array:
    """Set overlaps of the size of the tolerance to zero."""
    return np.where(np.abs(M) < 1e-5, 0.0, 0.5 * (M + M.T))
