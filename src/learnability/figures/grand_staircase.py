"""The grand staircase of z1^2 + sign(z1 z2 z3).

The first direction opens at 0.575 samples per dimension. Once it is known the label is a parity of
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
from learnability.figures._message_passing import Size, groups, message_passing

if TYPE_CHECKING:
    import xarray

    from learnability.targets import Target

__all__ = ["FULL", "QUICK", "compute", "picture"]

LINK = "z1**2 + sign(z1*z2*z3)"
FULL = Size(d=500, runs=72, alphas=tuple(np.linspace(0.2, 5.9, 20)), theory=120)
QUICK = Size(d=200, runs=4, alphas=(0.3, 0.8, 1.2, 1.6, 2.2, 3.2, 4.2, 5.2), theory=40)


def compute(size: Size, store: Path | None = None, target: Target | None = None) -> xarray.Dataset:
    """Return the prediction, the runs and the thresholds of the hardness report."""
    return message_passing(LINK, size, store, target)


def picture(data: xarray.Dataset) -> Any:
    """Draw overlaps on the left, the generalisation error on the right, against alpha."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.7), layout="constrained")
        left, right = figure.subplots(1, 2)
        last = float(data["theory_alpha"].max())
        for (which, name), colour in zip(groups(data), COLOURS, strict=False):
            theory, runs = mean_overlap(data, "theory", which), mean_overlap(data, "runs", which)
            line_and_crosses(left, data, theory, runs, colour)
            risen = data["theory_alpha"].values[theory.values > 0.4]
            at = (risen[0] + 0.04 * last, 0.2) if len(risen) else (0.9 * last, 0.05)
            left.text(*at, name, color=colour, fontsize=9)
        line_and_crosses(right, data, data["theory_error"], data["runs_error"], COLOURS[2])
        for axes in (left, right):
            for alpha in data["threshold"].values if "threshold" in data else ():
                mark(axes, alpha, f"{alpha:.3f}")
            axes.set(xlabel=r"$\alpha = n/d$", xlim=(0, last))
        left.set(ylabel="overlap", ylim=(-0.03, 1.06))
        right.set(ylabel="mean squared error", ylim=(0, None))
        legend(figure, data, 2, theory="state evolution", algorithm="message passing")
    return figure
