"""How the samples of one-pass SGD grow with d, by strength and alignment of the spike.

The runs are whitened, normalised SGD on He3 with the correlation loss and steps 0.2 rho_0 / d, by
the exact chain; theta = d^gamma_2, <mu, beta> = d^-gamma_1. Colours show the slope of the median
number of samples to |rho| = 1/2, contours 1 + x with x from the start rho_0 ~ d^(-x / 2). The last
panel shows the exponent 1 + 2 x of a theorem on another algorithm, an upper bound.

References
----------
Mousavi-Hosseini, Wu, Suzuki, Erdogdu, NeurIPS 2023.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from learnability.figures._literature import LINKS

if TYPE_CHECKING:
    import xarray

    from learnability.targets import MultiIndex

__all__ = ["FULL", "QUICK", "MapSize", "compute", "picture", "steps_to_recovery"]


@dataclass(frozen=True)
class MapSize:
    """Dimensions, runs per point, and the exponents gamma_1 and gamma_2."""

    dimensions: tuple[int, ...]
    runs: int
    alignments: tuple[float, ...]
    spikes: tuple[float, ...]


FULL = MapSize((64, 128, 256, 512), 64, (0.0, 0.15, 0.3, 0.45, 0.6), (0.0, 0.3, 0.5, 0.7, 0.85))
QUICK = MapSize((64, 128, 256), 16, (0.0, 0.3, 0.5), (0.0, 0.7))
_LAST = 15.0  # The most steps of a run, over d / rho_0^2; medians are at 1 to 4.
_AGAIN = 300  # Number of bootstrap samples.


def steps_to_recovery(
    target: MultiIndex, d: int, runs: int, store: Path | None = None
) -> NDArray[np.float64]:
    """Return steps to |rho| = 1/2 of the runs, infinite where a run did not get there.

    He3 pulls to rho = 1. From rho < 0 noise decides, so only runs whose random start has rho > 0
    are used.
    """
    from learnability.learners import OnlineSGD
    from learnability.learners.networks.starts import typical_correlation
    from learnability.studies import study

    start = typical_correlation(target.inputs.frame(1, d), d)
    learner = OnlineSGD(
        activation=target.link, loss="correlation", step=0.2 * start, normalisation="whitened"
    )
    first = learner.simulate(target, d=d, time=0.0, seeds=4 * runs + 20)
    above = np.flatnonzero(first.correlation.values[:, 0, 0] > 0)[:runs]
    found = study(
        learner, target, question="recovery", d=d, time=_LAST / start**2, seeds=above.tolist(),
        store=store,
    )  # fmt: skip
    return np.asarray(found.recovery_time.values * d)


def compute(size: MapSize, store: Path | None = None) -> xarray.Dataset:
    """Return medians, slopes with bootstrap errors, and those that the start predicts."""
    import xarray

    from learnability.learners.networks.starts import typical_correlation
    from learnability.reports.spiked import start_exponent
    from learnability.targets import SpikedIndex

    points = [(g1, g2) for g1 in size.alignments for g2 in size.spikes]
    targets = [
        SpikedIndex(LINKS["He3"], spike_exponent=g2, alignment_exponent=g1) for g1, g2 in points
    ]
    d = np.array(size.dimensions)
    steps = np.array(
        [[steps_to_recovery(one, int(k), size.runs, store) for k in d] for one in targets]
    )
    starts = [
        [typical_correlation(one.inputs.frame(1, int(k)), int(k)) for k in d] for one in targets
    ]
    g1, g2 = np.linspace(0, 0.65, 66), np.linspace(0, 0.95, 96)
    x = [[start_exponent(b, a) for a in g1] for b in g2]
    return xarray.Dataset(
        {
            "runs_steps": (("point", "d"), np.median(steps, axis=2)),
            "runs_slope": ("point", _slopes(d, np.median(steps, axis=2))),
            "runs_slope_error": ("point", [_slope_error(d, one) for one in steps]),
            "runs_reached": ("point", np.isfinite(steps).mean(axis=(1, 2))),
            "theory_finite": ("point", _slopes(d, d / np.square(starts))),
            "theory_start": (("gamma_2", "gamma_1"), x),
        },
        {
            "d": d, "gamma_1": g1, "gamma_2": g2,
            "point_gamma_1": ("point", [p[0] for p in points]),
            "point_gamma_2": ("point", [p[1] for p in points]),
        },
        {"runs": steps.shape[2]},
    )  # fmt: skip


def _slopes(d: NDArray[Any], medians: NDArray[Any]) -> NDArray[np.float64]:
    """Return slopes of log medians (..., d) against log d."""
    x = np.log(d) - np.log(d).mean()
    return np.asarray(np.log(medians) @ x / (x @ x))


def _slope_error(d: NDArray[Any], steps: NDArray[Any]) -> float:
    """Return the bootstrap standard error of the slope of the medians of steps (d, run)."""
    runs = steps.shape[1]
    drawn = np.random.default_rng(1).integers(runs, size=(len(d), _AGAIN, runs))
    again = np.median(np.take_along_axis(steps[:, None], drawn, axis=2), axis=2)
    return float(np.std(_slopes(d, again.T)))


def picture(data: xarray.Dataset) -> Any:
    """Draw the measured slopes on the map and against it, and the upper bound."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    x = data["theory_start"]
    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.7), layout="constrained")
        left, middle, right = figure.subplots(1, 3)
        levels = np.linspace(1, 2, 11)
        colours: dict[str, Any] = {"cmap": "viridis", "vmin": 1, "vmax": 2}
        dots = left.scatter(
            data["point_gamma_1"], data["point_gamma_2"], c=data["runs_slope"], s=45, zorder=3,
            edgecolor="0.3", lw=0.5, **colours,
        )  # fmt: skip
        lines = left.contour(
            data["gamma_1"], data["gamma_2"], 1 + x, levels, linewidths=0.8, **colours
        )
        left.clabel(lines, levels[::2], fontsize=6, fmt="%.1f")
        left.set(title="slope (dots), $1 + x$ (lines)")
        figure.colorbar(dots, ax=left, shrink=0.8, label="slope")
        middle.errorbar(
            data["theory_finite"], data["runs_slope"], yerr=data["runs_slope_error"], fmt="x", ms=4,
            color=COLOURS[0], elinewidth=0.9,
        )  # fmt: skip
        ends = [float(data["theory_finite"].min()) - 0.1, float(data["theory_finite"].max()) + 0.1]
        middle.plot(ends, ends, color="0.5", lw=0.8)
        middle.set(
            xlabel=r"slope of $d \rho_0^{-2}$ at these $d$",
            ylabel="measured slope",
            title="with bootstrap errors",
        )
        bound = right.contour(
            data["gamma_1"], data["gamma_2"], 1 + 2 * x, np.linspace(1, 3, 11), cmap="magma",
            linewidths=0.8,
        )  # fmt: skip
        right.clabel(bound, fontsize=6, fmt="%.1f")
        right.set(title="upper bound")
        for axes in (left, right):
            axes.set(
                xlabel=r"$\gamma_1$", ylabel=r"$\gamma_2$", xlim=(-0.04, 0.65), ylim=(-0.05, 0.95)
            )
        sizes = ", ".join(str(d) for d in data["d"].values)
        figure.suptitle(
            rf"$\mathrm{{He}}_3$, whitened one-pass SGD, $d = $ {sizes}, "
            f"{data.attrs['runs']} runs per dot",
            fontsize=8,
        )
    return figure
