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
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from learnability.labels.channel import Channel
from learnability.labels.posterior import box_posterior
from learnability.labels.relabelling import plain_channel
from learnability.statuses import Status
from learnability.theory._box_information import KNOWN
from learnability.theory._free_entropy import free_entropy
from learnability.theory._interpolated import interpolated_information
from learnability.theory._overlap_curve import OverlapCurve
from learnability.theory._overlap_family import OverlapFamily
from learnability.theory._phase_thresholds import FixedPoints, Thresholds, phase_thresholds
from learnability.theory._relaxation import FixedPoint, allowed, updated
from learnability.theory._search_end import (
    different,
    iterated,
    nothing_found,
    random_overlaps,
    search_end,
)
from learnability.theory._slopes import Slopes
from learnability.theory.information import LabelInformation, label_information
from learnability.theory.thresholds import first_estimates, weak_recovery

__all__ = ["START", "FixedPoint", "StateEvolution", "Thresholds", "state_evolution"]

Array = NDArray[np.float64]

START = 1e-2
"""Overlap of the start that knows nothing."""
_MANY = 8
"""From so many ratios on, fixed points of matrices are found along their family."""
_FAMILY = (32, 24, 16, 12)
"""Traces at which the family of fixed points is computed, for one to four directions."""
_NODES, _ON_BOXES = (32, 24, 16, 10), 16
"""Overlaps at which that of exchangeable directions is computed; for four of them on boxes."""


@lru_cache(maxsize=32)
def state_evolution(channel: Channel) -> StateEvolution:
    """Return the state evolution of a channel, with what it has computed.

    An outer function of the label that is one-to-one is taken away where plain noise is left.
    """
    from learnability.theory.relevant_directions import of_relevant_directions

    channel = plain_channel(channel)
    return of_relevant_directions(channel) or StateEvolution(channel)


