"""Time of state evolution, in units of drawing and sorting ten million normals in the same run.

All times are CPU seconds, `time.process_time`. Imports are paid by a first call outside the clock;
what is computed for a link, its rule of labels too, is inside.
"""

from __future__ import annotations

import time

import numpy as np

from learnability import Channel
from learnability.theory.information import label_information
from learnability.theory.state_evolution import StateEvolution

CURVES = {
    "z1*z2": (2.5, 15),
    "max(z1,z2)": (2.5, 15),
    "sign(z2-z1**2)": (4.0, 15),
    "tanh(z1)*z2+z3**2": (3.5, 60),
}
POINTS = 40


def unit() -> float:
    """CPU seconds of drawing and sorting ten million normals."""
    start = time.process_time()
    np.sort(np.random.default_rng(0).standard_normal(10**7))
    return time.process_time() - start


def curve(text: str, last: float) -> float:
    """CPU seconds of a curve of forty ratios."""
    label_information.cache_clear()
    start = time.process_time()
    StateEvolution(Channel(text)).fixed_points(np.linspace(last / POINTS, last, POINTS))
    return time.process_time() - start


def main() -> None:
    """Print each figure beside its limit."""
    StateEvolution(Channel("z1 + z2**2")).fixed_point(0.5)
    one = unit()
    print(f"{'forty points of state evolution':<40}{'units':>8}{'limit':>8}")
    for text, (last, limit) in CURVES.items():
        ratio = curve(text, last) / one
        verdict = "within" if ratio <= limit else "ABOVE"
        print(f"{text:<40}{ratio:>8.1f}{limit:>8g}  {verdict}", flush=True)


if __name__ == "__main__":
    main()
