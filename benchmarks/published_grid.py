"""The published example as a resumable study: d = 64, 15 n from 64^0.2 to 64^2.2, ten trials.

    python benchmarks/published_grid.py grid.study [trials]

Two kernels at the ridge of least predicted error, the spectral first layer with a Mehler ridge,
layer-wise networks on one and on fresh batches, and joint training of two and three layers from
both starts. What is finished stays in the file; the same command goes on. Cells too small for a
learner are left out. Printed: mean errors over Var y, CPU seconds of this call, largest memory.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray

from learnability import (
    JointAdamW,
    Layerwise,
    MehlerReadout,
    SpectralFirstLayer,
    study,
)
from learnability.figures._literature import best_kernel, reference

D = 64
TARGET = reference()
SIZES = [round(D**kappa) for kappa in np.linspace(0.2, 2.2, 15)]


def kernel(name: str) -> Callable[[int], Any]:
    """Number of samples -> kernel regression with the ridge of least predicted error."""
    return lambda n: best_kernel(name, TARGET, D, n)


def always(learner: Any) -> Callable[[int], Any]:
    """The same learner at every number of samples."""
    return lambda n: learner


LEARNERS: dict[str, tuple[Callable[[int], Any], int]] = {
    # Name -> the learner for n samples, and the smallest n.
    "Mehler kernel": (kernel("mehler"), 2),
    "quadratic kernel": (kernel("quadratic"), 2),
    "spectral and Mehler": (
        always(Layerwise((SpectralFirstLayer(None), MehlerReadout(1.0)), fresh=True)), 4,
    ),
    "layer-wise": (always(Layerwise(width=1000, fresh=False)), 4),
    "layer-wise, fresh": (always(Layerwise(width=1000)), 4),
    "two layers, joint": (always(JointAdamW(2)), 20),
    "three layers, joint": (always(JointAdamW(3)), 20),
    "two layers, from scratch": (always(JointAdamW(2, "random")), 20),
    "three layers, from scratch": (always(JointAdamW(3, "random")), 20),
}  # fmt: skip


def cell(learner: Any, n: int, trials: int, store: str) -> xarray.Dataset:
    """All trials of a learner at n samples."""
    return study(learner, TARGET, d=D, alpha=n / D, seeds=trials, store=store, workers=1)


def row(
    name: str, cells: list[xarray.Dataset | None], measure: str, v: float, spent: str = ""
) -> str:
    """A row of the table: means over trials, over Var y."""
    means = ["" if c is None else f"{float(c[measure].mean()) / v:.3f}" for c in cells]
    return f"| {name} | {' | '.join(means)} | {spent} |"


def main(store: str, trials: int) -> None:
    v = TARGET.at(D).label_variance
    whole = time.process_time()
    print("| learner |", " | ".join(str(n) for n in SIZES), "| CPU s |")
    print("| --- |", " --- |" * (len(SIZES) + 1))
    for name, (learner, least) in LEARNERS.items():
        start = time.process_time()
        cells = [cell(learner(n), n, trials, store) if n >= least else None for n in SIZES]
        spent = f"{time.process_time() - start:.0f}"
        print(row(name, cells, "error", v, spent), flush=True)
        if name.startswith("layer-wise"):
            print(row(f"{name}: its two layers", cells, "two_layer_error", v), flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{time.process_time() - whole:.0f} CPU s in this call, largest memory {peak:.2f} GiB")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10)
