"""What a study costs beside its work.

1000 points of 10 ms of work each on two warm workers, against half of the work. The work is
to make a small result and to sleep for the rest of the 10 ms, so that other programs on the machine
disturb it little: what is measured is what the engine adds. The store is on disk, and every point
is in it at the end. "Warm" means that the clock starts when both workers have computed a point;
starting them takes a few seconds and is printed.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray

import learnability as lb
from learnability.studies import engine
from learnability.studies.cluster import connected
from learnability.studies.compute import compute_group
from learnability.studies.points import plan
from learnability.studies.store import Store

POINTS, WORK, WORKERS = 1000, 0.010, 2


@dataclass(frozen=True)
class Sleeper:
    """A learner that works for 10 ms."""

    seconds: float = WORK

    def simulate(
        self, target: lb.MultiIndex, *, alpha: float, seeds: Sequence[int]
    ) -> xarray.Dataset:
        end = time.perf_counter() + self.seconds
        found = xarray.Dataset(
            {
                "overlap": (("seed", "estimate", "index"), np.full((1, 2, 2), alpha)),
                "error": (("seed",), [alpha]),
                "status": (("seed",), ["converged"]),
            },
            {"alpha": alpha, "seed": list(seeds)},
        )
        time.sleep(max(end - time.perf_counter(), 0.0))
        return found


def main() -> None:
    alphas = np.linspace(0.1, 5, POINTS // 10)
    points, layout = plan(
        Sleeper(), lb.MultiIndex("z"), range(10), {"alpha": alphas}, stored=True
    )  # fmt: skip
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, connected(None, WORKERS) as (client, own):
        client.wait_for_workers(WORKERS)
        warm = plan(Sleeper(), lb.MultiIndex("z"), [10**6], {"alpha": 1.0}, stored=True)[0]
        for worker in client.nthreads():
            client.submit(
                compute_group, warm, lb.__version__, workers=[worker], key=f"warm-{worker}"
            ).result()
        print(f"{WORKERS} workers were warm after {time.perf_counter() - begun:.1f} s")
        with Store(Path(folder) / "bench.study", write=True) as store:
            store.remember(layout)
            start, cpu = time.perf_counter(), time.process_time()
            engine._Coordinator(client, own, store.commit).run(points)
            took, cpu = time.perf_counter() - start, time.process_time() - cpu
            assert len(store.finished(layout.keys)) == POINTS
            ((spent,),) = store._run("SELECT total(seconds) FROM points", ())
    print(f"{'figure':<52}{'measured':>10}{'limit':>8}")
    ratio = took / (POINTS * WORK / WORKERS)
    verdict = "within" if ratio <= 1.3 else "ABOVE"
    print(f"{'1000 points of 10 ms over total work / 2':<52}{ratio:>10.2f}{1.3:>8g}  {verdict}")
    # On a busy machine a sleep of 10 ms takes longer: this is what the engine alone adds.
    print(
        f"{'the same over what the points themselves took / 2':<52}{took * WORKERS / spent:>10.2f}"
    )
    each = 1000 * cpu / POINTS
    print(f"coordinator: {each:.2f} ms of CPU a point; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
