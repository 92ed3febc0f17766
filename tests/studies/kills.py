"""Kills a study again and again, then looks at what is left."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from learnability.studies import Store, check
from learnability.studies.assembly import assemble

from tests.studies.coordinator import ALPHAS, SEEDS
from tests.studies.learners import value_of

ROOT = Path(__file__).resolve().parents[2]
TOTAL = len(ALPHAS) * SEEDS
SECONDS = 0.03


class Victim:
    """A study that is killed and started again until it is done.

    The time between a first point of the new run and the kill is random, with a fixed seed.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.store, self.log = folder / "killed.study", folder / "log.txt"
        self.random = random.Random(seed)
        self.log.touch()

    def start(self, workers: int) -> subprocess.Popen[bytes]:
        arguments = [str(self.store), str(self.log), str(workers), str(SECONDS)]
        return subprocess.Popen(
            [sys.executable, "-m", "tests.studies.coordinator", *arguments],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
            stderr=subprocess.DEVNULL,
        )

    def committed(self) -> dict[tuple[float, int], float]:
        """(alpha, seed) -> when it was committed."""
        if not self.store.exists():
            return {}
        connection = sqlite3.connect(f"{self.store.as_uri()}?mode=ro", uri=True, timeout=30)
        try:
            rows = connection.execute(
                "SELECT json_extract(parameters, '$.arguments.alpha'), seed, finished FROM points"
            ).fetchall()
        finally:
            connection.close()
        assert len({row[:2] for row in rows}) == len(rows)  # Each once.
        return {(alpha, seed): finished for alpha, seed, finished in rows}

    def runs(self) -> list[tuple[float, int, float, int]]:
        """When each run began, its process, alpha and seed; the last line may be cut."""
        lines = self.log.read_text().splitlines(keepends=True)
        split = [line.split() for line in lines if line.endswith("\n")]
        return [(float(t), int(pid), float(alpha), int(seed)) for t, pid, alpha, seed in split]

    def kill_coordinator(self, workers: int, how: signal.Signals = signal.SIGKILL) -> None:
        """Start it, let it compute something new, kill it at a random time."""
        before, known = len(self.runs()), len(self.committed())
        process = self.start(workers)
        if self.random.random() < 0.8:
            wait_for(lambda: len(self.committed()) > known or process.poll() is not None)
        else:  # Perhaps before anything was committed.
            wait_for(lambda: len(self.runs()) > before or process.poll() is not None)
        time.sleep(self.random.uniform(0.0, 0.4))
        process.send_signal(how)
        process.wait(timeout=60)
        own = {pid for _, pid, _, _ in self.runs()[before:]} - {process.pid}
        wait_for(lambda: not any(map(alive, own)))  # Its workers go with it.

    def kill_workers(self, count: int) -> int:
        """Run it to its end, and kill so many workers on the way; return how many were."""
        process, killed = self.start(workers=2), 0
        while process.poll() is None and killed < count:
            seen = len(self.runs())
            wait_for(lambda seen=seen: len(self.runs()) > seen or process.poll() is not None)
            time.sleep(self.random.uniform(0.0, 0.2))
            pid = self.runs()[-1][1]
            if process.poll() is None and alive(pid):
                os.kill(pid, signal.SIGKILL)
                killed += 1
        assert process.wait() == 0
        return killed

    def finish(self, workers: int) -> None:
        assert self.start(workers).wait() == 0

    def check(self) -> None:
        """Every point is there once, none is wrong, no finished one was computed again."""
        finished = self.committed()
        assert len(finished) == TOTAL
        assert check(self.store).damaged == []
        with Store(self.store, write=False) as store:
            (layout,) = store.studies().values()
            data = assemble(layout, store.results(layout.keys)).to_dataset()
        for alpha in ALPHAS:
            for seed in range(SEEDS):
                found = data["length"].sel(alpha=alpha, seed=seed).values
                np.testing.assert_array_equal(found, value_of(alpha, 1.0, 0.0, seed))
        again = [run for run in self.runs() if run[0] > finished[run[2], run[3]]]
        assert again == []


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def wait_for(condition: Callable[[], bool], most: float = 60.0) -> None:
    end = time.monotonic() + most
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)
