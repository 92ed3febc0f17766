"""The transition of a parity of two directions, sign(z1 z2).

Below pi^2/4 samples per dimension message passing finds nothing; above, both directions at once.

References
----------
Troiani, Dandi, Defilippis, Zdeborova, Loureiro, Krzakala, arXiv:2405.15480.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.drawing.marks import mark
from learnability.drawing.theory_and_runs import legend, line_and_crosses, mean_overlap
from learnability.figures._message_passing import Size, groups, message_passing

if TYPE_CHECKING:
    import xarray

    from learnability.targets import Target

__all__ = ["FULL", "QUICK", "compute", "picture"]

LINK = "sign(z1*z2)"
FULL = Size(d=500, runs=72, alphas=tuple(np.linspace(0.5, 6.2, 20)), theory=100)
QUICK = Size(d=300, runs=8, alphas=(1.0, 2.0, 2.75, 3.5, 4.25, 5.0, 6.0), theory=50)


def compute(size: Size, store: Path | None = None, target: Target | None = None) -> xarray.Dataset:
    """Return the prediction, the runs and the threshold of the hardness report."""
    return message_passing(LINK, size, store, target)


def picture(data: xarray.Dataset) -> Any:
    """Draw the overlap against alpha, the mean of the directions that open together."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    with house_style():
        figure = Figure(figsize=(WIDTHS["column"], 2.6), layout="constrained")
        axes = figure.subplots()
        names = []
        for (which, name), colour in zip(groups(data), COLOURS, strict=False):
            theory, runs = mean_overlap(data, "theory", which), mean_overlap(data, "runs", which)
            line_and_crosses(axes, data, theory, runs, colour)
            names.append(name)
        for alpha in data["threshold"].values if "threshold" in data else ():
            known = abs(alpha - math.pi**2 / 4) < 1e-6
            mark(axes, alpha, r"$\pi^2/4$" if known else f"{alpha:.3f}")
        axes.set(
            xlabel=r"$\alpha = n/d$",
            ylabel=f"overlap of {', '.join(names)}",
            xlim=(0, float(data["theory_alpha"].max())),
            ylim=(-0.03, 1.03),
        )
        legend(figure, data, 1, theory="state evolution", algorithm="message passing")
    return figure
