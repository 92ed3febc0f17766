"""Checks of what a hierarchical target is made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from learnability.errors import LearnabilityError, LinkError
from learnability.labels.hermite import expand
from learnability.labels.link import Link

__all__ = ["checked_choice", "checked_depth", "checked_epsilon", "checked_polynomial"]

HIGHEST = 4
"""Degree of the polynomial."""


def checked_polynomial(source: Any) -> Link:
    """P as a link of one variable with mean zero, or a sentence."""
    try:
        link = Link(source, r=1) if callable(source) else Link(source)
    except LinkError as error:
        raise LearnabilityError(f"`polynomial` cannot be read: {error}") from None
    terms = link.polynomial if link.r == 1 else None
    degree = 0 if terms is None else max((sum(powers) for powers in terms), default=0)
    if not 1 <= degree <= HIGHEST:
        raise LearnabilityError(
            f"`polynomial` was given as {link!r}, but a polynomial of one variable of degree 1 to "
            f"{HIGHEST} is accepted."
        )
    found = expand(link, degree)
    if abs(found.mean) > 1e-9 * math.sqrt(found.energy):
        raise LearnabilityError(
            f"`polynomial` was given as {link!r} with a constant term, E[P(z)] = {found.mean:.3g}, "
            "but one of mean zero is accepted: subtract it, or write it in He1, He2, He3."
        )
    return link


def checked_epsilon(epsilon: Any) -> float:
    """A number between 0 and 1, by default 1/2; or a sentence."""
    if epsilon is None:
        return 0.5
    number = isinstance(epsilon, int | float | np.number) and not isinstance(epsilon, bool)
    if not number or not 0 < epsilon < 1:
        raise LearnabilityError(
            f"`epsilon` was given as {epsilon!r}, but a number between 0 and 1 is accepted."
        )
    return float(epsilon)


def checked_depth(depth: Any, levels: tuple[int, ...] | None) -> int:
    """A depth that goes with the levels of a tree, or a sentence."""
    whole = isinstance(depth, int | np.integer) and not isinstance(depth, bool)
    if not whole or not 3 <= depth <= 8:
        raise LearnabilityError(
            f"`depth` was given as {depth!r}, but a whole number from 3 to 8 is accepted."
        )
    if levels is None:
        return int(depth)
    if depth not in (3, len(levels) + 2):
        raise LearnabilityError(
            f"`depth` was given as {depth}, but a tree with levels of {levels} has depth "
            f"{len(levels) + 2}."
        )
    return len(levels) + 2


def checked_choice(name: str, value: Any, accepted: Sequence[str]) -> str:
    """One of the accepted words, or a sentence."""
    if value not in accepted:
        raise LearnabilityError(
            f"`{name}` was given as {value!r}, but {' and '.join(accepted)} are accepted."
        )
    return str(value)
