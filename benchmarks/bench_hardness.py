"""Times `hardness` on every link of the catalogue, against drawing and sorting 10^7 normals.

CPU seconds are `time.process_time`, summed over the threads of this process: the ratios and the
verdict use them, since other work on the machine disturbs them least. Wall-clock seconds are
`time.perf_counter`. Every link is made anew and every cache of the package is emptied before its
turn; imports and the first calls are made outside the clock. The yardstick, in NumPy, is the
median of runs at the start and at the end.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

from learnability.labels import CATALOGUE, Link
from learnability.reports import hardness

NORMALS = 10**7
YARDSTICKS = 5  # Runs at each end.
LIMITS = {1: 1.0, 3: 10.0}  # r -> largest ratio wanted.


def seconds(call: Callable[[], object]) -> tuple[float, float]:
    """CPU and wall-clock seconds of one call."""
    cpu, wall = time.process_time(), time.perf_counter()
    call()
    return time.process_time() - cpu, time.perf_counter() - wall


def draw_and_sort() -> None:
    """The yardstick."""
    np.sort(np.random.default_rng(0).standard_normal(NORMALS))


def forget() -> None:
    """Empty every cache of the package."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "learnability":
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def main() -> None:
    hardness(Link("z**3 + abs(z)"))
    hardness(Link("z1*z2 + z1"))
    yardsticks = [seconds(draw_and_sort) for _ in range(YARDSTICKS)]
    times = {}
    for entry in CATALOGUE:
        forget()
        link = Link(entry.text)
        times[entry.name] = seconds(
            lambda link=link, noise=entry.noise: hardness(link, noise=noise)
        )
    yardsticks += [seconds(draw_and_sort) for _ in range(YARDSTICKS)]
    yard_cpu, yard_wall = (
        statistics.median(y[0] for y in yardsticks),
        statistics.median(y[1] for y in yardsticks),
    )
    spread = [min(y[0] for y in yardsticks), max(y[0] for y in yardsticks)]
    print(
        f"drawing and sorting {NORMALS:.0e} normals: {yard_cpu:.2f} CPU s "
        f"({spread[0]:.2f} to {spread[1]:.2f}), {yard_wall:.2f} wall-clock s"
    )
    print(f"{'link':<24}{'r':>2}{'CPU s':>9}{'wall s':>9}{'ratio':>9}   (CPU s over the yardstick)")
    worst: dict[int, tuple[float, str]] = {}
    for entry in CATALOGUE:
        cpu, wall = times[entry.name]
        r, ratio = entry.link.r, cpu / yard_cpu
        worst[r] = max(worst.get(r, (0.0, "")), (ratio, entry.name))
        print(f"{entry.name:<24}{r:>2}{cpu:>9.2f}{wall:>9.2f}{ratio:>9.2f}")
    parts = [
        f"r = {r}: largest ratio {worst[r][0]:.2f} ({worst[r][1]}), "
        f"{'within' if worst[r][0] <= limit else 'ABOVE'} {limit:g}"
        for r, limit in LIMITS.items()
    ]
    print("; ".join(parts) + ".")


if __name__ == "__main__":
    main()
