"""Spherical against normalised flows on spiked inputs, and the landscape of the spherical one.

A neuron on the sphere cannot have w^T Sigma w = 1 at the hidden direction: from a random start it
is repelled unless theta <w, beta>^2 exceeds a number S_c that depends on link and activation.
Neurons with fields of unit variance meet no such barrier.

References
----------
Mousavi-Hosseini, Wu, Suzuki, Erdogdu, NeurIPS 2023.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.drawing.marks import legend_below
from learnability.figures._literature import LINKS

if TYPE_CHECKING:
    import xarray

__all__ = ["FULL", "QUICK", "compute", "picture"]


@dataclass(frozen=True)
class FlowSize:
    """Dimension, runs, samples per step, points of a path and of the landscape."""

    d: int
    runs: int
    batch: int
    points: int
    landscape: int


FULL = FlowSize(d=100_000, runs=3, batch=40_000, points=41, landscape=161)
QUICK = FlowSize(d=10_000, runs=2, batch=10_000, points=21, landscape=81)
GAMMA = 0.8
STARTS = (0.5, 4.0)
"""Values of theta m^2 / S_c at the start."""
LAST = {"spherical": 40.0, "normalised": 20.0}
"""Last times of the flows, in units of 1 / theta."""
PAIRS = {"tanh, -He3": ("tanh(z)", "-He3(z)/sqrt(6)"), "relu, He2": ("relu(z)", LINKS["He2"]),
         "He3, He3": ("He3(z)/sqrt(6)", LINKS["He3"])}  # fmt: skip


def compute(size: FlowSize, store: Path | None = None) -> xarray.Dataset:
    """Return correlations along flows from both sides of S_c, and the losses in S."""
    import xarray

    from learnability.labels import Link
    from learnability.learners import GradientFlow
    from learnability.learners.networks.population import Population
    from learnability.studies import study
    from learnability.targets import SpikedIndex

    activation, link = PAIRS["tanh, -He3"]
    target = SpikedIndex(link, spike_exponent=GAMMA)
    landscape = GradientFlow(activation).predict(target, question="landscape")
    separatrix = float(landscape.maxima[0])
    theta = float(size.d) ** GAMMA
    data: dict[str, Any] = {}
    for flow, last in LAST.items():
        times = np.linspace(0, last / theta, size.points)
        learner = GradientFlow(activation, flow, float(times[-1]) / 200, size.batch)
        theory, runs = [], []
        for share in STARTS:
            m = math.sqrt(share * separatrix / theta)
            start = (1.0, m, m)
            exact = learner.predict(target, d=size.d, time=times, start=start)
            theory.append(exact.correlation_trace.values[:, 0, 0])
            found = study(
                learner, target, d=size.d, time=times, start=start, seeds=size.runs, store=store
            )
            runs.append(found.correlation_trace.values[..., 0, 0])
        data[f"theory_{flow}"] = (("start", "point"), theory)
        data[f"runs_{flow}"] = (("start", "seed", "point"), runs)
        data[f"time_{flow}"] = ("point", times)
    S = np.geomspace(1e-3, 1e2, size.landscape)
    losses = []
    for sigma, f in PAIRS.values():
        population = Population(Link(f), Link(sigma))
        losses.append([population.loss(math.sqrt(x / (1 + x)), math.sqrt(1 + x)) for x in S])
    data["theory_loss"] = (("pair", "S"), losses)
    return xarray.Dataset(
        data,
        {"S": S, "pair": list(PAIRS), "start": list(STARTS), "seed": np.arange(size.runs)},
        {"separatrix": separatrix, "runs_d": size.d, "gamma": GAMMA, "spike": theta},
    )


def picture(data: xarray.Dataset) -> Any:
    """Draw paths of both flows, and the loss against theta m^2."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 3.1), layout="constrained")
        panels = figure.subplots(1, 3)
        for axes, flow in zip(panels, LAST, strict=False):
            x = data[f"time_{flow}"] * data.attrs["spike"]
            for k, share in enumerate(data["start"].values):
                axes.plot(
                    x,
                    data[f"theory_{flow}"][k],
                    color=COLOURS[k],
                    label=rf"$\theta m_0^2 = {share:g}\,S_c$",
                )
                for seed in range(data.sizes["seed"]):
                    axes.plot(
                        x[::4], data[f"runs_{flow}"][k, seed, ::4], "x", ms=3.5, color=COLOURS[k]
                    )
            axes.set(
                xlabel=r"$\theta \times$ time",
                ylabel=r"$\rho$",
                title=f"{flow}, tanh on $-$He3",
                ylim=(-0.05, 1.02),
            )
            legend_below(axes, 1)
        for k, pair in enumerate(data["pair"].values):
            loss = data["theory_loss"][k]
            name = str(pair).replace("-", "$-$")
            panels[2].plot(data["S"], loss / float(loss[0]), color=COLOURS[k], label=name)
        panels[2].axvline(data.attrs["separatrix"], ls="--", lw=0.8, color="0.45")
        panels[2].set(xscale="log", ylim=(0.86, 1.14), xlabel=r"$S = \theta m^2$",
                      ylabel="loss over that at $S = 0$",
                      title=rf"spherical, $S_c = {data.attrs['separatrix']:.4f}$")  # fmt: skip
        legend_below(panels[2], 1)
        d, runs = data.attrs["runs_d"], data.sizes["seed"]
        figure.suptitle(
            "lines: population flow; crosses: descent on fresh batches, "
            rf"$d = {d}$, $\theta = d^{{{GAMMA}}}$, {runs} runs",
            fontsize=8,
        )
    return figure
