"""A progress bar on the terminal for long work, and nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

__all__ = ["tracked"]

T = TypeVar("T")


def tracked(items: Sequence[T], what: str) -> Iterator[T]:
    """Go through items with a bar on stderr when that is a terminal and there are several."""
    if len(items) < 2 or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, description=what, console=Console(stderr=True), transient=True)
