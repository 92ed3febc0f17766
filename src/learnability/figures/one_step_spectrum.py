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
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray

__all__ = ["FULL", "QUICK", "compute", "picture"]

LINK, ACTIVATION, WIDTH, BATCH, STEP, SAMPLES = "tanh(z)", "tanh(z)", 0.5, 2.0, 2.0, 4.0


@dataclass(frozen=True)
class Size:
    """Dimension of the run."""

    d: int


FULL, QUICK = Size(d=2000), Size(d=600)


def compute(size: Size) -> xarray.Dataset:
    """One run, the bulks of theory and the outlier of W."""
    import xarray

    from learnability.learners import GiantSteps

    learner = GiantSteps(WIDTH, ACTIVATION, BATCH, 1, STEP)
    run = learner.spectrum(LINK, d=size.d, alpha=SAMPLES)
    theory = learner.predict_spectrum(LINK, d=size.d)
    bulk = learner.predict_bulk(LINK, alpha=SAMPLES)
    parts = [
        run.drop_vars("alpha").rename(alignment="runs_alignment"),
        theory.drop_vars("alpha").rename(alignment="theory_alignment"),
        bulk.drop_vars("alpha"),
    ]
    merged = xarray.merge(parts, combine_attrs="drop")
    return merged.assign_attrs({**run.attrs, "samples": SAMPLES})


def picture(data: xarray.Dataset) -> Any:
    """Singular values of W on the left, eigenvalues of the features on the right."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.9), layout="constrained")
        left, right = figure.subplots(1, 2)
        names = (("before", COLOURS[5]), ("after", COLOURS[1]))
        for k, (name, colour) in enumerate(names):
            style = {"histtype": "stepfilled", "alpha": 0.35, "color": colour, "density": True}
            line = {"color": colour, "lw": 1.3, "ls": "--" if k == 0 else "-"}
            values = data["singular_values"].values[k]
            edge = float(data["edge"])
            left.hist(values[values < 1.1 * edge], bins=30, label=name, **style)
            left.plot(data["singular_value"], data["layer_density"][k], **line)
            eigenvalues = data["feature_eigenvalues"].values[k]
            top = float(data["eigenvalue"].max())
            right.hist(eigenvalues[eigenvalues < top], bins=40, label=name, **style)
            right.plot(data["eigenvalue"], data["feature_density"][k], **line)
        outlier, seen = float(data["outlier"]), float(data["singular_values"][1, 0])
        left.set(xlabel="singular value of $W$", ylabel="density")
        left.set_title(f"outlier after: {seen:.2f}, theory {outlier:.2f}")
        largest = data["feature_eigenvalues"].values[1, 0]
        right.set(xlabel=r"eigenvalue of the covariance of $\sigma(Wx)$")
        right.set_title(f"largest eigenvalue after: {largest:.1f}")
        left.legend()
    return figure
