"""Sections of one function that tell the same of their coordinate, because they differ by a map.

Given known coordinates, a function such as tanh(z1) + abs(z2) z3 is the same function of z3 up to a
shift and a scale of the label, neither of which changes what a label tells: its conditional moments
are those of one section.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.sections import REACH, Section

__all__ = ["first_alike"]

Array = NDArray[np.float64]

_POINTS = np.sort(
    np.concatenate(
        [np.linspace(-REACH, REACH, 951), np.random.default_rng(61).uniform(-REACH, REACH, 100)]
    )
)
_SAME = 1e-12


def first_alike(sections: Sequence[Section], scales: bool) -> list[int]:
    """Return for each section the number of the first one that tells the same.

    Parameters
    ----------
    sections : sequence of Section
        Of one link; only those of one coordinate, without a law of their own, are compared.
    scales : bool
        Whether labels may differ by a scale, and not by a shift alone.
    """
    if sections[0].m > 1 or sections[0].link.law is not None:
        return list(range(len(sections)))
    found: list[int] = []
    shapes: list[tuple[Array, Array]] = []
    for k, section in enumerate(sections):
        shapes.append((section.breakpoints, _shape(section, scales)))
        same = (j for j in dict.fromkeys(found) if _agree(shapes[j], shapes[k]))
        found.append(next(same, k))
    return found


def _shape(section: Section, scales: bool) -> Array:
    """Values without their mean; with the largest one, and its sign, divided out if scales.

    A constant section has no scale, and is like no other.
    """
    with np.errstate(all="ignore"):
        values = section(_POINTS[:, None])
        away = values - values.mean()
        if not scales:
            return np.asarray(away)
        return np.asarray(away / away[np.argmax(np.abs(away))])


def _agree(first: tuple[Array, Array], second: tuple[Array, Array]) -> bool:
    (breaks, values), (others, other) = first, second
    if len(breaks) != len(others) or np.any(np.abs(breaks - others) > 1e-9):
        return False
    return bool(np.all(np.abs(values - other) <= _SAME * np.abs(values).max()))
