"""Overlaps of the layers against n, with theory: M_W of the first layer and M_h of the second.

Crosses are runs of the learner whose theory is known (spectral first layer, Mehler kernel) and of a
network of relu neurons whose first layer takes a few spherical steps; lines are the finite-size
theory of the former, where it gives a number.

References
----------
Dandi, Pesce, Zdeborova, Krzakala, arXiv:2502.13961 (overlaps of the layers).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.figures._literature import reference

if TYPE_CHECKING:
    import xarray

__all__ = ["FULL", "QUICK", "compute", "picture"]


@dataclass(frozen=True)
class Size:
    """Dimension, log n / log d of the runs, runs, neurons, and points of the lines."""

    d: int
    kappas: tuple[float, ...]
    runs: int
    width: int
    theory: int


FULL = Size(64, tuple(np.linspace(1.4, 2.1, 8).tolist()), 4, 1000, 40)
QUICK = Size(64, (1.5, 1.8, 2.0), 2, 300, 15)
NAMES = {"first_layer_overlap": "$M_W$", "feature_overlap": "$M_h$"}


def compute(size: Size, store: Path | None = None) -> xarray.Dataset:
    """Return overlaps of both learners, and the lines."""
    import xarray

    from learnability.learners import Layerwise
    from learnability.studies import study

    d, target = size.d, reference()
    alphas = [round(d**kappa) / d for kappa in size.kappas]
    kappa = np.linspace(min(size.kappas), max(size.kappas), size.theory)
    theory = Layerwise().predict(target, d=d, alpha=d ** (kappa - 1), third=False)
    found: dict[str, Any] = {}
    for label, learner in (("kernel", Layerwise()), ("network", Layerwise(width=size.width))):
        runs = study(learner, target, d=d, alpha=alphas, seeds=size.runs, store=store)
        for name in NAMES:
            values = runs[name].values.reshape(len(alphas), size.runs)
            found[f"runs_{label}_{name}"] = (("kappa", "seed"), values)
    for name in NAMES:
        found[f"theory_{name}"] = ("theory_kappa", theory[name].values.reshape(len(kappa)))
    axes = {"kappa": list(size.kappas), "seed": np.arange(size.runs), "theory_kappa": kappa}
    return xarray.Dataset(found, axes, {"runs_d": d})


def picture(data: xarray.Dataset) -> Any:
    """Draw one panel for each overlap."""
    from matplotlib.figure import Figure

    from learnability.drawing.marks import crosses
    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.8), layout="constrained")
        for axes, (name, label) in zip(figure.subplots(1, 2), NAMES.items(), strict=True):
            axes.plot(data["theory_kappa"], data[f"theory_{name}"], color=COLOURS[0],
                      label="theory")  # fmt: skip
            for k, learner in enumerate(("kernel", "network")):
                crosses(axes, data["kappa"], data[f"runs_{learner}_{name}"], COLOURS[k])
                axes.plot([], [], "x", color=COLOURS[k], label=f"{learner}, runs")
            axes.set(xlabel=r"$\kappa = \log n / \log d$", ylabel=label, ylim=(0, 1))
        figure.axes[0].legend()
        figure.suptitle(f"$d = {data.attrs['runs_d']}$", fontsize=8)
    return figure
