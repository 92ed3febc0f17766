"""Cost of random features against their matrix products, and of exact curves against one run.

CPU seconds of this process, the median of three, on one core (set OPENBLAS_NUM_THREADS=1).
"""

from __future__ import annotations

import statistics
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from learnability import KernelRidge, MultiIndex, RandomFeatures
from learnability.learners.linear_algebra.ridge import fit_readout
from learnability.learners.networks.features import first_layer

D = 1000


def seconds(call: Callable[[], object], repeats: int = 3) -> float:
    """Median CPU seconds of a call."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return statistics.median(found)


def fit(n: int, p: int) -> None:
    """The regression on given features against its product and factor alone."""
    F = np.random.default_rng(0).standard_normal((n, p), dtype=np.float32) / np.float32(p**0.5)
    y = np.ones(n)
    A = F if n > p else F.T

    def bare() -> None:
        gram = (A.T @ A).astype(np.float64)
        gram[np.diag_indices(len(gram))] += 0.1
        cho_solve(cho_factor(gram, lower=True, overwrite_a=True), np.ones(len(gram)))

    whole, limit = seconds(lambda: fit_readout(F, y, [0.1])), seconds(bare)
    path = seconds(lambda: fit_readout(F, y, [0.01, 0.1, 1.0, 10.0]))
    print(
        f"fit n = {n}, p = {p}: {whole:.2f} s, {whole / limit:.2f} x product and factor; "
        f"four ridges {path / whole:.1f} x one"
    )


def curve() -> None:
    """Fifty exact points, of a learner and a target not seen before, against one run."""
    learner = RandomFeatures(1.0, "tanh(z) + z/7", 0.01)
    RandomFeatures().predict("z", alpha=1.0)  # Imports, outside the clock.
    target = MultiIndex("sign(z1) + z1*z2/3", noise=0.1)
    theory = seconds(lambda: learner.predict(target, alpha=np.linspace(0.1, 5, 50)), 1)
    run = seconds(lambda: learner.simulate(target, d=D, alpha=1.0), 3)
    X = np.zeros((10_000 + D, D), np.float32)
    W = first_layer(0, D, D)
    products = seconds(lambda: X @ W.T)
    print(
        f"curve of 50 points: {theory:.2f} s, one run at d = p = n = {D}: {run:.2f} s "
        f"({'less' if theory < run else 'MORE'}); "
        f"the products of the run's features: {products:.2f} s"
    )


def memory(learner: RandomFeatures | KernelRidge, n: int, d: int, size: float) -> None:
    """The largest size of all arrays that a run holds at once, over that of X and the features."""
    tracemalloc.start()
    learner.simulate("tanh(z)", d=d, alpha=n / d)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    name = type(learner).__name__
    print(f"{name}, n = {n}, d = {d}: peak memory {peak / size:.2f} x (X and features)")


if __name__ == "__main__":
    memory(KernelRidge("exp(z)", 0.1), 4000, 1000, 8 * 4000 * 5000)
    memory(RandomFeatures(1.0, "tanh(z)", 0.1), 20_000, 2000, 4 * 20_000 * 4000)
    fit(10_000, 2000)
    fit(2000, 10_000)
    curve()
