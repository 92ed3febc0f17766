"""A progress bar on the terminal for long work, and nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

__all__ = ["bar", "tracked", "working"]

T = TypeVar("T")
_shown = False
"""Whether a bar is on the screen, where there is room for one: the outermost."""


def tracked(items: Sequence[T], what: str) -> Iterator[T]:
    """Go through items with a bar on stderr when that is a terminal and there are several."""
    if _shown or not sys.stderr.isatty():
        yield from items
        return
    with bar(what, len(items)) as advance:
        for item in items:
            yield item
            advance(1)


@contextmanager
def working(what: str) -> Iterator[None]:
    """A line that moves while one long step is under way, on stderr when that is a terminal.

    Parameters
    ----------
    what : str
        What is being done.
    """
    global _shown
    if _shown or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{what} ..."):
        _shown = True
        try:
            yield
        finally:
            _shown = False


@contextmanager
def bar(what: str, total: int, done: int = 0) -> Iterator[Callable[[int], None]]:
    """A bar with the rate and the time left, on stderr when that is a terminal.

    Parameters
    ----------
    what : str
        The words before the bar.
    total, done : int
        How much there is, and how much of it was there before; that does not count for the rate.

    Yields
    ------
    callable
        It takes how much was done since it was last called.
    """
    global _shown
    if _shown or total <= done or not sys.stderr.isatty():
        yield lambda count: None
        return
    if total - done == 1:
        with working(what):
            yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:.3g}/s" if task.speed else "")

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate(),
               TimeRemainingColumn())  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total, completed=done)
        _shown = True
        try:
            yield lambda count: progress.advance(task, count)
        finally:
            _shown = False
