"""A study of 200 short points as a program of its own, to be killed: STORE LOG WORKERS SECONDS."""

from __future__ import annotations

import signal
import sys

import learnability as lb

from tests.studies.learners import Short

ALPHAS = [0.1 * k for k in range(1, 21)]
SEEDS = 10


def main(store: str, log: str, workers: int, seconds: float) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # A parent may have switched it off.
    learner = Short(log=log, seconds=seconds)
    lb.study(learner, "abs(z)", alpha=ALPHAS, seeds=SEEDS, store=store, workers=workers)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
