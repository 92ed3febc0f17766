"""Alignment of the first gradient against the strength of the spike over d^(1 - 1/k).

Lines are predictions for typical training sets, crosses runs, and dots the predictions for the
training sets of the runs, from the coordinates of their samples along the spike.

References
----------
Ba, Erdogdu, Suzuki, Wang, Wu, NeurIPS 2023.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.figures._literature import LINKS, SpikeSize

if TYPE_CHECKING:
    import xarray

    from learnability.targets import MultiIndex

__all__ = ["FULL", "QUICK", "compute", "picture"]

FULL = SpikeSize((250, 500, 1000), 3, (0.1, 0.25, 0.4, 0.55, 0.7, 0.85), 31)
QUICK = SpikeSize((150, 300, 600), 2, (0.2, 0.5, 0.8), 15)
PANELS = {"He2": ("relu(z)", 1.0, 2), "He3": ("tanh(z)", 0.0, 3)}
"""Link -> activation, bias, degree."""


def compute(size: SpikeSize, store: Path | None = None) -> xarray.Dataset:
    """Return alignments by link and dimension."""
    import xarray

    from learnability.learners import GiantSteps
    from learnability.studies import study
    from learnability.targets import SpikedIndex

    gammas = np.linspace(0, 0.95, size.theory)
    theory, known, runs = [], [], []
    for name, (activation, bias, _) in PANELS.items():
        learner = GiantSteps(0.5, activation, 2.0, init="signs", bias=bias)

        def target(gamma: float, link: str = LINKS[name]) -> MultiIndex:
            return SpikedIndex(link, spike_exponent=float(gamma))

        def gradient(gamma: float, d: int, seeds: int | None, learner: GiantSteps = learner) -> Any:
            theory = learner.predict(target(gamma), question="gradient", d=d, seeds=seeds)
            return theory.gradient_alignment.values

        theory.append([[gradient(g, d, None) for g in gammas] for d in size.dimensions])
        known.append([[gradient(g, d, size.runs) for g in size.exponents] for d in size.dimensions])
        found = study(
            learner, target(0.0), question="gradient", d=list(size.dimensions),
            exponent=list(size.exponents), seeds=size.runs, store=store,
        )  # fmt: skip
        runs.append(found.gradient_alignment.values)
    return xarray.Dataset(
        {
            "theory_alignment": (("link", "d", "gamma"), theory),
            "known_alignment": (("link", "d", "runs_gamma", "seed"), known),
            "runs_alignment": (("link", "d", "runs_gamma", "seed"), runs),
        },
        {
            "link": list(PANELS), "d": list(size.dimensions), "gamma": gammas,
            "runs_gamma": list(size.exponents), "seed": np.arange(size.runs),
        },
    )  # fmt: skip


def picture(data: xarray.Dataset) -> Any:
    """Draw one panel per link; every run is shown, because He3 scatters."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.9), layout="constrained")
        for k, axes in enumerate(figure.subplots(1, 2, sharey=True)):
            name = str(data["link"].values[k])
            degree = PANELS[name][2]
            for j, d in enumerate(data["d"].values):
                unit = d ** (1 - 1 / degree)
                axes.plot(
                    d ** data["gamma"] / unit,
                    data["theory_alignment"][k, j],
                    color=COLOURS[j],
                    label=f"$d = {d}$",
                )
                for seed in range(data.sizes["seed"]):
                    x = d ** data["runs_gamma"] / unit
                    axes.plot(x, data["runs_alignment"][k, j, :, seed], "x", ms=4, color=COLOURS[j])
                    axes.plot(x, data["known_alignment"][k, j, :, seed], ".", ms=3, color="0.2")
            axes.set(
                xscale="log", xlabel=rf"$\theta / d^{{1 - 1/{degree}}}$", title=name, ylim=(0, 1.02)
            )
            axes.xaxis.set_minor_formatter(NullFormatter())
        figure.axes[0].set_ylabel("alignment of the gradient")
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        figure.suptitle(
            "lines: typical training set; crosses: runs; dots: theory for their training sets",
            fontsize=8,
        )
    return figure
