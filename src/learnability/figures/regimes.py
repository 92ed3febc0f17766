"""What one giant step and a readout can learn, by the order of their samples and neurons.

A step on n = c d samples finds the linear part of the target, one on n = c d^2 also the directions
that are visible at order two. All functions of the directions found can be learned, and of the rest
polynomials of degree kappa, with d^kappa the smaller of n and p. The target has one term of unit
energy for each boundary between these regimes.

References
----------
Dandi, Krzakala, Loureiro, Pesce, Stephan, JMLR 25 (2024), conjecture 3.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.drawing.marks import crosses
from learnability.figures._message_passing import Size

if TYPE_CHECKING:
    import xarray

    from learnability.targets import MultiIndex

__all__ = ["FULL", "QUICK", "compute", "picture"]

LINK = "z1 + He2(z2)/sqrt(2) + He2(z1)*z2/sqrt(2) + He4(z1)*He2(z2)*z3/sqrt(48) + He2(z2)*He2(z3)/2"
ACTIVATION = "relu(z - 1/2)"  # relu itself has no odd degrees above one.
STEP = 2.0
"""Size of the step, divided by p d^((order - 1) / 2)."""
REGIMES = ((1, 0), (1, 1), (2, 0), (2, 1), (2, 2))
"""Pairs of log n / log d and log p / log d."""
NEURONS = (32, 8, 2)
"""Number p of neurons divided by 1, d and d^2."""
RIDGES = tuple(float(10.0**k) for k in range(-3, 4))
FULL = Size(d=24, runs=8, alphas=(5.0, 10.0, 20.0, 40.0, 80.0), theory=0)
QUICK = Size(d=12, runs=4, alphas=(5.0, 20.0, 80.0), theory=0)


def compute(
    size: Size, store: Path | None = None, target: MultiIndex | None = None
) -> xarray.Dataset:
    """Return floors of the hardness report, and errors of runs at the best of several ridges.

    The ratios of `size` are those of n over d and d^2. A target of the user's own needs isotropic
    inputs.
    """
    import xarray

    from learnability.learners import GiantSteps
    from learnability.studies import study
    from learnability.targets import as_target
    from learnability.theory import csq_staircase, risk_floors

    learned, d = as_target(LINK if target is None else target), size.d
    link = learned.link
    floors = {order: risk_floors(link, csq_staircase(link, order=order)) for order in (1, 2)}
    errors = []
    for order, degree in REGIMES:
        learner = GiantSteps(
            NEURONS[degree] * d ** (degree - 1), ACTIVATION, steps=1,
            step=STEP * d ** ((order - 1) / 2), init="symmetric", ridge=RIDGES,
        )  # fmt: skip
        row = []
        for ratio in size.alphas:
            alpha = ratio * d ** (order - 1)
            runs = study(
                learner, learned, batch=alpha, d=d, alpha=alpha, seeds=size.runs, store=store
            )
            row.append(runs.error.isel(ridge=int(np.argmin(runs.error.mean("seed").values))).values)
        errors.append(row)
    return xarray.Dataset(
        {
            "floor": (
                "regime",
                [learned.noise + floors[order][1][degree] for order, degree in REGIMES],
            ),
            "runs_error": (("regime", "ratio", "seed"), errors),
        },
        {
            "samples": ("regime", [order for order, _ in REGIMES]),
            "neurons": ("regime", [degree for _, degree in REGIMES]),
            "ratio": list(size.alphas),
            "seed": np.arange(size.runs),
        },
        {
            "link": str(link.text), "activation": ACTIVATION, "runs_d": d,
            "variance": learned.label_variance,
        },
    )  # fmt: skip


def picture(data: xarray.Dataset) -> Any:
    """Draw the error against the constant before the power of d, in one colour per regime."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    def power(k: int) -> str:
        return ("1", "d", "d^2")[k]

    with house_style():
        figure = Figure(figsize=(1.25 * WIDTHS["column"], 3.4), layout="constrained")
        axes = figure.subplots()
        for k, colour in zip(range(data.sizes["regime"]), COLOURS, strict=False):
            regime = data.isel(regime=k)
            axes.axhline(float(regime["floor"]), ls=":", lw=1.1, color=colour, zorder=0)
            crosses(axes, data["ratio"], regime["runs_error"], colour)
            axes.plot(data["ratio"], regime["runs_error"].mean("seed"), color=colour, lw=0.7)
            n, p = power(int(regime["samples"])), power(int(regime["neurons"]))
            label = rf"$n \asymp {n}$, $p \asymp {p}$: floor {float(regime['floor']):.3g}"
            axes.plot([], [], color=colour, label=label)
        n = r"samples over $d$ or $d^2$"
        most = data.attrs["variance"]
        limits = (-0.02 * most, 1.02 * most)
        axes.set(xlabel=n, ylabel="mean squared error", xscale="log", ylim=limits)
        axes.set_xticks(data["ratio"].values, [f"{ratio:g}" for ratio in data["ratio"].values])
        axes.minorticks_off()
        axes.axhline(most, lw=0.8, color="0.6")
        figure.legend(loc="outside upper center", ncols=2)
        figure.supxlabel(
            f"crosses: $d = {data.attrs['runs_d']}$, {data.sizes['seed']} runs; dotted: floors; "
            "grey: nothing learned",
            fontsize=8,
        )
    return figure
