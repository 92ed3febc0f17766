"""State evolution of random links: an answer or a sentence, the same however the link is said.

Link number n is `random_formula(n)` of `tests.random_links`. `predict` is asked at the ratios of
`RATIOS`; one of the ways of `WAYS`, number n modulo their number, must leave the overlaps as they
are, up to three of their joint errors and 1e-4; and with `--runs D` message passing in dimension D,
four seeds, must agree at the last ratio within three standard errors and 0.5 / sqrt(D). The links,
ratios and criteria were fixed before the first run. `python -m tests.tools.audit_state_evolution
FIRST LAST [--runs D] [--directions 1 2]` prints a line for each link with so many hidden directions
and the sums. With `--laws` they are the random laws of `tests.random_link_laws`, which are not said
otherwise.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
from numpy.typing import NDArray

from learnability import BayesAMP, LearnabilityError, Link, MultiIndex
from learnability.theory.state_evolution import FixedPoint, state_evolution

from tests.random_link_laws import random_law_text
from tests.random_links import WAYS, random_formula

RATIOS = (0.4, 1.0, 3.0)
SEEDS = 4


def overlaps(link: Link) -> list[FixedPoint]:
    """The fixed points at the ratios."""
    return state_evolution(MultiIndex(link).channel).fixed_points(np.array(RATIOS))


def contradictions(number: int, points: list[FixedPoint]) -> list[str]:
    """Eigenvalues of overlaps that change when the link is said otherwise."""
    way = list(WAYS)[number % len(WAYS)]
    other = overlaps(WAYS[way](Link(random_formula(number)), number))
    found = []
    for ratio, a, b in zip(RATIOS, points, other, strict=True):
        first, second = (np.linalg.eigvalsh(p.M)[::-1] for p in (a, b))
        size = min(len(first), len(second))
        gap = float(np.abs(first[:size] - second[:size]).max())
        if gap > 3 * float(a.error.max() + b.error.max()) + 1e-4:
            found.append(f"{way} at {ratio:g}: off by {gap:.2g}")
    return found


def disagreement(link: Link, predicted: NDArray[np.float64], d: int) -> str:
    """What runs in dimension d say against the prediction at the last ratio; empty if nothing."""
    runs = BayesAMP().simulate(MultiIndex(link), d=d, alpha=RATIOS[-1], seeds=SEEDS)
    seen = np.array([np.trace(M) for M in runs.overlap.values]) / link.r
    error = seen.std(ddof=1) / np.sqrt(SEEDS)
    gap = abs(seen.mean() - np.trace(predicted) / link.r)
    agrees = gap <= 3 * error + 0.5 / np.sqrt(d)
    return "" if agrees else f"runs {seen.mean():.3f}({error:.3f})"


def main() -> int:
    """Audit the links of the given numbers; return how many contradict themselves."""
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--directions", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument("--laws", action="store_true")
    given = parser.parse_args()
    wrong = refused = count = 0
    for number in range(given.first, given.last):
        start = time.process_time()
        text = random_law_text(number) if given.laws else random_formula(number)
        if not given.laws and Link(text).r not in given.directions:
            continue
        count += 1
        try:
            points = overlaps(Link(text))
            misses = [] if given.laws else contradictions(number, points)
            if given.runs:
                misses += filter(None, [disagreement(Link(text), points[-1].M, given.runs)])
            said = " ".join(f"{np.trace(p.M) / len(p.M):.4f}" for p in points)
        except LearnabilityError as refusal:
            misses, said, refused = [], f"refused: {refusal}", refused + 1
        wrong += bool(misses)
        spent = time.process_time() - start
        print(f"{number} {text} | {said} | {'; '.join(misses)} | {spent:.1f} s", flush=True)
    print(f"{count} links, {wrong} with a contradiction, {refused} refused")
    return wrong


if __name__ == "__main__":
    sys.exit(int(main() > 0))
