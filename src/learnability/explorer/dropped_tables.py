"""Tables that were dropped on the page: read and fitted in the worker, and never kept."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from learnability.errors import LearnabilityError
from learnability.estimators.table_fit import fit_table
from learnability.estimators.tables import open_table
from learnability.explorer.limits import LIMITS

__all__ = ["columns_of", "fit_of"]

_MOST_POINTS = 2000
"""The largest number of rows whose coordinates are drawn."""
_ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".gz", ".bz2", ".xz")


@contextmanager
def _table(values: Mapping[str, str], blob: bytes) -> Iterator[Path]:
    """The table as a file that is deleted afterwards; only the ending of its name is used."""
    name = Path(values.get("name", "").replace("\\", "/"))
    ending = "".join(name.suffixes[-2:]).lower()
    if not ending.endswith(_ENDINGS) or any(letter in ending for letter in "/\0"):
        raise LearnabilityError(
            f"{name.name[:80]!r} was given, but .csv, .tsv, .txt (also .gz, .bz2, .xz) or .parquet "
            "is accepted."
        )
    single = name.suffix.lower()
    known = ending if single in (".gz", ".bz2", ".xz") else single
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{known}"
        path.write_bytes(blob)
        yield path


def columns_of(values: Mapping[str, str], blob: bytes) -> dict[str, Any]:
    """The columns of a table.

    Parameters
    ----------
    values : mapping
        `name`, the name of the file.
    blob : bytes
        The file.

    Raises
    ------
    LearnabilityError
        When the file is not a table.
    """
    with _table(values, blob) as path:
        table, notes = open_table(path)
    longest = max((len(str(name)) for name in table.columns), default=0)
    if longest > LIMITS.letters:
        raise LearnabilityError(
            f"A column has a name of {longest} letters, but at most {LIMITS.letters} are accepted: "
            "does the first line hold the names?"
        )
    columns = [
        {"name": str(name), "numbers": table[name].dtype.kind in "biuf",
         "values": int(table[name].nunique()), "missing": int(table[name].isna().sum())}
        for name in table.columns
    ]  # fmt: skip
    return {"rows": len(table), "columns": columns, "notes": notes}


def fit_of(values: Mapping[str, str], blob: bytes) -> dict[str, Any]:
    """The directions of a table, as ``learnability fit`` finds them.

    Parameters
    ----------
    values : mapping
        `name`, `target`, and the options `components`, `seed`, `columns`, `drop`, `missing`;
        `compare` also asks what predictions are worth, and what more rows would bring.
    blob : bytes
        The file.

    Raises
    ------
    LearnabilityError
        When the table or a value cannot be used.
    """
    if "target" not in values:
        raise LearnabilityError("No target was chosen: choose the column to explain.")
    seed = values.get("seed", "0")
    if not (seed.isascii() and seed.isdigit() and len(seed) < 12):
        raise LearnabilityError(f"`seed` was given as {seed!r}, but a whole number is accepted.")
    lists = {name: _names(values.get(name, "")) for name in ("columns", "drop")}
    with _table(values, blob) as path:
        fitted = fit_table(
            path, values["target"], values.get("components", "auto"), None, int(seed),
            columns=lists["columns"], drop=lists["drop"], missing=values.get("missing", "refuse"),
            compare="compare" in values,
        )  # fmt: skip
    found, table = fitted.found, fitted.table
    weights = fitted.loadings
    return {
        "text": str(fitted),
        "report": found.report_.to_dict(),
        "directions": len(found.components_),
        "forecast": None if fitted.forecast is None else fitted.forecast.to_dict(),
        "columns": [str(name) for name in table.X.columns],
        "weights": [] if weights is None else weights.weights,
        "errors": [] if weights is None else weights.errors,
        "points": _points(found, table),
    }


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _points(found: Any, table: Any) -> dict[str, Any]:
    """Coordinates of rows against the target, for the summary plot; a part of many rows."""
    if not len(found.components_):
        return {"coordinates": [], "target": [], "words": []}
    chosen = np.linspace(0, len(table.X) - 1, min(len(table.X), _MOST_POINTS)).astype(int)
    y = np.asarray(table.y)[chosen]
    words: list[str] = []
    if y.dtype.kind not in "biuf":
        levels, y = np.unique(y.astype(str), return_inverse=True)
        words = levels.tolist()
    coordinates = np.asarray(found.transform(table.X.iloc[chosen]))
    return {"coordinates": coordinates.T, "target": y.astype(float), "words": words}
