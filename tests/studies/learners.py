"""Small learners for the tests of studies; workers import them by their name."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray

from learnability.learners.protocol import checked_seeds
from learnability.targets import MultiIndex


def value_of(alpha: float, shift: float, noise: float, seed: int) -> np.ndarray:
    """What `Short` computes, from its parameters and its seed alone."""
    rng = np.random.default_rng([seed, round(1000 * alpha)])
    return rng.standard_normal(3) * shift + noise


@dataclass(frozen=True)
class Short:
    """Sleeps for a moment; writes down each time that it runs."""

    shift: float = 1.0
    seconds: float = 0.0
    log: str = ""
    broken_at: float | None = None
    deadly_at: float | None = None
    mood: str = "calm"

    def simulate(
        self, target: MultiIndex, *, alpha: float, d: int = 5, seeds: int | Sequence[int] = 1
    ) -> xarray.Dataset:
        (seed,) = checked_seeds(seeds)
        if self.log:
            with open(self.log, "a") as log:  # One short write at the end of a file is whole.
                log.write(f"{time.time()} {os.getpid()} {alpha} {seed}\n")
        time.sleep(self.seconds)
        if alpha == self.deadly_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if alpha == self.broken_at:
            raise RuntimeError(f"alpha = {alpha} is\nout of order")
        steps = 2 + seed % 3
        data: dict[str, Any] = {
            "value": (("seed", "index"), value_of(alpha, self.shift, target.noise, seed)[None]),
            "iterations": (("seed",), [steps]),
            "status": (("seed",), ["converged"]),
            "path": (("seed", "time"), np.arange(steps, dtype=float)[None]),
        }
        return xarray.Dataset(
            data, {"alpha": alpha, "seed": [seed], "time": np.arange(steps)}, {"d": d}
        )


@dataclass(frozen=True)
class Clock:
    """A learner along times, all of one run."""

    step: float = 0.1

    def simulate(self, target: MultiIndex, *, d: int, time: Any, seeds: Any = 1) -> xarray.Dataset:
        chosen = checked_seeds(seeds)
        times = np.asarray(time, dtype=float)
        overlap = 1 - np.exp(-self.step * times[None, :] * (1 + np.array(chosen)[:, None]))
        return xarray.Dataset(
            {"overlap_trace": (("seed", "time"), overlap)}, {"seed": chosen, "time": times}
        )
