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
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from learnability.labels.channel import Channel
from learnability.labels.posterior import BoxPosterior, scheme_of
from learnability.statuses import Status
from learnability.theory._box_information import KNOWN
from learnability.theory._interpolated import interpolated_information
from learnability.theory._overlap_curve import OverlapCurve
from learnability.theory.information import RESOLVED, LabelInformation, label_information
from learnability.theory.thresholds import weak_recovery

__all__ = ["FixedPoint", "StateEvolution", "Thresholds", "state_evolution"]

Array = NDArray[np.float64]

_START = 1e-2
_MOST_STEPS = 200
_PUSH = 1e-3
_LONGEST = 100.0
_RELAXATION = 1.7
_CLOSE = 5e-3
_MIXED_STEPS = 12
_NODES = (32, 24, 16)
"""Overlaps at which the information of exchangeable directions is computed."""


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
        _ = self.information  # It refuses too many directions.

    @property
    def r(self) -> int:
        """Number of hidden directions."""
        return self.channel.link.r

    # ---- the information of a label

    @property
    def information(self) -> LabelInformation:
        """E[g_out g_out^T] as a function of the overlap."""
        return label_information(self.channel)

    @cached_property
    def _orbits(self) -> list[list[int]]:
        """Coordinates that symmetries exchange."""
        orbit = list(range(self.r))
        for s in self.channel.link.symmetries:
            for i, j in enumerate(s.permutation):
                low, high = sorted((orbit[i], orbit[j]))
                orbit = [low if o == high else o for o in orbit]
        return [[i for i in range(self.r) if orbit[i] == o] for o in sorted(set(orbit))]

    # ---- one overlap

    @cached_property
    def curve(self) -> OverlapCurve | None:
        """The curve alpha(q) of the direction found first; None when it is not one number.

        It is that of all directions when symmetries exchange them, and of the smooth coordinate
        of a link constant on boxes in the others while these are not found.
        """
        if self.information.keeps_diagonal and len(self._orbits) == 1:
            return self._whole_curve
        if self.leading is None or self.information.on_boxes is None:
            return None
        axis, boxes = self.leading, self.information.on_boxes
        unit = np.eye(self.r)[axis]
        return OverlapCurve(lambda q: float(boxes(q * unit)[axis]), self.alpha_c)

    @cached_property
    def _whole_curve(self) -> OverlapCurve:
        """The curve of all directions, which symmetries exchange."""
        information, eye = self.information, np.eye(self.r)

        def on_the_diagonal(q: float) -> float:
            return float(information.finely(q * eye)[0, 0])

        if information.exact:
            return OverlapCurve(on_the_diagonal, self.alpha_c)
        most, exponent = RESOLVED[self.r - 1], information.exponent

        def limit(v: float, value: float) -> float:
            """Up to its end (1 - q) I(q) follows a power, or is a line in sqrt(1 - q)."""
            share = v / (1 - most)
            if exponent > 0:
                return float(value * share**exponent)
            return 1 / information.full + (value - 1 / information.full) * math.sqrt(share)

        between = interpolated_information(
            on_the_diagonal, _NODES[self.r - 1], most, self.alpha_c > 0, limit
        )
        return OverlapCurve(between, self.alpha_c, information.error, information.full)

    @cached_property
    def leading(self) -> int | None:
        """The smooth coordinate of a link on boxes, when the others show nothing without it."""
        scheme = scheme_of(self.channel)
        if self.information.on_boxes is None or not isinstance(scheme, BoxPosterior) or self.r == 1:
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
        """The thresholds, as numbers; one that does not converge is NaN, and the note says so."""
        if self.curve is None:
            return Thresholds(self.alpha_c, math.nan, math.nan, self.information.full)
        curve = self.curve
        return Thresholds(
            self.alpha_c,
            self._found("the jump", lambda: curve.spinodal),
            self._found("the information-theoretic threshold", lambda: curve.information_threshold),
            self._found("full recovery", lambda: curve.full),
        )

    @cached_property
    def _missed(self) -> list[str]:
        return []

    def _found(self, what: str, compute: Callable[[], float]) -> float:
        try:
            return compute()
        except (ArithmeticError, RuntimeError, ValueError):
            self._missed.append(what)
            return math.nan

    @property
    def note(self) -> str:
        """What the thresholds are about, how exact they are, and what is not computed."""
        said = []
        if self.curve is None:
            said.append(
                "The overlap is not one number: the jump and the information-theoretic threshold "
                "are not computed."
            )
        elif self.leading is not None:
            said.append(
                f"The jump, information-theoretic and full-recovery thresholds are those of "
                f"z{self.leading + 1}, while the other directions are not found."
            )
        missed = [what for what in dict.fromkeys(self._missed) if self.thresholds]
        if missed:
            said.append(f"Not converged: {', '.join(missed)}.")
        if not self.information.exact:
            said.append(
                f"The information of a label has a relative error of {self.information.error:.0e}: "
                "overlaps are those of a ratio alpha that is off by as much."
            )
        return " ".join(said)

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
        axis, boxes = self.leading, self.information.on_boxes
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
        assert self.information.on_boxes is not None
        others = np.arange(self.r) != self.leading
        tiny = 1e-7
        slope = float(self.information.on_boxes(np.where(others, tiny, 1.0))[others].max()) / tiny
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
        if self.information.exact_at(found.M) and not self.information.exact_at(M):
            found = self._relaxed(alpha, found.M)
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

    def _tolerance(self, M: Array) -> float:
        """Steps smaller than the error of the information mean nothing."""
        if self.information.exact_at(M):
            return 1e-9 if self.information.on_boxes is not None else 1e-8
        return 1e-5 if self.r < 3 else 1e-4

    def _relaxed(self, alpha: float, M: Array) -> FixedPoint:
        """Iterate, stretching steps that shrink evenly along one line; then extrapolate.

        After a step stretched by s the next one is 1 - s (1 - ratio) times as long, with the ratio
        of the slowest direction: a stretch of 1 / (1 - ratio) would end there. It is taken nine
        tenths as long, so that the fixed point nearest to the start is not missed.
        """
        stretch, before = 1.0, np.zeros_like(M)
        for count in range(_MOST_STEPS):
            step = self.step(alpha, M) - M
            size = float(np.abs(step).max())
            if size <= self._tolerance(M):
                return FixedPoint(_cleaned(M + step), Status.CONVERGED)
            if count >= 4 and size <= _CLOSE:
                found = self._extrapolated(alpha, M, step)
                if found is not None:
                    return found
            same, length = float(np.sum(step * before)), float(np.sum(before**2))
            even = same**2 > 0.98 * length * float(np.sum(step**2))
            if count < 4 or not even or same >= length:
                stretch = 1.0 if count < 4 else _RELAXATION
            else:
                wanted = 0.9 * stretch / (1 - same / length)
                stretch = min(max(wanted, 1.0), 3 * stretch, _LONGEST)
            M, before = _physical(M + stretch * step), step
        return FixedPoint(_cleaned(M), Status.STOPPED)

    def _extrapolated(self, alpha: float, M: Array, step: Array) -> FixedPoint | None:
        """The fixed point near M by Anderson's mixing of the last steps; None if it strays."""
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
            M = _physical(new)
            step = self.step(alpha, M) - M
            points, steps = [*points[-3:], M], [*steps[-3:], step]
            if max(moved, float(np.abs(step).max())) <= 3 * self._tolerance(M):
                return FixedPoint(_cleaned(M + step), Status.CONVERGED)
        return None

    def trace(self, alpha: float, steps: int, start: float) -> Array:
        """Return overlaps along the iterations from M = start I, shape (steps + 1, r, r)."""
        found = [start * np.eye(self.r)]
        for _ in range(steps):
            found.append(self.step(alpha, found[-1]))
        return np.array(found)


def _physical(M: Array) -> Array:
    """Return the nearest symmetric matrix with eigenvalues in [0, 1)."""
    values, vectors = np.linalg.eigh(0.5 * (M + M.T))
    return np.asarray((vectors * np.clip(values, 1e-12, 1 - 1e-12)) @ vectors.T)


def _cleaned(M: Array) -> Array:
    """Set overlaps of the size of the tolerance to zero."""
    return np.where(np.abs(M) < 1e-5, 0.0, 0.5 * (M + M.T))
