"""Kernel ridge regression on inputs with one long direction learns one degree after another.

Inputs are N(0, I + d^gamma mu mu^T) and labels He_k of the coordinate along mu; n = d, the kernel
is exp(x.x'/d) and the ridge 0.1. As d grows, degree k is learned from gamma = 1 - 1/k on.

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

    from learnability.labels import Link
    from learnability.targets import MultiIndex

__all__ = ["FULL", "QUICK", "compute", "picture"]

HIGHEST = 10**9
FULL = SpikeSize((500, 3000), 2, (0.0, 0.15, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8), 33)
QUICK = SpikeSize((200, 500), 2, (0.0, 0.3, 0.5, 0.65, 0.8), 17)


def compute(
    size: SpikeSize, store: Path | None = None, target: MultiIndex | None = None
) -> xarray.Dataset:
    """Return errors of runs and of the limit predictor, also at d = 10^9."""
    import xarray

    from learnability.learners import KernelRidge
    from learnability.studies import study
    from learnability.targets import SpikedIndex

    learner = KernelRidge("exp(z)", 0.1)
    gammas = np.linspace(0, max(size.exponents), size.theory)
    noise = 0.0 if target is None else target.noise
    dimensions = [*size.dimensions, HIGHEST]

    def theory(link: str | Link, d: int) -> list[float]:
        targets = [SpikedIndex(link, spike_exponent=float(g), noise=noise) for g in gammas]
        return [float(learner.predict(t, d=d, alpha=1.0).error) for t in targets]

    named: dict[str, Any] = (
        LINKS if target is None else {target.link.text or repr(target.link): target.link}
    )
    links = list(named.values())
    runs = study(
        learner, SpikedIndex("z", spike_exponent=0.0, noise=noise), link=links,
        d=list(size.dimensions), exponent=list(size.exponents), alpha=1.0, seeds=size.runs,
        store=store,
    )  # fmt: skip
    return xarray.Dataset(
        {
            "theory_error": (
                ("link", "theory_d", "gamma"),
                [[theory(f, d) for d in dimensions] for f in links],
            ),
            "runs_error": (
                ("link", "runs_d", "runs_gamma", "seed"),
                runs.error.values,
            ),
        },
        {
            "link": list(named), "theory_d": dimensions, "runs_d": list(size.dimensions),
            "gamma": gammas, "runs_gamma": list(size.exponents), "seed": np.arange(size.runs),
        },
        {"kernel": "exp(z)", "ridge": 0.1, "alpha": 1.0},
    )  # fmt: skip


def picture(data: xarray.Dataset) -> Any:
    """Draw one panel per dimension, one colour per degree; dotted lines are d = 10^9."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    sizes = data["runs_d"].values
    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.9), layout="constrained")
        panels = np.atleast_1d(figure.subplots(1, len(sizes), sharey=True))
        for j, axes in enumerate(panels):
            for k, name in enumerate(data["link"].values):
                lines = data["theory_error"][k]
                axes.plot(data["gamma"], lines[j], color=COLOURS[k], label=name)
                axes.plot(data["gamma"], lines[-1], color=COLOURS[k], lw=0.8, ls=":")
                crosses(axes, data["runs_gamma"], data["runs_error"][k, j], COLOURS[k])
                if k:
                    axes.axvline(1 - 1 / (k + 1), lw=0.5, color=COLOURS[k], alpha=0.5)
            axes.set(xlabel=r"$\gamma$, $\theta = d^\gamma$", title=f"$n = d = {sizes[j]}$")
        panels[0].set(ylabel="mean squared error", ylim=(0, None))
        handles, labels = panels[-1].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        figure.suptitle(
            rf"lines: theory at this $d$ (dotted: $d = 10^9$); crosses: {data.sizes['seed']} runs; "
            r"thin: steps of $d \to \infty$", fontsize=8,
        )  # fmt: skip
    return figure
