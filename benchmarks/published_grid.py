"""The published example as a resumable study: d = 64, 15 n from 64^0.2 to 64^2.2, ten trials.

    python benchmarks/published_grid.py grid.study [trials]

Kernel, layer-wise networks on one and on fresh batches, the spectral first layer with a Mehler
ridge, and joint training of two and three layers from both starts. What is finished stays in the
file; the same command goes on. Cells too small for a learner are left out.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from learnability import (
    Hierarchical,
    JointAdamW,
    KernelRidge,
    Layerwise,
    MehlerReadout,
    SpectralFirstLayer,
    study,
)

D = 64
TARGET = Hierarchical("tanh(3*z)", "He2(z)/2 + He3(z)/6", normalisation="printed")
KAPPAS = np.linspace(0.2, 2.2, 15)
LEARNERS: dict[str, tuple[Any, int, float]] = {
    # Name -> learner, smallest n, largest n.
    "kernel": (KernelRidge("mehler", 0.3), 2, np.inf),
    "spectral and Mehler": (
        Layerwise((SpectralFirstLayer(None), MehlerReadout(3.0)), fresh=True), 4, np.inf,
    ),
    "layer-wise": (Layerwise(), 4, np.inf),
    "layer-wise, fresh": (Layerwise(fresh=True), 4, np.inf),
    "two layers, joint": (JointAdamW(2), 20, np.inf),
    "three layers, joint": (JointAdamW(3), 20, np.inf),
    "two layers, from scratch": (JointAdamW(2, "random"), 20, np.inf),
    "three layers, from scratch": (JointAdamW(3, "random"), 20, np.inf),
}  # fmt: skip


def main(store: str, trials: int) -> None:
    v = TARGET.at(D).label_variance
    for name, (learner, least, most) in LEARNERS.items():
        sizes = [round(D**k) for k in KAPPAS]
        alphas = [n / D for n in sorted(set(sizes)) if least <= n <= most]
        start = time.process_time()
        runs = study(learner, TARGET, d=D, alpha=alphas, seeds=trials, store=store, workers=1)
        mean = (runs.error.mean("seed") / v).values.round(3)
        print(f"{name}: {time.process_time() - start:.0f} s")
        print(" ".join(f"{round(a * D)}:{e}" for a, e in zip(alphas, mean, strict=True)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10)
