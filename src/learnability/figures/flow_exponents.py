"""How the samples of the whitened flow on n samples grow with d, over the exponents of a spike.

The runs are neurons of algorithm 1 on He2, by their exact chain, in which a spike of strength
d^gamma_2 and alignment d^-gamma_1 acts through the correlation rho_0 of the first weights alone:
each run begins at the median of |rho_0| and ends after the time log(1 / (2 rho_0)) + 1, four times
what the flow of the population takes to rho = 1/2, and one more. The threshold is the mean of log n
under the share of runs that end at |rho| of 1/2 or more, as a distribution in n (Spearman and
Karber). The theorem has n of order d^(1 + (k - 1) x), k = 2, with rho_0 ~ d^(-x / 2): a bound.

References
----------
Mousavi-Hosseini, Wu, Suzuki, Erdogdu, NeurIPS 2023, theorem 7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.figures._literature import LINKS
from learnability.figures._thresholds import slope, threshold

if TYPE_CHECKING:
    import xarray

__all__ = ["FULL", "QUICK", "FlowMapSize", "compute", "picture"]


@dataclass(frozen=True)
class FlowMapSize:
    """Dimensions, runs, ratios n / d, and the exponents gamma_1 and gamma_2."""

    dimensions: tuple[int, ...]
    runs: int
    alphas: tuple[float, ...]
    alignments: tuple[float, ...]
    spikes: tuple[float, ...]


_ALPHAS = tuple(1.5 * 1.5**k for k in range(9))
FULL = FlowMapSize(
    (256, 1024, 2048, 4096), 12, _ALPHAS, (0.0, 0.15, 0.3, 0.45, 0.6), (0.0, 0.3, 0.5, 0.7, 0.85)
)
QUICK = FlowMapSize((64, 128, 256), 8, _ALPHAS, (0.0, 0.3), (0.0, 0.7))
_STEP, _REACHED = 0.05, 0.5


def compute(size: FlowMapSize, store: Path | None = None) -> xarray.Dataset:
    """Return shares of success, thresholds and slopes with their errors, and the theorem's."""
    import xarray

    from learnability.learners import FlowNetwork
    from learnability.learners.networks.starts import typical_correlation
    from learnability.reports.spiked import start_exponent
    from learnability.studies import study
    from learnability.targets import MultiIndex, SpikedIndex

    link = LINKS["He2"]
    points = [(g1, g2) for g1 in size.alignments for g2 in size.spikes]
    alphas, d = np.array(size.alphas), np.array(size.dimensions)
    starts, reached = np.empty((len(points), len(d))), []
    for j, (g1, g2) in enumerate(points):
        inputs = SpikedIndex(link, spike_exponent=g2, alignment_exponent=g1).inputs
        row = []
        for k, dimension in enumerate(size.dimensions):
            rho = starts[j, k] = typical_correlation(inputs.frame(1, dimension), dimension)
            learner = FlowNetwork(
                activation=link, duration=1 + max(math.log(0.5 / rho), 0.0), step=_STEP
            )
            # Other seeds at every point, so that the points are independent.
            seeds = range(j * size.runs, (j + 1) * size.runs)
            found = study(
                learner, MultiIndex(link), question="neuron", d=dimension, alpha=list(size.alphas),
                start=(1.0, rho), seeds=list(seeds), store=store,
            )  # fmt: skip
            rhos = found.correlation.transpose("alpha", "seed", ...).values
            row.append(np.abs(rhos.reshape(len(alphas), size.runs)) >= _REACHED)
        reached.append(row)
    flags = np.array(reached)
    logs = np.array([[threshold(alphas, one) for one in row] for row in flags])
    slopes = np.array([slope(d, one[:, 0], one[:, 1]) for one in logs])
    return xarray.Dataset(
        {
            "runs_share": (("point", "d", "alpha"), flags.mean(axis=3)),
            "runs_log_alpha": (("point", "d"), logs[..., 0]),
            "runs_log_alpha_error": (("point", "d"), logs[..., 1]),
            "runs_slope": ("point", 1 + slopes[:, 0]),
            "runs_slope_error": ("point", slopes[:, 1]),
            "theory_bound": ("point", [1 + start_exponent(g2, g1) for g1, g2 in points]),
            "start": (("point", "d"), starts),
        },
        {
            "d": d, "alpha": alphas,
            "point_gamma_1": ("point", [p[0] for p in points]),
            "point_gamma_2": ("point", [p[1] for p in points]),
        },
        {"runs": size.runs},
    )  # fmt: skip


def picture(data: xarray.Dataset) -> Any:
    """Draw the slopes over the plane and against the theorem's, and the thresholds by d."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style
    from learnability.reports.spiked import start_exponent

    g1, g2 = np.linspace(0, 0.65, 66), np.linspace(0, 0.95, 96)
    bound = np.array([[1 + start_exponent(b, a) for a in g1] for b in g2])
    d, order = data["d"].values, np.argsort(data["theory_bound"].values)
    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.7), layout="constrained")
        left, middle, right = figure.subplots(1, 3)
        colours: dict[str, Any] = {"cmap": "viridis", "vmin": 1, "vmax": 2}
        levels = np.linspace(1, 2, 11)
        dots = left.scatter(
            data["point_gamma_1"], data["point_gamma_2"], c=data["runs_slope"], s=45, zorder=3,
            edgecolor="0.3", lw=0.5, **colours,
        )  # fmt: skip
        lines = left.contour(g1, g2, bound, levels, linewidths=0.8, **colours)
        left.clabel(lines, levels[::2], fontsize=6, fmt="%.1f")
        left.set(
            xlabel=r"$\gamma_1$", ylabel=r"$\gamma_2$", xlim=(-0.04, 0.65), ylim=(-0.05, 0.95),
            title="measured (dots), bound (lines)",
        )  # fmt: skip
        figure.colorbar(dots, ax=left, shrink=0.8, label="exponent of $n$")
        middle.errorbar(
            data["theory_bound"], data["runs_slope"], yerr=data["runs_slope_error"], fmt="x", ms=4,
            color=COLOURS[0], elinewidth=0.9,
        )  # fmt: skip
        middle.plot([1, 2], [1, 2], color="0.5", lw=0.8)
        middle.axhline(1, color="0.5", ls=":", lw=0.9)
        middle.set(
            xlabel="exponent of the theorem", ylabel="measured exponent", ylim=(0.7, 2.1),
            title="line: bound; dotted: $n \\propto d$",
        )  # fmt: skip
        for colour, point in zip(COLOURS, order[:: max(len(order) // 4, 1)], strict=False):
            one = data.isel(point=int(point))
            right.errorbar(
                d, np.exp(one["runs_log_alpha"]),
                yerr=np.exp(one["runs_log_alpha"]) * one["runs_log_alpha_error"], marker="x", ms=4,
                color=colour, lw=0.8,
                label=rf"$\gamma = ({float(one['point_gamma_1']):g}, "
                rf"{float(one['point_gamma_2']):g})$",
            )  # fmt: skip
        right.set(xlabel="$d$", ylabel="$n/d$ at the threshold", xscale="log", yscale="log")
        right.set_xticks(d, [str(one) for one in d], rotation=45)
        right.set_yticks([2, 5, 10], ["2", "5", "10"])
        right.minorticks_off()
        handles, labels = right.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower right", ncols=len(labels), fontsize=7)
        figure.suptitle(
            r"$\mathrm{He}_2$, whitened flow on $n$ samples, $d = $ "
            + ", ".join(str(one) for one in d)
            + f", {data.attrs['runs']} runs per ratio",
            fontsize=8,
        )
    return figure
