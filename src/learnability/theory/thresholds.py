"""Weak recovery: the operator behind it, the threshold, and the subspace that it opens."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.gaussian.sections import Section, complement
from learnability.labels.channel import Channel, checked_frame
from learnability.labels.conditional import FEW_SAMPLES, MANY_SAMPLES, is_sampled
from learnability.theory.subspaces import bayes_operator, open_range, threshold

__all__ = ["WeakRecovery", "first_estimates", "spectrum_is_needed", "weak_recovery"]

Array = NDArray[np.float64]

_FIRST_SAMPLES = (14, FEW_SAMPLES)
"""Base-two logarithms of the numbers of samples behind first estimates."""


@dataclass(frozen=True)
class WeakRecovery:
    """The information of one label on the hidden directions, to first and second order.

    Attributes
    ----------
    trivial : array, shape (k, r)
        Directions learned at any ratio of samples to dimension: the range of E[m m^T],
        m = E[z | y].
    alpha : float
        1 / lambda_max of the operator, inf when that vanishes. If `trivial` is empty, it is the
        weak-recovery threshold.
    alpha_error : float
        The error of `alpha`.
    directions : array, shape (j, r)
        The subspace that opens at `alpha`; empty when it is infinite.
    operator : array, shape (q, q)
        M -> E[G M G], G = E[z z^T - I | y], in the basis E_ii, (E_ij + E_ji) / sqrt(2) of
        symmetric matrices on the unknown coordinates.
    method : str
        How the conditional moments were computed.
    mean_vanishes : bool
        Whether symmetries prove that E[z | y] = 0, so that nothing is trivial.
    """

    trivial: Array = field(repr=False)
    alpha: float
    alpha_error: float
    directions: Array = field(repr=False)
    operator: Array = field(repr=False)
    method: str
    mean_vanishes: bool


def weak_recovery(
    channel: Channel, known: ArrayLike | None = None, samples: int = MANY_SAMPLES
) -> WeakRecovery:
    """Return the trivial subspace and the weak-recovery threshold of a channel.

    Parameters
    ----------
    channel : Channel
        The link and its label noise.
    known : array_like, shape (j, r), optional
        Orthonormal rows: directions known already.
    samples : int
        Base-two logarithm of the number of samples, where samples are used.

    Returns
    -------
    WeakRecovery

    References
    ----------
    Mondelli and Montanari, Found. Comput. Math. 19 (2019), theorem 2, for r = 1;
    Troiani et al., arXiv:2405.15480, lemma 4.2, for r > 1.
    """
    if known is None:
        return _of_nothing_known(channel, samples)
    return _weak_recovery(channel, checked_frame(known, channel.link.r), samples)


@lru_cache(maxsize=64)
def _of_nothing_known(channel: Channel, samples: int) -> WeakRecovery:
    """Return the same with nothing known, cached as several questions need it."""
    return _weak_recovery(channel, checked_frame(None, channel.link.r), samples)


def _weak_recovery(channel: Channel, frame: Array, samples: int) -> WeakRecovery:
    r = channel.link.r
    unknown = complement(frame, r)
    moments = channel.conditional_moments([1, 2], frame, samples)
    trivial = open_range(moments[1].matrix, moments[1].entry_error, 1.0).basis @ unknown
    value, error, opened = threshold(moments[2], len(unknown))
    zero = value <= max(10 * error, 1e-6)
    return WeakRecovery(
        trivial=trivial,
        alpha=math.inf if zero else 1 / value,
        alpha_error=0.0 if zero else error / value**2,
        directions=np.zeros((0, r)) if zero else opened @ unknown,
        operator=bayes_operator(moments[2].matrix, len(unknown)),
        method=moments[2].method,
        mean_vanishes=moments[1].method == "symmetry",
    )


def first_estimates(channel: Channel) -> Iterator[WeakRecovery]:
    """Yield the weak recovery of a channel from few samples, then from more.

    An estimate is yielded only where few samples decide its kind: where a direction is trivial, or
    symmetries allow none that is. Nothing is yielded where no samples are used.

    Parameters
    ----------
    channel : Channel
        The link and its label noise.

    Yields
    ------
    WeakRecovery
        Each with a smaller error than the one before.
    """
    if not is_sampled(Section.whole(channel.link)):
        return
    best = math.inf
    for samples in _FIRST_SAMPLES:
        found = weak_recovery(channel, samples=samples)
        trivial = len(found.trivial) > 0
        error = 0.0 if trivial else found.alpha_error
        sure = samples >= FEW_SAMPLES if trivial else found.mean_vanishes
        if sure and error < best and (trivial or math.isfinite(found.alpha)):
            best = error
            yield found


def spectrum_is_needed(channel: Channel) -> bool:
    """Return whether no direction shows in E[z | y], but one in E[z z^T - I | y].

    Parameters
    ----------
    channel : Channel
        The link and its label noise.
    """
    for found in first_estimates(channel):
        return not len(found.trivial)
    recovery = weak_recovery(channel)
    return not len(recovery.trivial) and math.isfinite(recovery.alpha)
