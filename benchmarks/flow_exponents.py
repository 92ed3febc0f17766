"""Samples that the whitened flow on n samples needs, over alignment and strength of one spike.

For a spike of strength d^g2 whose cosine with the hidden direction is d^-g1, the random start has a
correlation rho0 of order d^(-x/2), x = 1 where g2 < g1, 1 - 2 (g2 - g1) up to g2 = 2 g1, 1 - g2
beyond. The theorem on algorithm 1 has n of order d^(1 + (k - 1) x) for a link of information
exponent k: an upper bound. Measured is, for each seed, the n at which half of the neurons end at a
correlation of 0.5 or more, by bisection in log n, and its slope in log d with the standard error
over seeds. Theorem's slope and the slope of d rho0(d)^(-2 (k - 1)) stand beside it.

    python benchmarks/flow_exponents.py --dimensions 12,24,48 --seeds 4
"""

from __future__ import annotations

import argparse
import math

import numpy as np

from learnability import FlowNetwork, MultiIndex, Spiked

POINTS = ((0.0, 0.0), (0.0, 0.5), (0.3, 0.7), (0.4, 0.6))
LINKS = {2: "He2(z)/sqrt(2)", 3: "He3(z)/sqrt(6)"}
HALVINGS = 6


def exponent(g1: float, g2: float) -> float:
    """The x of the start."""
    if g2 < g1:
        return 1.0
    return 1 - 2 * (g2 - g1) if g2 < 2 * g1 else 1 - g2


def start_correlation(g1: float, g2: float, d: int) -> float:
    """Root mean square of the correlation of a random start, w of unit length."""
    theta, a = d**g2, d**-g1
    kappa = 1 + theta * a**2
    # Sigma v, v the label's direction over sqrt(kappa), has this squared length.
    square = (1 + a**2 * ((1 + theta) ** 2 - 1)) / kappa
    return math.sqrt(square / (d + theta))


def needed(learner: FlowNetwork, target: MultiIndex, d: int, seed: int) -> float:
    """The n at which half of the neurons recover."""
    low, high = math.log(1.5 * d), math.log(40.0 * d**2)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        found = learner.simulate(target, d=d, alpha=math.exp(middle) / d, seeds=[seed])
        if float(np.median(np.abs(found.correlation))) >= 0.5:
            high = middle
        else:
            low = middle
    return math.exp(0.5 * (low + high))


def main() -> None:
    """Print a line for each point."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    reader.add_argument("--dimensions", default="12,24,48")
    reader.add_argument("--seeds", type=int, default=4)
    reader.add_argument("--degree", type=int, choices=sorted(LINKS), default=2)
    reader.add_argument("--duration", type=float, default=6.0)
    asked = reader.parse_args()
    dimensions = [int(d) for d in asked.dimensions.split(",")]
    k, link = asked.degree, LINKS[asked.degree]
    learner = FlowNetwork(16, link, duration=asked.duration, step=0.05)
    print("g1 g2 | n by d | slope | finite d | theorem")
    logs = np.log(dimensions) - np.mean(np.log(dimensions))
    for g1, g2 in POINTS:
        samples = np.array([
            [needed(learner, MultiIndex(link, inputs=Spiked(d**g2, d**-g1)), d, seed)
             for seed in range(asked.seeds)]
            for d in dimensions
        ])  # fmt: skip
        slopes = logs @ np.log(samples) / (logs @ logs)
        stderr = slopes.std(ddof=1) / math.sqrt(asked.seeds)
        bound = [d * start_correlation(g1, g2, d) ** (-2 * (k - 1)) for d in dimensions]
        finite = float(logs @ np.log(bound) / (logs @ logs))
        middle = " ".join(f"{n:.0f}" for n in np.exp(np.log(samples).mean(axis=1)))
        theorem = 1 + (k - 1) * exponent(g1, g2)
        print(
            f"{g1} {g2} | {middle} | {slopes.mean():.2f}({stderr:.2f}) | {finite:.2f} "
            f"| {theorem:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
