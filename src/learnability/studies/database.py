"""The database of a store: its tables, and the marks that distinguish it from other files."""

from __future__ import annotations

import sqlite3
from functools import lru_cache
from pathlib import Path
from typing import Any

from learnability.results import whole_file

__all__ = ["APPLICATION", "SCHEMA", "create", "expected_tables", "make_tables", "tables_of"]

APPLICATION = 0x4C52_4E42
"""SQLite's application_id of our files."""

SCHEMA = 2
"""Version of the tables, SQLite's user_version; rows of version 1 have no seals."""

_TABLES = """
CREATE TABLE points (
    key TEXT PRIMARY KEY, parameters TEXT NOT NULL, seed INTEGER NOT NULL,
    result BLOB NOT NULL, version TEXT NOT NULL, seconds REAL NOT NULL, finished REAL NOT NULL
);
CREATE TABLE failures (
    key TEXT PRIMARY KEY, parameters TEXT NOT NULL, seed INTEGER NOT NULL,
    error TEXT NOT NULL, details TEXT NOT NULL, version TEXT NOT NULL, seconds REAL NOT NULL,
    finished REAL NOT NULL
);
CREATE TABLE studies (
    number INTEGER PRIMARY KEY, layout TEXT NOT NULL, keys TEXT NOT NULL, asked REAL NOT NULL,
    UNIQUE (layout, keys)
);
"""


def create(path: Path) -> None:
    """Make a new store; the file appears complete or not at all.

    Parameters
    ----------
    path : Path
        The file.
    """
    with whole_file(path) as part:
        connection = sqlite3.connect(part)
        try:
            make_tables(connection)
        finally:
            connection.close()


def make_tables(connection: sqlite3.Connection) -> None:
    """Make a store of an empty database.

    Parameters
    ----------
    connection : sqlite3.Connection
        A connection to a new file.
    """
    connection.executescript(
        f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {SCHEMA};"
        + _TABLES
        + "PRAGMA journal_mode = WAL;"
    )


def tables_of(connection: sqlite3.Connection) -> list[Any]:
    """Return the tables of a database; one with a view or trigger that is not ours is never used.

    Parameters
    ----------
    connection : sqlite3.Connection
        A connection to the database.
    """
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT 20")
    return sorted((*names, " ".join((sql or "").split())) for *names, sql in rows)


@lru_cache(maxsize=1)
def expected_tables() -> list[Any]:
    """Return the tables of a store."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(_TABLES)
        return tables_of(connection)
    finally:
        connection.close()
