"""The one layer that everything written goes through: files and folders, whole or not at all.

What is written is made in a folder of its own beside its place, with its bytes on the disk before
it takes the name. Links are followed, the mode of what was there is kept, and only regular files
and folders of our own making are ever replaced. A kill leaves at most such a folder, which the next
writer of the same name removes: it is ours if its name says so and nobody holds its lock.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from learnability.errors import LearnabilityError

fcntl: Any
try:
    import fcntl
except ImportError:  # Not on this system: what a kill leaves is then left.
    fcntl = None

__all__ = ["check_place", "own_folder", "the_place", "whole_file", "whole_folder"]

_MADE, _ASIDE = "made", "aside"


def the_place(path: str | Path) -> Path:
    """Return the path with every link followed.

    Parameters
    ----------
    path : str or Path
        As it was given.

    Raises
    ------
    LearnabilityError
        When links go round in a circle.
    """
    try:
        found = Path(path).resolve()
        if found.is_symlink():  # What `resolve` gives back of a circle.
            raise OSError("its links go round in a circle")
    except (OSError, RuntimeError, ValueError) as error:
        raise LearnabilityError(f"{str(path)!r} cannot be written ({error}).") from None
    return found


def check_place(path: str | Path, *, folder: bool = False) -> Path:
    """Return the place of a file to be written: nothing, or a regular file that may be changed.

    Parameters
    ----------
    path : str or Path
        As it was given.
    folder : bool
        Whether a folder is to be written instead.

    Returns
    -------
    Path
        The place with every link followed.

    Raises
    ------
    LearnabilityError
        When something else is there, it is read-only, or its folder cannot be written.
    """
    place = the_place(path)
    name = repr(str(path))
    try:
        mode = place.stat().st_mode
    except FileNotFoundError:
        mode = None
    except OSError as error:
        raise LearnabilityError(f"{name} cannot be written ({error.strerror}).") from None
    if mode is not None:
        if stat.S_ISDIR(mode) and not folder:
            raise LearnabilityError(f"{name} is a folder, but a file is to be written.")
        if folder and not stat.S_ISDIR(mode):
            raise LearnabilityError(f"{name} is there and is no folder: give another name.")
        if not folder and not stat.S_ISREG(mode):
            raise LearnabilityError(
                f"{name} is {_kind(mode)}, and was left as it is: only regular files are written."
            )
        if not mode & 0o222 or not os.access(place, os.W_OK):
            raise LearnabilityError(
                f"{name} is read-only, and was left as it is: make it writable, or give another "
                "name."
            )
    return place


def _kind(mode: int) -> str:
    kinds = {
        stat.S_IFSOCK: "a socket", stat.S_IFIFO: "a pipe", stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }  # fmt: skip
    return kinds.get(stat.S_IFMT(mode), "no file")


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Write a file as a whole or not at all, whatever ends the program.

    Yields the path of another file on the same disk, which takes the place of `path` at the end
    of the ``with`` block, with the mode of what was there, and is removed if that fails.

    Parameters
    ----------
    path : str or Path
        The file; its folder is made if it is missing.

    Raises
    ------
    LearnabilityError
        When a device, a socket, a folder or a read-only file is there.
    """
    place = check_place(path)
    with own_folder(place) as folder:
        part = folder / place.name
        yield part
        _like(place, part)
        _on_disk(part)
        os.replace(part, place)
        _on_disk(place.parent)


@contextmanager
def whole_folder(path: str | Path) -> Iterator[Path]:
    """Write a folder as a whole or not at all; the old one is removed when the new one is there.

    Whoever calls it has looked that what is there may be replaced.

    Parameters
    ----------
    path : str or Path
        The folder.

    Raises
    ------
    LearnabilityError
        When something else than a folder is there.
    """
    place = check_place(path, folder=True)
    with own_folder(place) as folder:
        made = folder / _MADE
        yield made
        _like(place, made)
        for root, _, names in os.walk(made):
            for name in names:
                _on_disk(Path(root) / name)
            _on_disk(Path(root))
        if place.exists():
            os.rename(place, folder / _ASIDE)
        os.rename(made, place)
        _on_disk(place.parent)


def _like(place: Path, part: Path) -> None:
    """Give what is new the mode, and where it can be the owner, of what it replaces."""
    try:
        old = place.stat()
    except FileNotFoundError:
        return
    new = part.stat()
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        with suppress(OSError):
            os.chown(part, old.st_uid, old.st_gid)
    part.chmod(stat.S_IMODE(old.st_mode))


def _on_disk(path: Path) -> None:
    """Wait until the bytes are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):  # Some systems cannot do it for folders.
            os.fsync(handle)
    finally:
        os.close(handle)


# ---- folders of our own


@contextmanager
def own_folder(place: Path) -> Iterator[Path]:
    """A new folder beside a place, gone at the end; a killed one goes when the next is made.

    Parameters
    ----------
    place : Path
        What the folder is for; it has the name of the folder and its place.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(place)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_prefix(place), suffix=_END, dir=place.parent))
        handle = os.open(folder, os.O_RDONLY)
        if fcntl is not None:
            with suppress(OSError):  # Not on every network disk.
                fcntl.flock(handle, fcntl.LOCK_EX)
        if folder.exists():  # Else another writer took it for a leftover before it was locked.
            break
        os.close(handle)
    try:
        yield folder
    finally:
        _restored(folder, place)
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


_END = ".part"


def _prefix(place: Path) -> str:
    return f".{place.name}.learnability-"


def _restored(folder: Path, place: Path) -> None:
    """Put back what was set aside when nothing new took its place."""
    if (folder / _ASIDE).exists() and not place.exists():
        os.rename(folder / _ASIDE, place)


def _remove_leftovers(place: Path) -> None:
    """Remove what writers of the same name left when they were killed."""
    if fcntl is None:
        return
    for entry in os.scandir(place.parent):
        ours = entry.name.startswith(_prefix(place)) and entry.name.endswith(_END)
        if not ours or not entry.is_dir(follow_symlinks=False):
            continue
        try:
            handle = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            if os.fstat(handle).st_uid != os.geteuid():
                continue
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _restored(Path(entry.path), place)
            shutil.rmtree(entry.path, ignore_errors=True)
        except OSError:  # Its writer lives.
            pass
        finally:
            os.close(handle)
