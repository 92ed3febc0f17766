"""Gradient descent that reuses its batch, and its mean-field theory, as ratios within one run.

All times are CPU seconds, `time.process_time`, summed over the threads of this process. Imports and
compilation are paid by a first call outside the clock.

(a)  theory with 10^6 samples, 7 steps, two neurons and two directions, over drawing its normal
     numbers with NumPy 30 times; and the largest resident size of the process so far;
(b)  the two matrix products of a step alone over a step of gradient descent, n = 15000, d = 5000,
     X in float32 (300 MB), by the fastest products that the library has: a step reads X once, so
     that the ratio may exceed one.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from learnability import BatchGD, Link
from learnability.learners.batch._descent import descend
from learnability.learners.batch._network import Network
from learnability.learners.linear_algebra.thin_products import collect, project

LINK, ALPHA = "tanh(z1 + He3(z2))", 3.0
N, D = 15_000, 5_000
SAMPLES, STEPS, DRAWS = 10**6, 7, 30


def seconds(call: Callable[[], object], repeats: int) -> float:
    """Median CPU seconds of a call."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return statistics.median(found)


def theory() -> float:
    """Mean-field theory over drawing the normals that it needs."""
    learner = BatchGD(steps=STEPS, width=2)
    learner.predict(LINK, alpha=ALPHA, samples=SAMPLES)
    rng = np.random.Generator(np.random.SFC64(0))
    shape = (SAMPLES, 2 + 2 * (STEPS + 1))
    drawing = seconds(lambda: rng.standard_normal(shape), 5)
    solving = seconds(lambda: learner.predict(LINK, alpha=ALPHA, samples=SAMPLES), 3)
    return solving / (DRAWS * drawing)


def descent(X: np.ndarray, y: np.ndarray, p: int) -> float:
    """Two products over a step."""
    rng = np.random.default_rng(p)
    W = rng.standard_normal((p, D), dtype=np.float32) / np.float32(np.sqrt(D))
    G = rng.standard_normal((p, N), dtype=np.float32)
    network = Network(Link("relu(z)"), (1 / p,) * p, "squared")

    def run(steps: int) -> None:
        descend(X, y, network, W, W[:1], step=0.01, ridge=0.0, steps=steps)

    run(1)
    few, many = seconds(lambda: run(1), 5), seconds(lambda: run(6), 5)
    forth = min(seconds(lambda: project(X, W), 5), seconds(lambda: W @ X.T, 5))
    back = min(seconds(lambda: collect(X, G), 5), seconds(lambda: G @ X, 5))
    return (forth + back) / ((many - few) / 5)


def main() -> None:
    with threadpool_limits(limits=1, user_api="blas"):
        ratio = theory()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        said = "within" if ratio <= 1 and peak <= 2 else "ABOVE"
        print(
            f"(a) theory over {DRAWS} draws of its normals: {ratio:.2f} (limit 1), peak memory "
            f"{peak:.2f} GiB (limit 2)  {said}"
        )
        rng = np.random.Generator(np.random.SFC64(1))
        X = rng.standard_normal((N, D), dtype=np.float32)
        y = rng.standard_normal(N, dtype=np.float32)
        for p in (1, 2, 4, 8, 16):
            share = descent(X, y, p)
            verdict = "within" if share >= 0.7 else "BELOW"
            print(f"(b) two products over a step, p = {p}: {share:.2f} (at least 0.7)  {verdict}")


if __name__ == "__main__":
    main()
