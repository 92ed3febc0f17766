"""What figures about one-pass SGD share: runs, equations of motion, and how to draw them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import xarray

    from learnability.learners import OnlineSGD
    from learnability.targets import TargetLike

__all__ = [
    "OnlineSize",
    "captured_paths",
    "legend_of_dimensions",
    "path_and_crosses",
    "paths",
]


@dataclass(frozen=True)
class OnlineSize:
    """How much a figure about SGD computes.

    Attributes
    ----------
    dimensions : tuple of int
        Dimensions d of the runs.
    runs : int
        Runs in each dimension.
    points : int
        Points of the lines; every fourth has a cross.
    """

    dimensions: tuple[int, ...]
    runs: int
    points: int


def paths(
    learner: OnlineSGD,
    target: TargetLike,
    d: int,
    times: NDArray[Any],
    runs: int,
    start: tuple[Any, Any],
    store: Path | None,
    shared: bool = False,
) -> tuple[xarray.Dataset, xarray.Dataset]:
    """Return the solution from a given start, and runs from there or from random weights.

    Parameters
    ----------
    learner, target, d
        The learner, the target and the dimension.
    times : array
        Times of the solution; the runs are observed at every fourth of them.
    runs : int
        Number of runs.
    start : (Q, M)
        The start of the solution.
    store : Path, optional
        File that keeps the runs.
    shared : bool
        Whether the runs have the same start.
    """
    from learnability.studies import study
    from learnability.targets import as_target

    target = as_target(target)
    if target.depends_on_dimension:
        theory = learner.predict(target, d=d, time=times, start=start)
    else:
        theory = learner.predict(target, time=times, start=start)
    more: dict[str, Any] = {"start": start} if shared else {}
    return theory, study(learner, target, d=d, time=times[::4], seeds=runs, store=store, **more)


def captured_paths(result: xarray.Dataset) -> NDArray[np.float64]:
    """Return the share of every hidden direction in the span of the weights, along the times.

    This is the diagonal of M^T Q^+ M, shape (..., time, index).
    """
    M, Q = result["overlap_trace"].values, result["gram_trace"].values
    inverse = np.linalg.pinv(Q, rcond=1e-8, hermitian=True)
    return np.asarray(np.einsum("...jk,...jl,...lk->...k", M, inverse, M))


def path_and_crosses(
    axes: Any,
    x: NDArray[Any],
    theory: NDArray[Any],
    runs: NDArray[Any],
    colour: Any,
    line: str = "-",
) -> None:
    """Draw a solution as a line and runs (seed, points) as means with their standard errors."""
    axes.plot(x, theory, color=colour, ls=line, zorder=2)
    error = runs.std(axis=0, ddof=1) / math.sqrt(len(runs)) if len(runs) > 1 else None
    axes.errorbar(
        x[::4], runs.mean(axis=0), yerr=error, fmt="x", ms=3.5, mew=1.0, elinewidth=0.8,
        color=colour, zorder=3,
    )  # fmt: skip


def legend_of_dimensions(
    figure: Any, labels: Sequence[str], colours: Sequence[str], runs: int
) -> None:
    """Draw a legend that names the colours, the line and the crosses."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=c) for c in colours[: len(labels)]]
    handles += [Line2D([], [], color="0.3"), Line2D([], [], color="0.3", ls="", marker="x", ms=4)]
    words = [*labels, "equations of motion", f"mean of {runs} runs"]
    figure.legend(handles, words, loc="outside upper center", ncols=len(words), handlelength=1.3)
