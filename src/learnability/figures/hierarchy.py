"""A hierarchy of directions, z1 + He3(z1) z2 + He3(z2) z3: each opens the way to the next.

Eight neurons with both layers trained by the squared loss on small batches, with an activation that
has a first and a fourth Hermite coefficient, the orders of the link. The share of every hidden
direction in the span of the weights, |P w*_k|^2, along the time steps / d: z1 is visible, z2 once
z1 is known, z3 once z2 is, all in proportion to d. The step is large and the batch keeps its noise
low: with single samples and smaller steps z3 is not found in ten times as many steps.

References
----------
Abbe, Boix-Adsera, Misiakiewicz, COLT 2023; Dandi, Krzakala, Loureiro, Pesce, Stephan, JMLR 25
(2024).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.figures._online import OnlineSize, captured_paths, path_and_crosses

if TYPE_CHECKING:
    import xarray

__all__ = ["FULL", "QUICK", "compute", "picture"]

LINK = "(z1 + He3(z1)*z2 + He3(z2)*z3)/sqrt(13)"
LAST = 500.0


FULL = OnlineSize(dimensions=(3000,), runs=16, points=61)
QUICK = OnlineSize(dimensions=(400,), runs=8, points=41)


def compute(size: OnlineSize, store: Path | None = None) -> xarray.Dataset:
    """Shares of the directions, from one random start for theory and runs."""
    import xarray

    from learnability.learners import OnlineSGD
    from learnability.studies import study

    learner = OnlineSGD(
        width=8, activation="z/2 + cos(1.5*z)", step=1.0, second_layer=(1, -1) * 4, second_step=1.0,
        batch=8,
    )  # fmt: skip
    d = size.dimensions[0]
    times = np.concatenate([[0.0], np.geomspace(1, LAST, size.points - 1)])
    theory = learner.predict(LINK, time=times, d=d).isel(seed=0)
    start = (theory.gram_trace[0].values, theory.overlap_trace[0].values)
    runs = study(learner, LINK, d=d, time=times[::4], seeds=size.runs, start=start, store=store)
    return xarray.Dataset(
        {
            "theory_share": (("time", "index"), captured_paths(theory)),
            "theory_error": ("time", theory.error_trace.values),
            "runs_share": (("seed", "runs_time", "index"), captured_paths(runs)),
            "runs_error": (("seed", "runs_time"), runs.error_trace.values),
        },
        {"time": times, "runs_time": times[::4]},
        {"runs_d": d, "link": LINK},
    )


def picture(data: xarray.Dataset) -> Any:
    """Shares of the three directions against the time."""
    from matplotlib.figure import Figure

    from learnability.plotting import COLOURS, WIDTHS, house_style

    with house_style():
        figure = Figure(figsize=(WIDTHS["column"], 2.6), layout="constrained")
        axes = figure.subplots()
        for k in range(3):
            path_and_crosses(
                axes,
                data["time"].values,
                data["theory_share"].values[:, k],
                data["runs_share"].values[:, :, k],
                COLOURS[k],
            )
            axes.plot([], [], color=COLOURS[k], label=f"$z_{k + 1}$")
        axes.set(
            xscale="log", xlabel="steps $/ d$", ylabel="share in the span of the weights",
            ylim=(-0.03, 1.03),
            title=f"$d = {data.attrs['runs_d']}$, {data.sizes['seed']} runs",
        )  # fmt: skip
        axes.legend()
    return figure
