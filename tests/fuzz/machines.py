"""Two machines, one cut off in the middle of a study: ``python -m tests.fuzz.machines``.

The machines are two network namespaces of this one, with a cable between them (Linux, as root). A
scheduler, a worker and the driver are on the first, a second worker on the other; when both have
computed, the cable is cut at the far end, so that nobody says goodbye. The study has to finish with
the bytes of one that nobody disturbed.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from learnability.studies.certificates import environment, write_certificate

from tests.fuzz.kills import ALPHAS, ROOT, SEEDS, Rows, rows, study, wait_for

ADDRESSES = ("10.231.7.1", "10.231.7.2")
"""Of the two machines; nobody outside of them can reach these."""


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


@contextlib.contextmanager
def two_machines() -> Iterator[tuple[str, str]]:
    """Namespaces with a cable; they go at the end."""
    names = (f"learnability-{os.getpid()}-a", f"learnability-{os.getpid()}-b")
    try:
        for name in names:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        ends = [("cable", "netns", name) for name in names]
        ip("link", "add", *ends[0], "type", "veth", "peer", "name", *ends[1])
        for name, address in zip(names, ADDRESSES, strict=True):
            ip("-n", name, "address", "add", f"{address}/24", "dev", "cable")
            ip("-n", name, "link", "set", "cable", "up")
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], check=False)


@contextlib.contextmanager
def started(machine: str, folder: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A Python program on a machine, killed at the end."""
    with open(folder / "log-of-all.txt", "ab") as log:
        process = subprocess.Popen(
            ["ip", "netns", "exec", machine, sys.executable, *words],
            cwd=folder,
            env={**os.environ, **environment(str(folder)), "PYTHONPATH": str(ROOT)},
            stdout=log,
            stderr=log,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def workers_of(log: Path) -> set[str]:
    """The processes that have computed something."""
    return {line.split()[1] for line in log.read_text().splitlines(keepends=True)[:-1]}


def attack(folder: Path) -> tuple[Rows, float]:
    """The study with a cut; what it committed, and how long it went on after the cut."""
    store, log, meeting = folder / "cut.study", folder / "log.txt", folder / "scheduler.json"
    write_certificate(folder)
    log.touch()
    dask = ("-P", "-m", "distributed.cli.dask_scheduler", "--host", ADDRESSES[0], "--no-dashboard")
    hand = ("-P", "-m", "distributed.cli.dask_worker", "--nthreads", "1", "--no-dashboard",
            "--no-nanny", "--scheduler-file", str(meeting))  # fmt: skip
    code = f"from tests.fuzz import machines as m; m.drive({str(store)!r}, {str(log)!r})"
    with contextlib.ExitStack() as stack:
        here, there = stack.enter_context(two_machines())

        def start(machine: str, *words: str) -> subprocess.Popen[bytes]:
            return stack.enter_context(started(machine, folder, *words))

        start(here, *dask, "--scheduler-file", str(meeting))
        wait_for(lambda: meeting.exists() and meeting.stat().st_size > 0)
        start(here, *hand, "--host", ADDRESSES[0])
        start(there, *hand, "--host", ADDRESSES[1])
        driver = start(here, "-P", "-c", code)
        wait_for(lambda: len(workers_of(log)) == 2 and len(rows(store)) >= 100)
        ip("-n", there, "link", "set", "cable", "down")
        cut, known = time.monotonic(), rows(store)
        assert len(known) < len(ALPHAS) * SEEDS, "the study was over before the cut"
        assert driver.wait(timeout=600) == 0, (folder / "log-of-all.txt").read_text()[-2000:]
        found = rows(store)
    assert known.items() <= found.items(), "finished runs are lost or other ones"
    return found, time.monotonic() - cut


def drive(store: str, log: str) -> None:
    """On a machine: the study."""
    study(Path(store), Path(log), scheduler=str(Path(store).with_name("scheduler.json")))


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        found, seconds = attack(folder)
        whole = folder / "whole.study"
        study(whole, folder / "log.txt", workers=1)
        alike = [{key: row[:3] for key, row in one.items()} for one in (found, rows(whole))]
        assert alike[0] == alike[1], "other numbers than without a cut"
    print(f"{len(found)} runs, equal in every bit; finished {seconds:.0f} s after the cut")


if __name__ == "__main__":
    main()
