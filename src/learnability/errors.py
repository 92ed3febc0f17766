"""The exceptions of the library: every message is one sentence that says what is accepted.

A sentence names the argument in backticks, says what was given and what is accepted, and, where it
helps, what to do; `refuse` writes the usual one. Whoever catches LearnabilityError catches all that
the library refuses on purpose, and nothing else.
"""

from __future__ import annotations

from typing import Any

__all__ = ["LearnabilityError", "LinkError", "refuse"]

_LONGEST = 200  # Characters of a value that a sentence shows.


class LearnabilityError(ValueError):
    """Base of all errors that the library raises on purpose."""


class LinkError(LearnabilityError):
    """A text or a function that cannot be taken as a link, with the reason in one sentence.

    The sentence quotes the part of a text that was not understood.
    """


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
    shown = shown if len(shown) <= _LONGEST else shown[:_LONGEST] + "..."
    return LearnabilityError(f"`{name}` was given as {shown}, but {accepted} is accepted.")
