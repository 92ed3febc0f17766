"""Cost of a giant step with its readout against its matrix products, and of the exact curve.

CPU seconds of this process on one core (set OPENBLAS_NUM_THREADS=1), and the largest resident size
beyond that before the run, over the size of X and the features.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from learnability import GiantSteps
from learnability.learners.linear_algebra.ridge import fit_readout
from learnability.learners.networks.features import ROWS

N, D = 20_000, 2000


def seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def products() -> None:
    """What cannot be avoided: three products of the step, two of the readout, a factor."""
    X = np.ones((ROWS, D), np.float32)
    W = np.ones((D, D), np.float32)
    gram = np.zeros((D, D), np.float32)
    for start in range(0, N, ROWS):
        block = X[: min(ROWS, N - start)]
        H = block @ W.T
        H.T @ block
        F = block @ W.T
        gram += F.T @ F
    for _ in range(10):
        X[:1000] @ W.T  # The fresh samples on which the error is measured.
    system = np.eye(D) + 1e-9 * gram
    cho_solve(cho_factor(system, lower=True), np.ones(D))


def main() -> None:
    learner = GiantSteps(1.0, "tanh(z)", N / D, 1, 1.0, ridge=0.1)
    learner.simulate("tanh(z)", d=50, alpha=1.0)  # Imports, outside the clock.
    learner.predict("tanh(z)", alpha=1.0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    learner.simulate("tanh(z)", d=D, alpha=N / D)
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / (8 * N * D)
    ratios = []
    for _ in range(3):  # By turns, because other work on the machine slows both.
        whole = seconds(lambda: learner.simulate("tanh(z)", d=D, alpha=N / D))
        ratios.append(whole / seconds(products))
    ratio, low, high = statistics.median(ratios), min(ratios), max(ratios)
    print(f"step and readout, n = {N}, d = p = {D}: {whole:.1f} s")
    print(f"over its products: {ratio:.2f} ({low:.2f} to {high:.2f})")
    print(f"peak memory: {peak:.2f} x (X and features)")
    curve = seconds(lambda: learner.predict("sign(z)", alpha=np.linspace(0.1, 5, 50)))
    run = seconds(lambda: learner.simulate("sign(z)", d=1000, alpha=1.0))
    print(f"curve of 50 points: {curve:.2f} s; one run at d = 1000: {run:.2f} s")
    F = np.random.default_rng(0).standard_normal((4000, 1000), dtype=np.float32)
    path = seconds(lambda: fit_readout(F, np.ones(4000), np.geomspace(1e-3, 10, 20)))
    one = seconds(lambda: fit_readout(F, np.ones(4000), [0.1]))
    print(f"readout: 20 ridges {path / one:.1f} x one")


if __name__ == "__main__":
    main()
