"""The exceptions of the library: every message is one sentence that says what is accepted.

A sentence names the argument in backticks, says what was given and what is accepted, and, where it
helps, what to do; `refuse` writes the usual one. Whoever catches LearnabilityError catches all that
the library refuses on purpose, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = [
    "LearnabilityError",
    "LinkError",
    "NumericsError",
    "refuse",
    "visible",
    "within_numerics",
]

_LONGEST = 200  # Characters of a value that a sentence shows.


class LearnabilityError(ValueError):
    """Base of all errors that the library raises on purpose."""


class LinkError(LearnabilityError):
    """A text or a function that cannot be taken as a link, with the reason in one sentence.

    The sentence quotes the part of a text that was not understood.
    """


class NumericsError(LearnabilityError):
    """A question that is accepted, but whose answer the numerics could not compute."""


@contextmanager
def within_numerics(who: str) -> Iterator[None]:
    """Turn what floating-point numbers or the memory cannot do into a sentence.

    Parameters
    ----------
    who : str
        What was asked, for the sentence.

    Raises
    ------
    NumericsError
        It takes the place of errors of arithmetic, of solvers and of memory, which are its cause.
    """
    try:
        yield
    except LearnabilityError:
        raise
    except MemoryError as error:
        raise NumericsError(
            f"{who} needs more memory than is free ({_one_line(error)}): use smaller sizes."
        ) from error
    except (ArithmeticError, ValueError, RecursionError) as error:
        raise NumericsError(
            f"{who} could not be computed for these numbers ({_one_line(error)}): no answer is "
            "given rather than a wrong one; sizes and scales nearer to one are safer."
        ) from error


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    shown = text or type(error).__name__
    return shown if len(shown) <= _LONGEST else shown[:_LONGEST] + "..."


def visible(text: str) -> str:
    r"""Return a text with control characters written out, which a terminal does not obey.

    Parameters
    ----------
    text : str
        The text of a file or an argument; ends of lines stay.

    Examples
    --------
    >>> visible("red \x1b[31m")
    'red \\x1b[31m'
    """
    shown = (
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
    )
    return "".join(shown)


def refuse(name: str, value: Any, accepted: str) -> LearnabilityError:
    """Return the error of a value that is not accepted.

    Parameters
    ----------
    name : str
        The name of the argument or field.
    value : object
        What was given.
    accepted : str
        What is accepted, with its article: "a finite number above 0".
    """
    shown = repr(value)
    shown = shown if len(shown) <= _LONGEST else shown[:_LONGEST] + "..."
    return LearnabilityError(f"`{name}` was given as {shown}, but {accepted} is accepted.")
