"""Kill -9 of drivers, workers and schedulers over complete studies, and what is left of them.

``python -m tests.fuzz.kills --kills 1000 [--first N]`` runs study after study, each under kills at
random times until it is finished: a driver alone, one with workers of its own, or one of a
scheduler and workers that others started. After every kill the store is read: what was committed is
there, with the same bytes and the same time. At the end its runs are those of a study that nobody
disturbed, bit by bit, none was computed after it was committed, and no file is left beside it.

Everything is forked from one process that has imported what it needs, since most of the cost of a
kill is the start of the next program; workers of a driver are started by the driver, as ever.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ctypes
import importlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fuzz.cases import numbered

__all__ = ["killed"]

ROOT = Path(__file__).resolve().parents[2]
ALPHAS, SEEDS, SECONDS = [0.25 * k for k in range(1, 41)], 20, 0.01
KINDS = ("alone", "workers", "scheduler")
LOST = 3
"""Exit code of a driver whose scheduler is gone."""
PATIENCE = 120.0

Rows = dict[str, tuple[str, int, bytes, float]]


def killed(dice: random.Random, folder: Path) -> int:
    """One study under kills as a program of its own, which has no JAX; how many kills it took."""
    command = [sys.executable, "-m", "tests.fuzz.kills", "--one", str(dice.randrange(2**31))]
    environment = {**os.environ, "TMPDIR": str(folder)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return int(done.stdout.split()[-1])


def study(store: Path, log: Path, **how: Any) -> None:
    """The study of all these tests."""
    import learnability as lb

    from tests.studies.learners import Short

    learner = Short(log=str(log), seconds=SECONDS)
    lb.study(learner, "abs(z)", alpha=ALPHAS, seeds=SEEDS, store=store, **how)


def rows(store: Path) -> Rows:
    """What is committed: key -> parameters, seed, bytes and when."""
    if not store.exists():
        return {}
    with contextlib.closing(
        sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True, timeout=30)
    ) as connection:
        found = connection.execute("SELECT key, parameters, seed, result, finished FROM points")
        return {key: (parameters, *rest) for key, parameters, *rest in found}


class Process:
    """Some work in a fork of this process; its exit code is 1 after an error."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._code: int | None = None
        self.pid = os.fork()
        if self.pid:
            return
        code = 1
        try:
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # It ends when this process does.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            work()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            os._exit(code)

    def code(self) -> int | None:
        """Its exit code, None while it lives."""
        if self._code is None:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if done else None
        return self._code

    def wait(self) -> int:
        wait_for(lambda: self.code() is not None)
        return self._code or 0

    def kill(self) -> bool:
        """Kill it; whether it was alive."""
        if self.code() is not None:
            return False
        os.kill(self.pid, signal.SIGKILL)
        self.wait()
        return True

    def children(self) -> list[int]:
        words = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        return [int(word) for word in words.read_text().split()] if words.exists() else []


