"""One study at a time writes a store: a lock that the system lets go of when its holder dies."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from learnability.errors import LearnabilityError

fcntl: Any
try:
    import fcntl
except ImportError:  # Not on this system: SQLite's own transactions still keep the file whole.
    fcntl = None

__all__ = ["Lock"]


class Lock:
    """A lock on a file, held by a second file beside it.

    The file itself must not be opened for it: closing it would end SQLite's own locks.

    Parameters
    ----------
    path : Path
        The file; the lock is called as it is with ``-lock`` at the end.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f"{path.name}-lock")
        while True:
            self._file = os.open(self._path, os.O_CREAT | os.O_RDWR, 0o644)
            if fcntl is None:
                return
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(self._file)
                raise LearnabilityError(
                    f"The store {str(path)!r} is in use by another study: wait for it, or give "
                    "another file."
                ) from None
            if self._is_there():
                return
            os.close(self._file)  # Its holder removed it after we had opened it.

    def _is_there(self) -> bool:
        try:
            return os.stat(self._path).st_ino == os.fstat(self._file).st_ino
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Let others in."""
        self._path.unlink(missing_ok=True)
        os.close(self._file)
