"""Kernels, two layers and three layers on a hierarchical target, against log n / log d.

The learners are a kernel in all d dimensions, of all degrees (Mehler) or of the first two
(quadratic) (I), a first layer with a readout (II), and the same with a preconditioned second layer
in between (III). Lines are the finite-size theory, without free parameters. Networks that start
from layer-wise training and are then trained jointly (large marks) differ most.

References
----------
Dandi, Pesce, Zdeborova, Krzakala, arXiv:2502.13961.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.figures._literature import best_kernel, reference, relative

if TYPE_CHECKING:
    import xarray

    from learnability.targets.hierarchical import Hierarchical

__all__ = ["FULL", "QUICK", "compute", "picture"]


@dataclass(frozen=True)
class Size:
    """How much is computed.

    Attributes
    ----------
    dimensions : tuple of int
        Dimensions d of the panels.
    kappas : tuple of float
        log n / log d of the layer-wise runs; kernels run below `kernel_most` samples.
    runs : int
        Runs per number of samples.
    tuned : tuple of float
        log n / log d of the jointly trained networks.
    tuned_runs : int
        Runs of the jointly trained networks.
    theory : int
        Points of the lines.
    kernel_most : int
        Largest n of the kernel runs.
    joint_steps : int
        Steps of joint training.
    """

    dimensions: tuple[int, ...]
    kappas: tuple[float, ...]
    runs: int
    tuned: tuple[float, ...]
    tuned_runs: int
    theory: int
    kernel_most: int
    joint_steps: int = 3000


_PUBLISHED = tuple(np.linspace(0.2, 2.2, 15).tolist())  # log n / log d of the published example.
FULL = Size((64, 100), _PUBLISHED[7:], 4, _PUBLISHED[-2:], 3, 60, 5000)
QUICK = Size((64,), (1.4, 1.8, 2.0, 2.2), 2, (2.0,), 1, 30, 1800)


def compute(
    size: Size, store: Path | None = None, target: Hierarchical | None = None
) -> xarray.Dataset:
    """Return errors over Var y of all learners, and the lines."""
    import xarray

    from learnability.learners import JointAdamW, Layerwise
    from learnability.studies import study

    target = target or reference()
    kappa = np.linspace(min(size.kappas) - 0.1, max(size.kappas) + 0.2, size.theory)
    shape = (len(size.dimensions), len(size.kappas), size.runs)
    kernel, quadratic, two, three = (np.full(shape, np.nan) for _ in range(4))
    tuned = np.full((2, len(size.dimensions), len(size.tuned), size.tuned_runs), np.nan)
    lines = np.zeros((3, len(size.dimensions), size.theory))
    for i, d in enumerate(size.dimensions):
        here = target.at(d)
        ideal = Layerwise().predict(target, d=d, alpha=d ** (kappa - 1))
        lines[0, i] = relative(ideal["kernel_error"], here)
        lines[1, i] = relative(ideal["two_layer_error"], here)
        lines[2, i] = relative(ideal["error"], here)
        alphas = _alphas(d, size.kappas)
        network = Layerwise(width=1000, fresh=False)
        runs = study(network, target, d=d, alpha=alphas, seeds=size.runs, store=store)
        two[i], three[i] = relative(runs["two_layer_error"], here), relative(runs["error"], here)
        for k, alpha in enumerate(alphas):
            if alpha * d <= size.kernel_most:
                for name, errors in (("mehler", kernel), ("quadratic", quadratic)):
                    learner = best_kernel(name, target, d, alpha * d)
                    rows = study(learner, target, d=d, alpha=alpha, seeds=size.runs, store=store)
                    errors[i, k] = relative(rows["error"], here)
        for k, depth in enumerate((2, 3)):
            trained = study(
                JointAdamW(depth, steps=size.joint_steps), target, d=d,
                alpha=_alphas(d, size.tuned), seeds=size.tuned_runs, store=store,
            )  # fmt: skip
            tuned[k, i] = relative(trained["error"], here)
    axes = ("d", "kappa", "seed")
    line = ("d", "theory_kappa")
    return xarray.Dataset(
        {
            "runs_kernel_error": (axes, kernel),
            "runs_quadratic_kernel_error": (axes, quadratic),
            "runs_two_layer_error": (axes, two),
            "runs_three_layer_error": (axes, three),
            "runs_tuned_two_layer": (("d", "tuned_kappa", "tuned_seed"), tuned[0]),
            "runs_tuned_three_layer": (("d", "tuned_kappa", "tuned_seed"), tuned[1]),
            "theory_kernel_error": (line, lines[0]),
            "theory_two_layer_error": (line, lines[1]),
            "theory_three_layer_error": (line, lines[2]),
            "floor": ("d", [target.at(d).feature_floor / target.at(d).variance
                            for d in size.dimensions]),
        },
        {
            "d": list(size.dimensions),
            "kappa": list(size.kappas),
            "seed": np.arange(size.runs),
            "tuned_kappa": list(size.tuned),
            "theory_kappa": kappa,
        },
        {"link": target.link.text, "polynomial": target.polynomial.text, "runs_total": "n"},
    )  # fmt: skip


def _alphas(d: int, kappas: Sequence[float]) -> list[float]:
    """Return ratios n / d of whole numbers n nearest to d^kappa."""
    return [round(d**kappa) / d for kappa in kappas]


def picture(data: xarray.Dataset) -> Any:
    """Draw one panel per dimension."""
    from matplotlib.figure import Figure

    from learnability.drawing.marks import crosses
    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    parts = (
        ("I: kernel", "kernel_error", "theory_kernel_error", "-", COLOURS[0]),
        ("II: two layers", "two_layer_error", "theory_two_layer_error", "-", COLOURS[1]),
        ("III: three layers", "three_layer_error", "theory_three_layer_error", "-", COLOURS[2]),
    )
    count = data.sizes["d"]
    with house_style():
        figure = Figure(figsize=(WIDTHS["text" if count > 1 else "column"], 3.0),
                        layout="constrained")  # fmt: skip
        panels = np.atleast_1d(figure.subplots(1, count, sharey=True))
        for i, axes in enumerate(panels):
            for label, runs, line, style, colour in parts:
                axes.plot(data["theory_kappa"], data[line][i], style, color=colour)
                found = data[f"runs_{runs}"][i]
                there = np.isfinite(found.values).all(axis=-1)
                crosses(axes, data["kappa"][there], found[there], colour)
                axes.plot([], [], "x-", color=colour, ms=4, label=label)
            quadratic = data["runs_quadratic_kernel_error"][i].mean("seed")
            axes.plot(data["kappa"], quadratic, "+", color=COLOURS[3], ms=5,
                      label="I: quadratic kernel")  # fmt: skip
            for name, marker, colour in (
                ("two", "s", COLOURS[1]), ("three", "D", COLOURS[2]),
            ):  # fmt: skip
                tuned = data[f"runs_tuned_{name}_layer"][i].mean("tuned_seed")
                axes.plot(data["tuned_kappa"], tuned, marker, color=colour, ms=5, mfc="none",
                          label=f"{name} layers, then jointly")  # fmt: skip
            d = int(data["d"][i])
            axes.axhline(float(data["floor"][i]), ls="--", lw=0.7, color="0.5")
            axes.set(xlabel=r"$\kappa = \log n / \log d$", title=f"$d = {d}$", ylim=(0, 1.25))
        panels[0].set_ylabel("error / Var $y$")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3 if count > 1 else 2)
    return figure
