"""Times `hardness` on many links, against drawing and sorting 10^7 normals.

They are those of the catalogue, forty random ones of the tests, and some that took long.

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
from functools import partial
from typing import Any

import numpy as np

from learnability.labels import CATALOGUE, Link
from learnability.reports import hardness

from tests.random_links import random_formula

NORMALS = 10**7
YARDSTICKS = 5  # Runs at each end.
LIMITS = {1: 1.0, 2: 10.0, 3: 10.0, 4: 20.0}
"""r -> the largest ratio wanted."""
RANDOM = 40
"""How many of the random links of the tests."""
SLOW = (
    "relu(z1+xi)*relu(z2-xi)+z3",
    "z1*step(z2)+z3*step(z4)",
    "sign(z1+z2*z3*z4)",
    "sign(z1*z2+z3*z4)",
    "z1*z2+z3*z4",
)


def largest(z: Any) -> Any:
    """A function of which nothing but its values is known."""
    return np.maximum(z[..., 0], z[..., 1] * z[..., 2])


def links() -> dict[str, tuple[Callable[[], Link], float]]:
    """Names, and how each link is made anew, with its noise."""
    found: dict[str, tuple[Callable[[], Link], float]] = {
        entry.name: (partial(Link, entry.text), entry.noise) for entry in CATALOGUE
    }
    found["function max(z1, z2*z3)"] = partial(Link, largest, r=3), 0.0
    for text in (*SLOW, *map(random_formula, range(RANDOM))):
        found.setdefault(text, (partial(Link, text), 0.0))
    return found


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
    for text in (
        "z1*z2 + z1",
        "2*z1 + abs(z2)",
        "max(z1, z2 + xi)",
    ):  # They import all that is used.
        hardness(Link(text))
    yardsticks = [seconds(draw_and_sort) for _ in range(YARDSTICKS)]
    times, directions = {}, {}
    for name, (make, noise) in links().items():
        forget()
        link = make()
        directions[name] = link.r
        times[name] = seconds(lambda link=link, noise=noise: hardness(link, noise=noise))
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
    print(f"{'link':<48}{'r':>2}{'CPU s':>9}{'wall s':>9}{'ratio':>9}   (CPU s over the yardstick)")
    worst: dict[int, tuple[float, str]] = {}
    for name, (cpu, wall) in times.items():
        r, ratio = directions[name], cpu / yard_cpu
        worst[r] = max(worst.get(r, (0.0, "")), (ratio, name))
        mark = "" if ratio <= LIMITS[r] else "  ABOVE"
        print(f"{name:<48}{r:>2}{cpu:>9.2f}{wall:>9.2f}{ratio:>9.2f}{mark}")
    parts = [
        f"r = {r}: largest ratio {worst[r][0]:.2f} ({worst[r][1]}), "
        f"{'within' if worst[r][0] <= limit else 'ABOVE'} {limit:g}"
        for r, limit in LIMITS.items()
    ]
    print("; ".join(parts) + ".")


if __name__ == "__main__":
    main()
