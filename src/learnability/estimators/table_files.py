"""Files of tables as people have them: separators, encodings, decimal commas, compression.

Nothing is asked of the user: what a file looks like is found from its first lines.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from learnability.errors import LearnabilityError
from learnability.estimators.out_of_core import sampled_frame

__all__ = ["open_table"]

_PACKED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_TEXT = (".csv", ".tsv", ".txt")
_HEAD = 1 << 16
_WIDEST = 100_000
"""The largest number of columns of a file of text; whole tables of more take minutes to read."""
_COMMA = re.compile(r"(^|[;\t|])-?\d+,\d+([;\t|]|$)")
"""A field that is a number with a decimal comma, between separators other than commas."""


def open_table(path: Path) -> tuple[Any, list[str]]:
    """Return the table in a file as it is, with different column names, and sentences about it.

    Parameters
    ----------
    path : Path
        As in `read_table`.

    Returns
    -------
    tuple
        A data frame, and sentences.

    Raises
    ------
    LearnabilityError
        When the file is not a table.
    """
    import pandas

    if path.is_dir():
        table, notes = sampled_frame(path)
        table.columns = [str(name) for name in table.columns]
        return table, notes
    if not path.is_file():
        raise LearnabilityError(f"There is no file {str(path)!r}.")
    packed = path.suffix.lower() if path.suffix.lower() in _PACKED else ""
    suffix = (Path(path.stem).suffix if packed else path.suffix).lower()
    if suffix not in (*_TEXT, ".parquet") or (packed and suffix == ".parquet"):
        raise LearnabilityError(
            f"{path.name!r} was given, but .csv, .tsv, .txt (also .gz, .bz2, .xz) or .parquet is "
            "accepted."
        )
    try:
        if suffix == ".parquet":
            table = pandas.read_parquet(path)
            names = [str(name) for name in table.columns]
        else:
            table, names = _read_text(path, packed)
    except ImportError as error:
        raise LearnabilityError(
            "Parquet files need pyarrow: install learnability[parquet], or give a CSV file."
        ) from error
    except (ValueError, OSError, EOFError, csv.Error, lzma.LZMAError) as error:
        raise LearnabilityError(f"{path.name!r} cannot be read as a table: {error}") from error
    table.columns = [str(name) for name in table.columns]
    twice = sorted(name for name, count in Counter(names).items() if name and count > 1)
    if twice:
        raise LearnabilityError(
            f"{path.name!r} has several columns of the name {', '.join(twice[:8])}: rename them."
        )
    return _without_row_numbers(table)


def _read_text(path: Path, packed: str) -> tuple[Any, list[str]]:
    """Return a table of text, and the names in its first line."""
    import pandas

    with _PACKED[packed](path, "rb") if packed else path.open("rb") as file:
        content = file.read()
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    if encoding != "utf-16" and b"\0" in content:
        raise ValueError("it holds binary data")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        text = content.decode("cp1252" if not re.search(rb"[\x81\x8d\x8f\x90\x9d]", content)
                              else "latin-1")  # fmt: skip
    lines = text[:_HEAD].splitlines()[:20]
    separator = _separator(lines)
    names = next(csv.reader(io.StringIO(text), delimiter=separator), [])
    if len(names) > _WIDEST:
        raise ValueError(
            f"its first line has {len(names)} names, but at most {_WIDEST} columns are read"
        )
    comma = separator != "," and any(_COMMA.search(line) for line in lines[1:])
    table = pandas.read_csv(io.StringIO(text), sep=separator, decimal="," if comma else ".")
    return table, names


def _separator(lines: list[str]) -> str:
    """Return the separator that cuts the first lines into the most fields, equally many in each."""

    def fields(separator: str) -> tuple[bool, int]:
        counts = [len(row) for row in csv.reader(lines, delimiter=separator) if row]
        return len(set(counts)) == 1, counts[0] if counts else 0

    found = {separator: fields(separator) for separator in (",", ";", "\t", "|")}
    return max(found, key=lambda s: (found[s][1] > 1, found[s]))


def _without_row_numbers(table: Any) -> tuple[Any, list[str]]:
    """Return the table without a nameless first column that only numbers its rows."""
    if table.shape[1] < 2 or not str(table.columns[0]).startswith("Unnamed: 0"):
        return table, []
    first = table.iloc[:, 0].to_numpy()
    count = np.arange(len(table))
    if first.dtype.kind in "iu" and any((first == count + start).all() for start in (0, 1)):
        return table.iloc[:, 1:], ["The first column has no name and numbers the rows: left out."]
    return table, []
