"""The transition of Baik, Ben Arous and Peche in the size of one step.

A step of size eta gives all neurons a common part. As long as it is weak the largest singular value
of the first layer is the edge of the bulk, and its vector is unrelated to the target; from a
certain size of the step on it leaves the bulk and its vector turns to the hidden direction. On the
left tanh learns tanh, on the right relu learns z + He2(z)/2, where neurons share more of their
batch than the spike.

References
----------
Ba, Erdogdu, Suzuki, Wang, Wu, Yang, NeurIPS 2022; Benaych-Georges, Nadakuditi, J. Multivar. Anal.
111 (2012).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.drawing.marks import crosses

if TYPE_CHECKING:
    import xarray

    from learnability.targets import MultiIndex

__all__ = ["FULL", "QUICK", "compute", "picture"]

PANELS = (("tanh(z)", "tanh(z)"), ("relu(z)", "z + He2(z)/2"))
"""Activation and link; a target of the user's own takes the place of both links."""
WIDTH, BATCH = 0.5, 2.0
NAMES = ("outlier", "outlier_alignment")


@dataclass(frozen=True)
class Size:
    """Dimension, runs per step size, number of step sizes of the runs, points of theory."""

    d: int
    runs: int
    steps: int
    theory: int


FULL, QUICK = Size(d=1500, runs=6, steps=10, theory=30), Size(d=300, runs=4, steps=7, theory=12)


def compute(
    size: Size, store: Path | None = None, target: MultiIndex | None = None
) -> xarray.Dataset:
    """Return the largest singular value and its alignment against the step, of theory and runs.

    A target of the user's own needs isotropic inputs and a linear part.
    """
    import xarray

    from learnability.learners import GiantSteps
    from learnability.studies import study

    scaled, fine = np.geomspace(0.4, 8.0, size.steps), np.geomspace(0.4, 8.0, size.theory)
    root = np.sqrt(size.d)
    found: dict[str, list[Any]] = {name: [] for name in ("edge", *NAMES)}
    runs: dict[str, list[Any]] = {name: [] for name in NAMES}
    for activation, link in PANELS:
        learned = link if target is None else target
        learner = GiantSteps(WIDTH, activation, BATCH, 1, 1.0)
        measured = study(
            learner, learned, question="spectrum", d=size.d, alpha=0.1,
            step=[float(f"{s / root:.6g}") for s in scaled], seeds=size.runs, store=store,
        )  # fmt: skip
        for name in NAMES:
            runs[name].append(measured[name].values)
        known = [
            GiantSteps(WIDTH, activation, BATCH, 1, float(s / root)).predict(
                learned, question="spectrum", d=size.d, alpha=0.1, points=3
            )
            for s in fine
        ]
        for name in found:
            found[name].append([float(one[name]) for one in known])
    links = [link if target is None else str(target.link.text) for _, link in PANELS]
    return xarray.Dataset(
        {f"theory_{name}": (("panel", "theory_step"), values) for name, values in found.items()}
        | {f"runs_{name}": (("panel", "runs_step", "seed"), v) for name, v in runs.items()},
        {
            "link": ("panel", links),
            "activation": ("panel", [activation for activation, _ in PANELS]),
            "theory_step": fine,
            "runs_step": scaled,
            "seed": np.arange(size.runs),
        },
        {"width": WIDTH, "batch": BATCH, "runs_d": size.d},
    )


def picture(data: xarray.Dataset) -> Any:
    """Draw singular values above and alignments below, with one column per activation."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter, StrMethodFormatter

    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    step, at = data["theory_step"], data["runs_step"]
    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 4.2), layout="constrained")
        columns = figure.subplots(2, data.sizes["panel"], sharex=True, squeeze=False).T
        for k, (above, below) in enumerate(columns):
            above.plot(step, data["theory_edge"][k], ls="--", color="0.5", label="edge of the bulk")
            above.plot(step, data["theory_outlier"][k], color=COLOURS[0], label="largest")
            crosses(above, at, data["runs_outlier"][k], COLOURS[0])
            below.plot(step, data["theory_outlier_alignment"][k], color=COLOURS[1])
            crosses(below, at, data["runs_outlier_alignment"][k], COLOURS[1])
            activation, link = (str(data[name].values[k]) for name in ("activation", "link"))
            above.set(title=f"{activation} learns {link}")
            below.set(xlabel=r"$\sqrt{d}\,\eta/p$", xscale="log", ylim=(0, 1))
            below.set_xticks([0.5, 1, 2, 4, 8])
            below.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
            below.xaxis.set_minor_formatter(NullFormatter())
            if k == 0:
                above.set_ylabel("singular value of $W$")
                below.set_ylabel("squared alignment")
                above.legend()
        d, runs = data.attrs["runs_d"], data.sizes["seed"]
        figure.suptitle(f"lines: theory; crosses: $d = {d}$, {runs} runs", fontsize=8)
    return figure
