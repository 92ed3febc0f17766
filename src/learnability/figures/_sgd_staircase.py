"""Staircases that SGD climbs with and without repetition: the shares of the directions in time.

Eight neurons, both layers trained by the squared loss; time in units of d log d steps, in which
curves of different d fall on each other when directions open one after the other in that time.
The equations of motion of eight neurons and three directions are left out: over these times they
take longer to solve than the runs. What theory says is the order in which `hardness` lets the
directions open, by plain steps (the leap) and by any function of the labels.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.figures._online import OnlineSize, captured_paths

if TYPE_CHECKING:
    import xarray

__all__ = ["FULL", "QUICK", "shares", "two_panels"]

FULL = OnlineSize(dimensions=(300, 1000, 3000), runs=16, points=33)
QUICK = OnlineSize(dimensions=(150, 300), runs=8, points=25)
LAST = 350.0
"""Last time in units of log d."""
RULES = ("plain", "extragradient")


def shares(link: str, size: OnlineSize, step: float, look_ahead: float) -> xarray.Dataset:
    """Shares of the hidden directions in the span of the weights, by rule, d, seed and time.

    Parameters
    ----------
    link : str
        The link, of three directions.
    size : OnlineSize
        How much to compute.
    step, look_ahead : float
        Of both layers, and of the extragradient steps.
    """
    import xarray

    from learnability.hardness import hardness
    from learnability.learners import OnlineSGD

    x = np.geomspace(0.5, LAST, size.points)
    found = []
    for rule in RULES:
        learner = OnlineSGD(
            width=8, activation="relu(z - 0.5)", step=step, second_layer=(0.5, -0.5) * 4,
            second_step=step, rule=rule, look_ahead=look_ahead,
        )  # fmt: skip
        found.append(
            [
                captured_paths(learner.simulate(link, d=d, time=x * math.log(d), seeds=size.runs))
                for d in size.dimensions
            ]
        )
    report = hardness(link)
    return xarray.Dataset(
        {"runs_share": (("rule", "d", "seed", "x", "index"), found)},
        {"rule": list(RULES), "d": list(size.dimensions), "x": x},
        {
            "link": link,
            "theory_leap": report.leap or 0,
            "theory_generative_exponent": report.generative_exponent or 0,
        },
    )


def two_panels(data: xarray.Dataset) -> Any:
    """Without repetition on the left, with it on the right."""
    from matplotlib.figure import Figure

    from learnability.plotting import COLOURS, WIDTHS, house_style

    markers = ("o", "s", "^")
    titles = (
        f"plain SGD (leap {data.attrs['theory_leap']})",
        f"extragradient (generative exponent {data.attrs['theory_generative_exponent']})",
    )
    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.5), layout="constrained")
        panels = figure.subplots(1, 2, sharey=True)
        for axes, rule, title in zip(panels, data["rule"].values, titles, strict=True):
            for i, d in enumerate(data["d"].values):
                share = data["runs_share"].sel(rule=rule, d=d)
                mean, error = share.mean("seed"), share.std("seed") / math.sqrt(share.sizes["seed"])
                for k in range(3):
                    axes.errorbar(
                        data["x"], mean[:, k], yerr=error[:, k], fmt=f"{markers[i]}-", ms=2.5,
                        lw=0.8, elinewidth=0.6, color=COLOURS[k],
                        label=f"$z_{k + 1}$, $d = {d}$",
                    )  # fmt: skip
            axes.set(xscale="log", xlabel=r"steps $/ (d \log d)$", title=title, ylim=(-0.03, 1.03))
        panels[0].set_ylabel("share in the span of the weights")
        panels[0].legend(ncols=data.sizes["d"], fontsize=6)
    return figure
