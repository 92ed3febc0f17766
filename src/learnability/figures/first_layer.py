"""The first layer of a hierarchical target is learned at n* = d Var(y) / c^2, of order d^(1+eps).

The figure shows M_W^2 of the eigenvectors of the labels' second moment against n / n*: one curve
1 - n*/n for all dimensions, rounded near n* by finite d.

References
----------
Dandi, Pesce, Zdeborova, Krzakala, arXiv:2502.13961; Baik, Ben Arous, Peche, Ann. Probab. 33 (2005).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.figures._literature import reference

if TYPE_CHECKING:
    import xarray

    from learnability.targets.hierarchical import Hierarchical

__all__ = ["FULL", "QUICK", "compute", "picture"]

RATIOS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 8.0, 16.0)


@dataclass(frozen=True)
class Size:
    """Dimensions and number of runs."""

    dimensions: tuple[int, ...]
    runs: int


FULL = Size((64, 100, 144, 196, 256), 8)
QUICK = Size((64, 144), 4)


def compute(size: Size, target: Hierarchical | None = None) -> xarray.Dataset:
    """Return M_W^2 by dimension, n / n* and seed, and the line."""
    import xarray

    from learnability.learners.deep import Samples, SpectralFirstLayer, first_layer_overlap
    from learnability.progress import tracked

    target = target or reference()
    layer = SpectralFirstLayer(None)

    def overlap(d: int, ratio: float, seed: int) -> float:
        n = round(ratio * target.n_star(d))
        W = layer.learn(Samples(target, seed, d, n))
        return first_layer_overlap(W, next(target.batches(seed, 1, d)).W) ** 2

    cells = [
        (d, ratio, seed) for d in size.dimensions for ratio in RATIOS for seed in range(size.runs)
    ]
    runs = [overlap(*cell) for cell in tracked(cells, "first layers")]
    line = np.geomspace(0.4, 20, 200)
    return xarray.Dataset(
        {
            "runs_overlap": (
                ("d", "ratio", "seed"),
                np.reshape(runs, (len(size.dimensions), len(RATIOS), size.runs)),
            ),
            "theory_overlap": ("theory_ratio", np.maximum(1 - 1 / line, 0)),
            "n_star": ("d", [target.n_star(d) for d in size.dimensions]),
        },
        {
            "d": list(size.dimensions),
            "ratio": list(RATIOS),
            "seed": np.arange(size.runs),
            "theory_ratio": line,
        },
        {"link": target.link.text, "polynomial": target.polynomial.text},
    )


def picture(data: xarray.Dataset) -> Any:
    """Draw M_W^2 against n / n*."""
    from matplotlib.figure import Figure

    from learnability.drawing.marks import crosses, mark
    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    with house_style():
        figure = Figure(figsize=(WIDTHS["column"], 2.8), layout="constrained")
        axes = figure.subplots()
        axes.plot(data["theory_ratio"], data["theory_overlap"], color="0.3", label=r"$1 - n^*/n$")
        for k, d in enumerate(data["d"].values):
            colour = COLOURS[k]
            crosses(axes, data["ratio"], data["runs_overlap"][k], colour)
            axes.plot([], [], "x", color=colour, ms=4, mew=1.1, label=f"$d = {d}$")
        mark(axes, 1.0, "$n^*$")
        axes.set(xscale="log", xlabel="$n/n^*$", ylabel="$M_W^2$", ylim=(0, 1))
        axes.set_xticks([0.5, 1, 2, 4, 8, 16], ["0.5", "1", "2", "4", "8", "16"], minor=False)
        axes.minorticks_off()
        axes.legend(loc="lower right")
    return figure
