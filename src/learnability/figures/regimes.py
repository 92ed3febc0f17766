"""What one giant step and a readout can learn, by the order of their samples and neurons.

A step on n of the order of d^k samples finds the directions that are visible at order k. All
functions of these can be learned, and of the rest polynomials of degree kappa, with d^kappa the
smaller of n and p. The target has one term of unit energy for each boundary between these regimes.
Lines are errors in dimension d: of neurons after one step with a normal second layer, and of
neurons that know the subspace; crosses are runs, each at the best of its ridges.

References
----------
Dandi, Krzakala, Loureiro, Pesce, Stephan, JMLR 25 (2024), conjecture 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from learnability.drawing.marks import crosses

if TYPE_CHECKING:
    import xarray

    from learnability.targets import MultiIndex

__all__ = ["FULL", "QUICK", "RegimeSize", "compute", "picture"]

LINK = "z1 + He2(z2)/sqrt(2) + He2(z1)*z2/sqrt(2) + He4(z1)*He2(z2)*z3/sqrt(48) + He2(z2)*He2(z3)/2"
ACTIVATION = "relu(z - 1/2)"  # relu itself has no odd degrees above one.
STEP = 3.0
"""Size of the step, divided by p d^((order - 1) / 2)."""
STRENGTH = 2.0
"""Length along each direction of neurons that know the subspace."""
REGIMES = ((8, 1.5, 4, 0.5), (8, 1.5, 4, 1.5), (8, 2.5, 4, 0.5), (8, 2.5, 4, 1.5), (4, 2.5, 1, 2.5))
"""Factor and exponent of d of the samples, and of the neurons."""
RIDGES = tuple(float(10.0**k) for k in range(-4, 5))


@dataclass(frozen=True)
class RegimeSize:
    """Dimensions of the lines, dimensions and number of runs, and the most features of a run."""

    lines: tuple[int, ...]
    dimensions: tuple[int, ...]
    runs: int
    most: float


_FAR = tuple(10**k for k in range(2, 7))
FULL = RegimeSize((16, 24, 48, *_FAR), (16, 24, 48), 8, 7e7)
QUICK = RegimeSize((12, 100, 10_000), (12,), 4, 5e6)


def compute(
    size: RegimeSize, store: Path | None = None, target: MultiIndex | None = None
) -> xarray.Dataset:
    """Return floors, errors in dimension d, and errors of runs at the best of several ridges.

    Runs whose n p features are more than those of `size` are left out (NaN). A target of the
    user's own needs isotropic inputs.
    """
    import xarray

    from learnability.targets import as_target
    from learnability.theory import regimes

    learned = as_target(LINK if target is None else target)
    floors, trained, knowing, runs = [], [], [], []
    for cn, a, cp, b in REGIMES:
        words: dict[str, Any] = {
            "n": f"{cn}*d^{a}", "p": f"{cp}*d^{b}", "steps": 1, "d": size.lines,
            "activation": ACTIVATION,
        }  # fmt: skip
        found = regimes(learned, **words, step=STEP)
        floors.append(found.floor)
        trained.append(found.error)
        knowing.append(regimes(learned, **words, strength=STRENGTH).error)
        runs.append([_errors(learned, size, d, (cn, a, cp, b), store) for d in size.dimensions])
    return xarray.Dataset(
        {
            "floor": ("regime", floors),
            "theory_trained": (("regime", "d"), trained),
            "theory_knowing": (("regime", "d"), knowing),
            "runs_error": (("regime", "runs_d", "seed"), runs),
        },
        {
            "samples": ("regime", [a for _, a, _, _ in REGIMES]),
            "neurons": ("regime", [b for _, _, _, b in REGIMES]),
            "d": list(size.lines), "runs_d": list(size.dimensions), "seed": np.arange(size.runs),
        },
        {
            "link": str(learned.link.text), "activation": ACTIVATION,
            "variance": learned.label_variance,
        },
    )  # fmt: skip


def _errors(
    target: Any, size: RegimeSize, d: int, regime: tuple[float, ...], store: Path | None
) -> NDArray[np.float64]:
    """Return errors of the runs at the best ridge, NaN where they are too large."""
    from learnability.learners import GiantSteps
    from learnability.studies import study

    cn, a, cp, b = regime
    n, p = round(cn * d**a), round(cp * d**b)
    if n * p > size.most:
        return np.full(size.runs, np.nan)
    learner = GiantSteps(
        p / d, ACTIVATION, steps=1, step=STEP * d ** ((int(a) - 1) / 2), init="gaussian",
        ridge=RIDGES,
    )  # fmt: skip
    runs = study(learner, target, batch=n / d, d=d, alpha=n / d, seeds=size.runs, store=store)
    best = int(np.argmin(runs.error.mean("seed").values))
    return np.asarray(runs.error.isel(ridge=best).values, dtype=float)


def picture(data: xarray.Dataset) -> Any:
    """Draw the errors against the dimension, in one colour per regime."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    with house_style():
        figure = Figure(figsize=(1.25 * WIDTHS["column"], 3.6), layout="constrained")
        axes = figure.subplots()
        for k, colour in zip(range(data.sizes["regime"]), COLOURS, strict=False):
            regime = data.isel(regime=k)
            axes.axhline(float(regime["floor"]), ls=":", lw=1.1, color=colour, zorder=0)
            axes.plot(data["d"], regime["theory_trained"], color=colour, lw=1.1)
            axes.plot(data["d"], regime["theory_knowing"], color=colour, lw=0.8, ls="--")
            done = np.isfinite(regime["runs_error"].values).all(axis=1)
            crosses(axes, data["runs_d"][done], regime["runs_error"][done], colour)
            n, p = float(regime["samples"]), float(regime["neurons"])
            label = (
                rf"$n \asymp d^{{{n:g}}}$, $p \asymp d^{{{p:g}}}$: "
                f"floor {float(regime['floor']):.3g}"
            )
            axes.plot([], [], color=colour, label=label)
        most = data.attrs["variance"]
        axes.set(
            xlabel="$d$",
            ylabel="mean squared error",
            xscale="log",
            ylim=(-0.02 * most, 1.02 * most),
        )
        axes.axhline(most, lw=0.8, color="0.6")
        figure.legend(loc="outside upper center", ncols=2)
        figure.supxlabel(
            f"line: after one step; dashed: neurons that know the subspace\n"
            f"crosses: {data.sizes['seed']} runs; dotted: floors; grey: nothing learned",
            fontsize=8,
        )
    return figure
