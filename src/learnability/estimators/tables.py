"""Tables of numbers and words, turned into numbers by a recipe that new rows can follow.

Separators, encodings, decimal commas and compression are recognised; columns of words become one
column of zeros and ones for each level; missing values are refused by the name of their column, or
filled by the median with a column that says where; dates are refused. Copies of a row are taken for
one row, and what was done to the table is said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.estimators._copies import copied_rows, copies_said, merged_rows
from learnability.estimators.table_files import open_table

__all__ = ["Recipe", "Table", "open_table", "read_table"]

TASKS = ("auto", "numbers", "classes")
"""The kinds of target that a user may declare."""
_FEWEST = 10
"""The fewest rows from which to learn."""
_LEVELS = 30
"""The most levels of a column of words."""
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

    @property
    def made(self) -> list[str]:
        """Names of the columns of the inputs, in their order."""
        found = []
        for name, fill in self.numbers.items():
            found += [name] if fill is None else [name, f"{name} {_GONE}"]
        return found + [
            f"{name}={level}" for name, levels in self.words.items() for level in levels
        ]

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
                    f"The column {name} has {_many(int(absent.sum()), 'value')} missing, or not "
                    "finite, and had none where the model was fitted."
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
            f"{path.name!r} has {_many(len(table), 'row')}, but at least {_FEWEST} are needed."
        )
    y = table[target]
    if y.isna().any():
        gone = _many(int(y.isna().sum()), "missing value")
        raise LearnabilityError(f"The target {target!r} has {gone}: leave such rows out.")
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
                f"The target {target!r} is not finite in {_many(int(wild.sum()), 'row')}: leave "
                "such rows out."
            )
    elif y.nunique() > len(y) / 2:
        raise LearnabilityError(
            f"The target {target!r} has {y.nunique()} different values in {len(y)} rows that are "
            f"no numbers{_odd(y)}: give numbers, or classes that several rows share."
        )
    taken = [str(name) for name in (columns or table.columns)]
    taken = [name for name in taken if name not in (target, weights, *drop)]
    if not taken:
        raise LearnabilityError("The table has no column beside the target.")
    recipe = _recipe(table[taken], target, fill=missing == "impute")
    notes += _taken_for_words(table, recipe)
    counts = None if weights is None else _counts(table[weights], weights)
    return _merged(Table(recipe.inputs(table), y.to_numpy(), counts, recipe, notes, task))


def _counts(column: Any, name: str) -> NDArray[Any]:
    """Return counts of the rows, or refuse what is none."""
    import pandas

    counts = pandas.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    if not (np.isfinite(counts).all() and (counts >= 0).all() and (counts > 0).any()):
        raise LearnabilityError(
            f"The weights {name!r} must be finite numbers, not below zero and not all zero."
        )
    return np.asarray(counts)


def _merged(table: Table) -> Table:
    """Return the table with one row for all copies of it."""
    group = copied_rows(np.asarray(table.X, dtype=float), np.asarray(table.y))
    if group is None:
        return table
    given = np.ones(len(group)) if table.weights is None else table.weights
    X, y, weights = merged_rows(group, table.X, table.y, given)
    weights = weights * (given.mean() / weights.mean())  # Copies are not counts of new rows.
    said = copies_said(len(group), len(y))
    equal = bool(np.ptp(weights) < 1e-9)
    return replace(table, X=X, y=y, weights=None if equal else weights, notes=[*table.notes, said])


def _taken_for_words(table: Any, recipe: Recipe) -> list[str]:
    """Return sentences on columns of words of which most are numbers."""
    said = []
    for name in recipe.words:
        odd = _odd(table[name])
        if odd:
            said.append(f"The column {name} is taken for words: not all of it are numbers{odd}.")
    return said


def _odd(column: Any) -> str:
    """Return which values of a column of numbers are none, or nothing if most are none."""
    import pandas

    words = column.dropna().astype(str)
    odd = words[pandas.to_numeric(words, errors="coerce").isna()]
    if not len(odd) or 2 * len(odd) > len(words):
        return ""
    return f" (such as {odd.iloc[0]!r}, {_many(len(odd), 'value')} of {len(words)})"


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _recipe(table: Any, target: str, *, fill: bool) -> Recipe:
    """Return the recipe of the columns, or refuse those that cannot be used."""
    import pandas

    numbers: dict[str, float | None] = {}
    words: dict[str, list[str]] = {}
    absent: list[str] = []
    empty: list[str] = []
    dates: list[str] = []
    many: list[str] = []
    for name in table.columns:
        column = table[name]
        if pandas.api.types.is_datetime64_any_dtype(column):
            dates.append(name)
        elif pandas.api.types.is_numeric_dtype(column):
            values = column.to_numpy(dtype=float, na_value=np.nan)
            fine = np.isfinite(values)
            if not fine.all() and not (fill and fine.any()):
                (absent if fine.any() else empty).append(name)
                continue
            numbers[name] = None if fine.all() else float(np.median(values[fine]))
        else:
            levels = sorted(set(_levels(column)))
            if column.isna().any() and not fill:
                absent.append(name)
            elif column.dropna().astype(str).map(lambda text: bool(_DATE.match(text))).all():
                dates.append(name)
            elif len(levels) > _LEVELS:
                many.append(f"{name} ({len(levels)} values){_odd(column)}")
            else:
                words[name] = levels
    for wrong, why, todo in (
        (absent, "have missing or infinite values", "give --missing impute, or --drop them"),
        (empty, "hold no finite value", "--drop them"),
        (dates, "hold dates", "turn them into numbers, or --drop them"),
        (
            many,
            f"are words with more than {_LEVELS} values",
            "group or mend them, or --drop them",
        ),
    ):
        if wrong:
            raise LearnabilityError(f"The columns {', '.join(wrong[:8])} {why}: {todo}.")
    recipe = Recipe(target, numbers, words)
    twice = sorted(name for name, count in Counter(recipe.made).items() if count > 1)
    if twice:
        raise LearnabilityError(
            f"The table has a column {twice[0]!r}, which is also the name of one that is made of "
            "another: rename it."
        )
    return recipe


def _levels(column: Any) -> Any:
    return column.astype(object).where(column.notna(), _GONE).astype(str)
