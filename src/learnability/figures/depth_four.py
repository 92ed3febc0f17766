"""Two, three and four layers on a tree of depth 4, against the number of samples.

All of them are given the directions. Two layers fit a polynomial of the N directions and three
refit the labels on that one function: of tanh(He2 of He2) both miss the part of degree 4 and more
until n is of the order of N^4. Four layers find the features of the level in between by unfolding
as soon as n is above their n*, and learn from these few variables. The network of the last curve is
given those features, as in the theorem for general depth. Vertical lines are n* of the features,
found with half of the samples, and the n at which a kernel in the directions has learned half of
degree 4.

References
----------
Dandi, Pesce, Zdeborova, Krzakala, arXiv:2502.13961.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.figures._literature import relative

if TYPE_CHECKING:
    import xarray

__all__ = ["FULL", "QUICK", "compute", "picture"]


@dataclass(frozen=True)
class Size:
    """Levels of the tree, samples, runs, and neurons of the first layer for three layers."""

    levels: tuple[int, int]
    samples: tuple[int, ...]
    runs: int
    width: int


FULL = Size((16, 4), (500, 1000, 2000, 4000, 8000, 16000), 4, 1000)
QUICK = Size((16, 4), (1000, 3000, 8000), 2, 500)

LEARNED = {
    "two layers": "two_layer_error",
    "three layers": "three_layer_error",
    "four layers": "four_layer_error",
    "the last two, given the features": "given_error",
}


def compute(size: Size, store: Path | None = None) -> xarray.Dataset:
    """Return errors over Var y, and the numbers of samples that theory names."""
    import xarray

    from learnability.learners import (
        Layerwise,
        OracleFirstLayer,
        OracleLevel,
        PreconditionedSecondLayer,
        RidgeReadout,
        UnfoldingLayer,
    )
    from learnability.learners.deep import features_n_star
    from learnability.studies import study
    from learnability.targets.hierarchical import Hierarchical
    from learnability.theory.mehler import half_recovery

    N, B = size.levels
    target = Hierarchical("tanh(z)", "He2(z)", N=size.levels)
    later = PreconditionedSecondLayer(), RidgeReadout()
    four = UnfoldingLayer(B)
    learners = (
        Layerwise((OracleFirstLayer(size.width), *later)),
        Layerwise((OracleFirstLayer(None), four, *later)),
        Layerwise((OracleLevel(width=four.width), *later)),
    )
    alphas = [n / N for n in size.samples]
    three, deep, given = (
        study(learner, target, d=N, alpha=alphas, seeds=size.runs, store=store)
        for learner in learners
    )
    axes = ("n", "seed")
    return xarray.Dataset(
        {
            "runs_two_layer_error": (axes, relative(three["two_layer_error"], target)),
            "runs_three_layer_error": (axes, relative(three["error"], target)),
            "runs_four_layer_error": (axes, relative(deep["error"], target)),
            "runs_given_error": (axes, relative(given["error"], target)),
        },
        {"n": list(size.samples), "seed": np.arange(size.runs)},
        {
            "features_n_star": 2 * features_n_star(target, four.degree),
            "degree_four": half_recovery(N, 4),
            "levels": str(size.levels),
        },
    )


def picture(data: xarray.Dataset) -> Any:
    """Draw errors against n."""
    from matplotlib.figure import Figure

    from learnability.drawing.marks import crosses
    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    with house_style():
        figure = Figure(figsize=(WIDTHS["column"], 3.4), layout="constrained")
        axes = figure.subplots()
        for k, (label, name) in enumerate(LEARNED.items()):
            found = data[f"runs_{name}"]
            axes.plot(data["n"], found.mean("seed"), "-", color=COLOURS[k], lw=0.8, label=label)
            crosses(axes, data["n"], found, COLOURS[k])
        for name, style, label in (
            ("features_n_star", "--", r"$n^\star$ of the features"),
            ("degree_four", ":", "half of degree 4"),
        ):
            axes.axvline(data.attrs[name], ls=style, lw=0.8, color="0.4", label=label)
        axes.set(xscale="log", xlabel="samples $n$", ylabel="error / Var $y$", ylim=(0, 1.1))
        figure.legend(loc="outside lower center", ncols=2)
        axes.set_title(f"tree of depth 4 with levels of {data.attrs['levels']}", fontsize=8)
    return figure
