"""The ratios of samples at which overlaps change, with their errors.

Each is found for itself: one that does not converge does not take the others with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from learnability.theory.thresholds import WeakRecovery

__all__ = ["FixedPoints", "Thresholds", "phase_thresholds"]


_ROUNDING = 5e-6
"""Relative error of turning points and limits of the curve of fixed points."""


class FixedPoints(Protocol):
    """The fixed points of all ratios: a curve of one overlap, or a family of matrices."""

    @property
    def full(self) -> float:
        """Above it perfect recovery is a fixed point."""
        ...

    @property
    def spinodal(self) -> float:
        """Where the overlap jumps; NaN if it does not."""
        ...

    @property
    def jumps_from(self) -> float:
        """Largest overlap of a direction from which it jumps; one where that is not known."""
        ...

    @property
    def information_threshold(self) -> float:
        """Where the lowest and the highest fixed point have the same free entropy."""
        ...

    def coarser(self) -> FixedPoints:
        """The same from fewer fixed points; itself where none is interpolated."""
        ...


@dataclass(frozen=True)
class Thresholds:
    """Where the overlap changes, in samples over dimension; NaN where there is no such place.

    Attributes
    ----------
    alpha_c : float
        Above it message passing does better than chance; 0.0 trivial, inf hard.
    alpha_algorithmic : float
        Where the overlap of message passing jumps.
    alpha_information : float
        Above it the informative fixed point has the larger free entropy.
    alpha_full : float
        Above it perfect recovery is a fixed point; inf if it never is.
    alpha_c_stderr, alpha_algorithmic_stderr, alpha_information_stderr : float
        Their errors, which come from the information of a label and from what lies between the
        overlaps at which it is computed; NaN for a threshold that is not a finite number.
    """

    alpha_c: float
    alpha_algorithmic: float
    alpha_information: float
    alpha_full: float
    alpha_c_stderr: float = math.nan
    alpha_algorithmic_stderr: float = math.nan
    alpha_information_stderr: float = math.nan

    @classmethod
    def weak(cls, recovery: WeakRecovery, full: float) -> Thresholds:
        """Weak and full recovery alone.

        Parameters
        ----------
        recovery : WeakRecovery
            Of the channel.
        full : float
            The ratio of full recovery.
        """
        trivial = len(recovery.trivial) > 0
        return cls(
            0.0 if trivial else recovery.alpha,
            math.nan,
            math.nan,
            full,
            0.0 if trivial else recovery.alpha_error,
        )


def phase_thresholds(
    recovery: WeakRecovery,
    fixed_points: FixedPoints,
    error: float,
    resolved: float = 1.0,
    beyond: float = 0.0,
) -> tuple[Thresholds, list[str]]:
    """Return all thresholds, and the names of those that are not found.

    Parameters
    ----------
    recovery : WeakRecovery
        Of the channel.
    fixed_points : FixedPoints
        Of all ratios.
    error : float
        Relative error of the information of a label, which is one of every ratio.
    resolved, beyond : float
        Above this overlap the error is larger by so much.
    """
    missed: list[str] = []

    def found(what: str, compute: Callable[[], float]) -> float:
        try:
            return compute()
        except (ArithmeticError, RuntimeError, ValueError):
            missed.append(what)
            return math.nan

    def spread(value: float, coarser: float, more: float) -> float:
        """The error of the information, and what fewer fixed points change."""
        if not math.isfinite(value):
            return math.nan
        return value * (error + more + _ROUNDING) + (
            abs(coarser - value) if math.isfinite(coarser) else 0.0
        )

    full = found("full recovery", lambda: fixed_points.full)
    jump = found("the jump", lambda: fixed_points.spinodal)
    best = found("the information-theoretic threshold", lambda: fixed_points.information_threshold)
    other = found("the error of the last one", lambda: fixed_points.coarser().information_threshold)
    from_far = beyond if math.isfinite(jump) and fixed_points.jumps_from > resolved else 0.0
    return replace(
        Thresholds.weak(recovery, full),
        alpha_algorithmic=jump,
        alpha_information=best,
        alpha_algorithmic_stderr=spread(jump, jump, from_far),
        alpha_information_stderr=spread(best, other, 0.0 if best == full else beyond),
    ), list(dict.fromkeys(missed))
