"""Spectra before and after one giant step: the first layer and the covariance of its features.

The step adds one singular value outside the bulk of W. It stretches the spectrum of the features:
one eigenvalue leaves, and the bulk changes, because the features of a sample depend on its
coordinate along the spike.

References
----------
Ba, Erdogdu, Suzuki, Wang, Wu, Yang, NeurIPS 2022; Dandi, Pesce, Cui, Krzakala, Lu, Loureiro,
arXiv:2410.18938.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray

    from learnability.targets import MultiIndex

__all__ = ["FULL", "QUICK", "compute", "picture"]

LINK, ACTIVATION, WIDTH, BATCH, STEP, SAMPLES = "tanh(z)", "tanh(z)", 0.5, 2.0, 2.0, 4.0
NAMES = {
    "layer_singular_values": "runs_singular_values",
    "layer_alignment": "runs_alignment",
    "feature_eigenvalues": "runs_feature_eigenvalues",
}
"""Observable of a run -> its name in the figure."""


@dataclass(frozen=True)
class Size:
    """Dimension of the run."""

    d: int


FULL, QUICK = Size(d=2000), Size(d=600)


def compute(
    size: Size, store: Path | None = None, target: MultiIndex | None = None
) -> xarray.Dataset:
    """Return one run, the bulks of theory and the outlier of W.

    A target of the user's own needs isotropic inputs and a linear part.
    """
    import xarray

    from learnability.learners import GiantSteps
    from learnability.studies import study

    learned = LINK if target is None else target
    learner = GiantSteps(WIDTH, ACTIVATION, BATCH, 1, STEP)
    run = study(learner, learned, question="spectrum", d=size.d, alpha=SAMPLES, store=store)
    theory = learner.predict(learned, question="spectrum", d=size.d, alpha=SAMPLES)
    found = {f"theory_{name}": values.variable for name, values in theory.data_vars.items()}
    found |= {ours: run[name].isel(seed=0).variable for name, ours in NAMES.items()}
    axes = {name: theory[name].values for name in ("time", "singular_value", "eigenvalue_at")}
    about = {"link": theory.attrs["link"], "activation": ACTIVATION, "runs_d": size.d}
    return xarray.Dataset(found, axes, about)


def picture(data: xarray.Dataset) -> Any:
    """Draw singular values of W on the left, eigenvalues of the features on the right."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.9), layout="constrained")
        left, right = figure.subplots(1, 2)
        names = (("before", COLOURS[5]), ("after", COLOURS[1]))
        for k, (name, colour) in enumerate(names):
            style = {"histtype": "stepfilled", "alpha": 0.35, "color": colour, "density": True}
            line = {"color": colour, "lw": 1.3, "ls": "--" if k == 0 else "-"}
            values = data["runs_singular_values"].values[k]
            edge = float(data["theory_edge"])
            left.hist(values[values < 1.1 * edge], bins=30, label=name, **style)
            left.plot(data["singular_value"], data["theory_layer_density"][k], **line)
            eigenvalues = data["runs_feature_eigenvalues"].values[k]
            top = float(data["eigenvalue_at"].max())
            right.hist(eigenvalues[eigenvalues < top], bins=40, label=name, **style)
            right.plot(data["eigenvalue_at"], data["theory_feature_density"][k], **line)
        outlier, seen = float(data["theory_outlier"]), float(data["runs_singular_values"][1, 0])
        left.set(xlabel="singular value of $W$", ylabel="density")
        left.set_title(f"outlier after: {seen:.2f}, theory {outlier:.2f}")
        largest = data["runs_feature_eigenvalues"].values[1, 0]
        right.set(xlabel=r"eigenvalue of the covariance of $\sigma(Wx)$")
        right.set_title(f"largest eigenvalue after: {largest:.1f}")
        left.legend()
    return figure
