"""State evolution: what Bayes-optimal message passing reaches, and at which ratio of samples.

The overlap M of the posterior mean iterates as M <- A (I + A)^{-1}, A = alpha I(M), where
I(M) = E[g_out g_out^T] is the information of a label about omega ~ N(0, M), with V = I - M. When
M is one number q, the whole curve of fixed points is explicit,

    alpha(q) = q / ((1 - q) I(q)):

from no information message passing climbs to the smallest q with alpha(q) >= alpha, from the
truth it descends to the largest q with alpha(q) <= alpha. Between two overlaps the free entropy
changes by (1/2) int (alpha I(q) - q / (1 - q)) dq for each direction.

References
----------
Barbier, Krzakala, Macris, Miolane, Zdeborova, PNAS 116 (2019), theorems 1 to 3; Aubin, Maillard,
Barbier, Krzakala, Macris, Zdeborova, NeurIPS 2018; Troiani et al., arXiv:2405.15480.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from learnability.labels.channel import Channel
from learnability.labels.posterior import BoxPosterior, scheme_of
from learnability.statuses import Status
from learnability.theory._box_information import KNOWN, FiniteInformation, RootInformation
from learnability.theory._overlap_curve import OverlapCurve
from learnability.theory._quadrature_information import QuadratureInformation
from learnability.theory.thresholds import weak_recovery

__all__ = ["FixedPoint", "StateEvolution", "Thresholds", "state_evolution"]

Array = NDArray[np.float64]

_START = 1e-2
_MOST_STEPS = 200
_PUSH = 1e-3
_LONGEST = 100.0
_RELAXATION = 1.7


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
    """

    alpha_c: float
    alpha_algorithmic: float
    alpha_information: float
    alpha_full: float


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """An overlap M (r, r) that state evolution keeps, and how it was found."""

    M: Array
    status: Status


@lru_cache(maxsize=32)
def state_evolution(channel: Channel) -> StateEvolution:
    """Return the state evolution of a channel, with what it has computed."""
    return StateEvolution(channel)


