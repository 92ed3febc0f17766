"""Weak recovery: the operator behind it, the threshold, and the subspace that it opens."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.gaussian.sections import complement
from learnability.labels.channel import Channel, checked_frame
from learnability.theory.subspaces import bayes_operator, open_range, threshold

__all__ = ["WeakRecovery", "weak_recovery"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class WeakRecovery:
    """What one label says about the hidden directions, to first and second order.

    Attributes
    ----------
    trivial : array, shape (k, r)
        Directions learned at any ratio of samples to dimension: the range of E[m m^T],
        m = E[z | y].
    alpha : float
        1 / lambda_max of the operator, inf when that vanishes. It is the weak-recovery threshold
        of the directions left over when `trivial` is empty.
    alpha_error : float
        Its error.
    directions : array, shape (j, r)
        The subspace that opens at `alpha`; empty when it is infinite.
    operator : array, shape (q, q)
        M -> E[G M G], G = E[z z^T - I | y], in the basis E_ii, (E_ij + E_ji) / sqrt(2) of
        symmetric matrices on the unknown coordinates.
    method : str
        How the conditional moments were computed.
    """

    trivial: Array = field(repr=False)
    alpha: float
    alpha_error: float
    directions: Array = field(repr=False)
    operator: Array = field(repr=False)
    method: str


def weak_recovery(channel: Channel, known: ArrayLike | None = None) -> WeakRecovery:
    """Return the trivial subspace and the weak-recovery threshold of a channel.

    Parameters
    ----------
    channel : Channel
        The link and its label noise.
    known : array_like, shape (j, r), optional
        Orthonormal rows: directions known already.

    Returns
    -------
    WeakRecovery

    References
    ----------
    Mondelli and Montanari, Found. Comput. Math. 19 (2019), theorem 2, for r = 1;
    Troiani et al., arXiv:2405.15480, lemma 4.2, for r > 1.
    """
    r = channel.link.r
    frame = checked_frame(known, r)
    unknown = complement(frame, r)
    moments = channel.conditional_moments([1, 2], frame)
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
    )
