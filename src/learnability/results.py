"""Saving labelled results: NetCDF and CSV."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from learnability.errors import LearnabilityError

if TYPE_CHECKING:
    import xarray

__all__ = ["save"]


def save(dataset: xarray.Dataset, path: str | Path) -> None:
    """Write a result to a file.

    Parameters
    ----------
    dataset : xarray.Dataset
        The result.
    path : str or Path
        Ending in .nc (NetCDF) or .csv (one row a point, long form).
    """
    path = Path(path)
    if path.suffix == ".nc":
        dataset.to_netcdf(path, engine="h5netcdf")
    elif path.suffix == ".csv":
        frames = []
        for name, variable in dataset.data_vars.items():
            frame = variable.to_dataframe(name="value").reset_index()
            frame.insert(0, "variable", str(name))
            frames.append(frame)
        import pandas

        pandas.concat(frames, ignore_index=True).to_csv(path, index=False)
    else:
        raise LearnabilityError(
            f"A result was to be saved as {path.name!r}, but .nc and .csv are accepted."
        )
