"""How fast the samples of one-pass SGD grow, over the strength and the alignment of the spike.

Whitened, normalised SGD on He3 with the correlation loss and steps 0.2 rho_0 / d, by the exact
chain; theta = d^gamma_2, <mu, beta> = d^-gamma_1. Colour: the slope of the median number of samples
to |rho| = 1/2. Contours: 1 + x, x from the start rho_0 ~ d^(-x / 2). The last panel is a theorem's
exponent 1 + 2 x of another algorithm, an upper bound.

References
----------
Mousavi-Hosseini, Wu, Suzuki, Erdogdu, NeurIPS 2023.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.figures._structured import LINKS

if TYPE_CHECKING:
    import xarray

__all__ = ["FULL", "QUICK", "compute", "picture"]


@dataclass(frozen=True)
class MapSize:
    """Dimensions, runs at each, and the points (gamma_1, gamma_2)."""

    dimensions: tuple[int, ...]
    runs: int
    points: tuple[tuple[float, float], ...]


FULL = MapSize(
    (128, 256, 512),
    32,
    tuple((g1, g2) for g1 in (0.0, 0.15, 0.3, 0.45, 0.6) for g2 in (0.0, 0.3, 0.5, 0.7, 0.85)),
)
QUICK = MapSize((64, 128, 256), 16, ((0.0, 0.0), (0.0, 0.6), (0.3, 0.3), (0.3, 0.7), (0.5, 0.8)))
_LAST = 15.0  # Steps given to a run, over d / rho_0^2; medians are at 1 to 4.


def compute(size: MapSize) -> xarray.Dataset:
    """Medians, slopes with bootstrap errors, and what the start predicts at these d."""
    import xarray

    from learnability.hardness.spiked import start_exponent

    found = [_point(size, *point) for point in size.points]
    g1, g2 = np.linspace(0, 0.65, 66), np.linspace(0, 0.95, 96)
    x = [[start_exponent(b, a) for a in g1] for b in g2]
    names = ("median", "slope", "slope_error", "finite")
    return xarray.Dataset(
        {
            "runs_steps": (("point", "d"), [one[0] for one in found]),
            **{
                f"{'theory' if name == 'finite' else 'runs'}_{name}": (
                    "point",
                    [one[k] for one in found],
                )
                for k, name in enumerate(names)
                if k
            },
            "theory_start": (("gamma_2", "gamma_1"), x),
        },
        {
            "d": list(size.dimensions), "gamma_1": g1, "gamma_2": g2,
            "point_gamma_1": ("point", [p[0] for p in size.points]),
            "point_gamma_2": ("point", [p[1] for p in size.points]),
        },
        {"runs": size.runs},
    )  # fmt: skip


def _point(size: MapSize, gamma_1: float, gamma_2: float) -> tuple[Any, float, float, float]:
    from learnability.learners import OnlineSGD
    from learnability.targets import SpikedIndex

    target = SpikedIndex(LINKS["He3"], spike_exponent=gamma_2, alignment_exponent=gamma_1)
    e1, e2 = np.random.default_rng(0).standard_normal((2, 40_000))
    starts, steps = [], []
    for d in size.dimensions:
        theta, a = target.at(d)
        s = e1 / math.sqrt(d)
        top = (a * e1 + math.sqrt(max(1 - a * a, 0)) * e2) / math.sqrt(d) + theta * a * s
        rho = np.abs(top) / np.sqrt((1 + theta * s**2) * (1 + theta * a * a))
        starts.append(float(np.median(rho)))
        learner = OnlineSGD(
            activation=LINKS["He3"], loss="correlation", step=0.2 * starts[-1],
            normalisation="whitened",
        )  # fmt: skip
        # He3 pulls to rho = 1: from below 0 it is a matter of noise, so starts are above.
        many = 4 * size.runs + 20
        above = learner.simulate(target, d=d, time=0.0, seeds=many).correlation.values[:, 0] > 0
        seeds = np.flatnonzero(above)[: size.runs].tolist()
        found = learner.simulate_recovery(target, d=d, time=_LAST / starts[-1] ** 2, seeds=seeds)
        steps.append(found.recovery_time.values * d)
    x = np.log(size.dimensions)

    def slope(medians: Any) -> float:
        return float(np.polyfit(x, np.log(medians), 1)[0])

    rng = np.random.default_rng(1)
    again = [slope([np.median(rng.choice(t, len(t))) for t in steps]) for _ in range(300)]
    medians = [float(np.median(t)) for t in steps]
    finite = slope(np.array(size.dimensions) / np.square(starts))
    return medians, slope(medians), float(np.std(again)), finite


def picture(data: xarray.Dataset) -> Any:
    """The measured slopes on the predicted map, against the prediction, and the upper bound."""
    from matplotlib.figure import Figure

    from learnability.plotting import COLOURS, WIDTHS, house_style

    x = data["theory_start"]
    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.7), layout="constrained")
        left, middle, right = figure.subplots(1, 3)
        levels = np.linspace(1, 2, 11)
        dots = left.scatter(
            data["point_gamma_1"],
            data["point_gamma_2"],
            c=data["runs_slope"],
            s=45,
            cmap="viridis",
            vmin=1,
            vmax=2,
            zorder=3,
            edgecolor="0.3",
            lw=0.5,
        )
        lines = left.contour(
            data["gamma_1"],
            data["gamma_2"],
            1 + x,
            levels,
            cmap="viridis",
            vmin=1,
            vmax=2,
            linewidths=0.8,
        )
        left.clabel(lines, levels[::2], fontsize=6, fmt="%.1f")
        left.set(title="SGD: slope (dots), $1 + x$ (lines)")
        figure.colorbar(dots, ax=left, shrink=0.8, label="slope")
        middle.errorbar(
            data["theory_finite"],
            data["runs_slope"],
            yerr=data["runs_slope_error"],
            fmt="x",
            ms=4,
            color=COLOURS[0],
            elinewidth=0.9,
        )
        ends = [float(data["theory_finite"].min()) - 0.1, float(data["theory_finite"].max()) + 0.1]
        middle.plot(ends, ends, color="0.5", lw=0.8)
        middle.set(
            xlabel=r"slope of $d \rho_0^{-2}$ at these $d$",
            ylabel="measured slope",
            title="with bootstrap errors",
        )
        bound = right.contour(
            data["gamma_1"],
            data["gamma_2"],
            1 + 2 * x,
            np.linspace(1, 3, 11),
            cmap="magma",
            linewidths=0.8,
        )
        right.clabel(bound, fontsize=6, fmt="%.1f")
        right.set(title="upper bound, other algorithm")
        for axes in (left, right):
            axes.set(xlabel=r"$\gamma_1$", ylabel=r"$\gamma_2$")
        sizes = ", ".join(str(d) for d in data["d"].values)
        figure.suptitle(
            f"He3, whitened one-pass SGD, $d = $ {sizes}, {data.attrs['runs']} runs a dot",
            fontsize=8,
        )
    return figure
