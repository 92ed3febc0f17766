"""A first sketch of state evolution: one fixed point with its error, within a second.

The information of a label is integrated on few level sets and few omega, which is correct to a few
percent, and the iteration M <- A (I + A)^{-1} of `state_evolution` is followed until its steps are
small. Where that takes many steps, or the error hides the answer, there is no sketch.

References
----------
Aubin, Maillard, Barbier, Krzakala, Macris, Zdeborova, NeurIPS 2018.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from learnability.labels.channel import Channel
from learnability.statuses import Status
from learnability.theory._level_information import LevelInformation, Resolution
from learnability.theory._relaxation import FixedPoint, ended, relaxed, response, updated
from learnability.theory.information import MOST_DIRECTIONS, LabelInformation, label_information
from learnability.theory.state_evolution import START
from learnability.theory.thresholds import first_estimates, weak_recovery

__all__ = ["MOST_STEPS", "sketched_fixed_point"]

Array = NDArray[np.float64]

_FEW = Resolution(
    step=(0.004, 0.15, 0.7, 0.8),
    cell_step=(0.08, 0.05, 0.2, 0.5),
    omega_step=(0.8, 1.0, 1.2, 1.2),
    omega_reach=(4.5, 4.0, 3.6, 3.4),
    tolerance=(1e-3, 3e-3, 1e-2, 1e-2),
)
_RELATIVE_ERROR = 0.05
"""Relative error of the information on so few level sets."""
_RESOLVED = (0.99, 0.9, 0.7)
"""Overlaps that these resolve for r = 1, 2, 3; above, the information follows its limit law."""
MOST_STEPS = 40
"""Steps of the iteration that a sketch may take."""
_SMALL_STEP, _SMALL_SHARE, _TINY_STEP = 1e-3, 0.02, 5e-5
"""A step that ends the iteration: at most this large, this share of the overlap, and at least."""
_TOLD, _PUSH = 0.05, 1e-3
"""Directions with a smaller overlap than the first are tried again from the second."""


class _TooLongError(Exception):
    """The iteration takes more steps than a sketch allows."""


@dataclass(frozen=True, eq=False)
class _FewLevels(LabelInformation):
    """The information of a label on few level sets and cells, without any closed form."""

    on_boxes = None
    error = _RELATIVE_ERROR

    @property
    def resolved(self) -> float:
        """Largest overlap that so few level sets resolve."""
        return _RESOLVED[self.r - 1]

    def _by_quadrature(self, M: Array) -> bool:
        return False

    @cached_property
    def _rough(self) -> LevelInformation:
        return LevelInformation(self.channel, _FEW)

    def _correction(self, M: Array) -> Callable[[Array], Array]:
        return lambda rough: rough


@lru_cache(maxsize=4)
def _few_levels(channel: Channel) -> _FewLevels:
    """The same for the sketches of several ratios, which share the level sets."""
    return _FewLevels(channel)


# Its small products gain nothing from threads, which wait for each other on a busy machine.
@threadpool_limits.wrap(limits=1, user_api="blas")  # type: ignore[untyped-decorator]
def sketched_fixed_point(
    channel: Channel, alpha: float, informed: bool = False, most_steps: int = MOST_STEPS
) -> FixedPoint | None:
    """Return roughly where message passing ends, with an error; None where this is unreliable.

    A direction with an overlap that is not resolved makes the information on the others uncertain:
    there is no sketch unless the overlaps of all directions are that large.

    Parameters
    ----------
    channel : Channel
        The link and its label noise.
    alpha : float
        Samples per dimension.
    informed : bool
        Whether to start from the hidden directions instead of from zero overlap.
    most_steps : int
        There is no sketch where the iteration takes more steps.
    """
    r = channel.link.r
    if r >= MOST_DIRECTIONS:
        return None if informed else _below_threshold(channel, alpha)
    information = _few_levels(channel) if channel.law is None else label_information(channel)
    left = most_steps

    def one_step(M: Array) -> Array:
        nonlocal left
        left -= 1
        if left < 0:
            raise _TooLongError
        return updated(alpha * information(M))

    try:
        found = _opened(one_step, (1 - START if informed else START) * np.eye(r), information.error)
        if found is None:
            return None
        found, rest = ended(one_step, found)
        beyond = np.linalg.eigvalsh(found) > information.resolved
        if beyond.any() and not beyond.all():
            return None
        error = (information.error_at(found) + _SMALL_STEP) * response(one_step, found) + rest
    except _TooLongError:
        return None
    return FixedPoint(found, Status.CONVERGED, np.maximum(error, _SMALL_STEP))


def _below_threshold(channel: Channel, alpha: float) -> FixedPoint | None:
    """Nothing is found below the ratio at which a first direction opens; None above it."""
    zero = np.zeros((channel.link.r, channel.link.r))
    for recovery in chain(first_estimates(channel), map(weak_recovery, (channel,))):
        if len(recovery.trivial) or alpha > recovery.alpha + 3 * recovery.alpha_error:
            break
        if alpha < recovery.alpha - 3 * recovery.alpha_error:
            return FixedPoint(zero, Status.CONVERGED, zero + _SMALL_STEP)
    return None


def _tolerance(M: Array) -> float:
    return float(np.clip(_SMALL_SHARE * np.abs(M).max(), _TINY_STEP, _SMALL_STEP))


def _opened(one_step: Callable[[Array], Array], M: Array, relative: float) -> Array | None:
    """Iterate until every direction opens or shrinks; None where the error hides which."""
    for _ in range(len(M) + 1):
        found, status = relaxed(one_step, _tolerance, M)
        if status is not Status.CONVERGED:
            return None
        values, frame = np.linalg.eigh(found)
        shut = frame[:, values < _TOLD]
        if not shut.size:
            return found
        found = np.asarray((frame * np.where(values < _TOLD, 0.0, values)) @ frame.T)
        answer = shut.T @ one_step(found + _PUSH * shut @ shut.T) @ shut
        growth = float(np.linalg.eigvalsh(answer)[-1]) / _PUSH
        if growth < 1 - 2 * relative:
            return found
        if growth < 1 + 2 * relative:
            return None
        M = found + _TOLD * shut @ shut.T
    return None
