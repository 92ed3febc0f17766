"""A hierarchy of directions, z1 + He3(z1) z2 + He3(z2) z3: each opens the way to the next.

Four neurons with both layers trained by the squared loss. The share of every hidden direction in
the span of the weights, |P w*_k|^2, along the time steps / d: z2 is learned in proportion to d
once z1 is known. z3 stays behind: four neurons do not fit the first two terms well enough.

References
----------
Abbe, Boix-Adsera, Misiakiewicz, COLT 2023; Dandi, Krzakala, Loureiro, Pesce, Stephan, JMLR 25
(2024).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.figures._online import OnlineSize, captured_paths, path_and_crosses

if TYPE_CHECKING:
    import xarray

__all__ = ["FULL", "QUICK", "compute", "picture"]

LINK = "z1 + He3(z1)*z2 + He3(z2)*z3"


@dataclass(frozen=True)
class Size(OnlineSize):
    """How much to compute, and `last`, the last time."""

    last: float


FULL = Size(dimensions=(3000,), runs=16, points=61, last=600.0)
QUICK = Size(dimensions=(400,), runs=8, points=33, last=300.0)


def compute(size: Size) -> xarray.Dataset:
    """Shares of the directions, in theory from the start of the first run."""
    import xarray

    from learnability.learners import OnlineSGD

    learner = OnlineSGD(
        width=4, activation="tanh(z + 0.5)", step=0.2, second_layer=(1, -1, 1, -1), second_step=0.2
    )
    d = size.dimensions[0]
    times = np.geomspace(0.5, size.last, size.points)
    theory = learner.predict(LINK, time=times, d=d, seeds=1)
    runs = learner.simulate(LINK, d=d, time=times[::4], seeds=size.runs)
    return xarray.Dataset(
        {
            "theory_share": (("time", "index"), captured_paths(theory)[0]),
            "runs_share": (("seed", "runs_time", "index"), captured_paths(runs)),
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
