"""Tables of numbers and words, turned into numbers by a recipe that new rows can follow.

Separators, encodings, decimal commas and compression are recognised; columns of words become one
column of zeros and ones for each level; missing values are refused by the name of their column, or
filled by the median with a column that says where; dates are refused.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.estimators.out_of_core import sampled_frame

__all__ = ["Recipe", "Table", "open_table", "read_table"]

TASKS = ("auto", "numbers", "classes")
"""The kinds of target that a user may declare."""
_FEWEST = 10
"""The fewest rows from which to learn."""
_LEVELS = 30
"""The most levels of a column of words."""
_PACKED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_TEXT = (".csv", ".tsv", ".txt")
_HEAD = 1 << 16
_DATE = re.compile(r"\s*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T]\d{1,2}:\d{2}.*)?\s*$")
_GONE = "missing"


@dataclass(frozen=True)
class Recipe:
    """How columns of a table become numbers.

    Attributes
    ----------
    target : str
        Name of the column to explain.
    numbers : dict
        Column of numbers -> the value that replaces missing ones, None where none may be missing.
    words : dict
        Column of words -> its levels.
    """

    target: str
    numbers: dict[str, float | None]
    words: dict[str, list[str]]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain numbers and words."""
        return asdict(self)

    def inputs(self, table: Any) -> Any:
        """Return the columns of a data frame as numbers, in the order of the recipe.

        Parameters
        ----------
        table : DataFrame
            The table, or new rows of it.

        Returns
        -------
        DataFrame
            The table with every column as floats.

        Raises
        ------
        LearnabilityError
            When a column is missing, or has missing or new values that the recipe does not have.
        """
        import pandas

        gone = [name for name in (*self.numbers, *self.words) if name not in table.columns]
        if gone:
            raise LearnabilityError(f"The table has no column {', '.join(gone)}: it is needed.")
        found: dict[str, Any] = {}
        for name, fill in self.numbers.items():
            column = pandas.to_numeric(table[name], errors="coerce").astype(float)
            absent = ~np.isfinite(column)
            if fill is None and absent.any():
                raise LearnabilityError(
                    f"The column {name} has {int(absent.sum())} values that are missing or no "
                    "finite numbers, and had none where the model was fitted."
                )
            found[name] = column.where(~absent, fill)
            if fill is not None:
                found[f"{name} {_GONE}"] = absent.astype(float)
        for name, levels in self.words.items():
            column = _levels(table[name])
            new = sorted(set(column) - set(levels))
            if new:
                raise LearnabilityError(
                    f"The column {name} has the new value {new[0]!r}, but the values "
                    f"{', '.join(levels)} are known."
                )
            for level in levels:
                found[f"{name}={level}"] = (column == level).astype(float)
        return pandas.DataFrame(found, index=table.index)


@dataclass(frozen=True)
class Table:
    """A table that was read.

    Attributes
    ----------
    X : DataFrame
        The inputs as numbers.
    y : array
        The target.
    weights : array or None
        Counts of the rows.
    recipe : Recipe
        How the inputs were made.
    notes : list of str
        What was done to the table.
    task : {"auto", "numbers", "classes"}
        The kind of target that was declared.
    """

    X: Any
    y: NDArray[Any]
    weights: NDArray[Any] | None
    recipe: Recipe
    notes: list[str]
    task: str = "auto"


