"""The file of a study: one SQLite database with a row for each finished run.

Only the coordinating process writes; workers never see the file. A commit is a transaction in
SQLite's write-ahead log: whatever kills the process, a run is stored with all its numbers or not at
all. A file of another kind, of a newer version, damaged or read-only is refused before anything in
it changes.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import learnability
from learnability.errors import LearnabilityError, visible
from learnability.results import check_place, the_place
from learnability.studies._lock import FileLock, Lock
from learnability.studies.database import (
    APPLICATION,
    SCHEMA,
    create,
    expected_tables,
    tables_of,
)
from learnability.studies.points import Layout, Point
from learnability.studies.sealing import DAMAGED, described, layout_of, opened, sealed, tied

__all__ = ["Outcome", "Store"]

_PATIENCE = 30.0  # Seconds to wait for readers that hold the file.
_AT_ONCE = 500  # Keys in one query.
_LARGEST_VALUE = 2**30  # Bytes of one run or one list of keys.


class Outcome(NamedTuple):
    """How a run ended.

    Attributes
    ----------
    key : str
        The key of the point.
    result : bytes or None
        The encoded result; None when it failed.
    seconds : float
        Time taken.
    error, details : str
        What went wrong, as a sentence and with the place in the code.
    """

    key: str
    result: bytes | None
    seconds: float
    error: str = ""
    details: str = ""


class Store:
    """The file of one or several studies.

    Parameters
    ----------
    path : str or Path
        The file; it is made if it does not exist, unless it is only to be read.
    write : bool
        Whether to add to it, while no other study may.
    """

    def __init__(self, path: str | Path, *, write: bool) -> None:
        self._given, self.path = path, the_place(path)
        self._lock: Lock | None = None
        self._own: FileLock | None = None
        if write:
            self._check_place()
            self._lock = Lock(self.path)
        try:
            if write:
                self._make_if_missing()
                self._own = FileLock(self.path)
            self._examine(every_run=write)
            self._connection = self._open(write)
        except BaseException:
            self._unlock()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and release its locks."""
        self._connection.close()
        self._unlock()

    def _unlock(self) -> None:
        if self._own is not None:
            self._own.release()
        if self._lock is not None:
            self._lock.release()

    # ---- opening

    def _check_place(self) -> None:
        """Refuse a place where nothing can be written."""
        check_place(self._given)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._no_place(error) from None
        if not os.access(self.path.parent, os.W_OK):
            raise self._no_place("its folder is read-only")

    def _make_if_missing(self) -> None:
        if not self.path.exists() or not self.path.stat().st_size:
            try:
                create(self.path)
            except (OSError, sqlite3.Error) as error:
                raise self._no_place(error) from None

    def _examine(self, *, every_run: bool) -> None:
        """Refuse what is not a whole store of a known version, without writing anything."""
        # We do not open the file: closing it again would end the locks that SQLite holds on it.
        if not self.path.is_file():
            raise LearnabilityError(
                f"The store {self._name} cannot be read: there is no such file."
            )
        if not self.path.stat().st_size:
            raise self._no_store()
        with self._reading() as connection:
            application = connection.execute("PRAGMA application_id").fetchone()[0]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if application != APPLICATION:
                raise LearnabilityError(
                    f"The file {self._name} is a database of another program, and was left as it "
                    "is: give another name."
                )
            if version > SCHEMA:
                raise LearnabilityError(
                    f"The store {self._name} was written by a newer version of learnability (its "
                    f"tables are version {version}, this one knows {SCHEMA}), and was left as it "
                    "is: update learnability."
                )
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                raise LearnabilityError(_damaged(self._name, found))
            if tables_of(connection) != expected_tables():
                raise LearnabilityError(_damaged(self._name, "its tables are not those of a store"))
            if every_run:  # It comes before anything is written beside what is damaged.
                rows = connection.execute("SELECT key, parameters, seed, result FROM points")
                for key, parameters, seed, stored in rows:
                    self._opened(key, stored)
                    self._judged(key, parameters, seed)
                for layout, keys in connection.execute("SELECT layout, keys FROM studies"):
                    self._layout(layout, keys)

    def _opened(self, key: str, stored: bytes) -> bytes:
        try:
            return opened(key, stored)
        except DAMAGED:
            raise LearnabilityError(_damaged(self._name, f"run {visible(str(key))}")) from None

    def _judged(self, key: str, parameters: str, seed: int) -> None:
        try:
            tied(key, parameters, seed)
        except DAMAGED as error:
            raise LearnabilityError(_damaged(self._name, f"run {key}: {error}")) from None

    def _layout(self, layout: str, keys: str) -> Layout:
        try:
            return layout_of(layout, keys)
        except DAMAGED as error:
            raise LearnabilityError(_damaged(self._name, f"a layout: {error}")) from None

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection that changes nothing and leaves nothing beside the file."""
        # Without a write-ahead log nobody writes, and the file is all there is.
        mode = "mode=ro" if self._log.exists() else "mode=ro&immutable=1"
        connection = self._connect(mode)
        try:
            yield connection
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # Its texts may not be UTF-8.
            raise self._sentence(error) from None
        finally:
            connection.close()

    def _open(self, write: bool) -> sqlite3.Connection:
        places = (self.path, self.path.parent)
        if not write and not all(os.access(place, os.W_OK) for place in places):
            return self._connect("mode=ro" if self._log.exists() else "mode=ro&immutable=1")
        connection = self._connect("mode=rw")
        if write and connection.execute("PRAGMA user_version").fetchone()[0] < SCHEMA:
            self._upgrade(connection)
        connection.execute("PRAGMA synchronous = NORMAL" if write else "PRAGMA query_only = ON")
        return connection

    def _upgrade(self, connection: sqlite3.Connection) -> None:
        """Give the layouts of a store of version 1 their seals."""
        connection.execute("BEGIN IMMEDIATE")
        rows = connection.execute("SELECT number, layout, keys FROM studies").fetchall()
        for number, layout, keys in rows:
            text = described(self._layout(layout, keys), keys)
            connection.execute("UPDATE studies SET layout = ? WHERE number = ?", (text, number))
        connection.execute(f"PRAGMA user_version = {SCHEMA}")
        connection.execute("COMMIT")

    def _connect(self, mode: str) -> sqlite3.Connection:
        place = f"{self.path.as_uri()}?{mode}"
        try:
            found = sqlite3.connect(place, uri=True, timeout=_PATIENCE, isolation_level=None)
            found.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST_VALUE)
            found.execute("PRAGMA trusted_schema = OFF")
            return found
        except sqlite3.Error as error:
            raise self._sentence(error) from None

    # ---- reading

    def results(self, keys: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Yield the key and the bytes of the finished ones among some runs, read one by one.

        Parameters
        ----------
        keys : sequence of str
            The keys of the runs.
        """
        for key, stored in self._select("key, result", keys):
            yield key, self._opened(key, stored)

    def finished(self, keys: Sequence[str]) -> set[str]:
        """Return the keys of the finished ones among some runs.

        Parameters
        ----------
        keys : sequence of str
            The keys of the runs.
        """
        return {key for (key,) in self._select("key", keys)}

    def failures(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the errors of those that failed, key -> sentence.

        Parameters
        ----------
        keys : sequence of str
            The keys of the runs.
        """
        return dict(self._select("key, error", keys, "failures"))

    def _select(self, columns: str, keys: Sequence[str], table: str = "points") -> Iterator[Any]:
        keys = list(dict.fromkeys(keys))
        for start in range(0, len(keys), _AT_ONCE):
            part = keys[start : start + _AT_ONCE]
            marks = ",".join("?" * len(part))
            yield from self._run(f"SELECT {columns} FROM {table} WHERE key IN ({marks})", part)

    def studies(self) -> dict[int, Layout]:
        """Return the studies that were asked of this file, by number."""
        rows = self._run("SELECT number, layout, keys FROM studies ORDER BY asked", ())
        return {number: self._layout(layout, keys) for number, layout, keys in rows}

    def size(self) -> str:
        """Return how much the store holds, in words."""
        ((runs, seconds),) = self._run("SELECT count(*), total(seconds) FROM points", ())
        files = [path for path in (self.path, self._log) if path.exists()]
        size = sum(path.stat().st_size for path in files) / 2**20
        return f"{runs} finished runs, {seconds:.1f} s of work, {size:.2f} MiB"

    # ---- writing

    def remember(self, layout: Layout) -> None:
        """Record what was asked, so that it can be exported later.

        Parameters
        ----------
        layout : Layout
            The layout of the study.
        """
        keys = " ".join(layout.keys)
        self._write(
            (
                "INSERT INTO studies (layout, keys, asked) VALUES (?, ?, ?) "
                "ON CONFLICT DO UPDATE SET asked = excluded.asked",
                [(described(layout, keys), keys, time.time())],
            )
        )

    def commit(self, outcomes: Iterable[tuple[Point, Outcome]]) -> None:
        """Add runs that ended, all or none of them; from then on they count as finished.

        Parameters
        ----------
        outcomes : iterable of (Point, Outcome)
            The runs and how they ended.
        """
        now, version = time.time(), learnability.__version__
        ended: list[tuple[Any, ...]] = []
        failed: list[tuple[Any, ...]] = []
        for point, outcome in outcomes:
            own = (point.key, point.parameters, point.seed)
            end = (version, outcome.seconds, now)
            if outcome.result is None:
                failed.append((*own, outcome.error, outcome.details, *end))
            else:
                ended.append((*own, sealed(point.key, outcome.result), *end))
        self._write(
            ("INSERT INTO points VALUES (?, ?, ?, ?, ?, ?, ?)", ended),
            ("DELETE FROM failures WHERE key = ?", [row[:1] for row in ended]),
            ("REPLACE INTO failures VALUES (?, ?, ?, ?, ?, ?, ?, ?)", failed),
        )

    def _write(self, *steps: tuple[str, Sequence[tuple[Any, ...]]]) -> None:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for statement, rows in steps:
                self._connection.executemany(statement, rows)
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise self._sentence(error) from None

    def _run(self, statement: str, values: Sequence[Any]) -> list[Any]:
        try:
            return self._connection.execute(statement, values).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._sentence(error) from None

    # ---- words

    @property
    def _name(self) -> str:
        return repr(str(self._given))

    @property
    def _log(self) -> Path:
        return self.path.with_name(self.path.name + "-wal")

    def _no_store(self) -> LearnabilityError:
        return LearnabilityError(
            f"The file {self._name} is not the store of a study, and was left as it is: give "
            "another name."
        )

    def _no_place(self, why: object) -> LearnabilityError:
        return LearnabilityError(
            f"The store {self._name} cannot be written ({why}): give another place."
        )

    def _sentence(self, error: Exception) -> LearnabilityError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        kept = "What was finished is kept; the same call goes on from there."
        if code == sqlite3.SQLITE_NOTADB:
            return self._no_store()
        if code == sqlite3.SQLITE_FULL:
            return LearnabilityError(
                f"The disk is full, and {self._name} cannot grow: free some space. {kept}"
            )
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            return LearnabilityError(
                f"The store {self._name} cannot be written here ({error}): give a place that can. "
                f"{kept}"
            )
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return LearnabilityError(
                f"The store {self._name} is held by another program: wait for it. {kept}"
            )
        if code == sqlite3.SQLITE_IOERR:
            return LearnabilityError(
                f"The disk of {self._name} gave an error ({error}): look at it. {kept}"
            )
        return LearnabilityError(_damaged(self._name, str(error)))


def _damaged(name: str, why: str) -> str:
    return (
        f"The store {name} is damaged ({' '.join(why.split())}), and was left as it is: "
        "`learnability study check` says where, `study repair` keeps what is sound."
    )
