"""What is damaged in a store, and a new store of what is sound."""

from __future__ import annotations

import itertools
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from learnability.errors import LearnabilityError, visible
from learnability.results import check_place, the_place, whole_file
from learnability.studies._lock import FileLock, Lock
from learnability.studies.database import (
    APPLICATION,
    SCHEMA,
    expected_tables,
    make_tables,
    tables_of,
)
from learnability.studies.encoding import decode
from learnability.studies.sealing import DAMAGED, layout_of, opened, tied
from learnability.studies.store import Store

__all__ = ["Findings", "check", "repair"]

_POINTS, _FAILURES, _STUDIES = "points", "failures", "studies"
_COLUMNS = {
    _POINTS: "key, parameters, seed, result, version, seconds, finished",
    _FAILURES: "key, parameters, seed, error, details, version, seconds, finished",
    _STUDIES: "number, layout, keys, asked",
}
_MOST_TOLD = 20
_MOST_HOLES = 1000  # Reading goes on behind a bad page at most this often in a table.


class Findings(NamedTuple):
    """What was found in a store.

    Attributes
    ----------
    sound : dict
        Table -> how many of its rows are as they were written.
    damaged : list of str
        One sentence for each thing that is damaged.
    """

    sound: dict[str, int]
    damaged: list[str]

    def __str__(self) -> str:
        kept = f"{_counted(self.sound[_POINTS], 'run', 'runs')} and "
        kept += f"{_counted(self.sound[_STUDIES], 'study', 'studies')} are sound"
        if not self.damaged:
            return f"{kept}; nothing is damaged."
        lines = [f"{kept}; damaged:", *self.damaged[:_MOST_TOLD]]
        more = len(self.damaged) - _MOST_TOLD
        return visible("\n  ".join(lines + ([f"and {more} more"] if more > 0 else [])))


def _counted(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


def check(path: str | Path) -> Findings:
    """Read every row of a store and look at its seals; nothing is changed.

    Parameters
    ----------
    path : str or Path
        The store.

    Raises
    ------
    LearnabilityError
        When it is not a store, or so damaged that nothing can be read.
    """
    with _reading(the_place(path)) as connection:
        findings = Findings(dict.fromkeys(_COLUMNS, 0), [])
        for _ in _sound(connection, findings):
            pass
    return findings


def repair(path: str | Path) -> tuple[Findings, Path]:
    """Put a store of what is sound in the place of a damaged one, which is kept beside it.

    Parameters
    ----------
    path : str or Path
        The store.

    Returns
    -------
    Findings
        What is kept, and what is not.
    Path
        Where the damaged file is now; the store itself when nothing was damaged.

    Raises
    ------
    LearnabilityError
        When it is not a store, nothing of it can be read, or a study uses it.
    """
    place = check_place(path)
    beside = Lock(place)
    try:
        inside = FileLock(place)
        try:
            return _repaired(place)
        finally:
            inside.release()
    finally:
        beside.release()


def _repaired(place: Path) -> tuple[Findings, Path]:
    findings = check(place)
    if not findings.damaged:
        return findings, place
    with whole_file(place) as part:
        made = sqlite3.connect(part, isolation_level=None)
        try:
            make_tables(made)
            made.execute("BEGIN")
            again = Findings(dict.fromkeys(_COLUMNS, 0), [])
            with _reading(place) as connection:
                for table, row in _sound(connection, again):
                    marks = ",".join("?" * len(row))
                    made.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row)
            made.execute("COMMIT")
        finally:
            made.close()
        old = _free_name(place)
        os.link(place, old)
        for beside in ("-wal", "-shm"):  # They belong to the damaged file.
            log = place.with_name(place.name + beside)
            if log.exists():
                os.rename(log, old.with_name(old.name + beside))
    Store(place, write=False).close()  # This refuses what is not a store.
    return again, old


def _free_name(place: Path) -> Path:
    names = (place.with_name(f"{place.name}.damaged-{k}") for k in itertools.count(1))
    return next(name for name in names if not name.exists())


