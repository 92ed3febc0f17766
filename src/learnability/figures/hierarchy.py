"""A hierarchy of directions, z1 + He3(z1) z2 + He3(z2) z3: each opens the way to the next.

On the left is one neuron on the sphere with the correlation loss, without overlap at first. With
c_k the Hermite coefficients of its activation it climbs c1 m1 + c4 (m1^3 m2 + m2^3 m3): m1 grows
like t, m2 like t^4 and m3 like t^13, one after another and in times proportional to d, but a single
neuron gains little from z3. On the right both layers of eight neurons are trained with the squared
loss: once the first two terms are fitted the third remains, and all of z3 is found. The batch keeps
the noise of the large step low: with single samples and a step of 0.2, z3 is not found in as many
steps.

References
----------
Abbe, Boix-Adsera, Misiakiewicz, COLT 2023; Dandi, Krzakala, Loureiro, Pesce, Stephan, JMLR 25
(2024).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.figures._online import (
    OnlineSize,
    captured_paths,
    legend_of_dimensions,
    path_and_crosses,
    paths,
)

if TYPE_CHECKING:
    import xarray

    from learnability.targets import Target

__all__ = ["FULL", "QUICK", "compute", "picture"]

LINK = "(z1 + He3(z1)*z2 + He3(z2)*z3)/sqrt(13)"
LAST = 500.0
SHARED: dict[str, Any] = {"activation": "z/2 + cos(1.5*z)", "batch": 8}
FULL = OnlineSize(dimensions=(1000,), runs=16, points=61)
QUICK = OnlineSize(dimensions=(300,), runs=4, points=41)


def compute(
    size: OnlineSize, store: Path | None = None, target: Target | None = None
) -> xarray.Dataset:
    """Return overlaps of one neuron with the directions, and their shares in the span of eight."""
    import xarray

    from learnability.learners import OnlineSGD
    from learnability.studies import study
    from learnability.targets import as_target

    target = target or as_target(LINK)
    one = OnlineSGD(**SHARED, step=0.5, loss="correlation", spherical=True)
    eight = OnlineSGD(**SHARED, width=8, step=1.0, second_layer=(1, -1) * 4, second_step=1.0)
    d = size.dimensions[0]
    times = np.geomspace(1, LAST, size.points)
    start = (1.0, [[0.0] * target.r])
    theory, runs = paths(one, target, d, times, size.runs, start, store, shared=True)
    wide = study(eight, target, d=d, time=times[::4], seeds=size.runs, store=store)
    return xarray.Dataset(
        {
            "theory_overlap": (("time", "index"), theory.overlap_trace.values[:, 0]),
            "runs_overlap": (("seed", "runs_time", "index"), runs.overlap_trace.values[:, :, 0]),
            "runs_share": (("seed", "runs_time", "index"), captured_paths(wide)),
            "runs_error": (("seed", "runs_time"), wide.error_trace.values),
        },
        {"time": times, "runs_time": times[::4]},
        {"runs_d": d, "link": target.link.text or ""},
    )


def picture(data: xarray.Dataset) -> Any:
    """Draw overlaps of one neuron in double logarithmic scale, and shares of eight."""
    from matplotlib.figure import Figure

    from learnability.drawing.marks import crosses
    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.7), layout="constrained")
        left, right = figure.subplots(1, 2)
        for k, colour in zip(range(data.sizes["index"]), COLOURS, strict=False):
            theory, runs = data["theory_overlap"][:, k], data["runs_overlap"][:, :, k]
            path_and_crosses(left, data["time"].values, theory.values, runs.values, colour)
            crosses(right, data["runs_time"], data["runs_share"][:, :, k], colour)
            mean = data["runs_share"][:, :, k].mean("seed")
            right.plot(data["runs_time"], mean, color=colour, lw=0.6, ls=":")
        left.set(
            xscale="log", yscale="log", xlabel="steps $/ d$", ylabel="overlap", ylim=(2e-3, 1.3),
            title="one neuron, correlation loss",
        )  # fmt: skip
        right.set(
            xscale="log", xlabel="steps $/ d$", ylabel="share in the span",
            ylim=(-0.03, 1.03), title="eight neurons, squared loss",
        )  # fmt: skip
        names = [f"$z_{k + 1}$" for k in range(data.sizes["index"])]
        legend_of_dimensions(figure, names, COLOURS, data.sizes["seed"])
    return figure
