"""Giant steps climb a staircase: cosines of every neuron's gradient with the target's directions.

The first step finds the linear part of the target. What the second finds depends on what remains
once that direction is known: z1 + z2 + z1^2 - z2^2 opens its second direction, the same with a plus
sign does not, and a product with He3(z1) opens a direction that z1 itself does not.

References
----------
Dandi, Krzakala, Loureiro, Pesce, Stephan, JMLR 25 (2024).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray

    from learnability.targets import MultiIndex

__all__ = ["FULL", "QUICK", "compute", "picture"]

HALF = math.sqrt(0.5)
EXAMPLES: tuple[tuple[str, tuple[float, ...], tuple[float, ...], float, str, str], ...] = (
    ("z1 + z2 + z1**2 - z2**2", (HALF, HALF), (HALF, -HALF), 8, "$(1, 1)$", "$(1, -1)$"),
    ("z1 + z2 + z1**2 + z2**2 - 2", (HALF, HALF), (HALF, -HALF), 8, "$(1, 1)$", "$(1, -1)$"),
    ("z1 + z1*z2 + z1*z3", (1, 0, 0), (0, HALF, HALF), 8, "$z_1$", "$z_2 + z_3$"),
    ("z1 + z1*z2 + He3(z1)*z3", (1, 0, 0), (0, 0, 1), 64, "$z_1$", "$z_3$"),
)
"""Link, two unit directions, samples of a step per dimension, names of the directions."""
NEURONS = 40


@dataclass(frozen=True)
class Size:
    """Dimension and number of runs."""

    d: int
    runs: int


FULL = Size(d=1000, runs=8)
QUICK = Size(d=250, runs=4)


def compute(
    size: Size, store: Path | None = None, target: MultiIndex | None = None
) -> xarray.Dataset:
    """Return cosines of the gradients of relu neurons at two steps, from f = 0.

    For a target of the user's own the first two directions of its staircase are followed.
    """
    import xarray

    from learnability.learners import GiantSteps
    from learnability.studies import study

    found, background = [], []
    examples = EXAMPLES if target is None else (_example(target),)
    for link, first, second, batch, _, _ in examples:
        learner = GiantSteps(NEURONS / size.d, "relu(z)", batch, 2, 1.0, "symmetric")
        learned = link if target is None else target
        runs = study(learner, learned, d=size.d, alpha=1.0, seeds=size.runs, store=store)
        cosines = runs.gradient_cosine.values.astype(float)
        found.append(cosines @ np.array([first, second], dtype=float).T)
        left = 1 - np.mean(np.sum(cosines**2, axis=-1), axis=(0, 2))
        background.append(np.sqrt(left / (size.d - len(first))))
    return xarray.Dataset(
        {
            "cosine": (("link", "seed", "step", "neuron", "direction"), found),
            "background": (("link", "step"), background),
        },
        {
            "link": [example[0] for example in examples],
            "batch": ("link", [example[3] for example in examples]),
            "names": (("link", "direction"), [example[4:] for example in examples]),
            "seed": np.arange(size.runs),
            "step": [1, 2],
            "direction": ["first", "second"],
        },
        {"activation": "relu(z)", "runs_d": size.d},
    )


def _example(
    target: MultiIndex,
) -> tuple[str, tuple[float, ...], tuple[float, ...], float, str, str]:
    """Return a target in the form of the examples: two directions, and the samples of a step."""
    from learnability.errors import LearnabilityError
    from learnability.gaussian.sections import complement
    from learnability.theory import csq_staircase

    steps = csq_staircase(target.link).steps
    if not steps or target.r < 2:
        raise LearnabilityError(
            f"{target.link!r} has no two directions of which a step on n of order d samples "
            "finds the first: give a target such as z1 + z1*z2."
        )
    opened = np.vstack([step.directions for step in steps])
    rows = np.vstack([opened, complement(opened, target.r)])[:2]
    first, second = (tuple(float(x) for x in row) for row in rows)
    named = [f"$({', '.join(f'{x:.2g}' for x in row)})$" for row in rows]
    return str(target.link.text), first, second, 8, named[0], named[1]


def picture(data: xarray.Dataset) -> Any:
    """Draw one panel per example: cosines with its second direction against its first."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style
    from learnability.labels.link import Link

    d = data.attrs["runs_d"]
    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.4), layout="constrained")
        panels = figure.subplots(1, data.sizes["link"], sharex=True, sharey=True, squeeze=False)
        for k, axes in enumerate(panels[0]):
            link, batch = str(data["link"].values[k]), float(data["batch"][k])
            first, second = data["names"].values[k]
            for step, colour in ((0, COLOURS[0]), (1, COLOURS[1])):
                cosine = data["cosine"].isel(link=k, step=step)
                axes.plot(
                    np.ravel(cosine.isel(direction=0)),
                    np.ravel(cosine.isel(direction=1)),
                    ".",
                    ms=2.5,
                    mew=0,
                    color=colour,
                    label=f"step {step + 1}" if k == 0 else None,
                )
            noise = 2 * float(data["background"].isel(link=k, step=1))
            axes.axhspan(-noise, noise, color="0.9", zorder=0)
            axes.set_title(f"${Link(link).latex}$", fontsize=6.5)
            axes.set(xlabel=f"cosine with {first}", xlim=(-1, 1), ylim=(-1, 1), aspect="equal")
            axes.set_ylabel(f"with {second}", labelpad=3)
            axes.text(0.04, 0.05, f"$n = {batch:g}\\,d$", transform=axes.transAxes, fontsize=7)
        figure.legend(loc="outside lower center", ncols=2, markerscale=4)
        figure.suptitle(f"relu, $d = {d}$; grey: two standard deviations of noise", fontsize=8)
    return figure
