"""Fields of a hierarchical target: its polynomial and the sizes of its levels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from learnability.errors import LearnabilityError
from learnability.fields import Kind, Several, Whole
from learnability.labels.fields import Function
from learnability.labels.hermite import expand
from learnability.labels.link import Link

__all__ = ["Levels", "Polynomial"]

HIGHEST = 8
"""The highest degree of the polynomial."""


class Polynomial(Function):
    """A polynomial of one variable and mean zero; it becomes a Link."""

    accepted = f"a polynomial of one variable of degree 1 to {HIGHEST}"
    type_name = "str or Link"
    examples = ("He2(z)/2 + He3(z)/6", "z + He2(z)")

    def read(self, value: Any) -> Link:
        """Return the Link.

        Raises
        ------
        LearnabilityError
            When it is not a polynomial of one variable, or has a constant term.
        """
        link = super().read(value)
        degree = max((sum(powers) for powers in link.polynomial or {}), default=0)
        if not 1 <= degree <= HIGHEST:
            raise ValueError
        found = expand(link, degree)
        if abs(found.mean) > 1e-9 * math.sqrt(found.energy):
            raise LearnabilityError(
                f"{link!r} was given with a constant term, E[P(z)] = {found.mean:.3g}, but one of "
                "mean zero is accepted: subtract it, or write it in He1, He2, He3."
            )
        return link


class Levels(Kind):
    """The number of variables of each level under a feature; it becomes a tuple."""

    accepted = (
        "a whole number from 1, or one for each level, each a multiple, at least twofold, of the "
        "next,"
    )
    type_name = "int or sequence of int"
    examples = (3, 4)

    def read(self, value: Any) -> tuple[int, ...]:
        """Return the numbers, directions first.

        Raises
        ------
        ValueError
            When one is not a whole number, or not a multiple of the next.
        """
        several = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)
        sizes = tuple(Whole(at_least=1).read(size) for size in (value if several else [value]))
        if not sizes or any(a % b or a < 2 * b for a, b in zip(sizes, sizes[1:], strict=False)):
            raise ValueError
        return sizes

    def parse(self, text: str) -> Any:
        """Read one number, or several separated by commas."""
        return Several(Whole(at_least=1)).parse(text)
