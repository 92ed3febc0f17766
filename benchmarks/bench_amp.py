"""Time of Bayes-optimal message passing, as ratios within one run.

All times are CPU seconds, `time.process_time`, summed over the threads of this process; other work
on the machine disturbs them least. `T_read` is the time of X.sum(). Compilation, imports and caches
are paid by a first call outside the clock.

(a), (b)  one iteration at n = 20000, d = 5000, X in float32 (400 MB), over T_read;
(c)       72 runs at d = 500, alpha = 5 to convergence from random starts, over as many thin
          products as their iterations need;
(d)       a curve of 80 points of state evolution over one run at d = 1000, alpha = 5;
(e)       one run at d = 200, alpha = 2, the mean of four, over drawing and sorting 10^7 normals.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from learnability import BayesAMP, MultiIndex
from learnability.learners.bayes._channel_step import ChannelStep
from learnability.learners.bayes._iteration import iterate, random_start
from learnability.learners.linear_algebra.thin_products import collect, project
from learnability.theory.state_evolution import state_evolution

PARITY = MultiIndex("sign(z1*z2)")
COMMITTEE = MultiIndex("tanh(z1) + tanh(z2)", noise=0.01)
N, D = 20_000, 5_000
SEEDS = 72
RUNS = (
    "z1*z2",
    "max(z1,z2)",
    "sign(z2-z1**2)",
    "tanh(z1)*z2+z3**2",
    "z1*z2*z3",
    "max(z1,z2,z3)",
    "z1*z2+z3*z4",
)
FEW = 4
"""Seeds of the runs of each of these."""


def seconds(call: Callable[[], object], repeats: int = 1) -> float:
    """Median CPU seconds of a call."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return statistics.median(found)


def one_iteration(target: MultiIndex) -> tuple[float, dict[str, float]]:
    """One iteration over reading X, and what its parts take."""
    X, y, W, _ = target.sample(0, n=N, d=D, dtype=np.float32)
    read = seconds(lambda: X.sum(), 5)
    step = ChannelStep(target.channel, y)
    start = random_start(np.random.default_rng(0), target.r, D)

    def run(iterations: int) -> None:
        iterate(X, step, start, W, 0.5, iterations, 1e-12)

    run(1)
    few, many = seconds(lambda: run(1), 3), seconds(lambda: run(5), 3)
    omega = project(X, start.W)
    parts = {
        "project": seconds(lambda: project(X, start.W), 3),
        "channel": seconds(lambda: step(omega, start.C), 3),
        "collect": seconds(lambda: collect(X, omega), 3),
    }
    return (many - few) / 4 / read, {name: t / read for name, t in parts.items()}


def seeds() -> float:
    """Runs to convergence over their thin products."""
    method = BayesAMP()
    method.simulate(PARITY, d=500, alpha=5.0)
    took, products = 0.0, 0.0
    for seed in range(SEEDS):
        X, y, W, _ = PARITY.sample(seed, d=500, alpha=5.0, dtype=np.float32)
        start = random_start(np.random.default_rng(seed), 2, 500)
        steps = []

        def run(X=X, y=y, W=W, start=start, steps=steps) -> None:
            step = ChannelStep(PARITY.channel, y)
            found = iterate(X, step, start, W, method.damping, method.iterations, method.tolerance)
            steps.append(len(found.overlap) - 1)

        def thin(X=X, start=start, steps=steps) -> None:
            g = np.ones((2, len(X)), dtype=np.float32)
            for _ in range(steps[0]):
                project(X, start.W)
                collect(X, g)

        took += seconds(run)
        products += seconds(thin)
    return took / products


def curve() -> float:
    """State evolution over one run, sample included."""
    method = BayesAMP()
    alphas = np.linspace(0.1, 8, 80)
    method.predict(PARITY, alpha=alphas)
    method.simulate(PARITY, d=50, alpha=5.0)

    def predict() -> None:
        state_evolution.cache_clear()
        method.predict(PARITY, alpha=alphas)

    theory = seconds(predict)
    return theory / seconds(lambda: method.simulate(PARITY, d=1000, alpha=5.0))


def unit() -> float:
    """CPU seconds of drawing and sorting ten million normals."""
    return seconds(lambda: np.sort(np.random.default_rng(0).standard_normal(10**7)), 5)


def small_runs() -> list[tuple[str, float, float]]:
    """Runs at d = 200 and alpha = 2, over the unit."""
    method, found = BayesAMP(), []
    for text in RUNS:
        target = MultiIndex(text)
        method.simulate(target, d=200, alpha=2.0, seeds=[FEW])
        took = seconds(lambda target=target: method.simulate(target, d=200, alpha=2.0, seeds=FEW))
        found.append((f"(e) one run, {text}, in units", took / FEW, 5.0))
    one = unit()
    return [(name, took / one, limit) for name, took, limit in found]


def main() -> None:
    with threadpool_limits(limits=1, user_api="blas"):  # As message passing itself does.
        report()


def report() -> None:
    parity, parity_parts = one_iteration(PARITY)
    committee, committee_parts = one_iteration(COMMITTEE)
    rows = [
        ("(a) iteration, sign(z1*z2), over T_read", parity, 8.0),
        ("(b) iteration, tanh(z1) + tanh(z2), over T_read", committee, 25.0),
        (f"(c) {SEEDS} runs at d = 500 over their thin products", seeds(), 3.0),
        ("(d) 80 points of state evolution over one run", curve(), 1.0),
        *small_runs(),
    ]
    print(f"{'figure':<52}{'measured':>10}{'limit':>8}")
    for name, ratio, limit in rows:
        verdict = "within" if ratio <= limit else "ABOVE"
        print(f"{name:<52}{ratio:>10.2f}{limit:>8g}  {verdict}")
    for name, parts in (("(a)", parity_parts), ("(b)", committee_parts)):
        print(name, "parts, in T_read:", ", ".join(f"{k} {t:.2f}" for k, t in parts.items()))


if __name__ == "__main__":
    main()
