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
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.quadrature import axis_breaks
from learnability.gaussian.sections import Section
from learnability.labels.channel import Channel
from learnability.labels.link import Link
from learnability.theory._box_information import KNOWN
from learnability.theory._limit_information import sampled_slopes
from learnability.theory._quadrature_information import QuadratureInformation
from learnability.theory.state_evolution import state_evolution

__all__ = ["self_consistent_alpha"]

Array = NDArray[np.float64]

_FEW_NODES, _NODES = 5000, 20_000
"""Nodes of the rule by which the overlap is found, and of that by which it is checked."""
_OVERLAPS = (0.04, 0.16, 0.3, 0.45, 0.6, 0.75, 0.88, 0.96)
_STEP = 1e-2
_AGREE = 2e-4
_MOST_BREAKS = 16
"""Breaks along a coordinate up to which posteriors at all nodes take seconds."""
"""Largest relative difference of the two rules."""


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
        posterior is not exact, when r > 2 and the known direction is not recovered exactly
        before, when the known overlap jumps or is all but one where the others open, when two
        rules do not agree on four digits, or when a label has more than 16 breaks along a
        coordinate.
    """
    if len(known) != 1 or channel.link.r > 3 or channel.law is not None:
        return None
    theory = state_evolution(channel)
    if theory.curve is not None and theory.leading is not None:
        return idealised if theory.curve.smallest(idealised) >= KNOWN else None
    if channel.link.r > 2 or not _splits(channel.link, known, opened):
        return None
    breaks = axis_breaks(Section.whole(channel.link))
    if breaks is not None and max(map(len, breaks)) > _MOST_BREAKS:
        return None
    if not QuadratureInformation(channel).exact:
        return None
    rough, fine = (_Opening(channel, known[0], opened, n) for n in (_FEW_NODES, _NODES))
    reached, ratios = np.array([rough(q) for q in _OVERLAPS]).T
    if np.allclose(np.exp(ratios) / reached, 1 / idealised, rtol=1e-6, atol=0.0):
        return idealised  # What is known does not matter.
    above = int(np.argmax(ratios > 0)) if (ratios > 0).any() else len(ratios)
    if above == 0 or (np.diff(reached[: above + 1]) < 0).any():
        return None  # It opens earlier than is looked for, or where the known overlap jumps.
    if above == len(ratios):
        # The direction is all but known, but is it known before the others open?
        last = max(float(reached[-1]), _fully_known(channel.link, known[0]))
        return idealised if last <= idealised else None
    from scipy.optimize import brentq  # It takes longer to load than many reports to compute.

    ends = _OVERLAPS[above - 1], _OVERLAPS[above]
    q = float(brentq(lambda at: rough(at)[1], *ends, xtol=1e-4))
    first, other = rough(q), fine(q)
    near = rough(q - _STEP)
    slopes = (np.array(first) - near) / _STEP
    alpha = other[0] - slopes[0] * other[1] / slopes[1]
    settled = abs(alpha / first[0] - 1) < _AGREE and alpha >= idealised * (1 - _AGREE)
    return max(float(alpha), idealised) if settled else None


@dataclass(frozen=True, eq=False)
class _Opening:
    """The alpha at which an overlap q of u is reached, and the log of it over the next one."""

    channel: Channel
    u: Array
    opened: Array
    nodes: int

    @cached_property
    def _engine(self) -> QuadratureInformation:
        return QuadratureInformation(self.channel, self.nodes)

    def __call__(self, q: float) -> tuple[float, float]:
        at = q * np.outer(self.u, self.u)
        information, response = self._engine.with_response(at, self.opened)
        reached = q / ((1 - q) * float(self.u @ information @ self.u))
        return reached, math.log(reached * response)


def _fully_known(link: Link, u: Array) -> float:
    """The alpha above which u is known exactly while nothing else is: (1 - q) I(q) ends there."""
    slopes = sampled_slopes(link) @ u
    moving = float(np.mean(np.abs(slopes) > 1e-12))
    moving = 1.0 if moving > 0.999 else moving
    return 1 / moving if moving > 0 else math.inf


def _splits(link: Link, known: Array, opened: Array) -> bool:
    """Return whether a reflection of the link keeps the known direction and flips the new ones."""
    for s in link.symmetries:
        keeps = np.allclose(known @ s.matrix, known, atol=1e-9)
        if keeps and np.allclose(opened @ s.matrix, -opened, atol=1e-9):
            return True
    return False
