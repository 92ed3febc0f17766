"""The grand staircase of z1^2 + sign(z1 z2 z3).

The first direction opens at 0.575 samples a dimension. Once it is known the label is a parity of
the other two, which open at pi^2/4.

References
----------
Troiani, Dandi, Defilippis, Zdeborova, Loureiro, Krzakala, arXiv:2405.15480.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.drawing.marks import mark
from learnability.drawing.theory_and_runs import legend, line_and_crosses, mean_overlap
from learnability.figures._message_passing import Size, message_passing

if TYPE_CHECKING:
    import xarray

__all__ = ["FULL", "QUICK", "compute", "picture"]

LINK = "z1**2 + sign(z1*z2*z3)"
FULL = Size(d=500, runs=72, alphas=tuple(np.linspace(0.2, 5.9, 20)), theory=120)
QUICK = Size(d=200, runs=4, alphas=(0.3, 0.8, 1.2, 1.6, 2.2, 3.2, 4.2, 5.2), theory=40)


def compute(size: Size, store: Path | None = None) -> xarray.Dataset:
    """The prediction, the runs and the thresholds of the hardness report."""
    return message_passing(LINK, size, store)


def picture(data: xarray.Dataset) -> Any:
    """Overlaps on the left, the generalisation error on the right, against alpha."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.7), layout="constrained")
        left, right = figure.subplots(1, 2)
        for which, colour in (((0,), COLOURS[0]), ((1, 2), COLOURS[1])):
            theory, runs = mean_overlap(data, "theory", which), mean_overlap(data, "runs", which)
            line_and_crosses(left, data, theory, runs, colour)
        line_and_crosses(right, data, data["theory_error"], data["runs_error"], COLOURS[2])
        last = float(data["theory_alpha"].max())
        for axes in (left, right):
            for alpha in data["threshold"].values:
                mark(axes, alpha, f"{alpha:.3f}")
            axes.set(xlabel=r"$\alpha = n/d$", xlim=(0, last))
        left.set(ylabel="overlap", ylim=(-0.03, 1.06))
        left.text(1.0, 0.93, "$z_1$", color=COLOURS[0], fontsize=9)
        left.text(3.6, 0.2, "$z_2$ and $z_3$", color=COLOURS[1], fontsize=9)
        right.set(ylabel="mean squared error", ylim=(0, None))
        legend(figure, data, 2, theory="state evolution", algorithm="message passing")
    return figure
