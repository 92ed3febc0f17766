"""Kinds of values that a field accepts: what is read, what is refused, what a text stands for."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from learnability.errors import LearnabilityError

__all__ = ["Choice", "Flag", "Kind", "Number", "Several", "Whole", "is_number", "within_range"]

SMALLEST, LARGEST = 1e-50, 1e50
"""Numbers beside 0 whose cubes are still far from the ends of double precision."""
LARGEST_WHOLE = 2**53


def is_number(value: Any) -> bool:
    """Return whether a value is a finite real number and not a truth value.

    Parameters
    ----------
    value : object
        What was given.
    """
    import numpy as np

    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    try:
        return real and math.isfinite(value)
    except OverflowError:  # A whole number beyond every float.
        return False


def within_range(value: Any, smallest: float = SMALLEST, largest: float = LARGEST) -> None:
    """Refuse a finite number beside 0 that is too small or too large to compute with.

    Parameters
    ----------
    value : number
        What was given.
    smallest, largest : float
        Ends of the range of its magnitude.

    Raises
    ------
    LearnabilityError
        The message names the range.
    """
    size = abs(float(value))  # Not in single precision, where the ends are 0 and infinity.
    if size and not smallest <= size <= largest:
        raise LearnabilityError(
            f"{float(value)!r} is out of range: 0 and magnitudes from {smallest:g} to {largest:g} "
            "are accepted."
        )


class Kind:
    """What values a field accepts; a subclass is one type of value.

    Attributes
    ----------
    examples : tuple
        Values that are accepted, where the class of the kind does not say them; tests try them.
    """

    examples: ClassVar[tuple[Any, ...]] = ()

    @property
    def accepted(self) -> str:
        """What is accepted, with its article, for sentences and docs."""
        raise NotImplementedError

    @property
    def type_name(self) -> str:
        """The type as a docstring names it."""
        raise NotImplementedError

    def read(self, value: Any) -> Any:
        """Return the value in its final form.

        Parameters
        ----------
        value : object
            What was given.

        Raises
        ------
        ValueError
            When the value is not accepted.
        """
        raise NotImplementedError

    def parse(self, text: str) -> Any:
        """Return the value that a text of the command line stands for; `read` checks it.

        Parameters
        ----------
        text : str
            What was given.
        """
        return _plain(text)


def _plain(text: str) -> Any:
    words: dict[str, Any] = {"none": None, "true": True, "false": False}
    if text.strip().lower() in words:
        return words[text.strip().lower()]
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return text


def _range(above: float | None, at_least: float | None, below: float | None,
           at_most: float | None) -> str:  # fmt: skip
    parts = []
    if above is not None:
        parts.append(f"above {above:g}")
    if at_least is not None:
        parts.append(f"of at least {at_least:g}")
    if below is not None:
        parts.append(f"below {below:g}")
    if at_most is not None:
        parts.append(f"of at most {at_most:g}")
    return " and ".join(parts)


@dataclass(frozen=True)
class Number(Kind):
    """A finite number within a range.

    Attributes
    ----------
    above, at_least, below, at_most : float or None
        The ends of the range, those that there are.
    """

    above: float | None = None
    at_least: float | None = None
    below: float | None = None
    at_most: float | None = None

    @property
    def accepted(self) -> str:
        """What is accepted, with its article, for sentences and docs."""
        return f"a finite number {self._limits}".strip()

    @property
    def _limits(self) -> str:
        return _range(self.above, self.at_least, self.below, self.at_most)

    @property
    def type_name(self) -> str:
        """The type as a docstring names it."""
        return "float"

    def _inside(self, value: Any) -> bool:
        return (
            (self.above is None or value > self.above)
            and (self.at_least is None or value >= self.at_least)
            and (self.below is None or value < self.below)
            and (self.at_most is None or value <= self.at_most)
        )

    def read(self, value: Any) -> Any:
        """Return the value as a float.

        Raises
        ------
        ValueError
            When the value is no finite number of the range.
        """
        if not is_number(value) or not self._inside(value):
            raise ValueError
        within_range(value)
        return float(value)


@dataclass(frozen=True)
class Whole(Number):
    """A whole number within a range; 4.0 counts as one."""

    @property
    def accepted(self) -> str:
        """What is accepted, with its article, for sentences and docs."""
        return f"a whole number {self._limits}".strip()

    @property
    def type_name(self) -> str:
        """The type as a docstring names it."""
        return "int"

    def read(self, value: Any) -> Any:
        """Return the value as an int.

        Raises
        ------
        ValueError
            When the value is no whole number of the range.
        """
        if not is_number(value) or value != int(value) or not self._inside(value):
            raise ValueError
        within_range(int(value), 1, LARGEST_WHOLE)
        return int(value)


@dataclass(frozen=True)
class Flag(Kind):
    """True or False."""

    @property
    def accepted(self) -> str:
        """What is accepted, with its article, for sentences and docs."""
        return "True or False"

    @property
    def type_name(self) -> str:
        """The type as a docstring names it."""
        return "bool"

    def read(self, value: Any) -> Any:
        """Return the value as it is.

        Raises
        ------
        ValueError
            When it is neither True nor False.
        """
        if not isinstance(value, bool):
            raise ValueError
        return value


@dataclass(frozen=True)
class Choice(Kind):
    """One of a few words.

    Attributes
    ----------
    words : tuple of str
        Those that are accepted.
    """

    words: tuple[str, ...]

    @property
    def accepted(self) -> str:
        """What is accepted, with its article, for sentences and docs."""
        return "one of " + ", ".join(self.words)

    @property
    def type_name(self) -> str:
        """The type as a docstring names it."""
        return "{" + ", ".join(f'"{word}"' for word in self.words) + "}"

    def read(self, value: Any) -> Any:
        """Return the word.

        Raises
        ------
        ValueError
            When it is none of them.
        """
        if not isinstance(value, str) or value not in self.words:
            raise ValueError
        return value

    def parse(self, text: str) -> Any:
        """Return the text itself."""
        return text


@dataclass(frozen=True)
class Several(Kind):
    """One number, or several: a tuple, which is an axis of results where they must be distinct.

    Attributes
    ----------
    each : Number
        What each of them is.
    distinct : bool
        Whether no two may be equal.
    """

    each: Number
    distinct: bool = True

    @property
    def accepted(self) -> str:
        """What is accepted, with its article, for sentences and docs."""
        several = "several different ones" if self.distinct else "a list of them"
        return f"{self.each.accepted} or {several}"

    @property
    def type_name(self) -> str:
        """The type as a docstring names it."""
        return f"{self.each.type_name} or sequence of {self.each.type_name}"

    def read(self, value: Any) -> Any:
        """Return a number, or a tuple of numbers.

        Raises
        ------
        ValueError
            When one of them is not accepted.
        """
        if is_number(value):
            return self.each.read(value)
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise ValueError
        found = tuple(self.each.read(one) for one in value)
        if not found or (self.distinct and len(set(found)) < len(found)):
            raise ValueError
        return found

    def parse(self, text: str) -> Any:
        """Return one number, or those between commas."""
        parts = [_plain(part) for part in text.split(",")]
        return parts[0] if len(parts) == 1 else tuple(parts)
