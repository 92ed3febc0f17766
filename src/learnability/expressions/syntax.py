"""What a formula must satisfy as text, before it is read: length, characters, nesting, grammar."""

from __future__ import annotations

import ast
import re
import warnings

from learnability.errors import LinkError
from learnability.expressions.operations import FUNCTIONS

__all__ = ["ACCEPTED", "DEEPEST_NESTING", "FUNCTION_LIST", "checked_text", "quote", "syntax"]

LONGEST_TEXT = 2000
DEEPEST_NESTING = 40

FUNCTION_LIST = ", ".join(name for name in FUNCTIONS if not name.startswith("He")) + ", He0 to He9"
ACCEPTED = "numbers, `pi`, variables z1 to z9, + - * / **, parentheses and the functions "


def quote(text: str) -> str:
    """Return at most 60 characters of a text, printable, in one line and in quotes."""
    shown = text if len(text) <= 50 else text[:47] + "..."
    return ascii(shown)[:60]


def checked_text(text: str) -> str:
    """Return the text in one line.

    Raises
    ------
    LinkError
        When it is too long, empty, nested too deeply, or holds what no formula does.
    """
    if len(text) > LONGEST_TEXT:
        raise LinkError(
            f"The link text {quote(text)} has {len(text)} characters, "
            f"but at most {LONGEST_TEXT} are accepted."
        )
    if not text.strip():
        raise LinkError("The link text is empty, but a formula such as 'z1**2 + z2' is needed.")
    odd = next((c for c in text if not (" " <= c <= "~" or c in "\t\n\r\f")), None)
    if odd is not None:
        raise LinkError(
            f"The link text {quote(text)} holds the character {odd!a}, "
            "but only plain ASCII characters are accepted."
        )
    if "#" in text:
        raise LinkError(f"The link text {quote(text)} holds a comment `#`, which is not accepted.")
    text = re.sub(r"\s+", " ", text).strip()
    _check_brackets(text)
    return text


def _check_brackets(text: str) -> None:
    """Refuse deep nesting before Python's parser sees it."""
    level = 0
    for character in text:
        level += (character in "([{") - (character in ")]}")
        if level > DEEPEST_NESTING:
            raise too_deep(text)


def too_deep(text: str) -> LinkError:
    return LinkError(
        f"The link text {quote(text)} is nested too deeply, "
        f"but at most {DEEPEST_NESTING} levels are accepted."
    )


def syntax(text: str) -> ast.expr:
    """Parse by Python's own grammar, and turn its errors into one sentence."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, mode="eval").body
    except (RecursionError, MemoryError):
        raise too_deep(text) from None
    except SyntaxError as error:
        start = max((error.offset or 1) - 1, 0)
        where = (
            f" near {quote(text[start : start + 20])}" if text[start:].strip() else " at its end"
        )
        raise LinkError(
            f"The link text {quote(text)} cannot be read as a formula{where}; "
            f"accepted are {ACCEPTED}{FUNCTION_LIST}."
        ) from None
    except ValueError:
        raise LinkError(
            f"The link text {quote(text)} cannot be read as a formula; "
            f"accepted are {ACCEPTED}{FUNCTION_LIST}."
        ) from None
