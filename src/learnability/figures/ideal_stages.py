"""Two and three layers once the directions are known: errors and overlap against log n / log N.

Ridge regression with the Mehler kernel on the exact directions follows a deterministic equivalent
at every size; a refit of the labels on the fitted function (three layers) has a much smaller error.
Fitted slopes at these N say little: the n at which degree 3 is half learned grows like N^2.5 to
N^2.9, and like N^3 in the limit only.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.figures._literature import reference, relative

if TYPE_CHECKING:
    import xarray

__all__ = ["FULL", "QUICK", "compute", "picture"]


@dataclass(frozen=True)
class Size:
    """Numbers of directions, powers of them, runs, and points of the lines."""

    sizes: tuple[int, ...]
    powers: tuple[float, ...]
    runs: int
    theory: int
    largest: int


FULL = Size((8, 12, 16), tuple(np.linspace(2.0, 3.6, 9)), 8, 60, 6000)
QUICK = Size((8, 12), (2.0, 2.5, 3.0, 3.4), 3, 25, 2000)


def compute(size: Size, store: Path | None = None) -> xarray.Dataset:
    """Return errors of Mehler ridge and of a refit on exact directions, and the theory."""
    import xarray

    from learnability.learners import (
        Layerwise,
        MehlerSecondLayer,
        OracleFirstLayer,
        RidgeReadout,
    )
    from learnability.learners.deep import predicted_stages
    from learnability.studies import study

    learner = Layerwise((OracleFirstLayer(None), MehlerSecondLayer(), RidgeReadout()))
    power = np.linspace(1.8, max(size.powers) + 0.2, size.theory)
    shape = (len(size.sizes), len(size.powers), size.runs)
    second, third, overlap = (np.full(shape, np.nan) for _ in range(3))
    lines = np.zeros((3, len(size.sizes), size.theory))
    for i, N in enumerate(size.sizes):
        target = reference(N=N)
        wanted = [k for k, p in enumerate(size.powers) if N**p <= size.largest]
        alphas = [N ** size.powers[k] / N for k in wanted]
        runs = study(learner, target, d=N, alpha=alphas, seeds=size.runs, store=store)
        second[i, wanted] = relative(runs["two_layer_error"], target)
        overlap[i, wanted] = runs["feature_overlap"].values[..., 0]
        third[i, wanted] = relative(runs["error"], target)
        stages = [predicted_stages(target, 1.0, N**p, 1.0) for p in power]
        lines[0, i] = relative([s.two_layer_error for s in stages], target)
        lines[1, i] = [s.feature_overlap[0] for s in stages]
        lines[2, i] = relative([s.three_layer_error for s in stages], target)
    axes = ("N", "power", "seed")
    return xarray.Dataset(
        {
            "runs_two_layer_error": (axes, second),
            "runs_error": (axes, third),
            "runs_feature_overlap": (axes, overlap),
            "theory_two_layer_error": (("N", "theory_power"), lines[0]),
            "theory_feature_overlap": (("N", "theory_power"), lines[1]),
            "theory_error": (("N", "theory_power"), lines[2]),
        },
        {
            "N": list(size.sizes),
            "power": list(size.powers),
            "seed": np.arange(size.runs),
            "theory_power": power,
        },
    )


def picture(data: xarray.Dataset) -> Any:
    """Draw II, III and M_h against log n / log N."""
    from matplotlib.figure import Figure

    from learnability.drawing.marks import crosses
    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    parts = (
        ("two_layer_error", "theory_two_layer_error", "II: error / Var $y$"),
        ("error", "theory_error", "III: error / Var $y$"),
        ("feature_overlap", "theory_feature_overlap", "$M_h$"),
    )
    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.6), layout="constrained")
        for axes, (runs, line, label) in zip(figure.subplots(1, 3), parts, strict=True):
            for k, N in enumerate(data["N"].values):
                axes.plot(data["theory_power"], data[line][k], color=COLOURS[k], lw=1.4,
                          label=f"$N = {N}$")  # fmt: skip
                there = np.isfinite(data[f"runs_{runs}"][k].values).all(axis=-1)
                points = data[f"runs_{runs}"][k][there]
                crosses(axes, data["power"][there], points, COLOURS[k])
            axes.set(xlabel=r"$\log n/\log N$", ylabel=label, ylim=(0, 1))
        figure.axes[0].legend()
        figure.suptitle(f"exact directions; crosses: {data.sizes['seed']} runs", fontsize=8)
    return figure
