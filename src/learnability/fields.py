"""Declared fields: type, range, unit and one line of help, written once.

A record such as a learner declares ``width: float = number(1.0, above=0, unit="p/d", help="...")``.
From the declaration come the check and its sentence, the row of the docstring, the option of the
command line, the axis of a study and the control of the explorer.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform

from learnability.errors import LearnabilityError

__all__ = [
    "Choice",
    "Declared",
    "Flag",
    "Kind",
    "Number",
    "Several",
    "Whole",
    "choice",
    "declare",
    "declared",
    "flag",
    "given",
    "is_number",
    "number",
    "numbers",
    "record",
    "refuse",
    "whole",
]

_Class = TypeVar("_Class", bound=type)


def refuse(name: str, value: Any, accepted: str) -> LearnabilityError:
    """The error of a value that is not accepted.

    Parameters
    ----------
    name : str
        Of the argument or field.
    value : object
        What was given.
    accepted : str
        What is accepted, with its article: "a finite number above 0".
    """
    shown = repr(value)
    shown = shown if len(shown) <= 200 else shown[:200] + "..."
    return LearnabilityError(f"`{name}` was given as {shown}, but {accepted} is accepted.")


def is_number(value: Any) -> bool:
    """Whether a value is a finite real number and not a truth value."""
    import numpy as np

    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return real and math.isfinite(value)


class Kind:
    """What values a field accepts; a subclass is one type of value."""

    @property
    def accepted(self) -> str:
        """What is accepted, with its article, for sentences and docs."""
        raise NotImplementedError

    @property
    def type_name(self) -> str:
        """The type as a docstring names it."""
        raise NotImplementedError

    def read(self, value: Any) -> Any:
        """The value in its final form.

        Raises
        ------
        ValueError
            When the value is not accepted.
        """
        raise NotImplementedError

    def parse(self, text: str) -> Any:
        """The value that a text of the command line stands for; `read` checks it."""
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
    """A finite number within a range."""

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
        """The value as a float.

        Raises
        ------
        ValueError
            When the value is no finite number of the range.
        """
        if not is_number(value) or not self._inside(value):
            raise ValueError
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
        """The value as an int.

        Raises
        ------
        ValueError
            When the value is no whole number of the range.
        """
        if not is_number(value) or value != int(value) or not self._inside(value):
            raise ValueError
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
        """The value as it is.

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
    """One of a few words."""

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
        """The word.

        Raises
        ------
        ValueError
            When it is none of them.
        """
        if not isinstance(value, str) or value not in self.words:
            raise ValueError
        return value

    def parse(self, text: str) -> Any:
        """The text itself."""
        return text


