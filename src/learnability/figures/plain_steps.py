"""Plain and preconditioned steps on the second layer, with known directions.

On the left are errors of two layers (the function q) and of three against the number of plain
gradient steps, with those of one preconditioned step on as many samples. On the right are the
eigenvalues of the Gram matrix of the features over the largest, with marks where those of degree 1,
2 and 3 in N variables end: degree k needs N^k steps or more.

References
----------
Dandi, Pesce, Zdeborova, Krzakala, arXiv:2502.13961 (preconditioning).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.figures._literature import reference, relative

if TYPE_CHECKING:
    import xarray

__all__ = ["FULL", "QUICK", "compute", "picture"]


@dataclass(frozen=True)
class Size:
    """Directions, samples of the second layer, numbers of steps, runs, neurons."""

    N: int
    samples: int
    steps: tuple[int, ...]
    runs: int
    width: int


FULL = Size(8, 4096, tuple(4**k for k in range(9)), 4, 600)
QUICK = Size(8, 2048, (1, 16, 256, 4096), 2, 300)


def compute(size: Size, store: Path | None = None) -> xarray.Dataset:
    """Return errors over Var y by number of steps, and the spectrum."""
    import xarray

    from learnability.learners import (
        Layerwise,
        OracleFirstLayer,
        PlainSecondLayer,
        PreconditionedSecondLayer,
        RidgeReadout,
    )
    from learnability.learners.deep import Samples, kernel_spectrum
    from learnability.learners.deep.stages import Features
    from learnability.studies import study

    target = reference(N=size.N)
    first, second = OracleFirstLayer(size.width), PreconditionedSecondLayer()

    def errors(layer: Any, n: int) -> list[Any]:
        learner = Layerwise((first, layer, RidgeReadout()), fresh=False)
        runs = study(learner, target, d=size.N, alpha=n / size.N, seeds=size.runs, store=store)
        return [relative(runs[name], target) for name in ("two_layer_error", "error")]

    plain = np.array([errors(PlainSecondLayer(steps=steps), size.samples) for steps in size.steps])
    # Plain steps use one half of the samples, and the readout above them the other half.
    preconditioned = np.array(errors(second, size.samples // 2))
    samples = Samples(target, 0, size.N, size.samples)
    W = first.learn(samples)
    X = np.concatenate([X for X, _ in samples])
    phi = Features(second.activation, second.bias, 0, 1)(X @ W.T)
    values, _ = kernel_spectrum(phi - phi.mean(axis=0), samples.labels)
    return xarray.Dataset(
        {
            "runs_plain_error": (("steps", "stage", "seed"), plain),
            "runs_preconditioned_error": (("stage", "seed"), preconditioned),
            "eigenvalue": ("k", values / values[0]),
        },
        {
            "steps": list(size.steps),
            "stage": ["two layers", "three layers"],
            "seed": np.arange(size.runs),
            "k": np.arange(1, len(values) + 1),
        },
        {"N": size.N, "samples": size.samples},
    )


def picture(data: xarray.Dataset) -> Any:
    """Draw errors against steps, and the spectrum."""
    from matplotlib.figure import Figure

    from learnability.drawing.marks import crosses
    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.8), layout="constrained")
        left, right = figure.subplots(1, 2)
        for k, stage in enumerate(data["stage"].values):
            found = data["runs_plain_error"].sel(stage=stage)
            left.plot(data["steps"], found.mean("seed"), "-", color=COLOURS[k], lw=0.8,
                      label=f"{stage}, plain")  # fmt: skip
            crosses(left, data["steps"], found, COLOURS[k])
            left.axhline(float(data["runs_preconditioned_error"].sel(stage=stage).mean()),
                         ls="--", color=COLOURS[k], label=f"{stage}, preconditioned")  # fmt: skip
        left.set(xscale="log", xlabel="plain steps", ylabel="error / Var $y$", ylim=(0, 1.1))
        figure.legend(loc="outside lower center", ncols=2)
        right.loglog(data["k"], data["eigenvalue"], color=COLOURS[0])
        N = int(data.attrs["N"])
        for degree in (1, 2, 3):
            right.axvline(math.comb(N + degree, degree) - 1, ls=":", lw=0.8, color="0.5")
        right.set(xlabel="$k$", ylabel=r"$\lambda_k/\lambda_1$", ylim=(1e-7, 2))
    return figure
