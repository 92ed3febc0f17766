"""What figures share: sizes, one set of numbers for theory and runs, lines, crosses, files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from learnability.results import save, whole_file

if TYPE_CHECKING:
    import xarray

__all__ = [
    "Size",
    "against",
    "crosses",
    "legend",
    "line_and_crosses",
    "mark",
    "mean_overlap",
    "message_passing",
    "write",
]

_PATHS = ("overlap_trace", "error_trace", "time")
_PICTURES: dict[str, dict[str, Any]] = {"pdf": {"CreationDate": None}, "png": {"Software": None}}
"""Format -> what is left out, so that equal pictures are equal files."""


@dataclass(frozen=True)
class Size:
    """How much a figure computes.

    Attributes
    ----------
    d : int
        Dimension of the runs.
    runs : int
        Runs at each ratio.
    alphas : tuple of float
        Ratios n / d of the runs.
    theory : int
        Points of the line of theory.
    """

    d: int
    runs: int
    alphas: tuple[float, ...]
    theory: int


def message_passing(link: str, size: Size) -> xarray.Dataset:
    """Bayes-optimal message passing: state evolution, runs and the report's thresholds.

    Parameters
    ----------
    link : str
        The link as text.
    size : Size
        How much to compute.
    """
    from learnability.hardness import hardness
    from learnability.hardness.state_evolution import state_evolution
    from learnability.learners import BayesAMP

    report = hardness(link)
    thresholds = [
        s.alpha for s in report.staircase if s.alpha is not None and 0 < s.alpha < math.inf
    ]
    jump = state_evolution(report.target.channel).thresholds.algorithmic
    learner = BayesAMP()
    theory = learner.predict(link, alpha=_line_grid(size, thresholds, jump))
    runs = learner.simulate(link, d=size.d, alpha=size.alphas, seeds=size.runs)
    return against(theory, runs, thresholds)


def _line_grid(size: Size, kinks: Sequence[float], jump: float) -> NDArray[np.float64]:
    """Ratios of a line: evenly up to the last runs, at kinks, and on both sides of a jump.

    The jump is NaN where there is none. Closer below it than this the overlap is not resolved.
    """
    last = max(size.alphas) + 0.1
    even = np.linspace(0.02, last, size.theory)
    special = [a for a in (*kinks, (1 - 4e-3) * jump, (1 + 1e-4) * jump) if a < last]
    return np.unique(np.concatenate([even, special]))


def against(
    theory: xarray.Dataset, runs: xarray.Dataset, thresholds: Sequence[float]
) -> xarray.Dataset:
    """Theory and runs as one set of numbers.

    Variables, the axis "alpha" and attributes get the prefixes "theory_" and "runs_"; the
    variable "threshold" is added. Paths along the iterations are left out.
    """
    import xarray

    parts, attrs = [], {}
    for prefix, part in (("theory_", theory), ("runs_", runs)):
        part = part.drop_vars(_PATHS, errors="ignore")
        parts.append(part.rename({name: f"{prefix}{name}" for name in ("alpha", *part.data_vars)}))
        attrs.update({f"{prefix}{key}": value for key, value in part.attrs.items()})
    merged = xarray.merge(parts, combine_attrs="drop")
    merged["threshold"] = ("step", np.asarray(thresholds, dtype=float))
    return merged.assign_attrs(attrs)


def mean_overlap(data: xarray.Dataset, side: str, which: Sequence[int]) -> xarray.DataArray:
    """Mean of the diagonal overlaps of some directions; `side` is "theory" or "runs"."""
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
    marker: str = "x",
) -> None:
    """The theory as a line; of the runs the mean over seeds with its standard error."""
    axes.plot(data["theory_alpha"], theory, color=colour, zorder=2)
    crosses(axes, data["runs_alpha"], runs, colour, marker)


def crosses(axes: Any, at: Any, runs: xarray.DataArray, colour: str, marker: str = "x") -> None:
    """Of runs the mean over seeds with its standard error."""
    count = runs.sizes["seed"]
    error = runs.std("seed", ddof=1) / math.sqrt(count) if count > 1 else None
    axes.errorbar(
        at,
        runs.mean("seed"),
        yerr=error,
        fmt=marker,
        ms=4,
        mew=1.1,
        elinewidth=0.9,
        color=colour,
        zorder=3,
    )


def mark(axes: Any, alpha: float, label: str) -> None:
    """A dashed vertical line at a threshold, with its name above the frame."""
    axes.axvline(alpha, ls="--", lw=0.8, color="0.45", zorder=0)
    axes.annotate(
        label,
        (alpha, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(0, 2),
        textcoords="offset points",
        ha="center",
        va="bottom",
        color="0.3",
    )


def legend(figure: Any, data: xarray.Dataset, columns: int) -> None:
    """Say once above the panels what a line is and what a cross is, whatever their colours."""
    from matplotlib.lines import Line2D

    d, runs = data.attrs["runs_d"], data.sizes["seed"]
    handles = [
        Line2D([], [], color="0.3"),
        Line2D([], [], color="0.3", ls="", marker="x", ms=4, mew=1.1),
    ]
    labels = [
        r"state evolution, $d \to \infty$",
        f"message passing, $d = {d}$, {runs} run{'s' if runs > 1 else ''}",
    ]
    figure.legend(handles, labels, loc="outside upper center", ncols=columns, handlelength=1.5)


def write(figure: Any, data: xarray.Dataset, stem: Path) -> list[Path]:
    """Save a picture as PDF and PNG and its numbers as NetCDF and CSV; return the paths.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The picture.
    data : xarray.Dataset
        Its numbers.
    stem : Path
        The paths without their endings.
    """
    from learnability.plotting import house_style

    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in (*_PICTURES, "nc", "csv")]
    with house_style():
        for path, (kind, metadata) in zip(paths[:2], _PICTURES.items(), strict=True):
            with whole_file(path) as part:
                figure.savefig(part, format=kind, metadata=metadata)
    for path in paths[2:]:
        save(data, path)
    return paths
