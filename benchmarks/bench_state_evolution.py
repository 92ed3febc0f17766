"""Time of state evolution, in units of drawing and sorting ten million normals in the same run.

Curves of forty ratios, and all thresholds of every link of the catalogue. All times are CPU
seconds, `time.process_time`, and a unit is the median of runs at the start and at the end. Imports
are paid by first calls outside the clock; what is computed for a link, its rule of labels too, is
inside.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

from learnability import Channel
from learnability.labels import CATALOGUE
from learnability.theory.state_evolution import StateEvolution, state_evolution

CURVES = {
    "z1*z2": (2.5, 15),
    "max(z1,z2)": (2.5, 15),
    "sign(z2-z1**2)": (4.0, 15),
    "tanh(z1)*z2+z3**2": (3.5, 60),
}
POINTS = 40
THRESHOLDS = 60
"""The largest number of units for the thresholds of one link."""
UNITS = 5
"""How often the unit is measured at each end."""


def unit() -> float:
    """CPU seconds of drawing and sorting ten million normals."""
    start = time.process_time()
    np.sort(np.random.default_rng(0).standard_normal(10**7))
    return time.process_time() - start


def seconds(call: Callable[[], object]) -> float:
    """CPU seconds of a call, with every cache of the package empty."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "learnability":
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
    start = time.process_time()
    call()
    return time.process_time() - start


def ratios(last: float, points: int = POINTS) -> np.ndarray:
    """Evenly spaced ratios of samples."""
    return np.linspace(last / points, last, points)


def main() -> None:
    """Print each figure beside its limit."""
    for text in ("z**2", "z1 + z2**2", "sign(z1*z2)", "z1*z2"):  # They import all that is used.
        StateEvolution(Channel(text)).fixed_points(ratios(1.0, 8))
    units = [unit() for _ in range(UNITS)]
    found: list[tuple[str, float, float]] = []
    for text, (last, limit) in CURVES.items():
        took = seconds(
            lambda text=text, last=last: StateEvolution(Channel(text)).fixed_points(ratios(last))
        )
        found.append((f"curve of {text}", took, limit))
    for entry in CATALOGUE:
        took = seconds(
            lambda entry=entry: state_evolution(Channel(entry.text, entry.noise)).thresholds
        )
        found.append((f"thresholds of {entry.name}", took, THRESHOLDS))
    units += [unit() for _ in range(UNITS)]
    one = statistics.median(units)
    print(f"drawing and sorting: {one:.2f} CPU s ({min(units):.2f} to {max(units):.2f})")
    print(f"{'forty points, or all thresholds':<40}{'CPU s':>8}{'units':>8}{'limit':>8}")
    for name, took, limit in found:
        verdict = "within" if took / one <= limit else "ABOVE"
        print(f"{name:<40}{took:>8.1f}{took / one:>8.1f}{limit:>8g}  {verdict}")


if __name__ == "__main__":
    main()
