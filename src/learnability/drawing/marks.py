"""Lines of theory, crosses of runs, and marks at thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray

__all__ = ["crosses", "line", "mark"]


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