@dataclass(frozen=True, eq=False)
class StateEvolution:
    """State evolution of one channel with at most three hidden directions.

    Parameters
    ----------
    channel : Channel
        The link and its label noise.
    """

    channel: Channel

    def __post_init__(self) -> None:
        scheme_of(self.channel)  # It refuses too many directions.

    @property
    def r(self) -> int:
        """Number of hidden directions."""
        return self.channel.link.r

    # ---- the information of a label

    @cached_property
    def _on_boxes(self) -> Callable[[Array], Array] | None:
        """E[g_j^2] at diagonal overlaps, by exact integrals, where there are such."""
        scheme = scheme_of(self.channel)
        if not isinstance(scheme, BoxPosterior) or not self._diagonal:
            return None
        finite = FiniteInformation(scheme)
        if scheme.smooth is None:
            return finite
        roots = RootInformation(scheme)
        if not scheme.flat_boxes[0]:
            return roots
        return (lambda q: finite(q) + roots(q)) if self.r == 1 else None

    @cached_property
    def _by_quadrature(self) -> QuadratureInformation:
        return QuadratureInformation(self.channel)

    @cached_property
    def _diagonal(self) -> bool:
        """Whether reflections keep the overlap diagonal."""
        flips = [
            s.signs for s in self.channel.link.symmetries if s.permutation == tuple(range(self.r))
        ]
        return all(any(f[i] * f[j] < 0 for f in flips) for i in range(self.r) for j in range(i))

    @cached_property
    def _orbits(self) -> list[list[int]]:
        """Coordinates that symmetries exchange."""
        orbit = list(range(self.r))
        for s in self.channel.link.symmetries:
            for i, j in enumerate(s.permutation):
                low, high = sorted((orbit[i], orbit[j]))
                orbit = [low if o == high else o for o in orbit]
        return [[i for i in range(self.r) if orbit[i] == o] for o in sorted(set(orbit))]

    def information(self, M: Array) -> Array:
        """Return E[g_out g_out^T] at overlap M, shape (r, r)."""
        if self._on_boxes is not None:
            return np.diag(self._on_boxes(np.diag(M)))
        found = self._by_quadrature(M)
        turns = [s.matrix for s in self.channel.link.symmetries]
        turns = [P for P in turns if np.allclose(P @ M @ P.T, M, atol=1e-9)]
        return np.asarray(np.mean([P @ found @ P.T for P in turns], axis=0))

    # ---- one overlap

    @cached_property
    def curve(self) -> OverlapCurve | None:
        """The curve alpha(q) of the direction found first; None when it is not one number.

        It is that of all directions when symmetries exchange them, and of the smooth coordinate
        of a link constant on boxes in the others while these are not found.
        """
        if self._diagonal and len(self._orbits) == 1:
            eye = np.eye(self.r)
            return OverlapCurve(lambda q: float(self.information(q * eye)[0, 0]), self.alpha_c)
        if self.leading is None or self._on_boxes is None:
            return None
        axis, boxes = self.leading, self._on_boxes
        unit = np.eye(self.r)[axis]
        return OverlapCurve(lambda q: float(boxes(q * unit)[axis]), self.alpha_c)

    @cached_property
    def leading(self) -> int | None:
        """The smooth coordinate of a link on boxes, when the others show nothing without it."""
        scheme = scheme_of(self.channel)
        if self._on_boxes is None or not isinstance(scheme, BoxPosterior) or self.r == 1:
            return None
        if scheme.smooth is None:
            return None
        recovery = weak_recovery(self.channel)
        first = recovery.trivial if len(recovery.trivial) else recovery.directions
        alone = len(first) == 1 and abs(first[0, scheme.smooth]) > 1 - 1e-6
        return scheme.smooth if alone else None

    @cached_property
    def alpha_c(self) -> float:
        """The weak-recovery threshold: 0.0 where one label has a mean direction, inf if hard."""
        recovery = weak_recovery(self.channel)
        return 0.0 if len(recovery.trivial) else recovery.alpha

    @cached_property
    def thresholds(self) -> Thresholds:
        """The thresholds, as numbers."""
        if self.curve is None:
            return Thresholds(self.alpha_c, math.nan, math.nan, math.nan)
        curve = self.curve
        return Thresholds(self.alpha_c, curve.spinodal, curve.information_threshold, curve.full)

    @property
    def note(self) -> str:
        """What the thresholds are about, and what is not computed."""
        if self.curve is None:
            return (
                "The overlap is not one number: of the thresholds only that of weak recovery is "
                "computed. Overlaps come from a quadrature, with errors of about 1e-3, and 1e-2 "
                "a little above a transition."
            )
        if self.leading is not None:
            return (
                f"The jump, information-theoretic and full-recovery thresholds are those of "
                f"z{self.leading + 1}, while the other directions are not found."
            )
        return ""

    # ---- fixed points

    def fixed_point(
        self, alpha: float, informed: bool = False, below: Array | None = None
    ) -> FixedPoint:
        """Return the overlap that message passing reaches.

        Parameters
        ----------
        alpha : float
            Samples over dimension.
        informed : bool
            Start from the hidden directions instead of from nothing.
        below : array, shape (r, r), optional
            The overlap reached at a smaller alpha, to start from.
        """
        if self.curve is not None and self.leading is None:
            q = self.curve.largest(alpha) if informed else self.curve.smallest(alpha)
            return FixedPoint(q * np.eye(self.r), Status.CONVERGED)
        if self.leading is not None:
            return self._staged(alpha, informed)
        if below is not None and not informed:
            return self._iterated(alpha, below)
        start = (1 - _START) if informed else _START
        return self._iterated(alpha, start * np.eye(self.r))

    def fixed_points(self, alphas: Array, informed: bool = False) -> list[FixedPoint]:
        """Return fixed points at several ratios, each found from that of the next smaller one."""
        found: dict[int, FixedPoint] = {}
        below: Array | None = None
        for k in np.argsort(alphas):
            found[int(k)] = self.fixed_point(float(alphas[k]), informed, below)
            below = found[int(k)].M
        return [found[k] for k in range(len(alphas))]

    def _staged(self, alpha: float, informed: bool) -> FixedPoint:
        """Find the leading coordinate first, then the others given what is known of it."""
        axis, boxes = self.leading, self._on_boxes
        assert axis is not None and boxes is not None and self.curve is not None
        q = np.zeros(self.r)
        q[axis] = self.curve.largest(alpha) if informed else self.curve.smallest(alpha)
        rest = [i for i in range(self.r) if i != axis]
        # Knowing the leading coordinate exactly would only help the others.
        if alpha <= self._others_alpha_c:
            return FixedPoint(np.diag(q), Status.CONVERGED)
        if q[axis] >= KNOWN and len({tuple(o) for o in self._orbits}) == 2:

            def alone(x: float) -> float:
                at = q.copy()
                at[rest] = x
                return float(boxes(at)[rest[0]])

            curve = OverlapCurve(alone, self._others_alpha_c)
            q[rest] = curve.largest(alpha) if informed else curve.smallest(alpha)
            return FixedPoint(np.diag(q), Status.CONVERGED)
        q[rest] = (1 - _START) if informed else _START
        return self._iterated(alpha, np.diag(q))

    @cached_property
    def _others_alpha_c(self) -> float:
        """Weak-recovery threshold of the other coordinates when the leading one is known."""
        assert self._on_boxes is not None
        others = np.arange(self.r) != self.leading
        tiny = 1e-7
        slope = float(self._on_boxes(np.where(others, tiny, 1.0))[others].max()) / tiny
        return 1 / slope if slope > 1e-9 else math.inf

    def step(self, alpha: float, M: Array) -> Array:
        """Return one undamped step M -> A (I + A)^{-1}, A = alpha I(M)."""
        A = alpha * self.information(M)
        if not np.isfinite(A).all():  # A direction known exactly stays so.
            found = np.diag(A) / (1 + np.diag(A))
            return np.diag(np.where(np.isfinite(np.diag(A)), found, 1.0))
        return np.asarray(np.linalg.solve(np.eye(self.r) + A, A))

    def _iterated(self, alpha: float, M: Array) -> FixedPoint:
        """Fixed point by iteration; directions at zero are then tried with a small overlap."""
        found = self._relaxed(alpha, M)
        for _ in range(self.r):
            values, vectors = np.linalg.eigh(found.M)
            shut = vectors[:, values < 1e-4]
            if not shut.size:
                break
            pushed = found.M + _PUSH * shut @ shut.T
            answer = shut.T @ self.step(alpha, pushed) @ shut
            if np.linalg.eigvalsh(answer)[-1] <= _PUSH * (1 + 1e-3):
                break
            found = self._relaxed(alpha, pushed)
        return found

    def _relaxed(self, alpha: float, M: Array) -> FixedPoint:
        """Iterate, stretching steps that shrink evenly along one line.

        After a step stretched by s the next one is 1 - s (1 - ratio) times as long, with the ratio
        of the slowest direction: a stretch of 1 / (1 - ratio) would end there. It is taken nine
        tenths as long, so that the fixed point nearest to the start is not missed.
        """
        tolerance = 1e-9 if self._on_boxes is not None else _tolerance(self._by_quadrature)
        stretch, before = 1.0, np.zeros_like(M)
        for count in range(_MOST_STEPS):
            step = self.step(alpha, M) - M
            if np.abs(step).max() <= tolerance:
                return FixedPoint(_cleaned(M + step), Status.CONVERGED)
            same, length = float(np.sum(step * before)), float(np.sum(before**2))
            even = same**2 > 0.98 * length * float(np.sum(step**2))
            if count < 4 or not even or same >= length:
                stretch = 1.0 if count < 4 else _RELAXATION
            else:
                wanted = 0.9 * stretch / (1 - same / length)
                stretch = min(max(wanted, 1.0), 3 * stretch, _LONGEST)
            M, before = _physical(M + stretch * step), step
        return FixedPoint(_cleaned(M), Status.STOPPED)

    def trace(self, alpha: float, steps: int, start: float) -> Array:
        """Return overlaps along the iterations from M = start I, shape (steps + 1, r, r)."""
        found = [start * np.eye(self.r)]
        for _ in range(steps):
            found.append(self.step(alpha, found[-1]))
        return np.array(found)


def _tolerance(engine: QuadratureInformation) -> float:
    """Return steps smaller than the error of the quadrature mean nothing."""
    return 1e-7 if engine.exact else 3e-5


def _physical(M: Array) -> Array:
    """Return the nearest symmetric matrix with eigenvalues in [0, 1)."""
    values, vectors = np.linalg.eigh(0.5 * (M + M.T))
    return np.asarray((vectors * np.clip(values, 1e-12, 1 - 1e-12)) @ vectors.T)


def _cleaned(M: Array) -> Array:
    """Return overlaps of the size of the tolerance are zero."""
    return np.where(np.abs(M) < 1e-5, 0.0, 0.5 * (M + M.T))