class Attack:
    """One study, killed until it is finished."""

    def __init__(self, folder: Path, dice: random.Random) -> None:
        self.folder, self.dice = folder, dice
        self.store, self.log = folder / "killed.study", folder / "log.txt"
        self.temporary, self.said = folder / "tmp", folder / "said.txt"
        self.temporary.mkdir()
        self.log.touch()
        self.ours = {path.name for path in folder.iterdir()} | {
            "killed.study", "said.txt", "scheduler.json", "spill",
        }  # fmt: skip
        tempfile.tempdir = os.environ["TMPDIR"] = str(self.temporary)
        self.kind = dice.choices(KINDS, (2, 1, 1))[0]
        self.known: Rows = {}
        self.kills: Counter[str] = Counter()
        self.others: dict[str, Process] = {}  # Scheduler and workers that are not the driver's own.

    # ---- processes

    def drive(self) -> None:
        """In a fork: the study, and the code of its end."""
        import warnings

        import dask

        from learnability import LearnabilityError
        from learnability.studies.certificates import environment

        os.environ.update(environment(str(self.folder)))
        dask.config.refresh()
        warnings.simplefilter("ignore")
        how: dict[str, Any] = {
            "alone": {"workers": 1},
            "workers": {"workers": 2},
            "scheduler": {"scheduler": str(self.folder / "scheduler.json")},
        }[self.kind]
        try:
            study(self.store, self.log, **how)
        except LearnabilityError as error:
            sentence = str(error)
            self.said.write_text(sentence)
            sys.exit(LOST if "scheduler" in sentence else 1)

    def serve(self) -> None:
        """In a fork: a scheduler as `dask scheduler` starts it."""
        from distributed import Scheduler

        from learnability.studies.certificates import security

        async def until_the_end() -> None:
            scheduler = Scheduler(
                host="tls://127.0.0.1", port=0, security=security(self.folder), dashboard=False,
                scheduler_file=str(self.folder / "scheduler.json"),
            )  # fmt: skip
            async with scheduler:
                await scheduler.finished()

        asyncio.run(until_the_end())

    def work(self) -> None:
        """In a fork: a worker as `dask worker` starts it."""
        from distributed import Worker

        from learnability.studies.certificates import security

        async def until_the_end() -> None:
            worker = Worker(
                scheduler_file=str(self.folder / "scheduler.json"), nthreads=1, dashboard=False,
                security=security(self.folder), local_directory=str(self.folder / "spill"),
                death_timeout=30,
            )  # fmt: skip
            async with worker:
                await worker.finished()

        asyncio.run(until_the_end())

    def gather(self) -> None:
        """The scheduler and two workers, those of them that are not there."""
        if self.kind != "scheduler":
            return
        meeting = self.folder / "scheduler.json"
        self.others = {name: one for name, one in self.others.items() if one.code() is None}
        if "scheduler" not in self.others:
            self.disperse()  # Workers look for the old one.
            meeting.unlink(missing_ok=True)
            self.others["scheduler"] = Process(self.serve)
            wait_for(lambda: meeting.exists() and meeting.stat().st_size > 0)
        for name in ("worker 1", "worker 2"):
            if name not in self.others:
                self.others[name] = Process(self.work)

    def disperse(self) -> None:
        for process in self.others.values():
            process.kill()
        self.others.clear()

    # ---- kills

    def strike(self, driver: Process) -> None:
        """Kill something that runs."""
        victims: dict[str, Process | int] = {"driver": driver, **self.others}
        if self.kind == "workers":
            victims |= {f"worker {pid}": pid for pid in driver.children()}
        seldom = {"workers": "driver", "scheduler": "scheduler"}.get(self.kind)
        weights = [1 if name == seldom else 3 for name in victims]
        name = self.dice.choices(list(victims), weights)[0]
        victim = victims[name]
        if isinstance(victim, Process):
            struck = victim.kill()
        else:
            struck = False
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)  # The driver waits for it.
                struck = True
        self.kills[name.split()[0]] += struck

    def run(self) -> None:
        """Until the study is finished; the last start is left alone."""
        attacks, until = self.dice.randrange(10, 40), time.monotonic() + PATIENCE
        try:
            while len(self.known) < len(ALPHAS) * SEEDS:
                self.gather()
                driver = Process(self.drive)
                while driver.code() is None:
                    assert time.monotonic() < until, "the study hangs"
                    if attacks and self.dice.random() < 0.8:
                        self.wait_for_news(driver)
                    time.sleep(self.dice.uniform(0.0, 0.4))
                    self.look()
                    if attacks and driver.code() is None:
                        attacks, until = attacks - 1, time.monotonic() + PATIENCE
                        self.strike(driver)
                        self.gather()
                assert time.monotonic() < until, "the study does not end"
                self.look()
                assert driver.code() in (0, LOST, -signal.SIGKILL), self.said.read_text()
            assert Process(self.drive).wait() == 0  # A start that finds everything done.
            self.look()
        finally:
            self.disperse()

    def wait_for_news(self, driver: Process) -> None:
        """Until something new is committed, or the driver ends."""
        known = len(self.known)
        wait_for(lambda: driver.code() is not None or len(rows(self.store)) > known)

    def look(self) -> None:
        """What was committed before is there as it was."""
        found = rows(self.store)
        lost = [key for key, row in self.known.items() if found.get(key) != row]
        assert not lost, f"{len(lost)} finished runs are lost or other ones"
        self.known = found

    # ---- the end

    def undisturbed(self) -> Rows:
        """The rows of the same study when nobody is killed; it sleeps no time."""
        whole = self.folder / "whole.study"

        def work() -> None:
            time.sleep = lambda _: None
            study(whole, self.log, workers=1)

        assert Process(work).wait() == 0
        found = rows(whole)
        whole.unlink()
        return found

    def check(self) -> None:
        """The same bytes as without a kill, nothing twice, nothing left over."""
        places = {(alpha_of(row[0]), row[1]): row[3] for row in self.known.values()}
        lines = [line.split() for line in self.log.read_text().splitlines(keepends=True)[:-1]]
        if self.kind != "scheduler":  # There a worker may go on with what nobody waits for.
            again = [w for w in lines if float(w[0]) > places[float(w[2]), int(w[3])]]
            assert not again, f"{len(again)} runs were computed after they were committed"
        alike = [{k: row[:3] for k, row in one.items()} for one in (self.known, self.undisturbed())]
        assert alike[0] == alike[1], "other numbers than without a kill"
        names = {path.name for path in self.folder.iterdir()} - self.ours
        left = {name for name in names if not name.endswith(("-wal", "-shm"))}  # Of our reading.
        assert not left, f"left over: {sorted(left)}"
        if self.kind == "workers":  # The last driver found all done and started none.
            assert Process(self.start_workers).wait() == 0
        rest = [path.name for path in self.temporary.iterdir()]
        rest = [name for name in rest if not name.startswith("dask-")]  # Of the killed `dask`.
        assert not rest, f"left over in the temporary folder: {rest}"

    @staticmethod
    def start_workers() -> None:
        from learnability.studies.cluster import connected

        with connected(None, 1):
            pass


def alpha_of(parameters: str) -> float:
    return float(json.loads(parameters)["arguments"]["alpha"])


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


def attacked(dice: random.Random) -> Counter[str]:
    """One study, in a folder that goes; the kills by what was killed."""
    for name in ("distributed", "scipy.linalg", "xarray", "tests.studies.learners"):
        importlib.import_module(name)
    from learnability.studies.certificates import write_certificate

    before = tempfile.gettempdir()
    with tempfile.TemporaryDirectory(dir=before) as place:
        write_certificate(place)
        attack = Attack(Path(place), dice)
        try:
            attack.run()
            attack.check()
        finally:
            tempfile.tempdir = os.environ["TMPDIR"] = before
    return attack.kills


def main(kills: int, first: int) -> None:
    total: Counter[str] = Counter()
    start = time.monotonic()
    for number, dice in numbered(first):
        if total.total() >= kills:
            break
        total += attacked(dice)
        studies = number - first + 1
        print(f"{studies} studies, {dict(total)}, {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--kills", type=int, default=1000)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--one", type=int)
    chosen = options.parse_args()
    if chosen.one is not None:
        print(attacked(random.Random(chosen.one)).total())
    else:
        main(chosen.kills, chosen.first)
