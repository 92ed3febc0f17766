"""Fuzz for some minutes, and count: ``python -m tests.fuzz --minutes 30 [--first N]``.

It stops by itself. A case that ends neither in an answer nor in a sentence (exit codes 0, 1, 2), or
takes more than 60 s of CPU time, is printed with its number, and the exit code is then 1.
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
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fuzz.cases import command, damaged, link, numbered, text

CPU, MEMORY = 60, 8 << 30
SHARES = {"texts": 0.1, "links": 0.35, "commands": 0.35, "stores": 0.2}
"""Kind of case -> share of the time."""
MOST = {"texts": 1_000_000, "links": 2000, "commands": 2000, "stores": 1000}


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


def alarmed(*_: object) -> None:
    raise TimeoutError(f"more than {CPU} s of CPU time")


def fuzz(kind: str, minutes: float, most: int, first: int, folder: Path) -> tuple[int, int]:
    """Try cases of a kind; how many there were, and how many failed."""
    stores = Stores(folder) if kind == "stores" else None
    tries: dict[str, Callable[[Any], None]] = {
        "texts": lambda dice: parsed(text(dice)),
        "links": lambda dice: asked(
            ["hardness", link(dice)] if dice.random() < 0.7
            else ["predict", "spectral", link(dice), "--alpha", "1.5"]
        ),
        "commands": lambda dice: asked(command(dice, folder)),
        "stores": lambda dice: stores.tried(damaged(dice, stores.whole)),  # type: ignore[union-attr]
    }  # fmt: skip
    end, done, failed = time.monotonic() + 60 * minutes, 0, 0
    for number, dice in numbered(first):
        if done >= most or time.monotonic() > end:
            break
        done += 1
        signal.setitimer(signal.ITIMER_PROF, CPU)
        try:
            tries[kind](dice)
        except (Exception, SystemExit) as error:
            failed += 1
            place = traceback.extract_tb(error.__traceback__)[-1]
            print(f"{kind} {number}: {error!r} at {place.filename}:{place.lineno}", flush=True)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    return done, failed


def main(minutes: float, first: int, most: dict[str, int] = MOST) -> dict[str, tuple[int, int]]:
    """Fuzz every kind for its share of the time, in a folder that goes at the end."""
    signal.signal(signal.SIGPROF, alarmed)
    counts, here = {}, os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for kind, share in SHARES.items():
                counts[kind] = fuzz(kind, minutes * share, most[kind], first, Path(folder))
                print(f"{kind}: {counts[kind][0]} tried, {counts[kind][1]} failed", flush=True)
        finally:
            os.chdir(here)
    return counts


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--minutes", type=float, default=30.0)
    options.add_argument("--first", type=int, default=0)
    chosen = options.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    found = main(chosen.minutes, chosen.first)
    sys.exit(any(failed for _, failed in found.values()))
