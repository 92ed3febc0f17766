"""The error after one giant step, against random features, the best linear fit and Bayes.

On the left tanh learns tanh with a step eta = d and ridge 0.01, on the right tanh learns sign with
eta = 3 d and ridge 0.1; there are as many neurons as dimensions.

References
----------
Cui, Pesce, Dandi, Krzakala, Lu, Zdeborova, Loureiro, arXiv:2402.04980.
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

PANELS = (("tanh(z)", 1.0, 0.01), ("sign(z)", 3.0, 0.1))
"""Link, size of the step over p, ridge; a target of the user's own takes the place of both."""
BATCHES = (0.5, 2.0, 8.0)
FULL = Size(d=1000, runs=8, alphas=tuple(np.linspace(0.4, 4.0, 10)), theory=80)
QUICK = Size(d=300, runs=4, alphas=(0.5, 1.0, 2.0, 4.0), theory=40)


def compute(
    size: Size, store: Path | None = None, target: MultiIndex | None = None
) -> xarray.Dataset:
    """Return theory and runs for every link and batch, and the three curves to compare with.

    A target of the user's own needs isotropic inputs and a linear part.
    """
    import xarray

    from learnability.learners import BayesAMP, GiantSteps, RandomFeatures
    from learnability.studies import study

    alpha = np.linspace(0.1, max(size.alphas) + 0.2, size.theory)
    theory, runs, lazy, bayes, linear = [], [], [], [], []
    for link, step, ridge in PANELS:
        learned = link if target is None else target
        learners = [GiantSteps(1.0, "tanh(z)", b, 1, step, ridge=ridge) for b in BATCHES]
        theory.append([one.predict(learned, alpha=alpha).error.values for one in learners])
        found = study(
            learners[0], learned, batch=BATCHES, d=size.d, alpha=size.alphas, seeds=size.runs,
            store=store,
        )  # fmt: skip
        runs.append(found.error.values)
        features = RandomFeatures(1.0, "tanh(z)", ridge).predict(learned, alpha=alpha)
        lazy.append(features.error.values)
        linear.append(features.attrs["floor"])
        bayes.append(BayesAMP().predict(learned, alpha=alpha).error.values)
    return xarray.Dataset(
        {
            "theory_error": (("link", "batch", "theory_alpha"), theory),
            "runs_error": (("link", "batch", "runs_alpha", "seed"), runs),
            "theory_random_features": (("link", "theory_alpha"), lazy),
            "theory_bayes": (("link", "theory_alpha"), bayes),
            "best_linear": ("link", linear),
        },
        {
            "link": [link if target is None else str(target.link.text) for link, _, _ in PANELS],
            "step": ("link", [step for _, step, _ in PANELS]),
            "ridge": ("link", [ridge for _, _, ridge in PANELS]),
            "batch": list(BATCHES),
            "theory_alpha": alpha,
            "runs_alpha": list(size.alphas),
            "seed": np.arange(size.runs),
        },
        {"activation": "tanh(z)", "width": 1.0, "runs_d": size.d},
    )


def picture(data: xarray.Dataset) -> Any:
    """Draw the error against the samples of the readout, one panel per link."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    d, runs = data.attrs["runs_d"], data.sizes["seed"]
    alpha = data["theory_alpha"]
    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 3.2), layout="constrained")
        for k, axes in enumerate(figure.subplots(1, 2)):
            link, step, ridge = (data[name].values[k] for name in ("link", "step", "ridge"))
            axes.plot(
                alpha, data["theory_random_features"][k], color="0.45", label="random features"
            )
            for j, batch in enumerate(data["batch"].values):
                label = rf"one step, $\alpha_0 = {batch:g}$"
                axes.plot(alpha, data["theory_error"][k, j], color=COLOURS[j], label=label)
                crosses(axes, data["runs_alpha"], data["runs_error"][k, j], COLOURS[j])
            axes.axhline(
                float(data["best_linear"][k]), ls=":", lw=1, color="0.3", label="best linear fit"
            )
            axes.plot(
                alpha,
                data["theory_bayes"][k],
                ls="--",
                color="0.1",
                lw=1,
                label="Bayes, $n$ samples",
            )
            name = str(link).removesuffix("(z)")
            axes.set(
                xlabel=r"$\alpha = n/d$",
                title=rf"tanh learns {name}, $\eta/d = {step:g}$, $\lambda = {ridge:g}$",
                xlim=(0, float(alpha.max())),
                ylim=(0, 1.05 * float(data["theory_random_features"][k].max())),
            )
            if k == 0:
                axes.set_ylabel("mean squared error")
                handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
        figure.suptitle(f"lines: theory; crosses: $d = {d}$, {runs} runs", fontsize=8)
    return figure
