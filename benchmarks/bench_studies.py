"""What a study costs beside its work.

1. 1000 points of 10 ms of work each on two warm workers, against half of the work. The work is
to make a small result and to sleep for the rest of the 10 ms, so that other programs on the machine
disturb it little: what is measured is what the engine adds. The store is on disk, and every point
is in it at the end. "Warm" means that the clock starts when both workers have computed a point;
starting them takes a few seconds and is printed.

2. A study of 128 seeds of one-pass SGD, with a store, against `simulate` with the same seeds, in
CPU seconds of this process: both compiled before (the least of seven calls each), and both with
their compilation, for links that nobody compiled before (the least of three).

3. 10^5 points of a learner that computes nothing (10^4 cells of 10 seeds), with a store, in a new
process: CPU time a point of everything from the call to the result, and the most memory that the
process ever held; the imports of xarray and pandas, 90 MB, are in it.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import learnability as lb
from learnability.fields import number, record
from learnability.learners.base import Found, Learner, Question, Side
from learnability.studies import engine
from learnability.studies.cluster import connected
from learnability.studies.compute import compute_on_worker
from learnability.studies.points import plan
from learnability.studies.store import Store
from learnability.studies.threads import one_thread

POINTS, WORK, WORKERS = 1000, 0.010, 2
SEEDS, LIMIT = 128, 1.3
MANY, MICROSECONDS, MEGABYTES = 100_000, 200.0, 200.0


@record
class Sleeper(Learner):
    """A learner that works for 10 ms."""

    name: ClassVar[str] = "sleeper"
    questions: ClassVar[tuple[Question, ...]] = (
        Question("values", "Nothing.", ("overlap", "error", "status"),
                 simulate=Side(needs=("alpha",))),
    )  # fmt: skip

    seconds: float = number(WORK, at_least=0, help="How long it sleeps.")

    def run_one(self, question: str, target: Any, at: Mapping[str, Any], seed: int) -> Found:
        end = time.perf_counter() + self.seconds
        alpha = at["alpha"]
        values = {"overlap": np.full((2, 2), alpha), "error": alpha, "status": "converged"}
        if self.seconds:
            time.sleep(max(end - time.perf_counter(), 0.0))
        return Found(values)


def planned(seeds: Any, alpha: Any) -> Any:
    learner = Sleeper()
    grid = {"alpha": alpha}
    return plan(learner, lb.MultiIndex("z"), learner.questions[0], seeds, grid, stored=True)


def told(figure: str, ratio: float, limit: float = LIMIT) -> None:
    verdict = "within" if ratio <= limit else "ABOVE"
    print(f"{figure:<56}{ratio:>10.2f}{limit:>8g}  {verdict}", flush=True)


def many_points() -> None:
    points, layout = planned(range(10), np.linspace(0.1, 5, POINTS // 10))
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, connected(None, WORKERS) as (client, own):
        client.wait_for_workers(WORKERS)
        warm = planned([10**6], 1.0)[0]
        for worker in client.nthreads():
            client.submit(
                compute_on_worker,
                warm,
                lb.__version__,
                f"warm-{worker}",
                workers=[worker],
                key=f"warm-{worker}",
            ).result()
        print(f"{WORKERS} workers were warm after {time.perf_counter() - begun:.1f} s")
        with Store(Path(folder) / "bench.study", write=True) as store:
            store.remember(layout)
            start, cpu = time.perf_counter(), time.process_time()
            engine._Coordinator(client, own, store.commit).run(points)
            took, cpu = time.perf_counter() - start, time.process_time() - cpu
            assert len(store.finished(layout.keys)) == POINTS
            ((spent,),) = store._run("SELECT total(seconds) FROM points", ())
    told("1000 points of 10 ms over total work / 2", took / (POINTS * WORK / WORKERS))
    # On a busy machine a sleep of 10 ms takes longer: this is what the engine alone adds.
    told("the same over what the points themselves took / 2", took * WORKERS / spent)
    each = 1000 * cpu / POINTS
    print(f"coordinator: {each:.2f} ms of CPU for each point; load {os.getloadavg()[0]:.1f}")


def cpu_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def seeds_side_by_side() -> None:
    learner = lb.OnlineSGD(activation="tanh(z)", step=0.5)
    at: dict[str, Any] = {"d": 1000, "time": np.linspace(0, 10, 11), "seeds": SEEDS}

    def simulated(link: str) -> float:
        with one_thread():
            return cpu_seconds(lambda: learner.simulate(link, **at))

    def studied(link: str) -> float:
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder) / "bench.study"
            return cpu_seconds(lambda: lb.study(learner, link, **at, store=store, workers=1))

    simulated("z"), studied("z")  # Imports, and what all links share.
    fresh = [[call(f"tanh({2 + k + 0.5 * j}*z)") for k in range(3)]
             for j, call in enumerate((simulated, studied))]  # fmt: skip
    warm = [[call("z") for _ in range(7)] for call in (simulated, studied)]
    for name, (runs, study) in (("compiled before", warm), ("compilation included", fresh)):
        print(f"{SEEDS} seeds, {name}: simulate {min(runs):.3f} s, study {min(study):.3f} s of CPU")
        told(f"study of {SEEDS} seeds over simulate, {name}", min(study) / min(runs))


def held() -> float:
    """The most memory that this process ever held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def overhead() -> None:
    learner = Sleeper(seconds=0.0)
    grid: dict[str, Any] = {"alpha": np.linspace(0.1, 5, MANY // 10), "seeds": 10, "workers": 1}
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "bench.study"
        took = cpu_seconds(lambda: lb.study(learner, "z", **grid, store=store))
    told(f"{MANY} points: microseconds of CPU a point", 1e6 * took / MANY, MICROSECONDS)
    told("the same: MB of memory at most", held(), MEGABYTES)
    print(f"load {os.getloadavg()[0]:.1f}")


PARTS = (overhead, seeds_side_by_side, many_points)


def main(names: list[str]) -> None:
    """All parts, or those that are named."""
    print(f"{'figure':<56}{'measured':>10}{'limit':>8}")
    for part in PARTS:
        if not names or part.__name__ in names:
            part()


if __name__ == "__main__":
    main(sys.argv[1:])
