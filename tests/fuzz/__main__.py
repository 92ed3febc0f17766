"""Fuzz for some minutes, and count: ``python -m tests.fuzz --minutes 30 [--first N] [KIND ...]``.

It stops by itself; its minutes are of CPU time, and at most three times as long on the clock. A
case that ends neither in an answer nor in a sentence (exit codes 0, 1, 2), takes more than 60 s of
CPU time or changes a file outside of its folder is printed with its number, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.fuzz.cases import command, damaged, link, numbered, text
from tests.fuzz.kills import killed
from tests.fuzz.watch import Watch

CPU, WALL, MEMORY = 60, 600, 8 << 30
BEGUN = os.times()[4]
SHARES = {"texts": 0.1, "commands": 0.15, "stores": 0.1, "kills": 0.5, "links": 1.0}
"""Kind of case -> share of the time that is left."""
MOST = {"texts": 1_000_000, "commands": 2000, "stores": 1000, "kills": 500, "links": 2000}


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


def spent() -> float:
    """CPU seconds of this process and its children, and a third of the clock at least."""
    times = os.times()
    return max(sum(times[:4]), (times[4] - BEGUN) / 3)


def fuzz(
    kind: str, minutes: float, most: int, first: int, folder: Path, watch: Watch | None = None
) -> tuple[int, int]:
    """Try cases of a kind; how many there were, and how many failed."""
    stores = Stores(folder) if kind == "stores" else None
    tries: dict[str, Callable[[Any], int | None]] = {
        "texts": lambda dice: parsed(text(dice)),
        "links": lambda dice: asked(
            ["hardness", link(dice)] if dice.random() < 0.7
            else ["predict", "spectral", link(dice), "--alpha", "1.5"]
        ),
        "commands": lambda dice: asked(command(dice, folder)),
        "stores": lambda dice: stores.tried(damaged(dice, stores.whole)),  # type: ignore[union-attr]
        "kills": lambda dice: killed(dice, folder),
    }  # fmt: skip
    end, done, failed = spent() + 60 * minutes, 0, 0
    for number, dice in numbered(first):
        if Stop.asked or done >= most or spent() > end:
            break
        signal.setitimer(signal.ITIMER_PROF, CPU)
        signal.setitimer(signal.ITIMER_REAL, WALL)
        count = 1
        try:
            count = tries[kind](dice) or 1
            assert watch is None or not watch.seen, f"changed elsewhere: {watch.seen}"
        except (Exception, SystemExit, TooLong) as error:
            failed += 1
            place = traceback.extract_tb(error.__traceback__)[-1]
            print(f"{kind} {number}: {error!r} at {place.filename}:{place.lineno}", flush=True)
        except Stop:
            break
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            if watch is not None:
                watch.seen.clear()
        done += count
    return done, failed


def main(
    minutes: float, first: int, kinds: Sequence[str] = (), most: dict[str, int] = MOST
) -> dict[str, tuple[int, int]]:
    """Fuzz every kind for its share of the time, in a folder that goes at the end."""
    signal.signal(signal.SIGPROF, alarmed)
    signal.signal(signal.SIGALRM, alarmed)
    signal.signal(signal.SIGTERM, stopped)
    counts, here, end = {}, os.getcwd(), spent() + 60 * minutes
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = os.environ["TMPDIR"] = os.environ["XDG_CACHE_HOME"] = folder
        os.chdir(folder)
        watch = Watch([Path(folder)])
        try:
            for kind, share in SHARES.items():
                if kinds and kind not in kinds:
                    continue
                part, start = share * max(end - spent(), 0.0) / 60, spent()
                counts[kind] = fuzz(kind, part, most[kind], first, Path(folder), watch)
                told = "{} tried, {} failed".format(*counts[kind])
                print(f"{kind}: {told}, {spent() - start:.0f} s of CPU", flush=True)
        finally:
            os.chdir(here)
    return counts


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("kinds", nargs="*", choices=[*SHARES, []], metavar="KIND")
    options.add_argument("--minutes", type=float, default=30.0)
    options.add_argument("--first", type=int, default=0)
    chosen = options.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    found = main(chosen.minutes, chosen.first, chosen.kinds)
    sys.exit(any(failed for _, failed in found.values()))
