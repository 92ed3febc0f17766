"""Products, memory and time of the spectral learner on phase retrieval, against reading X.

The link is |z| with n = 50000 samples in dimension 5000, X in float32 (1 GB). `T_read` is the time
of X.sum(), the median of five. Memory is the largest resident size of the process so far minus
that before X was drawn, over the size of X. Time is wall-clock.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable

import numpy as np

from learnability import MultiIndex
from learnability.learners.linear_algebra.eigenvectors import (
    leading_linearised_vectors,
    leading_vectors,
)
from learnability.learners.linear_algebra.thin_products import collect, project
from learnability.learners.spectral import Spectral

ALPHA = 10.0
MOST_PRODUCTS = 40
MOST_MEMORY = 1.3


def resident() -> float:
    """Largest resident size of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def seconds(call: Callable[[], object], repeats: int = 5) -> float:
    """Median wall-clock seconds of a call."""
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def learner(d: int) -> None:
    """The whole learner, with its sample, and the memory that it takes."""
    method = Spectral()
    method.simulate("abs(z)", d=50, alpha=ALPHA)  # Imports and caches, outside the clock.
    before = resident()
    start = time.perf_counter()
    runs = method.simulate("abs(z)", d=d, alpha=ALPHA)
    took = time.perf_counter() - start
    size = round(ALPHA * d) * d * 4
    memory = (resident() - before) / size
    products = int(runs.products.squeeze())
    print(
        f"learner: {products} products ({'within' if products <= MOST_PRODUCTS else 'ABOVE'} "
        f"{MOST_PRODUCTS}), peak memory {memory:.2f} X "
        f"({'within' if memory <= MOST_MEMORY else 'ABOVE'} {MOST_MEMORY}), {took:.1f} s with "
        f"sampling; squared overlap {float(runs.subspace_overlap.squeeze()):.4f}, "
        f"predicted {float(method.predict('abs(z)', alpha=ALPHA).subspace_overlap):.4f}; "
        f"{runs.status.values.ravel()[0]}"
    )


def parts(d: int) -> None:
    """Solvers and thin products on one sample, in units of reading it."""
    from learnability.learners.linear_algebra.eigenvectors import preprocessing

    X, y, _, _ = MultiIndex("abs(z)").sample(0, d=d, alpha=ALPHA, dtype=np.float32)
    G = (y.astype(float) ** 2 - 1)[:, None, None]
    read = seconds(lambda: X.sum())
    print(f"T_read = {read:.3f} s ({X.nbytes / read / 1e9:.0f} GB/s)")
    rng = np.random.default_rng(0)
    for r in (1, 2, 3):
        W, g = rng.standard_normal((r, d)), rng.standard_normal((r, len(X)))
        forth, back = seconds(lambda W=W: project(X, W)), seconds(lambda g=g: collect(X, g))
        whole = seconds(lambda W=W: W.astype(np.float32) @ X.T)
        print(
            f"r = {r}: project {forth / read:.2f}, collect {back / read:.2f}, "
            f"one matrix product {whole / read:.2f} T_read"
        )
    for floor in (-10.0, -30.0, -100.0, -300.0):
        T = preprocessing(G, floor)
        start = time.perf_counter()
        found = leading_vectors(X, T)
        took = time.perf_counter() - start
        print(f"symmetric, floor {floor:g}: {found.products} products, {took / read:.0f} T_read")
    start = time.perf_counter()
    found = leading_linearised_vectors(X, G)
    took = time.perf_counter() - start
    print(f"asymmetric: {found.products} products, {took / read:.0f} T_read")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--d", type=int, default=5000)
    d = parser.parse_args().d
    learner(d)
    parts(d)


if __name__ == "__main__":
    main()
