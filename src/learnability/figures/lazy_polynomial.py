"""Kernels and random features learn polynomials, one degree after the other.

The error against kappa = log n / log d stays on the floors |P_{> l} f|^2 between whole numbers;
with p = d^kappa' random features it stops at the floor of kappa'.

References
----------
Ghorbani, Mei, Misiakiewicz, Montanari, Ann. Statist. 49 (2021); Mei, Misiakiewicz, Montanari,
Appl. Comput. Harmon. Anal. 59 (2022).
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.figures._message_passing import Size

if TYPE_CHECKING:
    import xarray

    from learnability.targets import Target

__all__ = ["FULL", "QUICK", "compute", "picture"]

LINK = "z + He2(z)/sqrt(2) + He3(z)/sqrt(6)"
KERNEL, RIDGE = "exp(z)", 0.1
ACTIVATION = "exp(z - 1/2)"  # Its kernel is exp(z).
DIMENSIONS = (1000, 100_000)
"""Dimensions of the lines without runs."""
WIDTHS_LOG = (0.5, 1.5, 2.3)
"""Values of log p / log d."""


def _kappas(d: int, last: float, count: int) -> tuple[float, ...]:
    """Return ratios n / d of evenly spaced log n / log d."""
    return tuple(d ** (k - 1) for k in np.linspace(0.8, last, count))


FULL = Size(d=30, runs=24, alphas=_kappas(30, 2.6, 16), theory=200)
QUICK = Size(d=30, runs=4, alphas=_kappas(30, 2.4, 7), theory=80)


def compute(size: Size, store: Path | None = None, target: Target | None = None) -> xarray.Dataset:
    """Return theory and runs of the kernel and of random features of three widths, and floors."""
    import xarray

    from learnability.learners import KernelRidge, RandomFeatures
    from learnability.studies import study
    from learnability.targets import MultiIndex

    d, target = size.d, target or MultiIndex(LINK)
    kernel = KernelRidge(KERNEL, RIDGE)
    features = [RandomFeatures(d ** (w - 1), ACTIVATION, RIDGE) for w in WIDTHS_LOG]
    kappa = np.linspace(0.7, 3.4, size.theory)
    lines = [
        kernel.predict(target, d=one, alpha=one ** (kappa - 1)).error.values
        for one in (d, *DIMENSIONS)
    ]
    curves = [f.predict(target, d=d, alpha=d ** (kappa - 1)).error.values for f in features]

    def fitted(learner: Any) -> Any:
        runs = study(learner, target, d=d, alpha=size.alphas, seeds=size.runs, store=store)
        return runs.error.values

    powers, beyond = target.degree_energies(3, d)
    floors = beyond + target.noise + np.append(np.cumsum(powers[::-1])[::-1][1:], 0.0)
    samples = [max(round(a * d), 1) for a in size.alphas]
    return xarray.Dataset(
        {
            "theory_kernel": (("d", "theory_kappa"), lines),
            "theory_features": (("width", "theory_kappa"), curves),
            "runs_kernel": (("runs_kappa", "seed"), fitted(kernel)),
            "runs_features": (("width", "runs_kappa", "seed"), [fitted(f) for f in features]),
            "floor": ("degree", floors.round(12)),
        },
        {
            "theory_kappa": kappa,
            "runs_kappa": np.log(samples) / math.log(d),
            "d": [d, *DIMENSIONS],
            "width": list(WIDTHS_LOG),
            "seed": np.arange(size.runs),
        },
        {
            "link": target.link.text or repr(target.link),
            "kernel": KERNEL,
            "activation": ACTIVATION,
            "ridge": RIDGE,
            "runs_d": d,
        },
    )


def picture(data: xarray.Dataset) -> Any:
    """Draw the kernel on the left, random features on the right, against log n / log d."""
    from matplotlib.figure import Figure

    from learnability.drawing.marks import crosses, legend_below
    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    d, runs, top = data.attrs["runs_d"], data.sizes["seed"], 1.4 * float(data["floor"][0])
    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 3.1), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        for k, dimension in enumerate(data["d"].values):
            label = (
                rf"$d = {dimension}$"
                if dimension < 1e4
                else rf"$d = 10^{{{math.log10(dimension):.0f}}}$"
            )
            left.plot(data["theory_kappa"], data["theory_kernel"][k], color=COLOURS[k], label=label)
        crosses(left, data["runs_kappa"], data["runs_kernel"], COLOURS[0])
        for k, width in enumerate(data["width"].values):
            colour = COLOURS[k + 3]
            line = data["theory_features"][k]
            right.plot(data["theory_kappa"], line, color=colour, label=f"$p = d^{{{width:g}}}$")
            crosses(right, data["runs_kappa"], data["runs_features"][k], colour)
        for axes, title in ((left, "kernel"), (right, f"random features, $d = {d}$")):
            for floor in data["floor"].values[:3]:
                axes.axhline(floor, ls=":", lw=0.8, color="0.5", zorder=0)
            axes.set(xlabel=r"$\log n / \log d$", title=title, ylim=(-top / 42, top))
            legend_below(axes, 3)
        left.set_ylabel("mean squared error")
        said = f"crosses: $d = {d}$, {runs} runs; dotted: what higher degrees hold"
        figure.supxlabel(said, fontsize=8)
    return figure
