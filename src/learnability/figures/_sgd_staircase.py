"""Staircases that SGD climbs with and without repetition: overlaps of one neuron in time.

The figure follows one neuron on the sphere with the correlation loss, under which the neurons of a
wider network do not interact. Its overlaps with the three directions of f(z1) + sign(z1 z2 z3)
begin at d^(-1/2) in runs and in the equations of motion alike. Time is in units of d log d steps:
z1 leaves the start at a rate of its own, and once it is known the product z2 z3 is visible, so that
these two leave together. A neuron that has learned z1 continues only if that lowers the loss: its
activation has a larger third than second coefficient.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.figures._online import OnlineSize, legend_of_dimensions, path_and_crosses, paths

if TYPE_CHECKING:
    import xarray

    from learnability.targets import Target

__all__ = ["FULL", "QUICK", "RULES", "Staircase"]

FULL = OnlineSize(dimensions=(300, 1000, 3000), runs=32, points=81)
QUICK = OnlineSize(dimensions=(200,), runs=8, points=41)
RULES = ("plain", "extragradient")


@dataclass(frozen=True)
class Staircase:
    """A figure with two panels, plain steps and extragradient ones.

    Attributes
    ----------
    link, activation : str
        The link of the target, with three directions, and the activation of the neuron.
    step, look_ahead : float
        The sizes of the steps.
    last : float
        Last time in units of log d.
    """

    link: str
    activation: str
    step: float
    look_ahead: float
    last: float

    def compute(
        self, size: OnlineSize, store: Path | None = None, target: Target | None = None
    ) -> xarray.Dataset:
        """Return |overlap| by rule and d along the time.

        It is that with z1, and the mean with z2 and z3; or that with every direction of the user's
        own target.
        """
        import xarray

        from learnability.learners import OnlineSGD
        from learnability.reports import Hardness, hardness

        groups = {"z1": [0], "z2 and z3": [1, 2]}
        r = 3 if target is None else target.r
        if target is not None:
            groups = {f"z{i + 1}": [i] for i in range(r)}
        goal = self.link if target is None else target
        x = np.linspace(0, self.last, size.points)
        found: dict[str, list[Any]] = {"theory": [], "runs": []}
        for rule in RULES:
            learner = OnlineSGD(
                activation=self.activation, loss="correlation", step=self.step, rule=rule,
                look_ahead=self.look_ahead if rule == "extragradient" else 0.0, spherical=True,
            )  # fmt: skip
            for d in size.dimensions:
                start = (1.0, [[1 / math.sqrt(d)] * r])
                times = x * math.log(d)
                pair = paths(learner, goal, d, times, size.runs, start, store, shared=True)
                for values, result in zip(found.values(), pair, strict=True):
                    values.append(_overlaps(result, groups.values()))
        report = hardness(goal)
        assert isinstance(report, Hardness)  # The learner has refused other targets.
        shape = (len(RULES), len(size.dimensions))
        lines, crosses = (np.array(v).reshape(*shape, *v[0].shape) for v in found.values())
        return xarray.Dataset(
            {
                "theory_overlap": (("rule", "d", "x", "direction"), lines),
                "runs_overlap": (("rule", "d", "seed", "x_runs", "direction"), crosses),
            },
            {
                "rule": list(RULES),
                "d": list(size.dimensions),
                "x": x,
                "x_runs": x[::4],
                "direction": list(groups),
            },
            {
                "link": self.link if target is None else target.link.text or "",
                "activation": self.activation,
                "theory_leap": report.leap or 0,
                "theory_generative_exponent": report.generative_exponent or 0,
            },
        )

    def picture(self, data: xarray.Dataset) -> Any:
        """Draw plain steps on the left and repetition on the right; larger d are darker."""
        from matplotlib.figure import Figure

        from learnability.drawing.style import COLOURS, WIDTHS, house_style

        titles = (
            f"plain SGD (leap {data.attrs['theory_leap']})",
            f"extragradient (generative exponent {data.attrs['theory_generative_exponent']})",
        )
        dark = np.linspace(0.35, 1, data.sizes["d"]) if data.sizes["d"] > 1 else [1.0]
        with house_style():
            figure = Figure(figsize=(WIDTHS["text"], 2.7), layout="constrained")
            panels = figure.subplots(1, 2, sharey=True)
            for axes, rule, title in zip(panels, data["rule"].values, titles, strict=True):
                here = data.sel(rule=rule)
                for i, opacity in enumerate(dark):
                    for k in range(data.sizes["direction"]):
                        path_and_crosses(
                            axes,
                            data["x"].values,
                            here["theory_overlap"].values[i, :, k],
                            here["runs_overlap"].values[i, :, :, k],
                            (COLOURS[k], float(opacity)),
                        )
                axes.set(xlabel=r"steps $/ (d \log d)$", title=title, ylim=(-0.03, 1.03))
            panels[0].set_ylabel("overlap")
            first, *_, last = [*data["d"].values, data["d"].values[-1]]
            size = f"$d = {first}$" if first == last else f"$d = {first}$ (pale) to {last}"
            labels = [re.sub(r"z(\d)", r"$z_\1$", str(name)) for name in data["direction"].values]
            labels[-1] += f", {size}"
            legend_of_dimensions(figure, labels, COLOURS, data.sizes["seed"])
        return figure


def _overlaps(result: xarray.Dataset, groups: Iterable[list[int]]) -> Any:
    """Return means of |overlap| with the directions of each group, on a last axis."""
    overlap = np.abs(result["overlap_trace"].values[..., 0, :])
    return np.stack([overlap[..., group].mean(axis=-1) for group in groups], axis=-1)
