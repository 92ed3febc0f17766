"""Grids and seeds written on the command line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from learnability.errors import LearnabilityError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["grid", "seeds", "setting"]

MOST = 100_000
"""The largest number of points of a grid."""


def grid(text: str, name: str = "alpha") -> NDArray[Any]:
    """Read a grid of numbers.

    Parameters
    ----------
    text : str
        ``a:b:n`` for n points from a to b, both included, ``x,y,z`` for these points, or one
        number.
    name : str
        The name of the option, which the message on bad input quotes.

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


def setting(text: str, name: str) -> Any:
    """Read the values of any parameter.

    Parameters
    ----------
    text : str
        ``a:b:n``, ``x,y,z`` or one value; numbers without a point are whole where they can be,
        ``none``, ``true`` and ``false`` are Python's, and other words are taken as they are; a
        comma inside brackets belongs to a formula.
    name : str
        The name of the parameter, which the message on bad input quotes.

    Returns
    -------
    a value, or a list of them

    Examples
    --------
    >>> setting("100:300:3", "d"), setting("0.5", "damping"), setting("random,spectral", "start")
    ([100, 200, 300], 0.5, ['random', 'spectral'])
    """
    if ":" in text:
        found = grid(text, name).tolist()
        whole = "." not in text and all(value == int(value) for value in found)
        return [int(value) for value in found] if whole else found
    values = [_value(part.strip()) for part in _parts(text)]
    if "" in values:
        raise LearnabilityError(
            f"`{name}` was given as {text!r}, but `a:b:n`, `x,y,z` or one value is accepted."
        )
    return values[0] if len(values) == 1 else values


def _parts(text: str) -> list[str]:
    """Return the texts between those commas that are outside all brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _value(text: str) -> Any:
    words = {"none": None, "true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    number = _number(text)
    if number is None:
        return text
    plain = text.lstrip("+-").isdigit()
    return int(text) if plain and len(text) <= 15 else number


def _number(text: str) -> float | None:
    """Return a finite number, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _whole(text: str) -> int | None:
    """Return a whole number of at most fifteen digits, or None."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else None
