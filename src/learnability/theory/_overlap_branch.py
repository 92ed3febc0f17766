"""A branch of the family of fixed points of state evolution, and what lies between its members.

Along it the free entropy is an integral of two numbers,

    phi(M) - phi(0) = alpha Psi - P,   dPsi = dP / alpha(M),   P = -(tr M + log det(I - M)) / 2,

because alpha(M) I(M) = M (I - M)^{-1} on it, and I / 2 is the gradient of Psi.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.theory._slopes import physical

__all__ = ["SHUT", "Branch", "Member", "foretold", "open_directions"]

Array = NDArray[np.float64]

SHUT = 1e-4
"""Directions with a smaller overlap are not open."""
_AHEAD = 3
"""Members from which the next one is foretold."""
_NEAR_RATIO = 1e-3
"""Relative change of alpha along which the overlap is told to move."""


class Member(NamedTuple):
    """One fixed point: mean overlap of a direction, ratio of samples, overlap, and root of P."""

    t: float
    alpha: float
    M: Array
    root: float


class Branch:
    """Members in the order of their trace, and what lies between them.

    As a function of x = sqrt(P) the slope dPsi / dx = 2 x / alpha is smooth from x = 0 on.

    Parameters
    ----------
    members : list of Member
        At least three.
    begins : float
        alpha at the overlap zero, when the branch begins there; else NaN.
    psi : callable
        M -> Psi(M) - Psi(0), asked for when it does not.
    """

    def __init__(self, members: list[Member], begins: float, psi: Callable[[Array], float]) -> None:
        from scipy.interpolate import Akima1DInterpolator

        self.members, self.begins, self._psi = members, begins, psi
        x = np.array([m.root for m in members])
        self._overlap = Akima1DInterpolator(x, [m.M for m in members], method="makima")
        slope = 2 * x / np.array([m.alpha for m in members])
        if begins > 0:
            x, slope = np.append(0.0, x), np.append(0.0, slope)
        self._slope = Akima1DInterpolator(x, slope, method="makima", extrapolate=True)
        self._told = self._slope.antiderivative()
        start = members[0]
        below = 0.0 if math.isnan(begins) else float(self._told(start.root) - self._told(0.0))
        self._offset = (psi(start.M) if math.isnan(begins) else below) - float(
            self._told(start.root)
        )

    def thinned(self, kept: Callable[[Member], bool]) -> Branch:
        """Every second member, and those to be kept."""
        members = [m for k, m in enumerate(self.members) if k % 2 == 0 or kept(m)]
        return Branch(members, self.begins, self._psi)

    def place(self, alpha: float, last: bool) -> float | None:
        """x at the first or last crossing of a ratio; None where no member tells it.

        Neither does one that is next to another with fewer open directions.
        """
        from scipy.optimize import brentq

        ratios = np.array([m.alpha for m in self.members])
        at = np.nonzero((ratios[:-1] <= alpha) & (ratios[1:] > alpha))[0]
        if not len(at) or (not last and np.any(ratios[: at[0]] > alpha)):
            return None
        k = int(at[-1 if last else 0])
        if open_directions(self.members[k]) != open_directions(self.members[k + 1]):
            return None
        low, high = self.members[k].root, self.members[k + 1].root

        def pull(x: float) -> float:
            return alpha * float(self._slope(x)) - 2 * x

        if pull(low) * pull(high) >= 0:
            return low if abs(pull(low)) < abs(pull(high)) else high
        return float(brentq(pull, low, high, xtol=1e-12))

    def overlap(self, alpha: float, last: bool) -> Array | None:
        """About the overlap of a ratio, (r, r); None where no member tells it."""
        x = self.place(alpha, last)
        return None if x is None else physical(np.asarray(self._overlap(x)))

    def moved(self, alpha: float, last: bool) -> Array | None:
        """dM / dlog alpha at a ratio, (r, r); None where no member tells it."""
        ends = [self.overlap(alpha * (1 + s * _NEAR_RATIO), last) for s in (-1, 1)]
        if ends[0] is None or ends[1] is None:
            return None
        return (ends[1] - ends[0]) / (2 * _NEAR_RATIO)

    def entropy(self, alpha: float, last: bool) -> float:
        """The free entropy alpha Psi - P at the overlap of a ratio; 0.0 at no overlap."""
        x = self.place(alpha, last)
        if x is None:
            return 0.0
        return alpha * (float(self._told(x)) + self._offset) - x * x


def open_directions(member: Member) -> int:
    """How many directions are open."""
    return int(np.count_nonzero(np.linalg.eigvalsh(member.M) > SHUT))


def foretold(members: list[Member], t: float) -> Array:
    """About the overlap of another trace, by a parabola through the last members, (r, r)."""
    last = members[-_AHEAD:]
    last = [m for m in last if open_directions(m) == open_directions(last[-1])]
    near = np.zeros_like(last[-1].M)
    for m in last:
        share = math.prod((t - other.t) / (m.t - other.t) for other in last if other is not m)
        near = near + share * m.M
    return physical(near)
