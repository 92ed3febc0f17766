"""Cost of layer-wise runs against their matrix products, and of joint training and predictions.

The runs are the published grid's largest cell, d = 64 and n = 64^2.2, and a tree of depth 4 in
d = 256 with n = 16 384.

CPU seconds of this process on one core (set OPENBLAS_NUM_THREADS=1) and the largest resident size
beyond that before the run. Products are those of the spherical steps, features, Gram matrix, the
product with its eigenvectors, and the eigenvectors themselves.
"""

from __future__ import annotations

import math
import resource
import time
from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh

from learnability import (
    Hierarchical,
    JointAdamW,
    KernelRidge,
    Layerwise,
    MehlerReadout,
    SpectralFirstLayer,
)
from learnability.figures._literature import reference
from learnability.learners.measurement import FRESH

TARGET = reference()
D, N, WIDTH = 64, round(64**2.2), 1000
TREE, TREE_D, TREE_N = Hierarchical("tanh(z)", "He2(z)", depth=4), 256, 16_384


def seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def products(n: int, d: int) -> None:
    """What the layer-wise route cannot avoid."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    W = rng.standard_normal((WIDTH, d), dtype=np.float32)
    for _ in range(math.ceil(math.log(d))):
        H = X @ W.T
        H.T @ X
    F = X @ W.T
    gram = F.T @ F
    _, vectors = eigh(gram.astype(np.float64), driver="evd")
    (X @ W.T) @ vectors.astype(np.float32)
    rng.standard_normal((FRESH, d), dtype=np.float32) @ W.T


def peak() -> float:
    """Largest resident size so far, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def against_products(what: str, target: Hierarchical, n: int, d: int) -> float:
    """Print one run over its products, the least of three each; return its seconds."""
    learner = Layerwise(width=WIDTH, fresh=False)
    learner.simulate(target, d=d, alpha=n / d)  # Imports and compilation, outside the clock.
    before = peak()
    runs = [
        seconds(lambda k=k: learner.simulate(target, d=d, alpha=n / d, seeds=[k]))
        for k in (1, 2, 3)
    ]
    more, bare = peak() - before, min(seconds(lambda: products(n, d)) for _ in range(3))
    ratio = min(runs) / bare
    print(f"layer-wise, {what}, d = {d}, n = {n}: {min(runs):.2f} s, {ratio:.2f} x its products")
    print(f"peak memory: {peak():.2f} GiB, {more:.2f} more in the timed run", flush=True)
    return min(runs)


def main() -> None:
    learner = Layerwise(width=WIDTH, fresh=False)
    whole = against_products("published", TARGET, N, D)
    against_products("depth 4", TREE, TREE_N, TREE_D)
    start = seconds(lambda: learner.predict(TARGET, d=D, alpha=[N / D]))
    print(f"first prediction of the run at d = {D}: {start:.2f} s, {start / whole:.2f} x the run")
    for depth in (2, 3):
        joint = JointAdamW(depth)
        joint.simulate(TARGET, d=D, alpha=2.0)
        tuned = seconds(lambda joint=joint: joint.simulate(TARGET, d=D, alpha=N / D))
        print(f"joint training of {depth} layers: {tuned:.1f} s, {peak():.2f} GiB", flush=True)
    theory = seconds(lambda: learner.predict(TARGET, d=D, alpha=np.geomspace(1, 150, 15)))
    print(f"prediction of 15 points: {theory:.2f} s, {peak():.2f} GiB", flush=True)
    fitted = Layerwise((SpectralFirstLayer(None), MehlerReadout()), fresh=True)
    exact = seconds(lambda: fitted.simulate(TARGET, d=D, alpha=N / D))
    print(f"spectral first layer and Mehler ridge: {exact:.1f} s, {peak():.2f} GiB", flush=True)
    kernel = seconds(lambda: KernelRidge("mehler").simulate(TARGET, d=D, alpha=N / D))
    print(f"kernel in all dimensions: {kernel:.1f} s, {peak():.2f} GiB")


if __name__ == "__main__":
    main()
