"""Checks of what a user gives to one-pass SGD; what is not accepted ends in a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.errors import LearnabilityError

__all__ = ["check_count", "check_overlap", "check_size", "checked_layer", "checked_times"]

Array = NDArray[np.float64]


def check_count(name: str, value: Any) -> None:
    """A whole number from 1."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise LearnabilityError(
            f"`{name}` was given as {value!r}, but a whole number from 1 is accepted."
        )


def check_size(name: str, value: Any, signed: bool = False) -> None:
    """A finite number, from 0 on unless it may have a sign."""
    if not _is_number(value) or (value < 0 and not signed):
        raise LearnabilityError(
            f"`{name}` was given as {value!r}, but a finite number"
            f"{'' if signed else ' of at least 0'} is accepted."
        )


def checked_layer(value: Any, width: int) -> float | tuple[float, ...]:
    """One weight for all neurons, or one each."""
    if _is_number(value):
        return float(value)
    numbers = list(value) if isinstance(value, Sequence | np.ndarray) else []
    if len(numbers) != width or not all(map(_is_number, numbers)):
        raise LearnabilityError(
            f"`second_layer` was given as {value!r}, but a number or one for each of the "
            f"{width} neurons is accepted."
        )
    return tuple(map(float, numbers))


def check_overlap(overlap: Any) -> None:
    """A cosine between 0 and 1."""
    if not _is_number(overlap) or not 0 < overlap < 1:
        raise LearnabilityError(
            f"`overlap` was given as {overlap!r}, but a number between 0 and 1 is accepted."
        )


def checked_times(time: ArrayLike) -> Array:
    """Times as an array of shape () or (k,), or a sentence."""
    try:
        values = np.asarray(time, dtype=float)
    except (TypeError, ValueError):
        values = np.zeros((0, 0))
    if values.ndim > 1 or not values.size or not np.isfinite(values).all():
        raise LearnabilityError(
            f"`time` was given as {time!r}, but a finite number of steps over d or a list of them "
            "is accepted."
        )
    flat = np.atleast_1d(values)
    if flat[0] < 0 or (np.diff(flat) < 0).any():
        raise LearnabilityError(
            f"`time` was given as {time!r}, but times from 0 on that do not decrease are accepted."
        )
    return values


def _is_number(value: Any) -> bool:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return number and math.isfinite(value)
