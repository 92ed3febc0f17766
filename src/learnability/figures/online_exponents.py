"""How many steps one-pass SGD needs for He1, He2 and He3: d, d log d and d^2.

The learner is one neuron on the sphere with the correlation loss, whose activation is the link of
the target. Lines are equations of motion from m = d^(-1/2), crosses the mean |m| of runs from
random starts.

References
----------
Ben Arous, Gheissari, Jagannath, JMLR 22 (2021).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.figures._online import legend_of_dimensions, path_and_crosses, paths

if TYPE_CHECKING:
    import xarray

    from learnability.labels.link import Link
    from learnability.learners import OnlineSGD
    from learnability.targets import Target

__all__ = ["FULL", "QUICK", "compute", "picture"]

DEGREES = (1, 2, 3)
LINKS = {1: "z", 2: "He2(z)/sqrt(2)", 3: "He3(z)/sqrt(6)"}
UNITS = {1: "steps $/ d$", 2: r"steps $/ (d \log d)$", 3: r"steps $/ d^2$"}
LAST = {1: 8.0, 2: 5.0, 3: 4.0}
LIMIT = 400.0
"""The longest time of a run that has to reach overlap 1/2, in the units of its panel."""


@dataclass(frozen=True)
class Size:
    """How much to compute.

    Attributes
    ----------
    dimensions, recoveries : dict
        Degree -> dimensions d of the paths, and of the times to overlap 1/2.
    runs, many_runs : int
        Runs per dimension, and those for the times of He3 up to d = 1024.
    points : int
        Points of the lines.
    """

    dimensions: dict[int, tuple[int, ...]]
    recoveries: dict[int, tuple[int, ...]]
    runs: int
    many_runs: int
    points: int


_LARGE, _SMALL = (1000, 10000, 100000), (300, 1000, 3000)
FULL = Size(
    {1: _LARGE, 2: _LARGE, 3: (256, 512, 1024, 2048)},
    {1: _LARGE, 2: _LARGE, 3: (256, 512, 1024, 2048, 4096)},
    32,
    128,
    81,
)
QUICK = Size(
    {1: _SMALL, 2: _SMALL, 3: (64, 128, 256)},
    {1: _SMALL, 2: _SMALL, 3: (64, 128, 256)},
    16,
    48,
    41,
)


def learner(link: str | Link, degree: int, d: int) -> OnlineSGD:
    """Return the learner for a link of a degree; the step of degree 3 shrinks like d^(-1/2)."""
    from learnability.learners import OnlineSGD

    step = {1: 0.5, 2: 0.1, 3: 0.5 / math.sqrt(d)}[degree]
    return OnlineSGD(activation=link, loss="correlation", step=step, spherical=True)


def unit(degree: int, d: int) -> float:
    """Return the unit of time of a panel, in steps / d."""
    return {1: 1.0, 2: math.log(d), 3: float(d)}[degree]


def _targets(target: Target | None) -> dict[int, Target]:
    """Return degree -> target: those of the literature, or the user's own by its exponent."""
    from learnability.reports import hardness
    from learnability.targets import as_target

    if target is None:
        return {degree: as_target(link) for degree, link in LINKS.items()}
    degree = hardness(target.link).information_exponent if target.r == 1 else None
    if degree not in DEGREES:
        raise LearnabilityError(
            f"The target was given as {target!r}, but this figure takes links of one variable with "
            "an information exponent from 1 to 3."
        )
    return {degree: target}


