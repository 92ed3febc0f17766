"""A watch over what a process writes: every file that Python changes outside of given folders.

What C code writes goes, in learnability, into a folder that Python made and is renamed by Python,
so that its place is seen, too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["Watch"]

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = {
    "os.mkdir": 1, "os.remove": 1, "os.rmdir": 1, "os.rename": 2, "os.link": 2, "os.symlink": 2,
    "os.chmod": 1, "os.chown": 1, "os.truncate": 1, "os.utime": 1, "shutil.rmtree": 1,
}  # fmt: skip
"""Event of the interpreter -> how many paths it begins with."""


class Watch:
    """Writes down what is changed elsewhere; it watches until the process ends.

    Parameters
    ----------
    folders : sequence of Path
        Where changes are allowed.

    Attributes
    ----------
    seen : list of str
        The event and the path of each change elsewhere.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self._inside = [os.path.realpath(folder) for folder in folders]
        self.seen: list[str] = []
        sys.addaudithook(self._look)

    def _look(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            paths = [path] if isinstance(flags, int) and flags & _WRITING else []
        elif event == "sqlite3.connect":
            words = str(arguments[0])
            reading = "mode=ro" in words or words == ":memory:"
            paths = [] if reading else [words.removeprefix("file://").partition("?")[0]]
        else:
            paths = list(arguments[: _CHANGES.get(event, 0)])
        for path in paths:
            if isinstance(path, str | bytes | os.PathLike) and not self._allowed(os.fsdecode(path)):
                self.seen.append(f"{event} {os.fsdecode(path)!r}")

    def _allowed(self, path: str) -> bool:
        place = os.path.realpath(os.path.dirname(os.path.abspath(path)))
        place = os.path.join(place, os.path.basename(path))
        if place == os.devnull or place.endswith(".pyc") or "/__pycache__" in place:
            return True  # What the interpreter compiles, and nothing at all.
        return any(place == one or place.startswith(one + os.sep) for one in self._inside)
