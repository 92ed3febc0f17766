"""Records of declared fields, which check and describe themselves."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, TypeVar, dataclass_transform

from learnability.errors import LearnabilityError, refuse
from learnability.fields.kinds import Choice, Flag, Kind, Number, Several, Whole
from learnability.markup import card, html_table

__all__ = [
    "Declared",
    "choice",
    "declare",
    "declared",
    "flag",
    "given",
    "number",
    "numbers",
    "record",
    "whole",
]

_Class = TypeVar("_Class", bound=type)


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
        """Return the value in its final form.

        Parameters
        ----------
        name : str
            The name of the field, which the message quotes.
        value : object
            What was given.

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
        return f"{self.kind.type_name}{optional}\n    {self.help}{unit}"


def declare(default: Any, kind: Kind, help: str, **about: Any) -> Any:
    """Return a field of a record.

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
    """Return a field that is a finite number within a range; see `declare`."""
    return declare(default, Number(above, at_least, below, at_most), help, **about)


def whole(default: int | None, *, help: str, at_least: int = 1, at_most: int | None = None,
          **about: Any) -> Any:  # fmt: skip
    """Return a field that is a whole number within a range; see `declare`."""
    return declare(default, Whole(None, at_least, None, at_most), help, **about)


def numbers(default: Any, *, help: str, above: float | None = None, at_least: float | None = None,
            distinct: bool = True, **about: Any) -> Any:  # fmt: skip
    """Return a field that is one number or several; see `declare`."""
    return declare(default, Several(Number(above, at_least), distinct), help, **about)


def choice(default: str | None, words: Iterable[str], *, help: str, **about: Any) -> Any:
    """Return a field that is one of a few words; see `declare`."""
    return declare(default, Choice(tuple(words)), help, **about)


def flag(default: bool, *, help: str, **about: Any) -> Any:
    """Return a field that is True or False; see `declare`."""
    return declare(default, Flag(), help, **about)


def declared(record: Any) -> Iterator[tuple[dataclasses.Field[Any], Declared]]:
    """Yield the declared fields of a record or of its class.

    Parameters
    ----------
    record : object or type
        A record or its class.
    """
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
    if not hasattr(cls, "_repr_html_"):
        cls._repr_html_ = _rich  # type: ignore[attr-defined]
    init = vars(cls).get("__init__")
    if init is not None:
        cls.__init__ = _then_read(init)  # type: ignore[misc]
    made: Any = dataclass(frozen=True, init=init is None)(cls)
    made.__doc__ = _with_parameters(made)
    found: _Class = made
    return found


def _rich(record: Any) -> str:
    """Return the rich form of a record: its fields, what they mean, which were given."""
    rows = []
    for field, about in declared(record):
        value = getattr(record, field.name)
        shown = escape(str(getattr(value, "text", None) or value))
        unit = f" ({escape(about.unit)})" if about.unit else ""
        own = f"<strong>{shown}</strong>" if given(record, field, about) else shown
        rows.append((f"<code>{field.name}</code>", own + unit, escape(about.help)))
    title = (record.__doc__ or "").strip().partition("\n")[0]
    name = f"{type(record).__name__}: {escape(title)}"
    return card(name, html_table(("field", "value", "meaning"), rows) if rows else "")


def _then_read(init: Callable[..., None]) -> Callable[..., None]:
    """Return an ``__init__`` after which the fields are read."""

    @functools.wraps(init)
    def __init__(self: Any, *given: Any, **named: Any) -> None:
        init(self, *given, **named)
        self.__post_init__()

    return __init__


def given(record: Any, field: dataclasses.Field[Any], about: Declared) -> bool:
    """Return whether a field of a record has another value than its default.

    Parameters
    ----------
    record : object
        The record.
    field, about
        One of `declared`.
    """
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
    """Return the docstring of a record with the section of its declared parameters."""
    text = inspect.cleandoc(cls.__doc__ or "") + "\n"
    rows = "".join(f"{field.name} : {about.row}\n" for field, about in declared(cls))
    if not rows:
        return text
    head = "Parameters\n----------\n"
    if head in text:  # Of an __init__ with more than the fields, which come first.
        place = text.find("\n\n", text.index(head)) + 1
        return text[:place] + rows + text[place:] if place else text + rows
    for other in ("Notes\n-----\n", "References\n----------\n", "Examples\n--------\n"):
        if other in text:
            place = text.index(other)
            return f"{text[:place]}{head}{rows}\n{text[place:]}"
    return f"{text}\n{head}{rows}"
