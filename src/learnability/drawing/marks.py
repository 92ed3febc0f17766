"""Lines of theory, crosses of runs, marks at thresholds, and legends that cover nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray

__all__ = ["crosses", "legend_below", "line", "mark"]


def line(axes: Any, x: Any, y: Any, colour: str, style: str = "-") -> None:
    """Draw the theory as a line."""
    axes.plot(x, y, color=colour, ls=style, zorder=2)


def crosses(axes: Any, x: Any, runs: xarray.DataArray, colour: str, marker: str = "x") -> None:
    """Draw the mean of the runs over the seeds, with its standard error where there are several."""
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
    """Draw a dashed vertical line at a threshold, with its name above the frame."""
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


def legend_below(axes: Any, columns: int) -> None:
    """Put the legend of axes below the label of their x axis, where it covers no curve.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes with labelled curves; a constrained layout makes the room.
    columns : int
        Entries beside each other.
    """
    from matplotlib.transforms import ScaledTranslation

    points = 30.0  # This is the room of the labels of the ticks and of the axis.
    down = ScaledTranslation(0, -points / 72, axes.figure.dpi_scale_trans)
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=axes.transAxes + down,
        ncols=columns,
        handlelength=1.3,
        columnspacing=1.0,
    )
