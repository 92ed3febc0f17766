"""Say how many samples it takes to learn a function, and which algorithm gets there."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Public name -> module that defines it; a module is imported when its name is first used.
_HOMES = {
    "LearnabilityError": "learnability.errors",
    "Link": "learnability.links",
    "LinkError": "learnability.errors",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
