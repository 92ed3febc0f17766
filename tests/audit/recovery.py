"""Recovery probabilities against the flow's own fate from 400 random starts.

`python -m tests.audit.recovery`. The flow moves m = <w, w*> alone and keeps the order of starts, so
between two starts of one fate that are neighbours among those tried the fate is that one; between
two of different fate all are halved until they meet. Right is a probability within three standard
errors of the fraction of starts, sqrt(f (1 - f) / 400), at least 1 / 400; all have to be.
"""

from __future__ import annotations

import json
import math
import sys
import warnings

import numpy as np

from learnability import GradientFlow, MultiIndex, SpikedIndex
from learnability.learners.networks.starts import random_start

PAIRS = (
    ("cos(z)", "He4(z)/sqrt(24)", 1000.0),
    ("relu(z)", "He2(z)/sqrt(2)", 50.0),
    ("relu(z)", "He2(z)/sqrt(2)", 0.0),
    ("tanh(z)", "He3(z)/sqrt(6)", 20.0),
    ("tanh(z)", "He3(z)/sqrt(6)", 200.0),
    ("tanh(z)", "z", 0.0),
    ("tanh(z)", "tanh(2*z)", 5.0),
    ("He2(z)", "He2(z)/sqrt(2)", 20.0),
    ("He2(z)", "2*He2(z)", 20.0),
    ("He3(z)", "He3(z)/sqrt(6)", 0.0),
    ("He3(z)", "He3(z)/sqrt(6)", 20.0),
    ("erf(z)", "sign(z)", 10.0),
    ("relu(z)", "relu(z)", 0.0),
    ("relu(z)", "abs(z)", 10.0),
    ("abs(z)", "abs(z)", 10.0),
    ("sin(z)", "sin(2*z)", 20.0),
    ("sin(2*z)", "He3(z)/sqrt(6)", 0.0),
    ("relu(z) - 0.4", "He2(z) + z", 5.0),
    ("tanh(z) + z**2/5", "He2(z) - z/2", 0.0),
    ("exp(-z**2/2)", "He2(z)/sqrt(2)", 20.0),
)
"""Activation, link, and strength of a spike along the hidden direction."""
D, STARTS, TIME, RECOVERED = 200, 400, 1e5, 0.5


def fraction(activation: str, link: str, theta: float) -> tuple[float, int]:
    """Share of the random starts whose flow recovers, and how many flows that took."""
    target = SpikedIndex(link, spike=theta) if theta else MultiIndex(link)
    frame = target.inputs.frame(1, D)
    axis = frame.hidden[0]
    m = np.sort(
        [float(axis @ random_start(s, 1, frame, D, True).overlap[0]) for s in range(STARTS)]
    )
    fate: dict[int, bool] = {}

    def recovers(k: int) -> bool:
        if k not in fate:
            start = (1.0, m[k], m[k]) if theta else (1.0, m[k])
            path = GradientFlow(activation).predict(target, d=D, time=[0.0, TIME], start=start)
            fate[k] = bool(abs(float(path.correlation.values.ravel()[0])) >= RECOVERED)
        return fate[k]

    def count(low: int, high: int) -> int:
        """Starts that recover among low + 1 ... high."""
        if recovers(low) == recovers(high):
            return (high - low) * recovers(high)
        if high - low == 1:
            return int(recovers(high))
        middle = (low + high) // 2
        return count(low, middle) + count(middle, high)

    tried = np.linspace(0, STARTS - 1, 8).round().astype(int).tolist()
    total = recovers(0) + sum(count(a, b) for a, b in zip(tried[:-1], tried[1:], strict=True))
    return total / STARTS, len(fate)


def main() -> int:
    """Print a line for each pair and how many are right."""
    right = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for activation, link, theta in PAIRS:
            target = SpikedIndex(link, spike=theta) if theta else MultiIndex(link)
            found = GradientFlow(activation).predict(target, question="recovery-probability", d=D)
            theory = float(found.recovery_probability)
            share, flows = fraction(activation, link, theta)
            stderr = math.sqrt(max(share * (1 - share), 1 / STARTS) / STARTS)
            agrees = abs(theory - share) <= 3 * stderr
            right += agrees
            about = {"activation": activation, "link": link, "theta": theta, "theory": theory,
                     "status": str(found.status.item()), "starts": share, "flows": flows,
                     "right": bool(agrees)}  # fmt: skip
            print(json.dumps(about), flush=True)
    print(f"recovery: {right} of {len(PAIRS)} right")
    return 0 if right == len(PAIRS) else 1


if __name__ == "__main__":
    sys.exit(main())
