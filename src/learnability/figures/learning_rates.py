"""Small against large learning rates: the error after one step against its size.

With eta of order 1 (eta/p small) a step changes the spectrum of the first layer but not the error:
the network learns what random features learn. With eta of order p the error leaves that line. Both
lines of theory are exact, that of large d and that of the first layers of the runs themselves:
the limit is reached where d is far above (p / eta)^2, so that at small eta/p the dimensions of runs
do not show it. There are as many neurons as dimensions, and twice as many samples in the step and
in the readout.

References
----------
Ba, Erdogdu, Suzuki, Wang, Wu, Yang, NeurIPS 2022; Cui, Pesce, Dandi, Krzakala, Lu, Zdeborova,
Loureiro, arXiv:2402.04980.
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

PANELS = (("tanh(z)", "sign(z)"), ("relu(z)", "z + He2(z)/2"))
"""Activation and link; a target of the user's own takes the place of both links."""
WIDTH, BATCH, SAMPLES, RIDGE = 1.0, 2.0, 2.0, 0.1
FULL = Size(
    d=1000, runs=6, alphas=(0.01, 0.03, 0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0), theory=40
)
QUICK = Size(d=150, runs=3, alphas=(0.01, 0.1, 0.5, 2.0, 8.0), theory=9)
"""The ratios are those of the steps, eta / p."""


def compute(
    size: Size, store: Path | None = None, target: MultiIndex | None = None
) -> xarray.Dataset:
    """Return the error of theory and of runs for every step, and that of random features.

    A target of the user's own needs isotropic inputs and a linear part.
    """
    import xarray

    from learnability.learners import GiantSteps, RandomFeatures
    from learnability.studies import study

    steps = np.geomspace(min(size.alphas), max(size.alphas), size.theory)
    theory, given, runs, lazy = [], [], [], []
    for activation, link in PANELS:
        learned = link if target is None else target
        learners = [GiantSteps(WIDTH, activation, BATCH, 1, float(s), ridge=RIDGE) for s in steps]
        theory.append([float(one.predict(learned, alpha=SAMPLES).error) for one in learners])
        finite = [GiantSteps(WIDTH, activation, BATCH, 1, s, ridge=RIDGE) for s in size.alphas]
        given.append(
            [
                float(one.predict(learned, d=size.d, alpha=SAMPLES, seeds=size.runs).error.mean())
                for one in finite
            ]
        )
        found = study(
            learners[0], learned, step=list(size.alphas), d=size.d, alpha=SAMPLES, seeds=size.runs,
            store=store,
        )  # fmt: skip
        runs.append(found.error.values)
        features = RandomFeatures(WIDTH, activation, RIDGE)
        lazy.append(float(features.predict(learned, alpha=SAMPLES).error))
    links = [link if target is None else str(target.link.text) for _, link in PANELS]
    return xarray.Dataset(
        {
            "theory_error": (("panel", "theory_step"), theory),
            "theory_given_error": (("panel", "runs_step"), given),
            "runs_error": (("panel", "runs_step", "seed"), runs),
            "theory_random_features": ("panel", lazy),
        },
        {
            "link": ("panel", links),
            "activation": ("panel", [activation for activation, _ in PANELS]),
            "theory_step": steps,
            "runs_step": list(size.alphas),
            "seed": np.arange(size.runs),
        },
        {"width": WIDTH, "batch": BATCH, "alpha": SAMPLES, "ridge": RIDGE, "runs_d": size.d},
    )


def picture(data: xarray.Dataset) -> Any:
    """Draw one panel per activation, with the error against the step."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.8), layout="constrained")
        for k, axes in enumerate(figure.subplots(1, data.sizes["panel"], squeeze=False)[0]):
            lazy = float(data["theory_random_features"][k])
            axes.axhline(lazy, color="0.5", ls="--", lw=1, label="random features")
            axes.plot(
                data["runs_step"], data["theory_given_error"][k], color=COLOURS[0],
                label=f"one step, $d = {data.attrs['runs_d']}$",
            )  # fmt: skip
            axes.plot(
                data["theory_step"], data["theory_error"][k], color=COLOURS[1], ls=":",
                label=r"one step, $d \to \infty$",
            )  # fmt: skip
            crosses(axes, data["runs_step"], data["runs_error"][k], COLOURS[0])
            activation, link = (str(data[name].values[k]) for name in ("activation", "link"))
            axes.set(xlabel=r"$\eta/p$", xscale="log", title=f"{activation} learns {link}")
            if k == 0:
                axes.set_ylabel("mean squared error")
                figure.legend(
                    *axes.get_legend_handles_labels(), loc="outside lower center", ncols=3
                )
        d, runs = data.attrs["runs_d"], data.sizes["seed"]
        figure.suptitle(f"lines: theory; crosses: $d = {d}$, {runs} runs", fontsize=8)
    return figure
