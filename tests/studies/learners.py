"""Small learners for the tests of studies; workers import them by their name."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from learnability.fields import choice, number, record
from learnability.learners.base import Found, Learner, Question, Side, Support

ALL_INPUTS = Support(inputs=("isotropic", "spiked", "power-law", "signs"))


def value_of(alpha: float, shift: float, noise: float, seed: int) -> np.ndarray:
    """What `Short` computes, from its parameters and its seed alone."""
    rng = np.random.default_rng([seed, round(1000 * alpha)])
    return rng.standard_normal(3) * shift + noise


def noted(log: str, *words: object) -> None:
    if log:
        with open(log, "a") as file:  # One short write at the end of a file is whole.
            file.write(f"{time.time()} {os.getpid()} {' '.join(map(str, words))}\n")


@record
class Short(Learner):
    """Sleeps for a moment; writes down each time that it runs."""

    name: ClassVar[str] = "short"
    supports: ClassVar[Support] = ALL_INPUTS
    questions: ClassVar[tuple[Question, ...]] = (
        Question(
            "values",
            "Random numbers.",
            ("length", "iterations", "status", "error_trace"),
            simulate=Side(needs=("alpha",), takes=("d",)),
        ),
        Question("theory", "Nothing.", predict=Side(needs=("alpha",)), reason="It was not run."),
    )

    shift: float = number(1.0, help="Scale of the numbers.")
    seconds: float = number(0.0, help="How long it sleeps.")
    broken_at: float | None = number(None, optional=True, help="An alpha at which it fails.")
    deadly_at: float | None = number(None, optional=True, help="An alpha at which it dies.")
    mood: str = choice("calm", ("calm", "wild"), help="Of no consequence.")
    log: str = ""

    def run_one(self, question: str, target: Any, at: Mapping[str, Any], seed: int) -> Found:
        alpha = at["alpha"]
        noted(self.log, alpha, seed)
        time.sleep(self.seconds)
        if alpha == self.deadly_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if alpha == self.broken_at:
            raise RuntimeError(f"alpha = {alpha} is\nout of order")
        steps = 2 + seed % 3
        return Found(
            {
                "length": value_of(alpha, self.shift, target.noise, seed),
                "iterations": steps,
                "status": "converged",
                "error_trace": np.arange(steps, dtype=float),
            },
            {"time": np.arange(steps)},
        )


@record
class Clock(Learner):
    """A learner along times, all of one run, that computes its seeds side by side."""

    name: ClassVar[str] = "clock"
    supports: ClassVar[Support] = ALL_INPUTS
    questions: ClassVar[tuple[Question, ...]] = (
        Question(
            "path",
            "The hands.",
            ("error_trace", "status"),
            simulate=Side(needs=("d", "time"), takes=("start",)),
            axes=(),
        ),
    )

    step: float = number(0.1, help="How fast it goes.")
    bad_seed: int | None = number(None, optional=True, help="A seed with which it fails.")
    deadly_seed: int | None = number(None, optional=True, help="A seed with which it dies.")
    log: str = ""

    def run(self, question: str, target: Any, at: Mapping[str, Any], seeds: Sequence[int]) -> Found:
        noted(self.log, at["d"], *seeds)
        if self.deadly_seed in seeds:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.bad_seed in seeds:
            raise RuntimeError(f"seed {self.bad_seed:g} is out of order")
        growth = 1 + np.array(seeds)[:, None]
        return Found(
            {
                "error_trace": 1 - np.exp(-self.step * at["time"] * growth),
                "status": np.where(np.array(seeds) % 2, "finished", "stopped"),
            },
            {"time": at["time"]},
        )
