"""Compositional information exponents: which degrees of g(h) stay as N grows.

The figure shows the exact shares of the variance by degree in the directions, against N. A degree
that vanishes like 1 / N can hold a fifth of the variance at N = 16: the slope decides, not a
threshold.

References
----------
Dandi, Pesce, Zdeborova, Krzakala, arXiv:2502.13961.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray

__all__ = ["FULL", "QUICK", "compute", "picture"]

EXAMPLES = (
    ("tanh(3*z)", "He2(z)/2 + He3(z)/6"),
    ("z**2", "He2(z)"),
    ("cos(z)", "He2(z)"),
    ("tanh(3*z)", "He3(z)"),
)


@dataclass(frozen=True)
class Size:
    """Numbers of directions."""

    sizes: tuple[int, ...]


FULL = Size((8, 16, 32, 64, 128, 256, 512, 1024))
QUICK = Size((16, 64, 256, 1024))


def compute(size: Size) -> xarray.Dataset:
    """Return shares of degrees 1 to 4 by N, and the exponent with its slopes."""
    import xarray

    from learnability.targets import Hierarchical
    from learnability.theory import compositional_exponent

    targets = [Hierarchical(g, P, signs="ones") for g, P in EXAMPLES]
    found = [compositional_exponent(target, sizes=size.sizes) for target in targets]
    return xarray.Dataset(
        {
            "share": (("example", "N", "degree"), [f.shares[:, 1:5] for f in found]),
            "slope": (("example", "degree"), [f.slopes[:4] for f in found]),
            "exponent": ("example", [f.value or 0 for f in found]),
        },
        {
            "example": [f"{g} of {P}" for g, P in EXAMPLES],
            "N": list(size.sizes),
            "degree": [1, 2, 3, 4],
        },
    )


def picture(data: xarray.Dataset) -> Any:
    """Draw one panel per example; the degree of the exponent is the thick line."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style
    from learnability.labels.link import Link

    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.6), layout="constrained")
        panels = figure.subplots(1, len(EXAMPLES), sharey=True)
        for k, (axes, (g, P)) in enumerate(zip(panels, EXAMPLES, strict=True)):
            exponent = int(data["exponent"][k])
            for j in range(4):
                share = np.where(data["share"][k, :, j] > 1e-8, data["share"][k, :, j], np.nan)
                axes.plot(
                    data["N"], share, ".-", color=COLOURS[j], ms=4,
                    lw=2.4 if j + 1 == exponent else 1.0, label=f"degree {j + 1}",
                )  # fmt: skip
            axes.set_title(
                f"$g = {Link(g).latex.replace('z', 'h')}$\n$P = {Link(P).latex}$", fontsize=6.5
            )
            axes.text(0.05, 0.05, f"CIE {exponent}", transform=axes.transAxes)
            axes.set(xscale="log", yscale="log", xlabel="$N$", ylim=(1e-6, 1.5))
        panels[0].set_ylabel(r"$\|P_j f\|^2 / \mathrm{Var} f$")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure
