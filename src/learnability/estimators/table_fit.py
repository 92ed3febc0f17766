"""Fit a table in a file, and write what was found: the work of ``learnability fit``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from learnability.errors import LearnabilityError
from learnability.estimators.index_subspace import IndexSubspace
from learnability.estimators.staircase_displays import BlindnessDisplay, LandingsDisplay
from learnability.estimators.summary_display import SummaryDisplay

__all__ = ["fit_table", "read_table"]

_FEWEST = 10
"""Fewer rows than this are no table to learn from."""


def read_table(path: Path, target: str) -> tuple[Any, Any]:
    """The inputs as a data frame and the target as an array.

    Parameters
    ----------
    path : Path
        A CSV or Parquet file.
    target : str
        Name of the column to explain.

    Returns
    -------
    tuple
        Numerical columns, and the target.
    """
    import pandas

    table = _open(path)
    if target not in table.columns:
        known = ", ".join(map(str, list(table.columns)[:12]))
        raise LearnabilityError(f"`--target` was given as {target!r}, but the columns are {known}.")
    y = table[target]
    if y.isna().any():
        raise LearnabilityError(f"The target {target!r} has {int(y.isna().sum())} missing values.")
    if len(table) < _FEWEST:
        raise LearnabilityError(
            f"{path.name!r} has {len(table)} rows, but at least {_FEWEST} are needed."
        )
    if not pandas.api.types.is_numeric_dtype(y) and y.nunique() > len(y) / 2:
        raise LearnabilityError(
            f"The target {target!r} has {y.nunique()} different values in {len(y)} rows and is no "
            "number: give a number, or classes that several rows share."
        )
    X = table.drop(columns=target)
    words = [str(name) for name in X.columns if not pandas.api.types.is_numeric_dtype(X[name])]
    if words:
        raise LearnabilityError(
            f"The columns {', '.join(words[:8])} are not numerical: encode them (for instance with "
            "pandas.get_dummies) or leave them out."
        )
    if X.shape[1] == 0:
        raise LearnabilityError("The table has no column beside the target.")
    return X.astype(float), y.to_numpy()


def _open(path: Path) -> Any:
    """The table in a file, its column names all different."""
    import pandas

    if not path.is_file():
        raise LearnabilityError(f"There is no file {str(path)!r}.")
    csv = path.suffix.lower() == ".csv"
    if not csv and path.suffix.lower() != ".parquet":
        raise LearnabilityError(f"{path.name!r} was given, but .csv or .parquet is accepted.")
    try:
        table = pandas.read_csv(path) if csv else pandas.read_parquet(path)
        # pandas renames columns of equal names.
        names = pandas.read_csv(path, header=None, nrows=1, dtype=str).iloc[0] if csv else None
    except ImportError as error:
        raise LearnabilityError(
            "Parquet files need pyarrow: install learnability[parquet], or give a CSV file."
        ) from error
    except (ValueError, OSError) as error:
        raise LearnabilityError(f"{path.name!r} cannot be read as a table: {error}") from error
    names = table.columns.to_series() if names is None else names
    twice = sorted({str(name) for name in names[names.duplicated()]})
    if twice:
        raise LearnabilityError(
            f"{path.name!r} has several columns of the name {', '.join(twice)}: rename them."
        )
    return table


def fit_table(
    path: Path, target: str, components: str, out: Path | None, seed: int
) -> IndexSubspace:
    """Fit `IndexSubspace` to a file, and write components, report, pictures and model.

    Parameters
    ----------
    path, target
        As in `read_table`.
    components : str
        "auto" or a whole number.
    out : Path, optional
        Folder for components.csv, report.txt, report.json, model.pickle and pictures: summary.png,
        blindness.png, and landings.png where a staircase was climbed.
    seed : int
        Fixes everything.

    Returns
    -------
    IndexSubspace
        Fitted.
    """
    if components != "auto" and not (components.isdigit() and int(components) > 0):
        raise LearnabilityError(
            f"`--components` was given as {components!r}, but auto or a whole number is accepted."
        )
    X, y = read_table(path, target)
    count: Any = "auto" if components == "auto" else int(components)
    found = IndexSubspace(count, random_state=seed).fit(X, y)
    if out is not None:
        _write(found, X, y, out)
    return found


def _write(found: IndexSubspace, X: Any, y: Any, out: Path) -> None:
    import pickle

    import pandas

    out.mkdir(parents=True, exist_ok=True)
    names = found.get_feature_names_out()
    table = pandas.DataFrame(found.components_, index=names, columns=X.columns)
    table.to_csv(out / "components.csv")
    (out / "report.txt").write_text(f"{found.report_}\n", encoding="utf-8")
    words = json.dumps(found.report_.to_dict(), default=_plain, indent=1)
    (out / "report.json").write_text(f"{words}\n", encoding="utf-8")
    pictures: dict[str, Any] = {"summary": SummaryDisplay.from_estimator(found, X, y)}
    if len(found.components_):
        pictures["blindness"] = BlindnessDisplay.from_estimator(found, X, y)
    if len(getattr(found.estimator_, "landings_", [])) > 1:
        pictures["landings"] = LandingsDisplay.from_estimator(found)
    for name, display in pictures.items():
        display.figure_.savefig(out / f"{name}.png", dpi=200, bbox_inches="tight")
    (out / "model.pickle").write_bytes(pickle.dumps(found))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