@dataclass(frozen=True)
class Several(Kind):
    """One number, or several: a tuple, which is an axis of results where they must be distinct."""

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
        """A number, or a tuple of numbers.

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
        """One number, or those between commas."""
        parts = [_plain(part) for part in text.split(",")]
        return parts[0] if len(parts) == 1 else tuple(parts)


@dataclass(frozen=True)
class Declared:
    """What is known of a field beside its name and default.

    Attributes
    ----------
    kind : Kind
        What it accepts.
    help : str
        One sentence.
    unit : str
        The unit of a number, such as "1/d".
    optional : bool
        Whether None is accepted, for a default that depends on the rest.
    when : mapping
        Name of another field -> its values with which this field acts.
    inputs : tuple of str or None
        Kinds of inputs on which the field acts; None for all.
    """

    kind: Kind
    help: str
    unit: str = ""
    optional: bool = False
    when: Mapping[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)
    inputs: tuple[str, ...] | None = None

    @property
    def accepted(self) -> str:
        """What is accepted, with its article."""
        return self.kind.accepted + (", or None," if self.optional else "")

    def read(self, name: str, value: Any) -> Any:
        """The value in its final form.

        Raises
        ------
        LearnabilityError
            When it is not accepted; the sentence names the field.
        """
        if value is None and self.optional:
            return None
        try:
            return self.kind.read(value)
        except LearnabilityError as error:
            raise LearnabilityError(f"`{name}` cannot be read: {error}") from None
        except (ValueError, TypeError, OverflowError):
            raise refuse(name, value, self.accepted) from None

    @property
    def row(self) -> str:
        """Type and help, as a docstring has them."""
        unit = f" In units of {self.unit}." if self.unit else ""
        optional = ", optional" if self.optional else ""
        return f"{self.kind.type_name}{optional}\n        {self.help}{unit}"


def declare(default: Any, kind: Kind, help: str, **about: Any) -> Any:
    """A field of a record.

    Parameters
    ----------
    default : object
        Its default.
    kind : Kind
        What it accepts.
    help : str
        One sentence.
    **about
        `unit`, `optional`, `when` and `inputs` of `Declared`.
    """
    return dataclasses.field(default=default, metadata={"declared": Declared(kind, help, **about)})


def number(default: float | None, *, help: str, above: float | None = None,
           at_least: float | None = None, below: float | None = None,
           at_most: float | None = None, **about: Any) -> Any:  # fmt: skip
    """A field that is a finite number within a range; see `declare`."""
    return declare(default, Number(above, at_least, below, at_most), help, **about)


def whole(default: int | None, *, help: str, at_least: int = 1, at_most: int | None = None,
          **about: Any) -> Any:  # fmt: skip
    """A field that is a whole number within a range; see `declare`."""
    return declare(default, Whole(None, at_least, None, at_most), help, **about)


def numbers(default: Any, *, help: str, above: float | None = None, at_least: float | None = None,
            distinct: bool = True, **about: Any) -> Any:  # fmt: skip
    """A field that is one number or several; see `declare`."""
    return declare(default, Several(Number(above, at_least), distinct), help, **about)


def choice(default: str | None, words: Iterable[str], *, help: str, **about: Any) -> Any:
    """A field that is one of a few words; see `declare`."""
    return declare(default, Choice(tuple(words)), help, **about)


def flag(default: bool, *, help: str, **about: Any) -> Any:
    """A field that is True or False; see `declare`."""
    return declare(default, Flag(), help, **about)


def declared(record: Any) -> Iterator[tuple[dataclasses.Field[Any], Declared]]:
    """The declared fields of a record or of its class."""
    for field in dataclasses.fields(record):
        if "declared" in field.metadata:
            yield field, field.metadata["declared"]


@dataclass_transform(frozen_default=True)
def record(cls: _Class) -> _Class:
    """Make a frozen dataclass whose declared fields are checked and described.

    Every declared field is read by its kind when a record is made, a field that does not act
    beside the others is refused, and the docstring gets its section of parameters. A class with
    more to check defines ``check(self)``, which runs after the fields have been read. A class with
    an ``__init__`` of its own sets the fields there as they were given.
    """
    own: Callable[[Any], None] | None = getattr(cls, "check", None)

    def __post_init__(self: Any) -> None:
        for field, about in declared(self):
            value = about.read(field.name, getattr(self, field.name))
            object.__setattr__(self, field.name, value)
        for field, about in declared(self):
            _refuse_idle(self, field, about)
        if own is not None:
            own(self)

    cls.__post_init__ = __post_init__  # type: ignore[attr-defined]
    init = vars(cls).get("__init__")
    if init is not None:
        cls.__init__ = _then_read(init)  # type: ignore[misc]
    made: Any = dataclass(frozen=True, init=init is None)(cls)
    made.__doc__ = _with_parameters(made)
    return made


def _then_read(init: Callable[..., None]) -> Callable[..., None]:
    """An ``__init__`` after which the fields are read."""

    @functools.wraps(init)
    def __init__(self: Any, *given: Any, **named: Any) -> None:
        init(self, *given, **named)
        self.__post_init__()

    return __init__


def given(record: Any, field: dataclasses.Field[Any], about: Declared) -> bool:
    """Whether a field of a record has another value than its default."""
    default = None if field.default is None else about.read(field.name, field.default)
    return bool(getattr(record, field.name) != default)


def _refuse_idle(record: Any, field: dataclasses.Field[Any], about: Declared) -> None:
    """Refuse a field that was given although it does not act beside the other fields."""
    for other, values in about.when.items():
        if getattr(record, other) not in values and given(record, field, about):
            acts = " or ".join(repr(value) for value in values)
            raise LearnabilityError(
                f"`{field.name}` was given as {getattr(record, field.name)!r}, but it acts only "
                f"with `{other}` = {acts}, and `{other}` is {getattr(record, other)!r}."
            )


def _with_parameters(cls: type) -> str:
    """The docstring of a record with the section of its declared parameters."""
    text = cls.__doc__ or ""
    rows = [f"    {field.name} : {about.row}" for field, about in declared(cls)]
    if not rows:
        return text
    head = "    Parameters\n    ----------\n"
    if head in text:  # Of an __init__ with more than the fields, which come first.
        place = text.index("\n\n", text.index(head)) + 1
        return text[:place] + "\n".join(rows) + "\n" + text[place:]
    section = head + "\n".join(rows) + "\n"
    for head in ("    Notes\n    ---", "    References\n    ---", "    Examples\n    ---"):
        if head in text:
            place = text.index(head)
            return text[:place] + section + "\n" + text[place:]
    return text.rstrip() + "\n\n" + section + "    "
