"""`predict` of layer-wise learning against runs on a hundred random hierarchical targets.

The targets, sizes, seeds and the criterion are those of `tests/hierarchical_targets.py`. About ten
minutes of one core: python -m tests.tools.audit_depth [--cases 0:20], or `make audit`. It prints a
line for each case and ends with an error when more than five of a hundred fail. `--held-out` takes
cases that no choice in the theory has looked at.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any, NamedTuple

import numpy as np

from learnability import LearnabilityError
from learnability.learners import Layerwise

from tests.hierarchical_targets import (
    ALLOWED,
    HELD_OUT,
    RUNS,
    SEEDS,
    Case,
    drawn_case,
    known_cases,
)

LEARNER = Layerwise()
FAILURES = 0.05
"""Share of the cases that may fail."""


class Outcome(NamedTuple):
    """What was found in one case.

    Attributes
    ----------
    given : int
        Numbers that `predict` gave.
    outside : tuple of str
        Those that miss the runs.
    words : str
        The reason where a number is not given.
    """

    given: int
    outside: tuple[str, ...]
    words: str


def compared(case: Case) -> Outcome:
    """Hold one case against its runs.

    Parameters
    ----------
    case : Case
        The target and its sizes.
    """
    at: dict[str, Any] = {"d": case.d, "alpha": case.n / case.d}
    try:
        theory = LEARNER.predict(case.target, **at)
    except LearnabilityError as refusal:
        return Outcome(0, (), f"refused: {refusal}")
    runs = LEARNER.simulate(case.target, **at, seeds=list(RUNS))
    variance = theory.attrs["label_variance"]
    given, outside = 0, []
    scales = {"first_layer_overlap": 1.0, "feature_overlap": 1.0}
    scales |= {"two_layer_error": variance, "error": variance}
    for name, scale in scales.items():
        values = np.atleast_1d(theory[name].values) / scale
        found = runs[name].values.reshape(len(RUNS), -1) / scale
        for value, mean, error in zip(values, found.mean(axis=0), _stderr(found), strict=True):
            if np.isfinite(value):
                given += 1
                if abs(value - mean) > 3 * error + ALLOWED:
                    outside.append(f"{name} {value:.3f}, runs {mean:.3f} ({error:.3f})")
    third = runs["error"].values / variance
    error = float(_stderr(third[:, None])[0])
    for name, sign in (("three_layer_bound", 1), ("three_layer_floor", -1)):
        value = float(theory[name]) / variance
        given += 1
        if sign * (third.mean() - value) > 3 * error:
            outside.append(f"{name} {value:.3f}, runs {third.mean():.3f} ({error:.3f})")
    return Outcome(given, tuple(outside), str(theory.attrs.get("note", "")))


def _stderr(found: Any) -> Any:
    return found.std(axis=0, ddof=1) / np.sqrt(len(found))


def main() -> None:
    """Hold all cases, or some, against their runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default="0:100", help="first:last of the cases")
    parser.add_argument("--held-out", action="store_true", help="cases of seeds held out")
    options = parser.parse_args()
    first, last = (int(part) for part in options.cases.split(":"))
    known = [] if options.held_out else known_cases()
    seeds = HELD_OUT if options.held_out else SEEDS
    cases = [*known, *(drawn_case(seed) for seed in seeds)][first:last]
    failed = given = 0
    for number, case in enumerate(cases, first):
        found = compared(case)
        given += found.given
        failed += bool(found.outside)
        verdict = "; ".join(found.outside) or "agrees"
        print(f"{number:3d} {case.name}\n    {found.given} numbers: {verdict}. {found.words}",
              flush=True)  # fmt: skip
    print(f"{failed} of {len(cases)} cases fail; {given} numbers were given.")
    sys.exit(failed > FAILURES * len(cases))


if __name__ == "__main__":
    main()
