"""One study at a time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from learnability import LearnabilityError
from learnability.studies._lock import Lock

HOLD = """
import sys
from pathlib import Path
from learnability.studies._lock import Lock
lock = Lock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_held_until_it_is_released(tmp_path: Path) -> None:
    path = tmp_path / "runs.study"
    first = Lock(path)
    with pytest.raises(LearnabilityError, match="in use by another study"):
        Lock(path)
    first.release()
    assert list(tmp_path.iterdir()) == []
    Lock(path).release()


def test_the_lock_of_a_dead_process_is_none(tmp_path: Path) -> None:
    path = tmp_path / "runs.study"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
        with pytest.raises(LearnabilityError, match="in use by another study"):
            Lock(path)
        holder.kill()
        holder.wait()
    assert path.with_name("runs.study-lock").exists()  # Left behind, and held by nobody.
    Lock(path).release()
    assert list(tmp_path.iterdir()) == []
