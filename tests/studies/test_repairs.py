"""Damaged stores: found, refused without a change, repaired; crafted ones refused."""

from __future__ import annotations

import contextlib
import pickle
import random
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import learnability as lb
from learnability import LearnabilityError
from learnability.studies import Store, check, export, info, repair
from learnability.studies.sealing import sealed

from tests.studies.learners import Short
from tests.studies.test_store import fingerprint

GRID = {"alpha": [0.1 * k for k in range(1, 11)], "seeds": 6, "workers": 1}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "runs.study"
    lb.study(Short(), "abs(z)", **GRID, store=path)  # type: ignore[arg-type]
    return path.read_bytes()


@pytest.fixture
def truth(whole: bytes, tmp_path: Path):  # type: ignore[no-untyped-def]
    (tmp_path / "truth.study").write_bytes(whole)
    return export(tmp_path / "truth.study")


def changed(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def same_where_there(found, truth) -> bool:  # type: ignore[no-untyped-def]
    """Every number that is there is the number that was written."""
    there = found["status"].values != "missing"
    return np.array_equal(found["length"].values[there], truth["length"].values[there])


def test_a_sound_store(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "runs.study"
    path.write_bytes(whole)
    before = fingerprint(path)
    assert str(check(path)) == "60 runs and 1 study are sound; nothing is damaged."
    findings, old = repair(path)
    assert findings.damaged == [] and old == path and fingerprint(path) == before


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE points SET result = zeroblob(200) WHERE rowid = 7", "row 7 of points"),
        ("UPDATE points SET key = 'other' WHERE rowid = 7", "row 7 of points"),
        ("UPDATE points SET seed = seed + 1 WHERE rowid = 7", "row 7 of points: the key does not"),
        # Of two runs the numbers are exchanged: each has a checksum that is right.
        ("UPDATE points SET result = (SELECT result FROM points WHERE rowid = 8) WHERE rowid = 7",
         "row 7 of points: The seal"),
        ("UPDATE studies SET layout = replace(layout, '0.1', '0.7')", "row 1 of studies: The seal"),
        ("UPDATE studies SET keys = substr(keys, 34) || ' ' || substr(keys, 1, 32)",
         "row 1 of studies: The seal"),
        ("UPDATE studies SET layout = '[]'", "row 1 of studies"),
        ("UPDATE studies SET layout = '{}'", "row 1 of studies"),
    ],
)  # fmt: skip
def test_damage_is_found_refused_and_repaired(  # type: ignore[no-untyped-def]
    statement: str, said: str, whole: bytes, tmp_path: Path, truth
) -> None:
    """On the old code layouts and the tie of key and result were free to change."""
    path = tmp_path / "runs.study"
    path.write_bytes(whole)
    changed(path, statement)
    before = fingerprint(path)
    assert said in str(check(path))
    with pytest.raises(LearnabilityError, match="is damaged"):
        lb.study(Short(), "abs(z)", **GRID, store=path)  # type: ignore[arg-type]
    assert fingerprint(path) == before
    findings, old = repair(path)
    assert len(findings.damaged) == 1 and old.name == "runs.study.damaged-1"
    assert old.read_bytes() and check(path).damaged == []
    found = lb.study(Short(), "abs(z)", **GRID, store=path)  # type: ignore[arg-type]
    assert same_where_there(found, truth) and "missing" not in found.attrs


def test_flipped_bits_are_never_other_numbers(whole: bytes, tmp_path: Path, truth) -> None:  # type: ignore[no-untyped-def]
    """Every copy is refused as it is, or exports the same; a repair keeps the right ones only."""
    dice, path = random.Random(5), tmp_path / "runs.study"
    refused = 0
    for turn in range(25):
        data = bytearray(whole)
        for _ in range(1 + turn % 3):
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        path.write_bytes(bytes(data))
        before = fingerprint(path)
        try:
            assert same_where_there(export(path), truth)
            Store(path, write=True).close()
        except LearnabilityError:
            refused += 1
        assert fingerprint(path) == before
        try:
            repair(path)
            assert same_where_there(export(path), truth)
        except LearnabilityError:
            continue
    assert refused > 3


