"""What every picture is made of: the house style, lines, crosses, marks, numbers and files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.results import save, whole_file

if TYPE_CHECKING:
    import xarray

__all__ = [
    "COLOURS",
    "WIDTHS",
    "against",
    "crosses",
    "house_style",
    "line",
    "mark",
    "write",
]

WIDTHS = {"column": 3.4, "text": 7.0}
"""Figure widths in inches."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's colours, in the order of use."""


@contextmanager
def house_style() -> Iterator[None]:
    """Draw in the house style inside a ``with`` block, leaving the user's settings alone."""
    import matplotlib as mpl
    from cycler import cycler

    settings: Any = {
        "axes.prop_cycle": cycler(color=COLOURS),
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlesize": 9,
        "axes.labelsize": 9,
        "font.size": 8,
        "legend.frameon": False,
        "legend.fontsize": 8,
        "lines.linewidth": 1.4,
        "mathtext.fontset": "cm",
        "savefig.dpi": 200,
        "savefig.bbox": "tight",
        "svg.hashsalt": "learnability",
    }
    with mpl.rc_context(settings):
        yield


_PATHS = ("overlap_trace", "error_trace", "time")
# Format -> what is left out, so that equal pictures are equal files.
_DATED: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None},
    "png": {"Software": None},
    "svg": {"Date": None},
}


def line(axes: Any, x: Any, y: Any, colour: str, style: str = "-") -> None:
    """The theory as a line."""
    axes.plot(x, y, color=colour, ls=style, zorder=2)


def crosses(axes: Any, x: Any, runs: xarray.DataArray, colour: str, marker: str = "x") -> None:
    """Of the runs the mean over seeds, with its standard error where there are several."""
    if "seed" not in runs.dims:
        runs = runs.expand_dims("seed")
    several = runs.sizes["seed"] > 1
    error = runs.std("seed", ddof=1) / np.sqrt(runs.count("seed")) if several else None
    axes.errorbar(
        x,
        runs.mean("seed"),
        yerr=error,
        fmt=marker,
        ms=4,
        mew=1.1,
        elinewidth=0.9,
        color=colour,
        zorder=3,
    )


def mark(axes: Any, at: float, label: str) -> None:
    """A dashed vertical line at a threshold, with its name above the frame."""
    axes.axvline(at, ls="--", lw=0.8, color="0.45", zorder=0)
    axes.annotate(
        label,
        (at, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(0, 2),
        textcoords="offset points",
        ha="center",
        va="bottom",
        color="0.3",
    )


def against(
    theory: xarray.Dataset,
    runs: xarray.Dataset,
    thresholds: Sequence[float] = (),
    *,
    paths: bool = False,
) -> xarray.Dataset:
    """Theory and runs as one set of numbers.

    Variables, the axis "alpha" and attributes get the prefixes "theory_" and "runs_", and so do
    other coordinates and dimensions in which the two differ; the variable "threshold" is added
    where there are any. Paths along the iterations are left out unless they are asked for.
    """
    import xarray

    if not paths:
        theory, runs = (part.drop_vars(_PATHS, errors="ignore") for part in (theory, runs))
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


def _alike(theory: xarray.Dataset, runs: xarray.Dataset, name: Any) -> bool:
    """Whether a dimension or coordinate is the same on both sides."""
    if (name in theory.coords) != (name in runs.coords):
        return False
    if name in theory.coords:
        return bool(theory[name].equals(runs[name]))
    return theory.sizes.get(name) == runs.sizes.get(name)


def write(
    figure: Any, data: xarray.Dataset, stem: Path, pictures: Sequence[str] = ("pdf", "png")
) -> list[Path]:
    """Save a picture and beside it its numbers as NetCDF and CSV; return the paths.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The picture.
    data : xarray.Dataset
        Its numbers.
    stem : Path
        The paths without their endings.
    pictures : sequence of str
        Formats among pdf, png and svg.
    """
    drawn = [stem.with_name(f"{stem.name}.{kind}") for kind in pictures]
    with house_style():
        for path, kind in zip(drawn, pictures, strict=True):
            with whole_file(path) as part:
                figure.savefig(part, format=kind, metadata=_DATED[kind])
    numbers = [stem.with_name(f"{stem.name}.{kind}") for kind in ("nc", "csv")]
    for path in numbers:
        save(data, path)
    return [*drawn, *numbers]
