"""The file of a study: what it keeps, what it refuses, and that it leaves what it refuses."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from learnability import LearnabilityError, MultiIndex
from learnability.studies import check
from learnability.studies import store as module
from learnability.studies.compute import compute
from learnability.studies.database import APPLICATION, SCHEMA
from learnability.studies.points import plan
from learnability.studies.store import Outcome, Store

from tests.studies.learners import Short


def planned(seeds, alpha):  # type: ignore[no-untyped-def]
    learner = Short()
    return plan(
        learner, MultiIndex("z"), learner.questions[0], seeds, {"alpha": alpha}, stored=True
    )


POINTS, LAYOUT = planned(range(3), [1.0, 2.0])


def outcomes(points=POINTS):  # type: ignore[no-untyped-def]
    return list(zip(points, compute(points), strict=True))


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    path = tmp_path / "runs.study"
    with Store(path, write=True) as store:
        store.remember(LAYOUT)
        store.commit(outcomes())
    return path


def fingerprint(path: Path) -> tuple[str, int]:
    return hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns


def test_what_is_committed_is_there(filled: Path) -> None:
    with Store(filled, write=False) as store:
        assert store.finished(LAYOUT.keys) == set(LAYOUT.keys) and store.failures(LAYOUT.keys) == {}
        assert store.studies() == {1: LAYOUT}
        assert dict(store.results(["unknown", LAYOUT.keys[0]])).keys() == {LAYOUT.keys[0]}
        assert "6 finished runs" in store.size()
    assert [p.name for p in filled.parent.iterdir()] == ["runs.study"]  # No log, no lock is left.


def test_the_header_tells_what_it_is(filled: Path) -> None:
    connection = sqlite3.connect(filled)
    for name, value in (("application_id", APPLICATION), ("user_version", SCHEMA)):
        assert connection.execute(f"PRAGMA {name}").fetchone()[0] == value
    assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    row = connection.execute("SELECT version, seconds, finished FROM points").fetchone()
    assert row[0] and row[1] >= 0 and row[2] > 1e9
    connection.close()


def test_failures_are_kept_until_they_succeed(tmp_path: Path) -> None:
    point = POINTS[0]
    with Store(tmp_path / "runs.study", write=True) as store:
        store.commit([(point, Outcome(point.key, None, 0.1, "It broke.", "where"))])
        store.commit([(point, Outcome(point.key, None, 0.1, "It broke again.", "where"))])
        assert store.failures(LAYOUT.keys) == {point.key: "It broke again."}
        assert store.finished(LAYOUT.keys) == set()
        store.commit(outcomes([point]))
        assert store.failures(LAYOUT.keys) == {} and store.finished(LAYOUT.keys) == {point.key}


def test_the_same_study_is_remembered_once(filled: Path) -> None:
    other = planned(range(4), [1.0, 2.0])[1]
    with Store(filled, write=True) as store:
        store.remember(other)
        store.remember(LAYOUT)
        assert list(store.studies().values()) == [other, LAYOUT]  # The last asked is the last.


def test_one_study_writes_many_read(filled: Path) -> None:
    with Store(filled, write=True) as store:
        with pytest.raises(LearnabilityError, match="in use by another study"):
            Store(filled, write=True)
        with Store(filled, write=False) as reader:
            assert len(reader.finished(LAYOUT.keys)) == 6
        store.remember(LAYOUT)  # The first one goes on.
    Store(filled, write=True).close()


def foreign_text(path: Path) -> None:
    path.write_text("alpha,overlap\n1,0.5\n" * 10)


def foreign_database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE points (key TEXT); INSERT INTO points VALUES ('mine');")
    connection.close()


def newer(path: Path) -> None:
    Store(path, write=True).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    connection.close()


def cut(path: Path) -> None:
    with Store(path, write=True) as store:
        store.commit(outcomes())
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def scrambled(path: Path) -> None:
    with Store(path, write=True) as store:
        store.commit(outcomes())
    data = bytearray(path.read_bytes())
    data[4096:] = bytes(7 for _ in data[4096:])
    path.write_bytes(bytes(data))


def read_only(path: Path) -> None:
    with Store(path, write=True) as store:
        store.commit(outcomes())
    path.chmod(0o444)


REFUSED = {
    foreign_text: "is not the store of a study",
    foreign_database: "database of another program",
    newer: "newer version of learnability",
    cut: "is damaged",
    scrambled: "is damaged",
    read_only: "is read-only",
}


@pytest.mark.parametrize("make", REFUSED, ids=lambda make: make.__name__)
def test_a_file_that_is_refused_stays_as_it_is(make, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "runs.study"
    make(path)
    before = fingerprint(path)
    with pytest.raises(LearnabilityError, match=REFUSED[make]) as caught:
        Store(path, write=True)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)
    assert fingerprint(path) == before
    assert not path.with_name("runs.study-lock").exists()
    if make is read_only:
        with Store(path, write=False) as store:
            assert len(store.finished(LAYOUT.keys)) == 6
        assert fingerprint(path) == before


def test_a_run_whose_numbers_are_damaged(filled: Path) -> None:
    connection = sqlite3.connect(filled)
    with connection:
        connection.execute("UPDATE points SET result = substr(result, 1, length(result) - 1)")
    connection.close()
    before = fingerprint(filled)
    with Store(filled, write=False) as store, pytest.raises(LearnabilityError, match="is damaged"):
        list(store.results(LAYOUT.keys))
    with pytest.raises(LearnabilityError, match=r"is damaged.*study repair"):
        Store(filled, write=True)
    assert fingerprint(filled) == before


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_second_name_of_the_same_file_is_the_same_lock(filled: Path, link) -> None:  # type: ignore[no-untyped-def]
    other = filled.parent / "elsewhere" / "other.study"
    other.parent.mkdir()
    link(filled, other)
    with Store(filled, write=True) as store:
        with pytest.raises(LearnabilityError, match="in use by another study"):
            Store(other, write=True)
        store.remember(planned(range(2), [1.0])[1])
        code = f"from learnability.studies import Store; Store({str(other)!r}, write=True)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "in use by another study" in done.stderr
    Store(other, write=True).close()


def test_a_store_of_version_1_goes_on(filled: Path) -> None:
    connection = sqlite3.connect(filled)
    with connection:
        connection.execute("UPDATE points SET result = substr(result, 13)")
        connection.execute("UPDATE studies SET layout = ?", (LAYOUT.to_json(),))
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    with Store(filled, write=False) as store:
        assert len(dict(store.results(LAYOUT.keys))) == 6 and store.studies() == {1: LAYOUT}
    with Store(filled, write=True) as store:
        store.remember(LAYOUT)
        assert store.studies() == {1: LAYOUT}
    assert check(filled).damaged == []


def test_places_where_nothing_can_be(tmp_path: Path) -> None:
    with pytest.raises(LearnabilityError, match="is a folder"):
        Store(tmp_path, write=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(LearnabilityError, match="cannot be written"):
        Store(tmp_path / "file" / "runs.study", write=True)
    with pytest.raises(LearnabilityError, match="cannot be read"):
        Store(tmp_path / "none.study", write=False)
    Store(tmp_path / "file", write=True).close()  # An empty file may become a store.
    Store(tmp_path / "new" / "folder" / "runs.study", write=True).close()


def test_what_is_there_keeps_its_kind_its_mode_and_its_links(tmp_path: Path) -> None:
    """On the old code every path of size zero was replaced: devices, private files, links."""
    device = tmp_path / "device"
    device.symlink_to("/dev/null")
    os.mkfifo(tmp_path / "pipe")
    for name, kind in (("device", "a device"), ("pipe", "a pipe")):
        with pytest.raises(LearnabilityError, match=f"is {kind}"):
            Store(tmp_path / name, write=True)
    assert stat.S_ISCHR(device.stat().st_mode) and stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    private, link = tmp_path / "private", tmp_path / "link"
    private.touch()
    private.chmod(0o600)
    link.symlink_to(private)
    with Store(link, write=True) as store:
        store.commit(outcomes())
    assert link.is_symlink() and stat.S_IMODE(private.stat().st_mode) == 0o600
    with Store(private, write=False) as store:
        assert len(store.finished(LAYOUT.keys)) == 6


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "runs.study"
    connect = sqlite3.connect

    def small(*arguments, **options):  # type: ignore[no-untyped-def]
        connection = connect(*arguments, **options)
        if "mode=rw" in arguments[0]:
            connection.execute("PRAGMA max_page_count = 20")
        return connection

    Store(path, write=True).close()
    monkeypatch.setattr(module.sqlite3, "connect", small)
    many, layout = planned(range(200), 1.0)
    kept = 0
    with Store(path, write=True) as store:
        with pytest.raises(LearnabilityError, match="disk is full") as caught:
            for point in many:
                store.commit(outcomes([point]))
                kept += 1
        assert "\n" not in str(caught.value)
        assert 5 < kept < 200 and len(store.finished(layout.keys)) == kept
    monkeypatch.undo()
    with Store(path, write=True) as store:  # There is room again: nothing was lost.
        assert store.finished(layout.keys) == {point.key for point in many[:kept]}
        store.commit(outcomes(many[kept:]))
        assert len(store.finished(layout.keys)) == 200


def test_a_group_is_committed_as_a_whole(filled: Path) -> None:
    with Store(filled, write=True) as store:
        fresh = planned([9], [1.0])[0]
        with pytest.raises(LearnabilityError):  # The second of the two is there already.
            store.commit(outcomes([*fresh, POINTS[0]]))
        assert store.finished([fresh[0].key]) == set()