CRAFTED = {
    "an endless view": (
        "ALTER TABLE points RENAME TO away",
        "CREATE VIEW points AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
        "SELECT n AS key, '' AS parameters, 0 AS seed, x'' AS result, '' AS version, 0 AS seconds,"
        " 0 AS finished FROM r",
    ),
    "a trigger": ("CREATE TRIGGER evil AFTER INSERT ON points BEGIN DELETE FROM points; END",),
    "another table": ("CREATE TABLE more (x)",),
    "no table": ("DROP TABLE failures",),
    "a layout that is a number": ("UPDATE studies SET layout = 3",),
    "keys that are bytes": ("UPDATE studies SET keys = x'00ff'",),
    "axes of another shape": ("""UPDATE studies SET layout =
        '{"axes": {"a": [1, 2]}, "scalars": {}, "learner": "", "target": ""}'""",),
    "labels that are lists": ("""UPDATE studies SET keys = 'k', layout =
        '{"axes": {"a": [[1]]}, "scalars": {}, "learner": "", "target": ""}'""",),
    "deep JSON": (f"UPDATE studies SET layout = '{'[' * 100_000}'",),
    "a number as a result": ("UPDATE points SET result = 5",),
    "a text as a result": ("UPDATE points SET result = 'LRN1 and more than that'",),
}  # fmt: skip


@pytest.mark.parametrize("name", CRAFTED)
def test_a_store_of_a_stranger_ends_in_a_sentence(name: str, whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "runs.study"
    path.write_bytes(whole)
    changed(path, *CRAFTED[name])
    before = fingerprint(path)
    with pytest.raises(LearnabilityError, match="is damaged") as caught:
        info(path)
        export(path)
    assert "\n" not in str(caught.value)
    with pytest.raises(LearnabilityError):
        Store(path, write=True)
    assert fingerprint(path) == before


class Evil:
    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> Any:
        return (Path.touch, (self.trace,))


def test_no_code_of_a_stranger_runs(whole: bytes, tmp_path: Path) -> None:
    """Pickles as results, one of them under a seal that is right, and as a layout."""
    path, trace = tmp_path / "runs.study", tmp_path / "trace"
    bomb = pickle.dumps(Evil(trace))
    pickle.loads(bomb)
    assert trace.exists()  # It would run.
    trace.unlink()
    for column in ("result", "parameters"):
        path.write_bytes(whole)
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            for (key,) in connection.execute("SELECT key FROM points").fetchall():
                connection.execute(
                    f"UPDATE points SET {column} = ? WHERE key = ?", (sealed(key, bomb), key)
                )
        for ask in (info, export, check, repair, lambda path: Store(path, write=True).close()):
            with contextlib.suppress(LearnabilityError):
                ask(path)
    assert not trace.exists()


def test_words_of_sqlite_that_are_no_text(whole: bytes, tmp_path: Path) -> None:
    """Found by the fuzzer: a damaged schema is quoted in an error that is no UTF-8."""
    path = tmp_path / "runs.study"
    path.write_bytes(whole.replace(b"NOT NULL", b"NU9\xda\xda\xda\xda\xda", 1))
    for ask in (info, export):
        with pytest.raises(LearnabilityError, match="is damaged"):
            ask(path)
    assert check(path).damaged


def test_escapes_are_written_out(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "runs.study"
    path.write_bytes(whole)
    changed(
        path,
        """UPDATE studies SET layout = '{"axes": {"a": ["\\u001b[2J"], "seed": [0]},
        "scalars": {"\\u001b]0;x": "\\u202e"}, "learner": "\\u0007", "target": "\\r"}',
        keys = (SELECT key FROM points LIMIT 1)""",
    )
    told = info(path)
    assert "\\x1b[2J" in told and "\\u202e" in told
    assert all(letter.isprintable() or letter == "\n" for letter in told)


def test_what_is_no_store_is_not_repaired(tmp_path: Path) -> None:
    for name, data in (("text", b"alpha\n" * 1000), ("empty", b""), ("zeros", bytes(8192))):
        path = tmp_path / name
        path.write_bytes(data)
        for ask in (check, repair):
            with pytest.raises(LearnabilityError, match=f"{name}"):
                ask(path)
        assert path.read_bytes() == data
    assert sorted(p.name for p in tmp_path.iterdir()) == ["empty", "text", "zeros"]
