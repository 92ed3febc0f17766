"""What one and two preconditioned steps find of two features.

One step from zero weights finds one function of the features, the linear part of g. A second step,
on y times the first function, finds a feature that appears only through a product with it. On a
committee, in which both features appear alike, the network stays at the one function of its first
step, although a readout of the two features themselves would learn it.

References
----------
Dandi, Pesce, Zdeborova, Krzakala, arXiv:2502.13961; Abbe, Boix-Adsera, Misiakiewicz, COLT 2023.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.figures._literature import P

if TYPE_CHECKING:
    import xarray

    from learnability.targets.hierarchical import Hierarchical

__all__ = ["FULL", "QUICK", "compute", "measured", "picture"]

EXAMPLES = (
    "(tanh(3*z1) + tanh(3*z2))/sqrt(2)",
    "tanh(z1)*(1 + tanh(z2))",
    "tanh(z1)*tanh(z2)",
)
N = 8


@dataclass(frozen=True)
class Size:
    """Samples, neurons and runs."""

    n: int
    width: int
    runs: int


FULL = Size(n=2000, width=1200, runs=8)
QUICK = Size(n=2000, width=1000, runs=2)


def measured(target: Hierarchical, n: int, width: int, seed: int) -> tuple[Any, Any]:
    """Return errors of two layers, one step, two steps and a readout of h, and overlaps.

    Returns
    -------
    errors : array, shape (4,)
        Errors divided by Var y.
    overlaps : array, shape (2, r)
        |Correlation| of the functions of the two steps with the features.
    """
    from learnability.learners.deep import (
        Layerwise,
        OracleFirstLayer,
        PreconditionedSecondLayer,
        RidgeReadout,
        train,
    )
    from learnability.learners.deep.observables import TEST, on_fresh_samples

    d = target.r * target.sizes[0]
    first = OracleFirstLayer(width)
    errors: list[float] = []
    overlaps: Any = None
    for steps in (1, 2):
        layers = (first, PreconditionedSecondLayer(steps=steps), RidgeReadout())
        network = train(Layerwise(layers), target, n=n, d=d, seed=seed)
        seen = on_fresh_samples(target, seed, d, network.outputs)
        errors += [*seen.error] if steps == 1 else [seen.error[1]]
        overlaps = on_fresh_samples(target, seed, d, network.functions).overlap
    batch = target.sample(seed, n=n, d=d, dtype=np.float32)
    mix = np.random.default_rng(seed).standard_normal((300, target.r)).astype(np.float32)
    readout = RidgeReadout().learn(lambda: [batch.h @ mix.T], batch.y, seed, 1)
    gaps = []
    for fresh in islice(target.batches(seed, 2000, d, first=TEST, dtype=np.float32), 5):
        fitted = readout.forward(fresh.h @ mix.T)[:, 0]
        gaps.append(np.mean((fitted - target.link(fresh.h)) ** 2))
    errors.append(float(np.mean(gaps)) + target.noise)
    return np.array(errors) / target.label_variance, overlaps


def compute(size: Size) -> xarray.Dataset:
    """Return errors and overlaps for three functions of two features."""
    import xarray

    from learnability.progress import tracked
    from learnability.targets.hierarchical import Hierarchical
    from learnability.theory import leap_staircase

    targets = [Hierarchical(g, P, N=N) for g in EXAMPLES]
    cells = [(target, seed) for target in targets for seed in range(size.runs)]
    found = [measured(t, size.n, size.width, seed) for t, seed in tracked(cells, "networks")]
    shape = (len(targets), size.runs)
    leaps = [max(s.order or 0 for s in leap_staircase(t.link).steps) for t in targets]
    return xarray.Dataset(
        {
            "error": (("example", "seed", "learner"),
                      np.reshape([e for e, _ in found], (*shape, 4))),
            "overlap": (("example", "seed", "step", "index"),
                        np.reshape([o for _, o in found], (*shape, 2, 2))),
            "leap": ("example", leaps),
        },
        {
            "example": list(EXAMPLES),
            "seed": np.arange(size.runs),
            "learner": ["two layers", "one step", "two steps", "readout of h"],
            "step": [1, 2],
        },
        {"n": size.n, "N": N, "polynomial": P},
    )  # fmt: skip


def picture(data: xarray.Dataset) -> Any:
    """Draw errors above, overlaps of the two functions with the two features below."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style
    from learnability.labels.link import Link

    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 4.0), layout="constrained")
        panels = figure.subplots(2, len(EXAMPLES), sharey="row")
        for k, g in enumerate(EXAMPLES):
            top, bottom = panels[:, k]
            error = data["error"][k]
            top.bar(range(4), error.mean("seed"), color=[COLOURS[i] for i in (0, 1, 2, 6)],
                    yerr=error.std("seed"), width=0.6, error_kw={"lw": 0.8})  # fmt: skip
            top.set_xticks(range(4), ["II", "1 step", "2 steps", "$h$ known"])
            latex = Link(g).latex.replace("z_", "h_")
            top.set_title(f"${latex}$", fontsize=7.5)
            mean = data["overlap"][k].mean("seed")
            for step in range(2):
                at = np.arange(2) + (step - 0.5) * 0.3
                bottom.bar(at, mean[step], width=0.27, color=COLOURS[step + 1],
                           label=f"$q_{step + 1}$")  # fmt: skip
            bottom.set_xticks([0, 1], ["$h_1$", "$h_2$"])
            bottom.text(0.97, 0.9, f"leap {int(data['leap'][k])} in $h$", ha="right",
                        transform=bottom.transAxes)  # fmt: skip
        panels[0, 0].set(ylabel="error / Var $y$", ylim=(0, 1.2))
        panels[1, 0].set(ylabel="overlap", ylim=(0, 1))
        panels[1, 0].legend(loc="upper left")
        figure.suptitle(
            f"exact directions, $2N = {2 * data.attrs['N']}$, $n = {data.attrs['n']}$, "
            f"{data.sizes['seed']} runs", fontsize=8,
        )  # fmt: skip
    return figure
