"""Spherical steps must end early: later the rows of the first layer collapse.

The overlap M_W with the hidden subspace keeps growing while the participation ratio of the rows
falls below the number N of directions: the rows gather on the leading empirical eigenvectors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.figures._literature import reference

if TYPE_CHECKING:
    import xarray

    from learnability.targets.hierarchical import Hierarchical

__all__ = ["FULL", "QUICK", "compute", "picture"]


@dataclass(frozen=True)
class Size:
    """Dimension, samples, neurons, steps and number of runs."""

    d: int
    n: int
    width: int
    steps: int
    runs: int


FULL = Size(d=64, n=9410, width=1000, steps=50, runs=8)
QUICK = Size(d=64, n=4096, width=300, steps=30, runs=3)


def compute(size: Size, target: Hierarchical | None = None) -> xarray.Dataset:
    """Return M_W and the participation ratio after every step."""
    import xarray

    from learnability.learners.deep import (
        Samples,
        SphericalFirstLayer,
        first_layer_overlap,
        first_layer_rank,
    )
    from learnability.progress import tracked

    target = target or reference()
    overlap, rank = [], []
    for seed in tracked(list(range(size.runs)), "first layers"):
        path = SphericalFirstLayer(size.width, size.steps).path(
            Samples(target, seed, size.d, size.n), every=True
        )
        hidden = next(target.batches(seed, 1, size.d)).W
        overlap.append([first_layer_overlap(W, hidden) for W in path])
        rank.append([first_layer_rank(W) for W in path])
    return xarray.Dataset(
        {
            "first_layer_overlap": (("seed", "time"), overlap),
            "first_layer_rank": (("seed", "time"), rank),
        },
        {"seed": np.arange(size.runs), "time": np.arange(size.steps + 1)},
        {"runs_d": size.d, "n": size.n, "N": target.at(size.d).sizes[0], "width": size.width},
    )


def picture(data: xarray.Dataset) -> Any:
    """Draw the overlap above, the rank below, against the steps."""
    from matplotlib.figure import Figure

    from learnability.drawing.marks import crosses, mark
    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    d, N = data.attrs["runs_d"], data.attrs["N"]
    with house_style():
        figure = Figure(figsize=(WIDTHS["column"], 3.6), layout="constrained")
        top, bottom = figure.subplots(2, 1, sharex=True)
        crosses(top, data["time"], data["first_layer_overlap"], COLOURS[0], ".")
        crosses(bottom, data["time"], data["first_layer_rank"], COLOURS[1], ".")
        bottom.axhline(N, ls=":", lw=0.8, color="0.4")
        bottom.text(float(data["time"][-1]), N * 1.06, f"$N = {N}$", ha="right")
        mark(top, math.ceil(math.log(d)), r"$\lceil\log d\rceil$")
        bottom.axvline(math.ceil(math.log(d)), ls="--", lw=0.8, color="0.45")
        top.set(ylabel="$M_W$", ylim=(0, 1))
        bottom.set(xlabel="steps", ylabel="effective rank", ylim=(1, 1.2 * d), yscale="log")
        bottom.set_yticks([1, 2, 4, 8, 16, 32, 64], ["1", "2", "4", "8", "16", "32", "64"])
        bottom.minorticks_off()
        runs = data.sizes["seed"]
        figure.suptitle(f"$d = {d}$, $n = {data.attrs['n']}$, {runs} runs", fontsize=8)
    return figure