@dataclass(frozen=True, eq=False)
class StateEvolution:
    """State evolution of one channel with at most four hidden directions.

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

        if information.exact and self.r < 4:
            return OverlapCurve(on_the_diagonal, self.alpha_c, information.error)
        between, missed = interpolated_information(
            on_the_diagonal,
            _ON_BOXES if information.exact else _NODES[self.r - 1],
            information.resolved,
            self.alpha_c > 0,
            information.exponent,
            information.full,
        )
        about = (self.alpha_c, information.error + missed, information.full)
        return OverlapCurve(between, *about, lambda q: information.error_at(q * eye) + missed)

    @cached_property
    def leading(self) -> int | None:
        """The smooth coordinate of a link on boxes, when the others show nothing without it."""
        scheme = box_posterior(self.channel)
        if self.information.on_boxes is None or scheme is None or self.r == 1:
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
        if any(len(found.trivial) for found in first_estimates(self.channel)):
            return 0.0
        recovery = weak_recovery(self.channel)
        return 0.0 if len(recovery.trivial) else recovery.alpha

    @cached_property
    def family(self) -> OverlapFamily:
        """Fixed points of all ratios, where the overlap is not one number."""
        information = self.information

        def told(M: Array) -> float:
            return free_entropy(information, M, 1.0) - free_entropy(information, M, 0.0)

        nodes = _FAMILY[0 if information.exact else self.r - 1]
        about = (self.alpha_c, information.full, information.error)
        return OverlapFamily(information.around, self.r, self._tolerance, *about, told, nodes)

    @property
    def _at_hand(self) -> bool:
        """Whether fixed points of all ratios are known already, or are cheap."""
        return self.curve is not None or self.information.exact or "family" in self.__dict__

    @property
    def thresholds(self) -> Thresholds:
        """The thresholds, as numbers; one that does not converge is NaN, and the note says so."""
        return self._thresholds[0]

    @property
    def thresholds_at_hand(self) -> Thresholds:
        """The same; where fixed points of all ratios would have to be found, the cheap ones."""
        if self._at_hand:
            return self.thresholds
        return Thresholds.weak(weak_recovery(self.channel), self.information.full)

    @cached_property
    def _thresholds(self) -> tuple[Thresholds, list[str]]:
        """The thresholds, and the names of those that are not found."""
        fixed_points: FixedPoints = self.family if self.curve is None else self.curve
        recovery, told = weak_recovery(self.channel), self.information
        far = told.error_at(0.9 * np.eye(4)) - told.error if self.r == 4 and not told.exact else 0.0
        return phase_thresholds(recovery, fixed_points, told.error, told.resolved, far)

    @property
    def note(self) -> str:
        """What the thresholds at hand are about, how exact they are, and what is not computed."""
        said = []
        if not self._at_hand:
            said.append(
                "The overlap is not one number: the jump and the information-theoretic threshold "
                f"are computed with predictions of {_MANY} ratios or more."
            )
        elif self.leading is not None:
            said.append(
                f"The jump, information-theoretic and full-recovery thresholds are those of "
                f"z{self.leading + 1}, while the other directions are not found."
            )
        missed = self._thresholds[1] if self._at_hand else []
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
            q, error = self.curve.reached(alpha, informed)
            return FixedPoint(q * np.eye(self.r), Status.CONVERGED, error * np.eye(self.r))
        if self.leading is not None:
            return self._staged(alpha, informed)
        if not informed and self.alpha_c > 0:
            spread = weak_recovery(self.channel).alpha_error
            nothing = nothing_found(self.information, alpha, self.alpha_c - 3 * spread)
            if nothing is not None:
                return nothing
        if below is not None and not informed:
            return self._iterated(alpha, below)
        start = (1 - START) if informed else START
        return self._iterated(alpha, start * np.eye(self.r))

    def fixed_points(self, alphas: Array, informed: bool = False) -> list[FixedPoint]:
        """Return fixed points at several ratios, each found from that of the next smaller one."""
        found: dict[int, FixedPoint] = {}
        below: Array | None = None
        along, slopes = self.curve is None and len(alphas) >= _MANY, Slopes()
        for k in np.argsort(alphas):
            point = self._along_the_family(float(alphas[k]), informed, slopes) if along else None
            if point is None:
                point = self.fixed_point(float(alphas[k]), informed, below)
            found[int(k)], below = point, point.M
        return [found[k] for k in range(len(alphas))]

    def _along_the_family(self, alpha: float, informed: bool, slopes: Slopes) -> FixedPoint | None:
        """The fixed point between two members of the family; None where they do not tell it."""
        zero, family = np.zeros((self.r, self.r)), self.family
        if alpha <= self.alpha_c and not informed:
            return FixedPoint(zero, Status.CONVERGED, zero)
        branch = family.upper if informed else family.lower
        if alpha > max(family.full, *(m.alpha for m in branch.members)) * (1 + family.error):
            return FixedPoint(np.eye(self.r), Status.CONVERGED, zero)
        found = family.reached(alpha, informed)
        if found is None:
            return None
        moves, about = branch.moved(alpha, informed), (self.information, self._tolerance)
        if self.r > 2:
            return self._between_members(found, moves)
        point = None if moves is None else search_end(*about, alpha, found[0], moves, slopes)
        return self._iterated(alpha, found[0], plain=0) if point is None else point

    def _between_members(
        self, found: tuple[Array, Array], moves: Array | None
    ) -> FixedPoint | None:
        """An overlap of the family and its error, with that of I(M) where it is larger there."""
        M, error = found
        more = self.information.error_at(M) - self.information.error
        if more <= 0:
            return FixedPoint(M, Status.CONVERGED, error)
        if moves is None:
            return None
        return FixedPoint(M, Status.CONVERGED, np.minimum(error + more * allowed(moves), 1.0))

    def _staged(self, alpha: float, informed: bool) -> FixedPoint:
        """Find the leading coordinate first, then the others given what is known of it."""
        axis, boxes = self.leading, self.information.on_boxes
        assert axis is not None and boxes is not None and self.curve is not None
        q, error = np.zeros(self.r), np.zeros(self.r)
        q[axis], error[axis] = self.curve.reached(alpha, informed)
        rest = [i for i in range(self.r) if i != axis]
        # Knowing the leading coordinate exactly would only help the others.
        if alpha <= self._others_alpha_c:
            return FixedPoint(np.diag(q), Status.CONVERGED, np.diag(error))
        if q[axis] >= KNOWN and len({tuple(o) for o in self._orbits}) == 2:

            def alone(x: float) -> float:
                at = q.copy()
                at[rest] = x
                return float(boxes(at)[rest[0]])

            curve = OverlapCurve(alone, self._others_alpha_c, self.information.error)
            q[rest], error[rest] = curve.reached(alpha, informed)
            return FixedPoint(np.diag(q), Status.CONVERGED, np.diag(error))
        q[rest] = (1 - START) if informed else START
        return self._iterated(alpha, np.diag(q))

    @cached_property
    def _others_alpha_c(self) -> float:
        """Weak-recovery threshold of the other coordinates when the leading one is known."""
        assert self.information.on_boxes is not None
        others = np.arange(self.r) != self.leading
        tiny = 1e-7
        slope = float(self.information.on_boxes(np.where(others, tiny, 1.0))[others].max()) / tiny
        return 1 / slope if slope > 1e-9 else math.inf

    def free_entropy(self, M: Array, alpha: float) -> float:
        """Return the free entropy of an overlap above that of none, for each dimension.

        Of the fixed points at one alpha the largest is that of the best estimator.

        Parameters
        ----------
        M : array, shape (r, r)
            Symmetric, with eigenvalues in [0, 1).
        alpha : float
            Samples over dimension.
        """
        return free_entropy(self._information_at, M, alpha)

    def _information_at(self, M: Array) -> Array:
        """The information of a label, from the curve where M is one number."""
        q = float(M[0, 0])
        if self.curve is not None and self.leading is None and np.allclose(M, q * np.eye(self.r)):
            return self.curve.information(q) * np.eye(self.r)
        return self.information(M)

    def all_fixed_points(self, alpha: float, random_starts: int = 2) -> list[FixedPoint]:
        """Return the different fixed points found, that of the largest free entropy first.

        The search starts from no information, from the truth, and from random overlaps. A fixed
        point at which a direction is known exactly comes first: its free entropy has no bound.

        Parameters
        ----------
        alpha : float
            Samples over dimension.
        random_starts : int
            How many random overlaps, where the overlap is not one number.
        """
        points = [self.fixed_point(alpha), self.fixed_point(alpha, informed=True)]
        if self.curve is None:
            starts = random_overlaps(self.r, random_starts, self.information.keeps_diagonal)
            points += [self._iterated(alpha, M) for M in starts]
        return sorted(different(points), key=lambda p: self._rank(p.M, alpha), reverse=True)

    def _rank(self, M: Array, alpha: float) -> float:
        known = np.linalg.eigvalsh(M)[-1] >= KNOWN
        return math.inf if known else self.free_entropy(M, alpha)

    def step(self, alpha: float, M: Array) -> Array:
        """Return one undamped step M -> A (I + A)^{-1}, A = alpha I(M)."""
        return updated(alpha * self.information(M))

    def _iterated(self, alpha: float, M: Array, plain: int = 4) -> FixedPoint:
        """Fixed point by iteration from M."""
        return iterated(self.information, self._tolerance, alpha, M, plain)

    def _tolerance(self, M: Array) -> float:
        """Steps smaller than the error of the information mean nothing."""
        if self.information.exact_at(M):
            return 1e-9 if self.information.on_boxes is not None else 1e-8
        return 1e-5 if self.r < 3 else 1e-4

    def trace(self, alpha: float, steps: int, start: float) -> Array:
        """Return overlaps along the iterations from M = start I, shape (steps + 1, r, r)."""
        found = [start * np.eye(self.r)]
        for _ in range(steps):
            found.append(self.step(alpha, found[-1]))
        return np.array(found)
