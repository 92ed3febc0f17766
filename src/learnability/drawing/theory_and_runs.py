"""Theory and runs as one set of numbers, and pictures drawn from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.drawing.marks import crosses, line

if TYPE_CHECKING:
    import xarray

__all__ = ["against", "legend", "line_and_crosses", "mean_overlap"]


def against(
    theory: xarray.Dataset,
    runs: xarray.Dataset,
    thresholds: Sequence[float] = (),
    *,
    paths: bool = False,
) -> xarray.Dataset:
    """Return theory and runs as one set of numbers.

    Variables, the axis "alpha" and attributes get the prefixes "theory_" and "runs_", and so do
    other coordinates and dimensions in which the two differ; the variable "threshold" is added
    where there are any. Paths along the iterations are left out unless they are asked for.
    """
    import xarray

    if not paths:
        theory, runs = (_without_paths(part) for part in (theory, runs))
    shared = {*theory.dims, *theory.coords} & {*runs.dims, *runs.coords} - {"seed"}
    apart = {name for name in shared if not _alike(theory, runs, name)} | {"alpha"}
    parts, attrs = [], {}
    for prefix, part in (("theory_", theory), ("runs_", runs)):
        names = {*part.data_vars, *(apart & {*part.dims, *part.coords})}
        parts.append(part.rename({name: f"{prefix}{name}" for name in names}))
        attrs.update({f"{prefix}{key}": value for key, value in part.attrs.items()})
    merged = xarray.merge(parts, join="outer", compat="no_conflicts", combine_attrs="drop")
    if len(thresholds):
        merged["threshold"] = ("step", np.asarray(thresholds, dtype=float))
    return merged.assign_attrs(attrs)


def _without_paths(data: xarray.Dataset) -> xarray.Dataset:
    """Return the variables that have no time."""
    paths = [name for name in data.data_vars if "time" in data[name].dims]
    return data.drop_vars([*paths, "time"], errors="ignore")


def _alike(theory: xarray.Dataset, runs: xarray.Dataset, name: Any) -> bool:
    """Return whether a dimension or coordinate is the same on both sides."""
    if (name in theory.coords) != (name in runs.coords):
        return False
    if name in theory.coords:
        return bool(theory[name].equals(runs[name]))
    return theory.sizes.get(name) == runs.sizes.get(name)


def mean_overlap(data: xarray.Dataset, side: str, which: Sequence[int]) -> xarray.DataArray:
    """Return the mean of the diagonal overlaps of some directions; `side` is "theory" or "runs"."""
    import xarray

    overlap = data[f"{side}_overlap"]
    parts = [overlap.isel(estimate=k, index=k, drop=True) for k in which]
    return xarray.concat(parts, "direction").mean("direction")


def line_and_crosses(
    axes: Any,
    data: xarray.Dataset,
    theory: xarray.DataArray,
    runs: xarray.DataArray,
    colour: str,
) -> None:
    """Draw the theory as a line, and the mean of the runs over seeds with its standard error."""
    line(axes, data["theory_alpha"], theory, colour)
    crosses(axes, data["runs_alpha"], runs, colour)


def legend(
    figure: Any,
    data: xarray.Dataset,
    columns: int,
    *,
    theory: str,
    algorithm: str,
) -> None:
    """Say once above the panels what a line is and what a cross is, whatever their colours."""
    from matplotlib.lines import Line2D

    d, runs = data.attrs["runs_d"], data.sizes["seed"]
    handles = [
        Line2D([], [], color="0.3"),
        Line2D([], [], color="0.3", ls="", marker="x", ms=4, mew=1.1),
    ]
    labels = [
        rf"{theory}, $d \to \infty$",
        f"{algorithm}, $d = {d}$, {runs} run{'s' if runs > 1 else ''}",
    ]
    figure.legend(handles, labels, loc="outside upper center", ncols=columns, handlelength=1.5)
