"""Labelled results as files: NetCDF, Zarr and CSV, written as a whole or not at all."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnability.errors import LearnabilityError
from learnability.results.writing import check_place, whole_file, whole_folder

if TYPE_CHECKING:
    import xarray

__all__ = ["FORMATS", "save"]

FORMATS = (".nc", ".csv", ".zarr")
"""What results are saved as."""


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
    if suffix == ".zarr":
        _refuse_foreign(path)
        with whole_folder(path) as part:
            dataset.to_zarr(part, mode="w", zarr_format=2)  # Version 3 has no texts yet.
        return
    with whole_file(path) as part:
        if suffix == ".nc":
            dataset.to_netcdf(part, engine="h5netcdf")
        else:
            _long_form(dataset).to_csv(part, index=False)


_OF_ZARR = re.compile(r"\.zgroup|\.zattrs|\.zmetadata|\.zarray|\d+(\.\d+)*")


def _refuse_foreign(path: Path) -> None:
    """Refuse to replace a folder in which anything is not of a Zarr result."""
    place = check_place(path, folder=True)
    if not place.exists():
        return
    if not (place / ".zgroup").is_file():
        raise LearnabilityError(f"{str(path)!r} is there and is no Zarr folder: give another name.")
    for root, folders, names in os.walk(place):
        links = [name for name in folders if (Path(root) / name).is_symlink()]
        for name in [*links, *(name for name in names if not _OF_ZARR.fullmatch(name))]:
            foreign = Path(root, name).relative_to(place)
            raise LearnabilityError(
                f"The folder {str(path)!r} holds {str(foreign)!r}, which is not of a Zarr result, "
                "and was left as it is: move it away, or give another name."
            )


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
