"""Labelled results as files (NetCDF and CSV), and as a table to read."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnability.errors import LearnabilityError

if TYPE_CHECKING:
    import xarray

__all__ = ["FORMATS", "save", "table", "whole_file"]

FORMATS = (".nc", ".csv")
"""What results are saved as."""


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Write a file as a whole or not at all, whatever ends the program.

    Yields the path of another file in the same folder, which takes the place of `path` at the
    end of the ``with`` block and is removed if that fails.
    """
    path = Path(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def save(dataset: xarray.Dataset, path: str | Path) -> None:
    """Write a result to a file, as a whole or not at all.

    Parameters
    ----------
    dataset : xarray.Dataset
        The result.
    path : str or Path
        Ending in .nc (NetCDF) or .csv (one row a point, long form).
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise LearnabilityError(
            f"A result was to be saved as {path.name!r}, but .nc and .csv are accepted."
        )
    with whole_file(path) as part:
        if suffix == ".nc":
            dataset.to_netcdf(part, engine="h5netcdf")
        else:
            _long_form(dataset).to_csv(part, index=False)


def _long_form(dataset: xarray.Dataset) -> Any:
    """One row a value, with the name of its variable and its coordinates."""
    import pandas

    frames = []
    for name, variable in dataset.data_vars.items():
        frame = variable.to_dataframe(name="value").reset_index()
        frame.insert(0, "variable", str(name))
        frames.append(frame)
    return pandas.concat(frames, ignore_index=True)


def table(dataset: xarray.Dataset) -> str:
    """The result of a learner as text: a row for each alpha, or each time of an online learner.

    Parameters
    ----------
    dataset : xarray.Dataset
        From `simulate`, of which means and standard errors over the seeds are shown, or `predict`.

    Returns
    -------
    str
        The diagonal overlaps, the errors and the statuses by alpha; then the thresholds.
    """
    about = dataset.attrs
    name = f"y = {about['link']}" + (f" + sqrt({about['noise']:g}) xi" if about["noise"] else "")
    made = about["learner"] + (f", d = {about['d']}" if "d" in about else "")
    if "seed" in dataset.dims:
        made += f", {dataset.sizes['seed']} seed" + ("s" if dataset.sizes["seed"] > 1 else "")
    axis = "alpha" if "alpha" in dataset.coords else "time"
    if axis not in dataset.dims:
        dataset = dataset.expand_dims(axis)
    if axis == "time":
        dataset = _along_time(dataset)
    columns = [(axis, [f"{a:.6g}" for a in dataset[axis].values])]
    for i in range(min(dataset.sizes["index"], dataset.sizes["estimate"])):
        own = dataset["overlap"].isel(estimate=i, index=i)
        columns.append((f"overlap {i + 1}", _cells(own)))
    shown = ["error", "misclassification"] if "error" in dataset else ["subspace_overlap", "edge"]
    columns += [(key.replace("_", " "), _cells(dataset[key])) for key in shown if key in dataset]
    if "status" in dataset:
        columns.append(("status", _counted(dataset["status"])))
    widths = [max(len(head), *map(len, cells)) for head, cells in columns]
    rows = [[head for head, _ in columns], *zip(*(cells for _, cells in columns), strict=True)]
    lines = [name, made, ""]
    for row in rows:
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        lines.append(("  " + "  ".join(padded)).rstrip())
    thresholds = [(k, v) for k, v in about.items() if k.startswith("alpha_")]
    lines += [""] if thresholds else []
    lines += [f"  {key:<20}{_threshold(value)}" for key, value in thresholds]
    lines += ["", f"Note: {about['note']}"] if about.get("note") else []
    return "\n".join(lines)


def _along_time(dataset: xarray.Dataset) -> xarray.Dataset:
    """The paths of an online learner in the place of its final values."""
    status = dataset["status"]
    if "time" not in status.dims:
        status = status.expand_dims(time=dataset.sizes["time"])
    return dataset.assign(
        {"status": status, "overlap": dataset["overlap_trace"], "error": dataset["error_trace"]}
    )


def _cells(variable: xarray.DataArray) -> list[str]:
    """Numbers by alpha, with the standard error over the seeds where there are several."""
    mean = variable.mean("seed") if "seed" in variable.dims else variable
    texts = ["-" if math.isnan(m) else f"{round(float(m), 4) + 0.0:.4f}" for m in mean.values]
    if "seed" not in variable.dims or variable.sizes["seed"] < 2:
        return texts
    error = variable.std("seed", ddof=1) / math.sqrt(variable.sizes["seed"])
    pairs = zip(texts, error.values, strict=True)
    return [text if text == "-" else f"{text} +- {e:.4f}" for text, e in pairs]


def _counted(status: xarray.DataArray) -> list[str]:
    """Statuses by alpha; of several seeds each with its number."""
    if "seed" not in status.dims:
        return [str(s) for s in status.values]
    rows = status.transpose(..., "seed").values
    if rows.shape[1] == 1:
        return [str(s) for s in rows[:, 0]]
    return [", ".join(f"{n} {s}" for s, n in Counter(map(str, row)).most_common()) for row in rows]


def _threshold(value: float) -> str:
    if math.isnan(value):
        return "-"
    return "infinite" if math.isinf(value) else f"{value:.6g}"