class _reading:
    """A connection to a file that may be damaged, which changes nothing."""

    def __init__(self, place: Path) -> None:
        if not place.is_file():
            raise LearnabilityError(f"The store {str(place)!r} cannot be read: no such file.")
        log = place.with_name(place.name + "-wal")
        mode = "mode=ro" if log.exists() else "mode=ro&immutable=1"
        self._name = repr(str(place))
        self._connection = sqlite3.connect(f"{place.as_uri()}?{mode}", uri=True, timeout=30.0)

    def __enter__(self) -> sqlite3.Connection:
        try:
            (application,) = self._connection.execute("PRAGMA application_id").fetchone()
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            self._connection.close()
            raise LearnabilityError(
                f"Nothing of {self._name} can be read ({error}): it is not a store, or its head is "
                "damaged."
            ) from None
        if application != APPLICATION or version > SCHEMA:
            self._connection.close()
            raise LearnabilityError(
                f"The file {self._name} is not a store of this version, and was left as it is."
            )
        return self._connection

    def __exit__(self, *_: object) -> None:
        self._connection.close()


def _sound(
    connection: sqlite3.Connection, findings: Findings
) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield every sound row with its table, and record the findings on the way."""
    try:
        other = tables_of(connection) != expected_tables()
    except (sqlite3.Error, UnicodeDecodeError):
        other = True
    if other:
        findings.damaged.append("its tables are not those of a store")
    judges = {_POINTS: _judge_point, _FAILURES: _judge_failure, _STUDIES: _judge_study}
    for table, judge in judges.items():
        for number, row in _rows(connection, table, findings):
            try:
                judge(row)
            except DAMAGED as error:
                findings.damaged.append(f"row {number} of {table}: {' '.join(str(error).split())}")
            else:
                findings.sound[table] += 1
                yield table, row


def _rows(
    connection: sqlite3.Connection, table: str, findings: Findings
) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield the rows that can be read, one by one: a bad page does not take the others with it."""
    columns, last = _COLUMNS[table], 0
    ask = f"SELECT rowid, {columns} FROM {table} WHERE rowid > ? ORDER BY rowid"
    for _ in range(_MOST_HOLES):
        try:
            for number, *row in connection.execute(ask, (last,)):
                if number <= last:  # Out of order, because a page points back.
                    raise sqlite3.DatabaseError("rows are out of order")
                last = number
                yield number, tuple(row)
            return
        except (sqlite3.Error, UnicodeDecodeError) as error:
            skipped = _next_readable(connection, table, last)
            until = "the end" if skipped is None else f"row {skipped}"
            findings.damaged.append(f"rows of {table} after {last} up to {until}: {error}")
            if skipped is None:
                return
            last = skipped - 1


def _next_readable(connection: sqlite3.Connection, table: str, last: int) -> int | None:
    """Return the next row behind a bad page, looked for one by one for a while, then in strides."""
    stride, number = 1, last
    for _ in range(20_000):
        number += stride
        try:
            ask = f"SELECT {_COLUMNS[table]} FROM {table} WHERE rowid = ?"
            if connection.execute(ask, (number,)).fetchone() is not None:
                return number
        except (sqlite3.Error, UnicodeDecodeError):
            continue
        if number > last + 10_000:
            stride = 100
    return None


def _judge_point(row: tuple[Any, ...]) -> None:
    key, parameters, seed, result, version, *times = row
    _judge_words(key, parameters, seed, version, times)
    decode(opened(key, result))


def _judge_failure(row: tuple[Any, ...]) -> None:
    key, parameters, seed, error, details, version, *times = row
    _judge_words(key, parameters, seed, version, times)
    if not isinstance(error, str) or not isinstance(details, str):
        raise LearnabilityError("a failure has no message")


def _judge_words(key: Any, parameters: Any, seed: Any, version: Any, times: list[Any]) -> None:
    """Refuse a row whose key is not the hash of its parameters and seed."""
    tied(key, parameters, seed)
    if not isinstance(version, str) or not all(isinstance(one, float | int) for one in times):
        raise LearnabilityError("a value has the wrong type")


def _judge_study(row: tuple[Any, ...]) -> None:
    _, layout, keys, asked = row
    layout_of(layout, keys)
    if not isinstance(asked, float | int):
        raise LearnabilityError("a value has the wrong type")
