"""Labelled results as files: NetCDF, Zarr and CSV, written as a whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnability.errors import LearnabilityError

if TYPE_CHECKING:
    import xarray

__all__ = ["FORMATS", "save", "whole_file"]

FORMATS = (".nc", ".csv", ".zarr")
"""What results are saved as."""


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Write a file as a whole or not at all, whatever ends the program.

    Yields the path of another file in the same folder, which takes the place of `path` at the
    end of the ``with`` block and is removed if that fails.

    Parameters
    ----------
    path : str or Path
        The file.
    """
    path = Path(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path)
    finally:
        shutil.rmtree(part) if part.is_dir() else part.unlink(missing_ok=True)


def save(dataset: xarray.Dataset, path: str | Path) -> None:
    """Write a result to a file, as a whole or not at all.

    Parameters
    ----------
    dataset : xarray.Dataset
        The result.
    path : str or Path
        Ending in .nc (NetCDF), .csv (one row for each point, long form) or .zarr (a folder).
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise LearnabilityError(
            f"A result was to be saved as {path.name!r}, but {', '.join(FORMATS)} are accepted."
        )
    if suffix == ".zarr" and path.exists():
        if not (path / ".zgroup").exists():
            raise LearnabilityError(
                f"{str(path)!r} is there and is no Zarr folder: give another name."
            )
        shutil.rmtree(path)
    with whole_file(path) as part:
        if suffix == ".nc":
            dataset.to_netcdf(part, engine="h5netcdf")
        elif suffix == ".zarr":
            dataset.to_zarr(part, mode="w", zarr_format=2)  # Version 3 has no texts yet.
        else:
            _long_form(dataset).to_csv(part, index=False)


def _long_form(dataset: xarray.Dataset) -> Any:
    """Return one row for each value, with the name of its variable and its coordinates."""
    import pandas

    frames = []
    for name, variable in dataset.data_vars.items():
        rows = variable if variable.ndim else variable.expand_dims("row")
        frame = rows.to_dataframe(name="value").reset_index().drop(columns="row", errors="ignore")
        frame.insert(0, "variable", str(name))
        frames.append(frame)
    return pandas.concat(frames, ignore_index=True)
