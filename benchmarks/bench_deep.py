"""Cost of the published grid's largest cell, d = 64 and n = 64^2.2, against its matrix products.

CPU seconds of this process on one core (set OPENBLAS_NUM_THREADS=1) and the largest resident size
beyond that before the run. Products are those of the spherical steps, features, Gram matrix, the
product with its eigenvectors, and the eigenvectors themselves.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh

from learnability import (
    JointAdamW,
    KernelRidge,
    Layerwise,
    MehlerReadout,
    SpectralFirstLayer,
)
from learnability.figures._literature import reference
from learnability.learners.measurement import FRESH

TARGET = reference()
D, N, WIDTH, STEPS = 64, round(64**2.2), 1000, 5


def seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def products() -> None:
    """What the layer-wise route cannot avoid."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D), dtype=np.float32)
    W = rng.standard_normal((WIDTH, D), dtype=np.float32)
    for _ in range(STEPS):
        H = X @ W.T
        H.T @ X
    F = X @ W.T
    gram = F.T @ F
    _, vectors = eigh(gram.astype(np.float64), driver="evd")
    (X @ W.T) @ vectors.astype(np.float32)
    rng.standard_normal((FRESH, D), dtype=np.float32) @ W.T


def peak() -> float:
    """Largest resident size so far, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    learner = Layerwise(width=1000, fresh=False)
    learner.simulate(TARGET, d=D, alpha=N / D)  # Imports and compilation, outside the clock.
    before = peak()
    whole = seconds(lambda: learner.simulate(TARGET, d=D, alpha=N / D, seeds=[1]))
    after = peak()
    bare = seconds(products)
    print(f"layer-wise, d = {D}, n = {N}: {whole:.2f} s, {whole / bare:.2f} x its products")
    print(f"peak memory: {after:.2f} GiB, {after - before:.2f} more in the timed run", flush=True)
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
