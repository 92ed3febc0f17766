"""Compiled code that is kept between calls of the command line, so that a second call starts fast.

JAX compiles every new shape of a run, which takes about a second. It can keep what it compiled in a
folder; the command line gives it one in the user's own cache, of at most 256 MB. What lies there is
executable code: the folder must belong to the user and be closed to everybody else, and it carries
the processor in its name, because a home may be shared by machines that differ.
"""

from __future__ import annotations

import hashlib
import os
import platform
import stat
import sys
from pathlib import Path

__all__ = ["cache_folder", "keep_compiled_code"]

LARGEST = 256 * 2**20
"""The most bytes of the folder; what was not used for the longest time is deleted first."""
SHORTEST = 0.1
"""Code is kept if its compilation took at least this many seconds."""


def cache_folder() -> Path:
    """Return where compiled code goes: below XDG_CACHE_HOME, or in the system's cache."""
    home = Path.home()
    if sys.platform == "darwin":
        usual = home / "Library" / "Caches"
    elif sys.platform == "win32":
        usual = Path(os.environ.get("LOCALAPPDATA", home))
    else:
        usual = home / ".cache"
    base = Path(os.environ.get("XDG_CACHE_HOME") or usual)
    return base / "learnability" / f"compiled-{_processor()}"


def _processor() -> str:
    """Return a short name of the instructions that this processor has."""
    told = platform.machine() + platform.processor()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    told += next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return hashlib.sha256(told.encode()).hexdigest()[:12]


def keep_compiled_code() -> None:
    """Let JAX keep compiled code, unless the user chose a place or there is no safe one.

    It works by the environment, which workers of a study inherit, and before JAX is loaded.
    """
    if "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    try:
        folder = cache_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = folder.stat()
    except (OSError, RuntimeError):  # There is no home folder, or it cannot be written.
        return
    own = not hasattr(os, "getuid") or about.st_uid == os.getuid()
    if not own or (os.name == "posix" and about.st_mode & (stat.S_IRWXG | stat.S_IRWXO)):
        return
    os.environ["JAX_COMPILATION_CACHE_DIR"] = str(folder)
    os.environ.setdefault("JAX_COMPILATION_CACHE_MAX_SIZE", str(LARGEST))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", str(SHORTEST))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
