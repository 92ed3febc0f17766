"""Sections of one function that tell the same of their coordinate, because they differ by a map.

Given known coordinates, a function such as tanh(z1) + abs(z2) z3 is the same function of z3 up to a
shift and a scale of the label, neither of which changes what a label tells: its conditional moments
are those of one section. So are those of sign(z1) + z2 z3 for every z1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.sections import REACH, Section
from learnability.labels.core_sections import core_section

__all__ = ["first_alike"]

Array = NDArray[np.float64]

_POINTS = np.sort(
    np.concatenate(
        [np.linspace(-REACH, REACH, 951), np.random.default_rng(61).uniform(-REACH, REACH, 100)]
    )
)
_EVERYWHERE = (
    np.random.default_rng(67).standard_normal((2048, 18)) * np.linspace(1, 3, 2048)[:, None]
)
"""Points of more coordinates, in the body of the normal law and in its tails."""
_SAME = 1e-12


def first_alike(sections: Sequence[Section], scales: bool) -> list[int]:
    """Return for each section the number of the first one that tells the same.

    Parameters
    ----------
    sections : sequence of Section
        Of one link. Those whose label is drawn from probabilities are not compared, and neither are
        those with cells that are seldom met.
    scales : bool
        Whether labels may differ by a scale, and not by a shift alone.
    """
    found: list[int] = []
    shapes: list[tuple[Array, Array]] = []
    for k, section in enumerate(sections):
        whole = core_section(section)
        if whole is None or len(whole.rare_points):
            shapes.append((np.full(1, np.nan), _EVERYWHERE[:1, 0]))
        else:
            breaks = whole.breakpoints if whole.m == 1 else np.zeros(0)
            shapes.append((breaks, _shape(whole, scales)))
        same = (j for j in dict.fromkeys(found) if _agree(shapes[j], shapes[k]))
        found.append(next(same, k))
    return found


def _shape(section: Section, scales: bool) -> Array:
    """Values without their mean; with the largest one, and its sign, divided out if scales.

    A constant section has no scale, and is like no other.
    """
    points = _POINTS[:, None] if section.m == 1 else _EVERYWHERE[:, : section.m]
    with np.errstate(all="ignore"):
        values = section(points)
        away = values - values.mean()
        if not scales:
            return np.asarray(away)
        return np.asarray(away / away[np.argmax(np.abs(away))])


def _agree(first: tuple[Array, Array], second: tuple[Array, Array]) -> bool:
    (breaks, values), (others, other) = first, second
    if len(breaks) != len(others) or not np.all(np.abs(breaks - others) <= 1e-9):
        return False
    return bool(np.all(np.abs(values - other) <= _SAME * np.abs(values).max()))
