"""The conjugate kernel before and after the first layer is learned: the dimension drops.

Eigenvalues of the kernel of relu features have a gap after 1 + d with random weights, and after
1 + N and 1 + N + N(N+1)/2 once the weights are in the hidden subspace. Gaps show the dimension, but
not that the subspace is the right one: the share of h in the leading eigenvectors shows that.

References
----------
Dandi, Pesce, Zdeborova, Krzakala, arXiv:2502.13961.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.figures._literature import reference

if TYPE_CHECKING:
    import xarray

    from learnability.targets.hierarchical import Hierarchical

__all__ = ["FULL", "QUICK", "compute", "picture"]

LAYERS = ("random", "spectral", "exact")


@dataclass(frozen=True)
class Size:
    """Dimension, samples of the kernel, and neurons."""

    d: int
    n: int
    width: int


FULL = Size(d=64, n=1500, width=2000)
QUICK = Size(d=64, n=800, width=1000)


def compute(size: Size, target: Hierarchical | None = None) -> xarray.Dataset:
    """Return eigenvalues and shares of h for three first layers."""
    import xarray

    from learnability.labels.link import Link
    from learnability.learners.deep import (
        OracleFirstLayer,
        RandomFirstLayer,
        Samples,
        SpectralFirstLayer,
        kernel_spectrum,
    )
    from learnability.learners.deep.stages import Features

    target, d = target or reference(), size.d
    first = Samples(target, 0, d, round(4 * target.n_star(d)))
    features = Features(Link("relu(z)"), 2.0, 0, 1)
    batch = next(target.batches(0, size.n, d, first=900_000, dtype=np.float32))
    values, shares = [], []
    makers = (RandomFirstLayer, SpectralFirstLayer, OracleFirstLayer)
    for maker in makers:
        W = maker(size.width).learn(first)
        eigenvalues, share = kernel_spectrum(features(batch.X @ W.T), batch.h[:, 0])
        values.append(eigenvalues)
        shares.append(share)
    N = target.at(d).sizes[0]
    return xarray.Dataset(
        {
            "eigenvalue": (("layer", "rank"), values),
            "share": (("layer", "rank"), shares),
            "mark": ("gap", [1 + d, 1 + N, 1 + N + N * (N + 1) // 2]),
        },
        {"layer": list(LAYERS), "rank": np.arange(1, len(values[0]) + 1)},
        {"runs_d": d, "N": N, "n": size.n, "width": size.width},
    )


def picture(data: xarray.Dataset) -> Any:
    """Draw eigenvalues on the left, the share of h on the right."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    named = {"random": "random", "spectral": "spectral, $4 n^*$ samples", "exact": "exact"}
    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.8), layout="constrained")
        left, right = figure.subplots(1, 2)
        for k, name in enumerate(data["layer"].values):
            label = named[str(name)]
            left.plot(data["rank"], data["eigenvalue"][k], ".", ms=2.5, color=COLOURS[k])
            right.plot(data["rank"], data["share"][k], color=COLOURS[k], label=label)
        texts, dashes = ("$1 + d$", "$1 + N$", "$1 + N + N(N+1)/2$"), ("--", ":", "-.")
        for axes in (left, right):
            for at, text, dash in zip(data["mark"].values, texts, dashes, strict=True):
                named_once = text if axes is right else None
                axes.axvline(at, ls=dash, lw=0.9, color="0.45", zorder=0, label=named_once)
            axes.set(xscale="log", xlabel="rank $k$")
        left.set(yscale="log", ylabel=r"eigenvalue $\lambda_k$", ylim=(1e-5, None))
        right.set(ylabel="share of $h$ in the first $k$", ylim=(0, 1))
        figure.legend(loc="outside lower center", ncols=6, title="first layer, and ranks")
        figure.suptitle(
            f"relu, $d = {data.attrs['runs_d']}$, $N = {data.attrs['N']}$, "
            f"{data.attrs['n']} samples, {data.attrs['width']} neurons", fontsize=8,
        )  # fmt: skip
    return figure
