"""One giant step and a kernel on spiked inputs, with permuted labels and without a step.

The label is He3 of the coordinate along the spike; there are d samples for the step and d for the
readout, and 0.2 d relu neurons with random biases. The field w.x has the correlation rho with the
label's argument; any step raises it once the spike is stronger than d^(1/2), even one on
uninformative labels.

References
----------
Ba, Erdogdu, Suzuki, Wang, Wu, NeurIPS 2023.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.drawing.marks import crosses
from learnability.figures._literature import LINKS, SpikeSize

if TYPE_CHECKING:
    import xarray

    from learnability.targets import MultiIndex

__all__ = ["FULL", "QUICK", "compute", "picture"]

FULL = SpikeSize((1000,), 4, (0.1, 0.2, 0.35, 0.5, 0.65, 0.8), 31)
QUICK = SpikeSize((400,), 2, (0.1, 0.3, 0.5, 0.65, 0.8), 25)
NAMES = {"labels": "error", "permuted": "permuted_error", "none": "none_error"}


def compute(
    size: SpikeSize, store: Path | None = None, target: MultiIndex | None = None
) -> xarray.Dataset:
    """Return errors and rho^2 of the three runs, and the kernel's error.

    From a target of the user's own the link of one variable and the noise are used.
    """
    import xarray

    from learnability.learners import GiantSteps, KernelRidge
    from learnability.studies import study
    from learnability.targets import SpikedIndex

    (d,) = size.dimensions
    learner, kernel = (
        GiantSteps(0.2, "relu(z)", 1.0, init="signs", ridge=0.01, bias=1.0, update="replace"),
        KernelRidge("exp(z)", 0.1),
    )
    gammas = np.linspace(0, max(size.exponents), size.theory)

    def spiked(gamma: float) -> MultiIndex:
        link, noise = (LINKS["He3"], 0.0) if target is None else (target.link, target.noise)
        return SpikedIndex(link, noise=noise, spike_exponent=float(gamma))

    runs = study(
        learner, spiked(0.0), question="controls", d=d, alpha=1.0, exponent=list(size.exponents),
        seeds=size.runs, store=store,
    )  # fmt: skip
    errors = np.stack([runs[name].values for name in NAMES.values()], axis=1)
    return xarray.Dataset(
        {
            "runs_error": (("runs_gamma", "control", "seed"), errors),
            "runs_correlation": (
                ("runs_gamma", "seed", "control"),
                runs.label_correlation.sel(control=list(NAMES)).values,
            ),
            "theory_kernel": (
                "gamma", [float(kernel.predict(spiked(g), d=d, alpha=1.0).error) for g in gammas],
            ),
        },
        {
            "control": list(NAMES), "runs_gamma": list(size.exponents), "gamma": gammas,
            "seed": np.arange(size.runs),
        },
        {"runs_d": d, "link": str(spiked(0.0).link.text), "activation": "relu(z)"},
    )  # fmt: skip


def picture(data: xarray.Dataset) -> Any:
    """Draw errors on the left, rho^2 on the right; dashed grey is half a power iteration."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    d, gamma = data.attrs["runs_d"], data["gamma"].values
    titles = {"labels": "one step", "permuted": "permuted labels", "none": "no step"}
    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.7), layout="constrained")
        left, right = figure.subplots(1, 2)
        left.plot(gamma, data["theory_kernel"], color="0.4", label="kernel, theory")
        for k, control in enumerate(data["control"].values):
            for axes, name in ((left, "runs_error"), (right, "runs_correlation")):
                values = data[name].sel(control=control)
                axes.plot(
                    data["runs_gamma"],
                    values.mean("seed"),
                    color=COLOURS[k],
                    lw=0.8,
                    label=titles[control],
                )
                crosses(axes, data["runs_gamma"], values, COLOURS[k])
        power = (1 + d**gamma) ** 2
        right.plot(
            gamma, power / (power + d), color="0.6", ls="--", lw=1, label="half a power iteration"
        )
        left.set(ylabel="mean squared error", ylim=(0, None))
        right.set(ylabel=r"$\rho^2$", ylim=(0, 1.02))
        for axes in (left, right):
            axes.set(xlabel=r"$\gamma$, $\theta = d^\gamma$")
        handles, labels = right.get_legend_handles_labels()
        theory, *_ = left.get_legend_handles_labels()[0]
        figure.legend(
            [theory, *handles], ["kernel, theory", *labels], loc="outside lower center", ncols=5
        )
        names = {link: name for name, link in LINKS.items()}
        name = names.get(data.attrs["link"], data.attrs["link"])
        figure.suptitle(f"{name}, $d = n = {d}$, {data.sizes['seed']} runs", fontsize=8)
    return figure
