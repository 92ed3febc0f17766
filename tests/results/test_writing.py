"""The layer that writes: regular files only, links followed, modes kept, whole or not at all."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from learnability import LearnabilityError
from learnability.results import check_place, whole_file, whole_folder

HALFWAY = """
import os, signal, sys
from learnability.results import whole_file, whole_folder
from learnability.results import writing
path, how = sys.argv[1:]
if how == "file":
    with whole_file(path) as part:
        part.write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)
real = os.rename
def once(one, other):
    real(one, other)
    os.kill(os.getpid(), signal.SIGKILL)  # The old one is aside, the new one not yet in place.
os.rename = once
with whole_folder(path) as part:
    part.mkdir()
    (part / "new").write_text("new")
"""


def killed(path: Path, how: str) -> None:
    done = subprocess.run([sys.executable, "-c", HALFWAY, str(path), how])
    assert done.returncode == -signal.SIGKILL


def written(path: Path, text: str = "all of it") -> None:
    with whole_file(path) as part:
        part.write_text(text)


def test_the_file_appears_at_the_end(tmp_path: Path) -> None:
    with whole_file(tmp_path / "run.txt") as part:
        part.write_text("all of it")
        assert part.stat().st_dev == tmp_path.stat().st_dev
        assert part.name == "run.txt" and not (tmp_path / "run.txt").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["run.txt"]
    assert (tmp_path / "run.txt").read_text() == "all of it"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_the_mode_is_kept(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("old")
    path.chmod(mode)
    written(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode and path.read_text() == "all of it"


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "near").symlink_to(tmp_path / "further")
    (tmp_path / "further").symlink_to(tmp_path / "far" / "real")
    written(tmp_path / "near")
    assert (tmp_path / "near").is_symlink() and (tmp_path / "further").is_symlink()
    assert (tmp_path / "far" / "real").read_text() == "all of it"
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    with pytest.raises(LearnabilityError, match="cannot be written"):
        written(tmp_path / "one")


def test_only_regular_files_are_written(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/null")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        for name, said in (
            ("folder", "is a folder"), ("pipe", "is a pipe"), ("socket", "is a socket"),
            ("device", "is a device"),
        ):  # fmt: skip
            before = (tmp_path / name).stat()
            with pytest.raises(LearnabilityError, match=said):
                written(tmp_path / name)
            assert os.path.samestat((tmp_path / name).stat(), before)
            assert (tmp_path / name).stat().st_mode == before.st_mode
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    written(tmp_path / "file")
    (tmp_path / "file").chmod(0o444)
    with pytest.raises(LearnabilityError, match="read-only"):
        written(tmp_path / "file", "other")
    with pytest.raises(LearnabilityError, match="no folder"):
        check_place(tmp_path / "file", folder=True)
    with pytest.raises(LearnabilityError, match="cannot be written"):
        written(tmp_path / "file" / "below")


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    written(tmp_path / "run.txt", "old")
    with pytest.raises(ZeroDivisionError), whole_file(tmp_path / "run.txt") as part:
        part.write_text("half")
        1 / 0  # noqa: B018
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "old").write_text("")
    with pytest.raises(ZeroDivisionError), whole_folder(tmp_path / "run") as part:
        part.mkdir()
        1 / 0  # noqa: B018
    assert (tmp_path / "run.txt").read_text() == "old" and (tmp_path / "run" / "old").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run", "run.txt"]


def test_a_kill_leaves_nothing_after_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    written(path, "old")
    killed(path, "file")
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 2
    mine = tmp_path / ".run.txt.part"  # Not of ours: it stays.
    mine.mkdir()
    written(tmp_path / "other.txt")  # Of another name: it does not look.
    assert len(list(tmp_path.iterdir())) == 4
    with whole_file(path) as one, whole_file(path) as other:  # One writer is not another's.
        one.write_text("one")
        other.write_text("other")
    assert path.read_text() == "one" and mine.exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == [mine.name, "other.txt", "run.txt"]


def test_a_folder_is_replaced_when_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "run"
    for turn in range(2):
        with whole_folder(path) as part:
            part.mkdir()
            (part / f"file{turn}").write_text("")
            assert not (path / f"file{turn}").exists()
    assert [p.name for p in path.iterdir()] == ["file1"]
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_a_kill_between_the_two_names_loses_no_folder(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.mkdir()
    (path / "old").write_text("old")
    killed(path, "folder")
    assert not path.exists()
    with pytest.raises(ZeroDivisionError), whole_folder(path) as part:
        assert (path / "old").read_text() == "old"  # It is back before anything new is made.
        part.mkdir()
        1 / 0  # noqa: B018
    assert [p.name for p in tmp_path.iterdir()] == ["run"]
