"""Samples that mean-field Langevin dynamics needs for parities, by dimension and anisotropy.

One colour is one number k of signs. The samples n grow by factors of sqrt(2) until all runs of two
sizes in a row have the accuracy asked for on fresh samples; the threshold is the mean of log n
under the share of success, and its slope in log d stands beside the 1 - A of the theorem for the
anisotropy A, which holds for width and time that are exponential in d^(1 - A).

References
----------
Suzuki, Wu, Oko, Nitanda, NeurIPS 2023; Nitanda, Oko, Suzuki, Wu, ICLR 2024.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from learnability.figures._thresholds import slope, threshold

if TYPE_CHECKING:
    import xarray

__all__ = ["FULL", "QUICK", "ParitySize", "compute", "picture"]

_ACCURACY = 0.95
"""The accuracy on fresh samples at which a run has succeeded."""


@dataclass(frozen=True)
class ParitySize:
    """Dimensions, runs, most samples, numbers of signs, anisotropies, steps, width."""

    dimensions: tuple[int, ...]
    runs: int
    most: int
    signs: tuple[int, ...]
    anisotropies: tuple[float, ...]
    steps: int
    width: int


FULL = ParitySize((10, 20, 40, 80), 4, 724, (2, 3, 4), (0.0, 0.5), 4000, 500)
QUICK = ParitySize((10, 14, 20), 2, 256, (2,), (0.0, 0.5), 1000, 500)
_FEWEST = 8


def compute(size: ParitySize, store: Path | None = None) -> xarray.Dataset:
    """Return shares of success by n, thresholds and slopes with their errors, and accuracies."""
    import xarray

    count = int(2 * np.log2(size.most / _FEWEST) + 1e-3) + 1
    n = np.rint(_FEWEST * 2 ** (np.arange(count) / 2)).astype(int)
    cells = [(A, k) for A in size.anisotropies for k in size.signs]
    found = np.array(
        [[_climbed(size, A, k, d, n, store) for d in size.dimensions] for A, k in cells]
    )
    reached = found[..., 0] >= _ACCURACY
    d = np.array(size.dimensions, dtype=float)
    logs = np.array([[threshold(n.astype(float), one) for one in row] for row in reached])
    slopes = np.array([slope(d, one[:, 0], one[:, 1]) for one in logs])
    axes = ("cell", "d", "n", "seed")
    return xarray.Dataset(
        {
            "runs_accuracy": (axes, found[..., 0]),
            "runs_train_accuracy": (axes, found[..., 1]),
            "runs_log_n": (("cell", "d"), logs[..., 0]),
            "runs_log_n_error": (("cell", "d"), logs[..., 1]),
            "runs_slope": ("cell", slopes[:, 0]),
            "runs_slope_error": ("cell", slopes[:, 1]),
        },
        {
            "d": d, "n": n, "seed": np.arange(size.runs),
            "anisotropy": ("cell", [A for A, _ in cells]), "signs": ("cell", [k for _, k in cells]),
        },
        {"width": size.width, "steps": size.steps, "accuracy": _ACCURACY},
    )  # fmt: skip


def _climbed(
    size: ParitySize, anisotropy: float, signs: int, d: int, n: NDArray[Any], store: Path | None
) -> NDArray[np.float64]:
    """Return accuracies on fresh and on training samples, shape (n, seed, 2).

    Beyond two sizes in a row at which all runs succeed nothing is run, and 1 stands for both.
    """
    from learnability.learners import MeanFieldLangevin
    from learnability.studies import study
    from learnability.targets import SparseParity

    learner = MeanFieldLangevin(width=size.width, steps=size.steps, target_accuracy=_ACCURACY)
    found, in_a_row = np.ones((len(n), size.runs, 2)), 0
    for j, samples in enumerate(n):
        if in_a_row == 2:
            break
        runs = study(
            learner, SparseParity(signs, anisotropy=anisotropy), d=d, alpha=float(samples) / d,
            seeds=size.runs, store=store,
        )  # fmt: skip
        found[j] = np.stack([runs.accuracy.values, runs.train_accuracy.values], axis=-1)
        in_a_row = in_a_row + 1 if (found[j, :, 0] >= _ACCURACY).all() else 0
    return found


def picture(data: xarray.Dataset) -> Any:
    """Draw the samples needed against the dimension, one panel per anisotropy."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    values = np.unique(data["anisotropy"].values)
    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.9), layout="constrained")
        panels = np.atleast_1d(figure.subplots(1, len(values), sharey=True))
        for axes, A in zip(panels, values, strict=True):
            slopes = []
            own = data.isel(cell=np.flatnonzero(data["anisotropy"].values == A))
            for j, colour in zip(range(own.sizes["cell"]), COLOURS, strict=False):
                one = own.isel(cell=j)
                level = np.exp(one["runs_log_n"].values)
                signs = int(one["signs"])
                if np.isfinite(one["runs_slope"]):
                    told = f"{float(one['runs_slope']):.2f}({float(one['runs_slope_error']):.2f})"
                    slopes.append(f"{told} ($k = {signs}$)")
                axes.errorbar(
                    data["d"], level, yerr=level * one["runs_log_n_error"].values, marker="x", ms=4,
                    lw=0.9, color=colour, label=f"$k = {signs}$",
                )  # fmt: skip
            first = np.nanmin(np.exp(own["runs_log_n"].values[:, 0]), initial=100.0)
            d = data["d"].values
            axes.plot(d, 0.6 * first * (d / d[0]) ** (1 - A), color="0.5", ls=":", lw=0.9)
            axes.set(xscale="log", yscale="log")
            axes.set_xticks(d, [f"{one:g}" for one in d])
            axes.set_yticks([25, 50, 100, 200, 400], ["25", "50", "100", "200", "400"])
            axes.minorticks_off()
            axes.set(
                title=f"anisotropy {A:g}, dotted: $d^{{{1 - A:g}}}$",
                xlabel="$d$" + (f"\nslopes {', '.join(slopes)}" if slopes else ""),
            )
        panels[0].set_ylabel(f"samples to accuracy {data.attrs['accuracy']:g}")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        figure.suptitle(
            f"{data.attrs['width']} neurons, at most {data.attrs['steps']} steps, "
            f"{data.sizes['seed']} runs per size", fontsize=8,
        )  # fmt: skip
    return figure
