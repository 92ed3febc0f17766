"""Where a later step of the grand staircase opens when earlier directions are partly known.

A direction u that is known with overlap q is reached at alpha(q) = q / ((1 - q) I_u(q)); the next
directions open where alpha times the response of their information at that overlap is 1. Both
hold at one q, the root of their ratio.

References
----------
Troiani, Dandi, Defilippis, Zdeborova, Loureiro, Krzakala, arXiv:2405.15480.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from learnability.labels.channel import Channel
from learnability.labels.link import Link
from learnability.theory._box_information import KNOWN
from learnability.theory._quadrature_information import QuadratureInformation
from learnability.theory.state_evolution import state_evolution

__all__ = ["self_consistent_alpha"]

Array = NDArray[np.float64]


def self_consistent_alpha(
    channel: Channel, known: Array, opened: Array, idealised: float
) -> float | None:
    """Return the alpha at which directions open when earlier ones are only partly known.

    Parameters
    ----------
    channel : Channel
        The link and its noise.
    known, opened : array, shapes (j, r) and (k, r)
        Orthonormal rows: the directions found before, and those that open.
    idealised : float
        The alpha at which they open when the earlier ones are known exactly.

    Returns
    -------
    float or None
        None when it is not computed: when more than one direction is partly known, when the
        posterior is not exact, or when r > 2 and the known direction is not recovered exactly
        before.
    """
    from scipy.optimize import brentq

    if len(known) != 1 or channel.link.r > 3 or channel.law is not None:
        return None
    theory = state_evolution(channel)
    if theory.curve is not None and theory.leading is not None:
        return idealised if theory.curve.smallest(idealised) >= KNOWN else None
    if channel.link.r > 2 or not _splits(channel.link, known, opened):
        return None
    engine = QuadratureInformation(channel, nodes=5000)
    if not engine.exact:
        return None
    u = known[0]

    def gap(q: float) -> float:
        """Return the log of the alpha at which q is reached over that at which others open."""
        information, response = engine.with_response(q * np.outer(u, u), opened)
        reached = q / ((1 - q) * float(u @ information @ u))
        return math.log(reached * response)

    low, high = 0.04, 0.96
    if gap(high) < 0:  # The direction is all but known before the others open.
        return idealised
    if gap(low) > 0:
        return None
    q = float(brentq(gap, low, high, xtol=1e-4))
    return 1 / engine.with_response(q * np.outer(u, u), opened)[1]


def _splits(link: Link, known: Array, opened: Array) -> bool:
    """Return whether a reflection of the link keeps the known direction and flips the new ones."""
    for s in link.symmetries:
        keeps = np.allclose(known @ s.matrix, known, atol=1e-9)
        if keeps and np.allclose(opened @ s.matrix, -opened, atol=1e-9):
            return True
    return False
