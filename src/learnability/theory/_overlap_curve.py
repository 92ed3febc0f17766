"""The curve alpha(q) = q / ((1 - q) I(q)) of fixed points of one overlap; its turning points."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.rules import legendre

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

__all__ = ["OverlapCurve"]

Array = NDArray[np.float64]

_POINTS = 96
_SMALLEST = 1e-6
_OUT_OF_REACH = 1e300
_SMALL_MOVE = 1e-9
"""Relative size of the last step towards an overlap."""


@dataclass(frozen=True, eq=False)
class OverlapCurve:
    """Fixed points of state evolution for one overlap.

    Parameters
    ----------
    information : callable
        q -> I(q), for 0 < q < 1.
    alpha_c : float
        alpha(0+), the weak-recovery threshold.
    error : float
        Relative error of I(q): smaller bends of the curve are none.
    full_recovery : float, optional
        alpha(1-), above which perfect recovery is a fixed point, when it is known.
    error_at : callable, optional
        q -> relative error of I(q), where it grows beyond the overlaps that are resolved.
    """

    information: Callable[[float], float]
    alpha_c: float
    error: float = 0.0
    full_recovery: float | None = None
    error_at: Callable[[float], float] | None = None

    def alpha(self, q: float) -> float:
        """Return the ratio of samples at which q is a fixed point."""
        info = self.information(q)
        return q / ((1 - q) * info) if info > 1e-14 else math.inf

    @cached_property
    def _grid(self) -> tuple[Array, Array]:
        logit = np.linspace(math.log(_SMALLEST), -math.log(_SMALLEST), _POINTS)
        q = 1 / (1 + np.exp(-logit))
        return q, np.array([self.alpha(float(x)) for x in q])

    @cached_property
    def points(self) -> tuple[Array, Array]:
        """Overlaps, evenly spaced in their logit but for the turning point, and alpha of each."""
        q, alpha = self._grid
        if self._turn is None:
            return q, alpha
        at = int(np.searchsorted(q, self._turn[0]))
        return np.insert(q, at, self._turn[0]), np.insert(alpha, at, self._turn[1])

    @cached_property
    def _bound(self) -> float:
        """A ratio above which no point of the curve lies, between those of the grid either.

        I(q) grows with q: from one point of the grid on alpha grows no faster than q / (1 - q).
        """
        q, alpha = self._grid
        odds = q / (1 - q)
        return float(np.max(alpha) * np.max(odds[1:] / odds[:-1]))

    def smallest(self, alpha: float, roughly: bool = False) -> float:
        """Return the overlap reached from no information: the smallest q with alpha(q) >= alpha.

        Roughly, the curve between its points is a spline.
        """
        if alpha <= self.alpha_c:
            return 0.0
        q, curve = self._grid if alpha > self._bound else self.points
        stops = np.nonzero(curve >= alpha)[0]
        if not len(stops):
            # Between two points of the grid the curve may be higher.
            return 1.0 if alpha > self.full else float(q[-1])
        k = int(stops[0])
        before = (1e-12, self.alpha_c) if k == 0 else (float(q[k - 1]), float(curve[k - 1]))
        return self._between(before, (float(q[k]), float(curve[k])), alpha, roughly)

    def largest(self, alpha: float, roughly: bool = False) -> float:
        """Return the overlap kept from the truth: the largest q with alpha(q) <= alpha."""
        q, curve = self.points
        if alpha > self.full:
            return 1.0
        stops = np.nonzero(curve <= alpha)[0]
        if not len(stops):
            return 0.0
        k = int(stops[-1])
        if k == len(q) - 1:
            return float(q[-1])
        ends = ((float(q[k]), float(curve[k])), (float(q[k + 1]), float(curve[k + 1])))
        return self._between(*ends, alpha, roughly)

    def reached(self, alpha: float, informed: bool) -> tuple[float, float]:
        """Return the largest or smallest overlap of a ratio, and its error.

        A relative error of I(q) is one of alpha: the error is how far the overlap moves with it.
        """
        find = self.largest if informed else self.smallest
        q = find(alpha)
        if q in (0.0, 1.0) and self.error == 0:
            return q, 0.0
        # How far it moves is told well enough by a spline.
        own = max(self.error if self.error_at is None else self.error_at(q), 1e-9)
        low, middle, high = (find(alpha * (1 + s * own), roughly=True) for s in (-1, 0, 1))
        beyond = 1 - q if q == self._grid[0][-1] else 0.0  # The last overlap that is computed.
        return q, max(abs(low - middle), abs(high - middle), beyond)

    def _between(
        self, low: tuple[float, float], high: tuple[float, float], alpha: float, roughly: bool
    ) -> float:
        """Return the overlap of a ratio, between two points (overlap, ratio) of the curve."""
        from scipy.optimize import brentq

        known = dict([low, high])
        if (low[1] - alpha) * (high[1] - alpha) > 0:
            return low[0]

        def distance(q: float) -> float:
            value = known[q] if q in known else self.alpha(q)
            return min(value, _OUT_OF_REACH) - alpha

        near = self._by_slopes(low, high, alpha, None if roughly else distance)
        if near is not None:
            return near
        return float(brentq(distance, low[0], high[0], xtol=1e-14, rtol=1e-13))

    def _by_slopes(
        self,
        low: tuple[float, float],
        high: tuple[float, float],
        alpha: float,
        distance: Callable[[float], float] | None,
    ) -> float | None:
        """The same by a few steps along the slopes of a spline; None where it fails."""
        if low[0] < self._grid[0][0] or not np.isfinite(high[1]) or self._spline is None:
            return None
        share = (alpha - low[1]) / (high[1] - low[1])
        q = low[0] + share * (high[0] - low[0])
        for step in range(12):
            logit = math.log(q / (1 - q))
            slope = float(self._spline(logit, 1)) / (q * (1 - q))
            # The first steps are on the spline itself, which is free.
            gap = distance(q) if distance and step >= 5 else float(self._spline(logit)) - alpha
            if slope == 0:
                return None
            moved = q - gap / slope
            if not low[0] < moved < high[0]:
                return None
            # What is left after a step is smaller than it by the error of the slope.
            if step >= 5 and abs(moved - q) <= (_SMALL_MOVE if distance else 1e-12) * q:
                return moved
            q = moved
        return None

    @cached_property
    def _spline(self) -> CubicSpline | None:
        """alpha as a function of the logit of q, where it is finite on the whole grid."""
        from scipy.interpolate import CubicSpline

        q, alpha = self._grid
        if not np.isfinite(alpha).all() or alpha.max() >= _OUT_OF_REACH:
            return None
        return CubicSpline(np.log(q / (1 - q)), alpha)

    @cached_property
    def full(self) -> float:
        """alpha(1-), above which perfect recovery is a fixed point; inf if the curve diverges."""
        if self.full_recovery is not None:
            return self.full_recovery
        q, alpha = (values[-8:] for values in self._grid)
        if not np.isfinite(alpha).all() or alpha[-1] > 1.05 * alpha[0]:
            return math.inf
        # The curve approaches its end linearly in sqrt(1 - q).
        distance = np.sqrt(1 - q)
        slope = (alpha[-5] - alpha[-1]) / (distance[-5] - distance[-1])
        return float(alpha[-1] - slope * distance[-1])

    @property
    def spinodal(self) -> float:
        """The highest local maximum of the curve, where the overlap jumps; NaN if it has none.

        It is infinite when weak recovery is out of reach but a larger overlap is a fixed point.
        """
        if math.isinf(self.alpha_c):
            return math.inf if self._lowest < _OUT_OF_REACH else math.nan
        return math.nan if self._turn is None else self._turn[1]

    @property
    def jumps_from(self) -> float:
        """The overlap at that maximum."""
        return 1.0 if self._turn is None else self._turn[0]

    @cached_property
    def _lowest(self) -> float:
        """The least alpha of a fixed point beyond the jump; `_OUT_OF_REACH` if there is none."""
        from scipy.optimize import minimize_scalar

        q, alpha = self.points
        hard = math.isinf(self.alpha_c)
        if not hard and self._turn is None:
            return _OUT_OF_REACH
        # At overlaps of a hard link that are too small the curve is rounding.
        beyond = q >= (1e-3 if hard or self._turn is None else self._turn[0])
        values = np.where(beyond & np.isfinite(alpha), alpha, _OUT_OF_REACH)
        k = int(np.argmin(values))
        if not 0 < k < len(q) - 1 or values[k] >= _OUT_OF_REACH:
            return float(values[k])
        logit = np.log(q / (1 - q))
        best = minimize_scalar(
            lambda x: min(self.alpha(1 / (1 + math.exp(-x))), _OUT_OF_REACH),
            bounds=(float(logit[k - 1]), float(logit[k + 1])),
            method="bounded",
            options={"xatol": 1e-6},
        )
        return min(float(best.fun), float(values[k]))

    @cached_property
    def _turn(self) -> tuple[float, float] | None:
        """Overlap and alpha at the highest local maximum."""
        from scipy.optimize import minimize_scalar

        q, alpha = self._grid
        finite = np.where(np.isfinite(alpha), alpha, -np.inf)
        inner = range(1, len(q) - 1)
        peaks = [k for k in inner if finite[k - 1] < finite[k] >= finite[k + 1]]
        least = max(1e-5, 2 * self.error)
        peaks = [k for k in peaks if finite[k] - finite[k + 1 :].min() > least * finite[k]]
        if not peaks:
            return None
        k = max(peaks, key=lambda j: float(finite[j]))
        logit = np.log(q / (1 - q))
        best = minimize_scalar(
            lambda x: -min(self.alpha(1 / (1 + math.exp(-x))), _OUT_OF_REACH),
            bounds=(float(logit[k - 1]), float(logit[k + 1])),
            method="bounded",
            options={"xatol": 1e-7},
        )
        top = -float(best.fun)
        return 1 / (1 + math.exp(-float(best.x))), top if top < _OUT_OF_REACH else math.inf

    @cached_property
    def information_threshold(self) -> float:
        """Where the two fixed points have the same free entropy; NaN if there is only one."""
        from scipy.optimize import brentq

        lowest, hard = self._lowest, math.isinf(self.alpha_c)
        if lowest >= _OUT_OF_REACH:
            return math.nan
        if self.full <= lowest * (1 + 1e-6):
            # At perfect recovery the free entropy has no upper bound.
            return self.full
        q, alpha = self.points
        grid = alpha[q >= (1e-3 if self._turn is None else self._turn[0])]
        low, high = float(np.min(grid)) * (1 + 1e-6), self.spinodal * (1 - 1e-9)
        if hard:
            high = 1.5 * lowest
            while self.gain(high) <= 0 and high < 1e3 * lowest:
                high *= 1.5
        if self.gain(low) > 0:
            return lowest
        return float(brentq(self.gain, low, high, xtol=1e-7)) if self.gain(high) > 0 else high

    def coarser(self) -> OverlapCurve:
        """The curve itself, on which every overlap is computed."""
        return self

    def gain(self, alpha: float) -> float:
        """Return the free entropy per direction of the largest fixed point over the smallest."""
        low, high = self.smallest(alpha), self.largest(alpha)
        if high >= 1:
            return math.inf
        if high <= low:
            return 0.0
        x, w = legendre(48)
        a, b = (math.log(v / (1 - v)) for v in (max(low, 1e-9), high))
        logit = 0.5 * (a + b) + 0.5 * (b - a) * x
        q = 1 / (1 + np.exp(-logit))
        slope = np.array([alpha * self.information(float(v)) - v / (1 - v) for v in q])
        return float(0.25 * (b - a) * (w @ (slope * q * (1 - q))))
