"""Accuracy of mean-field Langevin dynamics on parities against the number of samples.

Here d = 20, with 500 neurons. There is one panel per anisotropy and one colour per number k of
signs.

References
----------
Suzuki, Wu, Oko, Nitanda, NeurIPS 2023; Nitanda, Oko, Suzuki, Wu, ICLR 2024.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.drawing.marks import crosses

if TYPE_CHECKING:
    import xarray

__all__ = ["FULL", "QUICK", "compute", "picture"]


@dataclass(frozen=True)
class ParitySize:
    """Dimension, runs, samples per dimension, numbers of signs, anisotropies, steps, width."""

    d: int
    runs: int
    alphas: tuple[float, ...]
    signs: tuple[int, ...]
    anisotropies: tuple[float, ...]
    steps: int
    width: int


FULL = ParitySize(20, 3, (5.0, 10.0, 15.0, 20.0), (2, 3, 4), (0.0, 0.25, 0.5), 4000, 500)
QUICK = ParitySize(20, 1, (5.0, 10.0), (2, 3), (0.0, 0.5), 1000, 500)


def compute(size: ParitySize, store: Path | None = None) -> xarray.Dataset:
    """Return accuracies on fresh and on training samples, steps taken, and how the runs ended."""
    import xarray

    from learnability.learners import MeanFieldLangevin
    from learnability.studies import study
    from learnability.targets import SparseParity

    learner = MeanFieldLangevin(width=size.width, steps=size.steps)
    found = study(
        learner, SparseParity(), anisotropy=list(size.anisotropies),
        link=[SparseParity(k).link for k in size.signs], d=size.d, alpha=list(size.alphas),
        seeds=size.runs, store=store,
    )  # fmt: skip
    names = ("accuracy", "train_accuracy", "iterations", "status")
    axes = ("anisotropy", "signs", "alpha", "seed")
    return xarray.Dataset(
        {f"runs_{n}": (axes, found[n].values) for n in names},
        {
            "anisotropy": list(size.anisotropies), "signs": list(size.signs),
            "alpha": list(size.alphas), "seed": np.arange(size.runs),
        },
        {"runs_d": size.d, "width": size.width, "steps": size.steps},
    )  # fmt: skip


def picture(data: xarray.Dataset) -> Any:
    """Draw the accuracy on fresh samples; dotted lines are those on the training samples."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    d = data.attrs["runs_d"]
    n = data["alpha"].values * d
    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.5), layout="constrained")
        for j, axes in enumerate(figure.subplots(1, data.sizes["anisotropy"], sharey=True)):
            for k, signs in enumerate(data["signs"].values):
                values = data["runs_accuracy"][j, k]
                axes.plot(n, values.mean("seed"), color=COLOURS[k], lw=0.9, label=f"$k = {signs}$")
                crosses(axes, n, values, COLOURS[k])
                axes.plot(
                    n,
                    data["runs_train_accuracy"][j, k].mean("seed"),
                    ls=":",
                    lw=0.8,
                    color=COLOURS[k],
                )
            axes.axhline(0.5, lw=0.5, color="0.7")
            axes.set(
                xlabel="samples",
                title=rf"anisotropy {float(data['anisotropy'][j]):g}",
                ylim=(0.45, 1.02),
            )
        figure.axes[0].set_ylabel("accuracy")
        handles, labels = figure.axes[-1].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        steps, runs = int(data["runs_iterations"].max()), data.sizes["seed"]
        figure.suptitle(
            rf"$d = {d}$, {data.attrs['width']} neurons, at most {steps} steps, "
            f"{runs} run{'s' if runs > 1 else ''}; dotted: training samples", fontsize=8,
        )  # fmt: skip
    return figure
