"""What a second pass over the same batch finds.

Gradient descent reads the same n = 3 d samples at every step. The first step depends on what a
fresh batch would show, the correlation of the label with each direction, which is zero for He3.
From the second step on the weights depend on the samples, and functions of the label come into
play.

References
----------
Dandi, Troiani, Arnaboldi, Pesce, Zdeborova, Krzakala, arXiv:2402.03220.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.drawing.marks import crosses
from learnability.drawing.theory_and_runs import legend
from learnability.learners import BatchGD

if TYPE_CHECKING:
    import xarray

    from learnability.targets import Target

__all__ = ["FULL", "QUICK", "Size", "compute", "picture"]

ALPHA = 3.0
STEPS = 6
# Label of a panel's curve -> (link, width, step); the links of one neuron share a panel.
CASES = {
    "tanh": ("tanh(z)", 1, 0.2),
    "He3": ("He3(z)", 1, 0.1),
    "published": ("tanh(z1 + He3(z2))", 2, 0.2),
}
CURVES = {"tanh": "tanh", "He3": "He3", "z1": "published", "z2": "published"}
"""Curve of overlaps -> its case."""
OWN = "own"
"""The only case of a figure for the user's own target: one neuron, or two if r > 1."""


@dataclass(frozen=True)
class Size:
    """How much is computed: dimension and number of runs, samples of the theory."""

    d: int
    runs: int
    samples: int


FULL = Size(d=5000, runs=32, samples=2**22)
QUICK = Size(d=1000, runs=8, samples=2**19)


def compute(size: Size, store: Path | None = None, target: Target | None = None) -> xarray.Dataset:
    """Return theory with its standard errors, and runs.

    `theory_overlap`, `theory_overlap_stderr` and `runs_overlap` are by curve and time: the overlap
    of the neuron, or half the difference of the overlaps of the two neurons with z1 or z2;
    `theory_error`, `theory_error_stderr` and `runs_error` are by case.
    """
    import xarray

    from learnability.studies import study

    cases: dict[str, tuple[Any, int, float]] = dict(CASES)
    names = list(CURVES)
    if target is not None:
        cases = {OWN: (target, 1 if target.r == 1 else 2, 0.2)}
        names = [f"z{k + 1}" if target.r > 1 else "z" for k in range(target.r)]
    curves: list[xarray.Dataset] = []
    errors: list[xarray.Dataset] = []
    for what, width, step in cases.values():
        learner = BatchGD(steps=STEPS, step=step, width=width)
        theory = learner.predict(what, alpha=ALPHA, samples=size.samples)
        runs = study(learner, what, d=size.d, alpha=ALPHA, seeds=size.runs, store=store)
        signs = xarray.DataArray([1.0, -1.0][:width], dims="estimate") / width
        spread = (theory.overlap_trace_stderr * signs) ** 2
        parts = xarray.Dataset(
            {
                "theory_overlap": (theory.overlap_trace * signs).sum("estimate"),
                "theory_overlap_stderr": np.sqrt(spread.sum("estimate")),
                "runs_overlap": (runs.overlap_trace * signs).sum("estimate"),
            }
        )
        curves += [parts.isel(index=k) for k in range(parts.sizes["index"])]
        errors.append(
            xarray.Dataset(
                {
                    "theory_error": theory.error_trace,
                    "theory_error_stderr": theory.error_trace_stderr,
                    "runs_error": runs.error_trace,
                }
            )
        )
    return xarray.merge(
        [
            xarray.concat(curves, "curve").assign_coords(curve=names),
            xarray.concat(errors, "case").assign_coords(case=list(cases)),
        ],
        combine_attrs="drop",
    ).assign_attrs(
        runs_d=size.d,
        theory_samples=size.samples,
        alpha=ALPHA,
        activation="relu(z)",
        cases=", ".join(f"{k}: {_text(g)}, width {p}, step {s}" for k, (g, p, s) in cases.items()),
    )


def picture(data: xarray.Dataset) -> Any:
    """Draw overlaps of one neuron, overlaps of two neurons, and errors, against the iteration."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    if OWN in data["case"].values:
        return _own_picture(data)
    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.6), layout="constrained")
        left, middle, right = figure.subplots(1, 3)
        for axes, curve, colour, label in (
            (left, "tanh", COLOURS[0], r"$\tanh(z)$"),
            (left, "He3", COLOURS[1], r"$\mathrm{He}_3(z)$"),
            (middle, "z1", COLOURS[0], "$z_1$"),
            (middle, "z2", COLOURS[1], "$z_2$"),
        ):
            _draw(axes, data.sel(curve=curve), "overlap", colour, label)
        _draw(right, data.sel(case="published"), "error", COLOURS[2], None)
        left.set(title="one neuron", ylabel="overlap")
        middle.set(title=r"$\tanh(z_1 + \mathrm{He}_3(z_2))$, two neurons")
        middle.set(ylabel="half difference of overlaps")
        right.set(title=r"$\tanh(z_1 + \mathrm{He}_3(z_2))$", ylabel="mean squared error")
        for axes in (left, middle):
            axes.axhline(0, lw=0.6, color="0.7", zorder=0)
        for axes in (left, middle, right):
            axes.set(xlabel="passes over the batch", xticks=data["time"].values)
        legend(figure, data, 2, theory="mean-field theory", algorithm="gradient descent")
    return figure


def _text(target: Any) -> str:
    return target if isinstance(target, str) else target.link.text or repr(target.link)


def _own_picture(data: xarray.Dataset) -> Any:
    """Return overlaps with every direction of the user's own target, and its error."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        several = data.sizes["curve"] > 1
        for name, colour in zip(data["curve"].values, COLOURS, strict=False):
            label = f"$z_{name[1:]}$" if several else "$z$"
            _draw(left, data.sel(curve=name), "overlap", colour, label)
        _draw(right, data.sel(case=OWN), "error", COLOURS[-1], None)
        left.axhline(0, lw=0.6, color="0.7", zorder=0)
        left.set(ylabel="half difference of overlaps" if several else "overlap")
        right.set(ylabel="mean squared error")
        for axes in (left, right):
            axes.set(xlabel="passes over the batch", xticks=data["time"].values)
        legend(figure, data, 2, theory="mean-field theory", algorithm="gradient descent")
    return figure


def _draw(axes: Any, data: xarray.Dataset, name: str, colour: str, label: str | None) -> None:
    """Draw theory as a line, runs as crosses, and the label on the side of zero of one point."""
    theory = data[f"theory_{name}"]
    axes.plot(data["time"], theory, color=colour, zorder=2)
    crosses(axes, data["time"], data[f"runs_{name}"], colour)
    if label is not None:
        at = (float(data["time"][4]), float(theory[4]))
        inwards = -1 if at[1] > 0 else 1
        axes.annotate(
            label,
            at,
            xytext=(4, 18 * inwards),
            textcoords="offset points",
            ha="left",
            va="center",
            color=colour,
            fontsize=9,
        )
