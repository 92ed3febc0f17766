"""Singular values of the first gradient on spiked inputs, with the outliers that theory predicts.

The neurons are relu with random biases, and the link is He2. The predicted outliers use the
coordinates of the training set along the spike; the edge of the bulk is not predicted.

References
----------
Ba, Erdogdu, Suzuki, Wang, Wu, NeurIPS 2023.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.figures._literature import LINKS, SpikeSize

if TYPE_CHECKING:
    import xarray

    from learnability.targets import MultiIndex

__all__ = ["FULL", "QUICK", "compute", "picture"]

FULL = SpikeSize((1200,), 1, (0.0, 0.4, 0.7), 4)
QUICK = SpikeSize((400,), 1, (0.0, 0.4, 0.7), 4)


def compute(
    size: SpikeSize, store: Path | None = None, target: MultiIndex | None = None
) -> xarray.Dataset:
    """Return singular values of one run, and the first outliers in theory.

    From a target of the user's own the link of one variable and the noise are used.
    """
    import xarray

    from learnability.learners import GiantSteps
    from learnability.studies import study
    from learnability.targets import SpikedIndex

    (d,) = size.dimensions
    learner = GiantSteps(0.5, "relu(z)", 2.0, init="signs", bias=1.0)
    link, noise = (LINKS["He2"], 0.0) if target is None else (target.link, target.noise)
    targets = [SpikedIndex(link, noise=noise, spike_exponent=g) for g in size.exponents]
    runs = study(
        learner, targets[0], question="gradient", d=d, exponent=list(size.exponents), store=store
    ).sel(seed=0)
    theory = [learner.predict(t, question="gradient", d=d, seeds=1) for t in targets]
    names = ("singular_values", "singular_alignment")
    return xarray.Dataset(
        {f"runs_{n}": (("gamma", "rank"), runs[n].values) for n in names}
        | {
            f"theory_{n}": (("gamma", "outlier"), [one[n].values[0] for one in theory])
            for n in names
        },
        {"gamma": list(size.exponents)},
        {"runs_d": d, "link": str(targets[0].link.text), "activation": "relu(z)", "bias": 1.0},
    )


def picture(data: xarray.Dataset) -> Any:
    """Draw one histogram per spike; triangles are predicted outliers, with their alignment."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.4), layout="constrained")
        for k, axes in enumerate(figure.subplots(1, data.sizes["gamma"])):
            values = data["runs_singular_values"][k].values
            bins = np.geomspace(max(values[-1], 1e-3 * values[0]), 1.4 * values[0], 50)
            axes.hist(values, bins, color="0.75")
            for rank in range(2):
                at = float(data["theory_singular_values"][k, rank])
                share = float(data["theory_singular_alignment"][k, rank])
                found = float(data["runs_singular_alignment"][k, rank])
                said = rf"outlier {rank + 1}: $\langle v, \beta\rangle^2$ = {share:.2f}"
                said += f" (run {found:.2f})"
                axes.plot([at], [1.3], "v", color=COLOURS[rank], ms=6, zorder=4, label=said)
                axes.plot([values[rank]] * 2, [0.6, 1.0], color=COLOURS[rank], lw=1.5)
            axes.set(xscale="log", yscale="log", ylim=(0.5, 200), xlabel="singular value of $G$",
                     title=rf"$\gamma = {float(data['gamma'][k]):g}$")  # fmt: skip
            axes.legend(fontsize=6, loc="upper right")
        figure.axes[0].set_ylabel("number")
        names, d = {link: name for name, link in LINKS.items()}, data.attrs["runs_d"]
        name = names.get(data.attrs["link"], data.attrs["link"])
        figure.suptitle(
            f"{name}, relu, $d = {d}$, $n = 2d$, $p = d/2$; bars: one run; triangles: theory",
            fontsize=8,
        )
    return figure
