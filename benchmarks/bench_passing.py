"""Time of one run of message passing for each link, in units of sorting ten million normals.

All times are CPU seconds, `time.process_time`, over those of drawing and sorting 10^7 normals in
this process. Each link has a process of its own: `cold` is its first run, at d = 100 and alpha = 1,
with the compilation it needs and without imports; `warm` is a later one at d = 200 and alpha = 2,
with its number of iterations and its overlap. Links are those of the catalogue that message passing
takes, and some more; names or formulas on the command line take these alone.
"""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import jax  # noqa: F401  (its import is no part of the first run)
import numpy as np
import scipy.special  # noqa: F401

from learnability import BayesAMP, MultiIndex
from learnability.errors import LearnabilityError
from learnability.labels import CATALOGUE

FURTHER = (
    "max(z1,z2)",
    "tanh(z1)*z2 + z3**2",
    "sign(z2 - z1**2)",
    "tanh(z1) + tanh(z2)",
    "tanh(z1) + z2*z3",
    "max(z1,z2,z3)",
)
LONGEST = 5.0


def unit() -> float:
    """CPU seconds of drawing and sorting ten million normals."""
    began = time.process_time()
    np.sort(np.random.default_rng(0).standard_normal(10_000_000))
    return time.process_time() - began


def run(target: MultiIndex, d: int, alpha: float, seed: int) -> tuple[float, Any]:
    """CPU seconds of one run, and what it found."""
    began = time.process_time()
    found = BayesAMP().simulate(target, d=d, alpha=alpha, seeds=[seed])
    return time.process_time() - began, found


def report(name: str) -> None:
    """Print the line of one link."""
    entry = next((e for e in CATALOGUE if e.name == name), None)
    target = MultiIndex(name) if entry is None else MultiIndex(entry.text, noise=entry.noise)
    own = unit()
    try:
        cold, _ = run(target, 100, 1.0, 0)
    except LearnabilityError as error:
        print(f"{name:<24}{str(error)[:70]}")
        return
    warm, found = run(target, 200, 2.0, 0)
    overlap = np.diag(np.atleast_2d(found.overlap.values.reshape(target.r, target.r)))
    print(
        f"{name:<24}{cold / own:>8.2f}{warm / own:>8.2f}"
        f"{int(found.iterations.values.ravel()[0]):>6}  {found.status.values.ravel()[0]:<13}"
        + " ".join(f"{value:.4f}" for value in overlap)
        + ("" if warm <= LONGEST * own else "  ABOVE"),
        flush=True,
    )


def main() -> None:
    names = sys.argv[1:] or [*(e.name for e in CATALOGUE if e.link.r <= 3), *FURTHER]
    if len(names) == 1:
        return report(names[0])
    print(f"{'link':<24}{'cold':>8}{'warm':>8}{'steps':>6}  status, overlaps")
    for name in names:
        subprocess.run([sys.executable, __file__, name], check=False)
    return None


if __name__ == "__main__":
    main()