def read_table(
    path: Path, target: str, columns: Sequence[str] = (), drop: Sequence[str] = (),
    missing: str = "refuse", weights: str | None = None, task: str = "auto",
) -> Table:  # fmt: skip
    """Read a table and turn its columns into numbers.

    Parameters
    ----------
    path : Path
        A file of text (.csv, .tsv, .txt, also with .gz, .bz2 or .xz) or .parquet, or a folder of
        .parquet files, from which rows are drawn where there are too many.
    target : str
        Name of the column to explain.
    columns, drop : sequence of str
        The columns to take, all by default, and those to leave out.
    missing : {"refuse", "impute"}
        What to do where values are missing: refuse and name the columns, or take the median (the
        level "missing" of words) and add a column that marks them.
    weights : str, optional
        Name of a column of counts of the rows.
    task : {"auto", "numbers", "classes"}
        What the target is; "auto" reads words, truth values and two numbers as classes.

    Returns
    -------
    Table

    Raises
    ------
    LearnabilityError
        When the file is not a table, or a column cannot be used.
    """
    import pandas

    if missing not in ("refuse", "impute"):
        raise LearnabilityError(
            f"`--missing` was given as {missing!r}, but refuse or impute is accepted."
        )
    if task not in TASKS:
        raise LearnabilityError(
            f"`--task` was given as {task!r}, but {', '.join(TASKS)} is accepted."
        )
    table, notes = open_table(path)
    known = ", ".join(map(str, list(table.columns)[:12]))
    for option, names in (
        ("--target", [target]), ("--columns", columns), ("--drop", drop),
        ("--weights", [weights] if weights else []),
    ):  # fmt: skip
        for name in names:
            if name not in table.columns:
                raise LearnabilityError(
                    f"`{option}` was given as {name!r}, but the columns are {known}."
                )
    if len(table) < _FEWEST:
        raise LearnabilityError(
            f"{path.name!r} has {len(table)} rows, but at least {_FEWEST} are needed."
        )
    y = table[target]
    if y.isna().any():
        raise LearnabilityError(f"The target {target!r} has {int(y.isna().sum())} missing values.")
    numeric = pandas.api.types.is_numeric_dtype(y)
    if task == "numbers" and not numeric:
        raise LearnabilityError(
            f"`--task numbers` was given, but the target {target!r} holds words."
        )
    if task == "classes":
        y, numeric = y.astype(str), False
    if numeric:
        wild = ~np.isfinite(y.to_numpy(dtype=float))
        if wild.any():
            raise LearnabilityError(
                f"The target {target!r} has {int(wild.sum())} values that are not finite: leave "
                "such rows out."
            )
    elif y.nunique() > len(y) / 2:
        raise LearnabilityError(
            f"The target {target!r} has {y.nunique()} different values in {len(y)} rows that are "
            "no numbers: give numbers, or classes that several rows share."
        )
    taken = [str(name) for name in (columns or table.columns)]
    taken = [name for name in taken if name not in (target, weights, *drop)]
    if not taken:
        raise LearnabilityError("The table has no column beside the target.")
    recipe = _recipe(table[taken], target, fill=missing == "impute")
    counts = None if weights is None else table[weights].to_numpy(dtype=float, na_value=np.nan)
    if counts is not None and not (np.isfinite(counts).all() and (counts >= 0).all()):
        raise LearnabilityError(f"The weights {weights!r} must be finite and not below zero.")
    return Table(recipe.inputs(table), y.to_numpy(), counts, recipe, notes, task)


def _recipe(table: Any, target: str, *, fill: bool) -> Recipe:
    """Return the recipe of the columns, or refuse those that cannot be used."""
    import pandas

    numbers: dict[str, float | None] = {}
    words: dict[str, list[str]] = {}
    absent, dates, many = [], [], []
    for name in table.columns:
        column = table[name]
        if pandas.api.types.is_datetime64_any_dtype(column):
            dates.append(name)
        elif pandas.api.types.is_numeric_dtype(column):
            values = column.to_numpy(dtype=float, na_value=np.nan)
            fine = np.isfinite(values)
            if not fine.all() and not (fill and fine.any()):
                absent.append(name)
                continue
            numbers[name] = None if fine.all() else float(np.median(values[fine]))
        else:
            levels = sorted(set(_levels(column)))
            if column.isna().any() and not fill:
                absent.append(name)
            elif column.dropna().astype(str).map(lambda text: bool(_DATE.match(text))).all():
                dates.append(name)
            elif len(levels) > _LEVELS:
                many.append(f"{name} ({len(levels)} values)")
            else:
                words[name] = levels
    for wrong, why, todo in (
        (absent, "have missing or infinite values", "give --missing impute, or --drop them"),
        (dates, "hold dates", "turn them into numbers, or --drop them"),
        (many, f"are words with more than {_LEVELS} values", "group the values, or --drop them"),
    ):
        if wrong:
            raise LearnabilityError(f"The columns {', '.join(wrong[:8])} {why}: {todo}.")
    return Recipe(target, numbers, words)


def _levels(column: Any) -> Any:
    return column.astype(object).where(column.notna(), _GONE).astype(str)


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
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        raise LearnabilityError(
            f"{path.name!r} has several columns of the name {', '.join(twice)}: rename them."
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
    names = next(csv.reader(lines[:1], delimiter=separator), [])
    comma = separator == ";" and any(re.search(r"(^|;)-?\d+,\d+(;|$)", line) for line in lines[1:])
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
