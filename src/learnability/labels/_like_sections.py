"""Sections of one function that tell the same of their coordinate, because they differ by a map.

Given known coordinates, a function such as tanh(z1) + abs(z2) z3 is the same function of z3 up to a
shift and a scale of the label, neither of which changes what a label tells: its conditional moments
are those of one section. So are those of sign(z1) + z2 z3 for every z1. Those of sign(z1 + z2 z3)
at z1 and -z1 are the same after a reflection of z2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.hermite_products import product_rotation
from learnability.gaussian.sections import REACH, Section
from learnability.labels._moment_matrices import ConditionalMoments
from learnability.labels.core_sections import core_section

__all__ = ["first_alike", "turned"]

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
_MOST_REFLECTED = 4
"""Coordinates up to which all reflections are tried; of more, none is."""

Shape = tuple[Array, Array]
"""Breaks of a section on a line, and its values up to a map of the label."""


def first_alike(sections: Sequence[Section], scales: bool) -> list[tuple[int, Array]]:
    """Return for each section the number of the first one that tells the same, and a reflection.

    Parameters
    ----------
    sections : sequence of Section
        Of one link. Those whose label is drawn from probabilities are not compared, and neither are
        those with cells that are seldom met.
    scales : bool
        Whether labels may differ by a scale, and not by a shift alone.

    Returns
    -------
    list of (int, array of shape (m,))
        A number j and signs, such that section(s) tells the same of s as section j of signs s.
    """
    found: list[tuple[int, Array]] = []
    first: dict[int, list[tuple[Array, Shape]]] = {}
    for k, section in enumerate(sections):
        whole = core_section(section)
        alone = k, np.ones(section.m)
        if whole is None or len(whole.rare_points):
            found.append(alone)
            continue
        own = _shape(whole, scales, np.ones(whole.m))
        same = (
            (j, signs[: section.m])
            for j, shapes in first.items()
            for signs, shape in shapes
            if _agree(shape, own)
        )
        found.append(next(same, alone))
        if found[-1][0] == k:
            first[k] = [(signs, _shape(whole, scales, signs)) for signs in _reflections(whole.m)]
    return found


def turned(moments: ConditionalMoments, signs: Array) -> ConditionalMoments:
    """Return the moments of a section that tells the same after a reflection of coordinates."""
    if np.all(signs > 0):
        return moments
    own = np.diag(product_rotation(np.diag(signs), moments.order))
    both = np.multiply.outer(own, own)
    return replace(
        moments,
        matrix=both * moments.matrix,
        rules=tuple(both * rule for rule in moments.rules),
        replicates=tuple((both * part, tag) for part, tag in moments.replicates),
    )


def _reflections(m: int) -> list[Array]:
    """Signs (m,) of coordinates, none of them changed first."""
    if m > _MOST_REFLECTED:
        return [np.ones(m)]
    return [np.array(signs) for signs in product((1.0, -1.0), repeat=m)]


def _shape(section: Section, scales: bool, signs: Array) -> Shape:
    """Breaks, and values at reflected points without their mean.

    If scales, the largest value and its sign are divided out, unless all are the same.
    """
    points = _POINTS[:, None] if section.m == 1 else _EVERYWHERE[:, : section.m]
    breaks = np.sort(signs[0] * section.breakpoints) if section.m == 1 else np.zeros(0)
    with np.errstate(all="ignore"):
        values = section(signs * points)
        if np.ptp(values) == 0:
            return breaks, np.zeros(len(points))
        away = values - values.mean()
        return breaks, np.asarray(away / away[np.argmax(np.abs(away))] if scales else away)


def _agree(first: Shape, second: Shape) -> bool:
    (breaks, values), (others, other) = first, second
    if len(breaks) != len(others) or not np.all(np.abs(breaks - others) <= 1e-9):
        return False
    return bool(np.all(np.abs(values - other) <= _SAME * np.abs(values).max()))
