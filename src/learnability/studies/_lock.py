"""One study at a time writes a store: a lock that the system lets go of when its holder dies."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

from learnability.errors import LearnabilityError

fcntl: Any
try:
    import fcntl
except ImportError:  # This system has no locks: SQLite's transactions still keep the file whole.
    fcntl = None

__all__ = ["FileLock", "Lock"]


class Lock:
    """A lock on a file, held by a second file beside it.

    The file itself must not be opened for the lock: closing it would end SQLite's own locks.

    Parameters
    ----------
    path : Path
        The file; the lock has its name with ``-lock`` at the end.
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
                raise _in_use(path) from None
            if self._is_there():
                return
            os.close(self._file)  # Its holder removed it after we had opened it.

    def _is_there(self) -> bool:
        try:
            return os.stat(self._path).st_ino == os.fstat(self._file).st_ino
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Release the lock, so that others can take it."""
        self._path.unlink(missing_ok=True)
        os.close(self._file)


class FileLock:
    """A lock on the file itself, whatever name it is reached by.

    The file stays open until it is released, after SQLite has closed it: closing it earlier would
    end SQLite's own locks. For the same reason a second lock in this process is refused before the
    file is opened.

    Parameters
    ----------
    path : Path
        The file, which must exist.
    """

    _held: ClassVar[set[tuple[int, int]]] = set()

    def __init__(self, path: Path) -> None:
        known = os.stat(path)
        self._number = (known.st_dev, known.st_ino)
        if self._number in self._held:
            raise _in_use(path)
        self._file = os.open(path, os.O_RDONLY)
        if fcntl is not None:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(self._file)
                raise _in_use(path) from None
            except OSError:  # Some network disks have no locks; the lock beside the file is held.
                pass
        self._held.add(self._number)

    def release(self) -> None:
        """Release the lock, so that others can take it."""
        self._held.discard(self._number)
        os.close(self._file)


def _in_use(path: Path) -> LearnabilityError:
    return LearnabilityError(
        f"The store {str(path)!r} is in use by another study: wait for it, or give another file."
    )
