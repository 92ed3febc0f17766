"""Repetition helps: He3 and He4 are learned in d and d log d steps when a sample is used twice.

The learner is one neuron on the sphere with the correlation loss. The time of plain steps is set by
the information exponent (d^2 and d^3 steps), that of extragradient steps on the same samples by the
generative exponent.

References
----------
Arnaboldi, Dandi, Krzakala, Pesce, Stephan, arXiv:2405.15459; Dandi, Troiani, Arnaboldi, Pesce,
Zdeborova, Krzakala, ICML 2024.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.figures._online import (
    OnlineSize,
    legend_of_dimensions,
    path_and_crosses,
    paths,
)

if TYPE_CHECKING:
    import xarray

    from learnability.targets import Target

__all__ = ["FULL", "QUICK", "compute", "picture"]

FULL = OnlineSize(dimensions=(1000, 10000, 100000), runs=32, points=81)
QUICK = OnlineSize(dimensions=(300, 1000, 3000), runs=16, points=41)
# Link, activation, step, last time in the unit of the panel.
PANELS = {
    "He3": ("He3(z)/sqrt(6)", "relu(z)", 0.3, 80.0),
    "He4": ("He4(z)/sqrt(24)", "exp(-z**2/2)", 1.0, 7.0),
}
RULES = ("plain", "extragradient")


OWN = ("relu(z)", 0.3, 80.0)
"""Activation, step and last time for the user's own target."""


def unit(panel: str, d: int) -> float:
    """Return the unit of time of a panel, in steps / d."""
    return math.log(d) if panel == "He4" else 1.0


def compute(
    size: OnlineSize, store: Path | None = None, target: Target | None = None
) -> xarray.Dataset:
    """Return the largest |overlap| along the time of both rules.

    Theory begins at m = 0 for He3, whose drift with extragradient steps does not vanish there, and
    at d^(-1/2) for He4 and for the user's own target.
    """
    import xarray

    from learnability.learners import OnlineSGD

    data: dict[str, Any] = {}
    panels: dict[str, Any] = PANELS if target is None else {"own": (target, *OWN)}
    r = 1 if target is None else target.r
    for panel, (link, activation, step, last) in panels.items():
        x = np.linspace(0, last, size.points)
        for rule in RULES:
            ahead = 1.0 if rule == "extragradient" else 0.0
            learner = OnlineSGD(
                activation=activation, loss="correlation", step=step, rule=rule, look_ahead=ahead,
                spherical=True,
            )  # fmt: skip
            lines, crosses = [], []
            for d in size.dimensions:
                start = (1.0, [[0.0 if panel == "He3" else 1 / math.sqrt(d)] * r])
                times = x * unit(panel, d)
                theory, runs = paths(learner, link, d, times, size.runs, start, store)
                lines.append(np.abs(theory.overlap_trace.values[:, 0]).max(axis=-1))
                crosses.append(np.abs(runs.overlap_trace.values[:, :, 0]).max(axis=-1))
            data[f"theory_overlap_{panel}_{rule}"] = (("d", f"x_{panel}"), lines)
            data[f"runs_overlap_{panel}_{rule}"] = (("d", "seed", f"x_runs_{panel}"), crosses)
        data[f"x_{panel}"] = (f"x_{panel}", x)
        data[f"x_runs_{panel}"] = (f"x_runs_{panel}", x[::4])
    return xarray.Dataset(data, {"d": list(size.dimensions)})


def picture(data: xarray.Dataset) -> Any:
    """Draw one panel per link: dashed lines are plain steps, solid lines extragradient."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import WIDTHS, house_style

    shades = ("#9ECAE1", "#4292C6", "#08519C")
    warm = ("#FDAE6B", "#F16913", "#A63603")
    names = [name for name in (*PANELS, "own") if f"x_{name}" in data]
    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.5), layout="constrained")
        panels = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
        for axes, panel in zip(panels, names, strict=True):
            for rule, colours in zip(RULES, (warm, shades), strict=True):
                for k in range(data.sizes["d"]):
                    path_and_crosses(
                        axes,
                        data[f"x_{panel}"].values,
                        data[f"theory_overlap_{panel}_{rule}"].values[k],
                        data[f"runs_overlap_{panel}_{rule}"].values[k],
                        colours[k],
                        "--" if rule == "plain" else "-",
                    )
            label = r"steps $/ (d \log d)$" if panel == "He4" else r"steps $/ d$"
            axes.set(xlabel=label, ylim=(-0.03, 1.03))
            if panel in PANELS:
                axes.set(title=rf"$\mathrm{{He}}_{panel[2]}$")
        figure.axes[0].set_ylabel("overlap")
        sizes = [f"$d = {d}$" for d in data["d"].values]
        legend_of_dimensions(figure, sizes, shades, data.sizes["seed"])
        left = figure.axes[0]
        for height, words, colour in (
            (0.2, "plain SGD", warm[1]),
            (0.6, "extragradient", shades[1]),
        ):
            left.text(0.97, height, words, transform=left.transAxes, ha="right", color=colour)
    return figure
