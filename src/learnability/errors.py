"""The exceptions of the library: every message is one sentence that says what is accepted."""

from __future__ import annotations

__all__ = ["LearnabilityError", "LinkError"]


class LearnabilityError(ValueError):
    """Base of all errors that the library raises on purpose."""


class LinkError(LearnabilityError):
    """A text or a function that cannot be taken as a link, with the reason in one sentence."""
