"""Checks of activations, which are links of one variable, and of ridges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from learnability.errors import LearnabilityError, LinkError
from learnability.labels.link import Link

__all__ = ["checked_activation", "checked_positive", "checked_ridge", "is_number"]


def checked_activation(source: str | Link | Callable[[Any], Any], name: str = "activation") -> Link:
    """Return a link of one variable, or raise.

    Parameters
    ----------
    source : str, Link or callable
        A formula in z, such as ``"relu(z)"``, or a function of an (..., 1) array.
    name : str
        The name of the argument, which the message quotes.
    """
    try:
        link = Link(source, r=1) if callable(source) else Link(source)
    except LinkError as error:
        raise LearnabilityError(f"`{name}` cannot be read: {error}") from None
    if link.r != 1:
        raise LearnabilityError(
            f"`{name}` was given as {link!r} of {link.r} variables, but a function of one variable "
            "is accepted."
        )
    return link


def is_number(value: Any) -> bool:
    """Return whether a value is a real number (and not a truth value)."""
    import numpy as np

    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def checked_positive(name: str, value: Any) -> float:
    """Return a finite number above zero, or raise."""
    if not is_number(value) or not 0 < value < float("inf"):
        raise LearnabilityError(
            f"`{name}` was given as {value!r}, but a finite number above 0 is accepted."
        )
    return float(value)


def checked_ridge(value: Any) -> float | tuple[float, ...]:
    """Return a ridge, or several distinct ones, at least zero; or raise."""
    alone = is_number(value)
    try:
        path = (value,) if alone else tuple(value)
    except TypeError:
        path = ()
    right = all(is_number(v) and 0 <= v < float("inf") for v in path)
    if not path or not right or len(set(path)) < len(path):
        raise LearnabilityError(
            f"`ridge` was given as {value!r}, but a finite number of at least 0, or several "
            "different ones, are accepted."
        )
    return float(value) if alone else tuple(map(float, path))
