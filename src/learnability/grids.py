"""Grids and seeds written on the command line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from learnability.errors import LearnabilityError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["grid", "seeds"]

MOST = 100_000
"""Most points of a grid."""


def grid(text: str, name: str = "alpha") -> NDArray[Any]:
    """Read a grid of numbers.

    Parameters
    ----------
    text : str
        ``a:b:n`` for n points from a to b, both included, ``x,y,z`` for these points, or one
        number.
    name : str
        Of the option, for the sentence on bad input.

    Returns
    -------
    array, shape (k,), or () for one number

    Examples
    --------
    >>> grid("1:2:5")
    array([1.  , 1.25, 1.5 , 1.75, 2.  ])
    """
    import numpy as np

    parts = text.split(":")
    if len(parts) == 1:
        values = [_number(part) for part in text.split(",")]
        if None not in values and len(values) <= MOST:
            return np.array(values[0] if len(values) == 1 else values, dtype=float)
    elif len(parts) == 3:
        first, last, count = _number(parts[0]), _number(parts[1]), _whole(parts[2])
        if first is not None and last is not None and count is not None and 2 <= count <= MOST:
            return np.linspace(first, last, count)
    raise LearnabilityError(
        f"`--{name}` was given as {text!r}, but `a:b:n` (n points from a to b, from 2 to {MOST} of "
        "them), `x,y,z` or one number is accepted."
    )


def seeds(text: str) -> int | list[int]:
    """Read a number of seeds, or the seeds themselves.

    Parameters
    ----------
    text : str
        One whole number from 1, the number of seeds, or ``x,y,z`` for these seeds.

    Returns
    -------
    int or list of int
    """
    values = [_whole(part) for part in text.split(",")]
    found = [value for value in values if value is not None]
    if len(found) < len(values) or len(values) > MOST or (len(values) == 1 and found[0] > MOST):
        raise LearnabilityError(
            f"`--seeds` was given as {text!r}, but a number of seeds (at most {MOST}) or a list "
            "`x,y,z` of whole numbers from 0 is accepted."
        )
    return found[0] if len(found) == 1 else found


def _number(text: str) -> float | None:
    """A finite number, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _whole(text: str) -> int | None:
    """A whole number of at most fifteen digits, or None."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else None
