"""Fuzz for some minutes, and count: ``python -m tests.fuzz --minutes 30 [--first N] [KIND ...]``.

Every kind of case has a process of its own, three at a time, and all stop by themselves. A case
that ends neither in an answer nor in a sentence (exit codes 0, 1, 2), takes more than 60 s of CPU
time or 3 GB of memory, or changes a file outside of its folder is printed with its number, and the
exit code is 1.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.fuzz.cases import command, damaged, link, numbered, text
from tests.fuzz.kills import killed
from tests.fuzz.watch import Watch

CPU, WALL, MEMORY, LIMIT = 60, 600, 3 << 30, 8 << 30
LANES = 3
"""Kinds at a time; kills wait most of the time."""
MOST = {
    "links": 2000, "kills": 500, "texts": 1_000_000, "stores": 1000, "commands": 2000,
    "predictions": 500,
}  # fmt: skip
"""Kind of case -> how many are tried at most, in the order of their start."""


def asked(words: list[str]) -> None:
    """Run a command line in this process; anything but an answer or a sentence is raised."""
    from learnability.cli import program

    sys.argv = ["learnability", *words]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            program.main()
        except SystemExit as end:
            assert end.code in (0, 1, 2, None), f"exit code {end.code}"


def parsed(words: str) -> None:
    from learnability import LearnabilityError, Link

    with contextlib.suppress(LearnabilityError):
        Link(words)


class Stores:
    """Damaged copies of one store: refused without a change, or the same numbers."""

    def __init__(self, folder: Path) -> None:
        import learnability as lb
        from learnability.studies import export

        from tests.studies.learners import Short

        self.path = folder / "runs.study"
        lb.study(Short(), "abs(z)", alpha=[0.5, 1.0, 1.5], seeds=20, store=self.path, workers=1)
        self.whole = self.path.read_bytes()
        self.truth = export(self.path)

    def tried(self, data: bytes) -> None:
        import numpy as np

        from learnability import LearnabilityError
        from learnability.studies import Store, check, export, info

        self.path.write_bytes(data)
        for ask in (info, check, export, lambda path: Store(path, write=True).close()):
            with contextlib.suppress(LearnabilityError):
                found = ask(self.path)
                if ask is export:
                    there = found["status"].values != "missing"
                    same = found["length"].values[there], self.truth["length"].values[there]
                    assert np.array_equal(*same), "other numbers"
            assert self.path.read_bytes() == data, f"changed by {ask}"


class TooLong(BaseException):
    """A case hangs; no handler of errors may take it for one of its own."""


class Stop(BaseException):
    """Somebody wants it to end now; the counts are still printed."""

    asked = False


def alarmed(*_: object) -> None:
    raise TooLong(f"more than {CPU} s of CPU time, or {WALL} s of any")


def stopped(*_: object) -> None:
    Stop.asked = True
    raise Stop


def memory() -> int:
    """Bytes that this process held at most so far."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def fuzz(
    kind: str, minutes: float, most: int, first: int, folder: Path, watch: Watch | None = None
) -> tuple[int, int]:
    """Try cases of a kind; how many there were, and how many failed."""
    stores = Stores(folder) if kind == "stores" else None
    tries: dict[str, Callable[[Any], int | None]] = {
        "texts": lambda dice: parsed(text(dice)),
        "links": lambda dice: asked(["hardness", link(dice)]),
        "predictions": lambda dice: asked(["predict", "spectral", link(dice), "--alpha", "1.5"]),
        "commands": lambda dice: asked(command(dice, folder)),
        "stores": lambda dice: stores.tried(damaged(dice, stores.whole)),  # type: ignore[union-attr]
        "kills": lambda dice: killed(dice, folder),
    }  # fmt: skip
    end, done, failed, held = time.monotonic() + 60 * minutes, 0, 0, memory() + MEMORY
    for number, dice in numbered(first):
        if Stop.asked or done >= most or time.monotonic() > end:
            break
        signal.setitimer(signal.ITIMER_PROF, CPU)
        signal.setitimer(signal.ITIMER_REAL, WALL)
        count = 1
        try:
            count = tries[kind](dice) or 1
            assert watch is None or not watch.seen, f"changed elsewhere: {watch.seen}"
            assert memory() < held, f"{memory() / 1e9:.1f} GB of memory"
        except (Exception, SystemExit, TooLong) as error:
            failed += 1
            place = traceback.extract_tb(error.__traceback__)[-1]
            print(f"{kind} {number}: {error!r} at {place.filename}:{place.lineno}", flush=True)
        except Stop:
            break
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            held = max(held, memory())
            if watch is not None:
                watch.seen.clear()
        done += count
    return done, failed


def one_kind(kind: str, minutes: float, first: int) -> bool:
    """Fuzz a kind in a folder that goes at the end, and say the counts; whether none failed."""
    signal.signal(signal.SIGPROF, alarmed)
    signal.signal(signal.SIGALRM, alarmed)
    signal.signal(signal.SIGTERM, stopped)
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    here, start = os.getcwd(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = os.environ["TMPDIR"] = os.environ["XDG_CACHE_HOME"] = folder
        os.chdir(folder)
        try:
            done, failed = fuzz(
                kind, minutes, MOST[kind], first, Path(folder), Watch([Path(folder)])
            )
        finally:
            os.chdir(here)
    used = f"{time.monotonic() - start:.0f} s, {sum(os.times()[:4]):.0f} s of CPU"
    print(f"{kind}: {done} tried, {failed} failed, {used}", flush=True)
    return not failed


def all_kinds(kinds: Sequence[str], minutes: float, first: int) -> bool:
    """Fuzz several kinds, each in a process of its own; whether none failed."""
    end = time.monotonic() + 60 * minutes

    def run(kind: str) -> bool:
        left = max(end - time.monotonic(), 0.0) / 60
        words = ["-m", "tests.fuzz", kind, "--minutes", str(left), "--first", str(first)]
        return subprocess.run([sys.executable, *words], check=False).returncode == 0

    with ThreadPoolExecutor(LANES) as lanes:
        return all(list(lanes.map(run, kinds)))


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("kinds", nargs="*", choices=[*MOST, []], metavar="KIND")
    options.add_argument("--minutes", type=float, default=30.0)
    options.add_argument("--first", type=int, default=0)
    chosen = options.parse_args()
    kinds = chosen.kinds or list(MOST)
    tried = (
        one_kind(*kinds, chosen.minutes, chosen.first)
        if len(kinds) == 1
        else all_kinds(kinds, chosen.minutes, chosen.first)
    )
    sys.exit(not tried)