def compute(size: Size, store: Path | None = None, target: Target | None = None) -> xarray.Dataset:
    """Return paths of every degree and dimension, the times to 1/2 and their exponents."""
    import xarray

    from learnability.studies import study

    data: dict[str, Any] = {}
    attrs: dict[str, Any] = {}
    for degree, goal in _targets(target).items():
        link = goal.link
        x = np.linspace(0, LAST[degree], size.points)
        lines, crosses, logs, errors = [], [], [], []
        for d in size.recoveries[degree]:
            runs = size.many_runs if degree == 3 and d <= 1024 else size.runs
            found = study(
                learner(link, degree, d), goal, question="recovery", d=d,
                time=LIMIT * unit(degree, d), seeds=runs, store=store,
            )  # fmt: skip
            steps = np.log(found.recovery_time.values * d)
            logs.append(float(steps.mean()))
            errors.append(float(steps.std(ddof=1) / math.sqrt(runs)))
        for d in size.dimensions[degree]:
            theory, found = paths(
                learner(link, degree, d), goal, d, x * unit(degree, d), size.runs,
                (1.0, 1 / math.sqrt(d)), store,
            )  # fmt: skip
            lines.append(theory.overlap_trace.values[:, 0, 0])
            crosses.append(np.abs(found.overlap_trace.values[:, :, 0, 0]))
        axis, time_axis = f"d_{degree}", f"d_times_{degree}"
        data |= {
            f"theory_overlap_{degree}": ((axis, f"x_{degree}"), lines),
            f"runs_overlap_{degree}": ((axis, "seed", f"x_runs_{degree}"), crosses),
            f"runs_log_steps_{degree}": (time_axis, logs),
            f"runs_log_steps_error_{degree}": (time_axis, errors),
            axis: (axis, list(size.dimensions[degree])),
            time_axis: (time_axis, list(size.recoveries[degree])),
            f"x_{degree}": (f"x_{degree}", x),
            f"x_runs_{degree}": (f"x_runs_{degree}", x[::4]),
        }
        slope, error = _slope(np.log(size.recoveries[degree]), np.array(logs), np.array(errors))
        attrs |= {f"exponent_{degree}": slope, f"exponent_error_{degree}": error}
        attrs[f"name_{degree}"] = rf"$\mathrm{{He}}_{degree}$" if target is None else "own target"
    return xarray.Dataset(data, attrs=attrs)


def _slope(x: NDArray[Any], y: NDArray[Any], error: NDArray[Any]) -> tuple[float, float]:
    """Return the slope of a least-squares line, and its standard error from those of y."""
    share = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    return float(share @ y), float(np.sqrt(share**2 @ error**2))


def picture(data: xarray.Dataset) -> Any:
    """Draw three panels of overlaps in the units of theory, and the times to overlap 1/2."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    shades = ("#9ECAE1", "#4292C6", "#08519C", "#08306B", "#000000")
    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.3), layout="constrained")
        degrees = [degree for degree in DEGREES if f"d_{degree}" in data]
        panels = figure.subplots(1, len(degrees) + 1)
        for axes, degree in zip(panels, degrees, strict=False):
            for k in range(data.sizes[f"d_{degree}"]):
                path_and_crosses(
                    axes,
                    data[f"x_{degree}"].values,
                    data[f"theory_overlap_{degree}"].values[k],
                    data[f"runs_overlap_{degree}"].values[k],
                    shades[k],
                )
            first, *_, last = data[f"d_{degree}"].values
            title = f"{data.attrs[f'name_{degree}']}, $d = {first}$ to {last}"
            axes.set(xlabel=UNITS[degree], ylim=(-0.03, 1.03))
            axes.set_title(title, fontsize=8)
        panels[0].set_ylabel("overlap $|m|$")
        for degree in degrees:
            d = data[f"d_times_{degree}"].values
            steps = np.exp(data[f"runs_log_steps_{degree}"].values)
            slope, error = (
                data.attrs[f"{word}_{degree}"] for word in ("exponent", "exponent_error")
            )
            panels[-1].loglog(
                d, steps, "o-", ms=3, color=COLOURS[degree - 1],
                label=rf"{data.attrs[f'name_{degree}']}: {slope:.3f} $\pm$ {error:.3f}",
            )  # fmt: skip
        panels[-1].set(xlabel="$d$")
        panels[-1].set_title("steps to 1/2, slopes", fontsize=8)
        for axis in (panels[-1].xaxis, panels[-1].yaxis):
            axis.set_minor_formatter(NullFormatter())
        panels[-1].set_ylim(bottom=0.004 * panels[-1].get_ylim()[0])
        panels[-1].legend(handlelength=0.8, fontsize=6, loc="lower right", borderpad=0.1)
        legend_of_dimensions(figure, ["smallest $d$; darker is larger"], shades, data.sizes["seed"])
    return figure
