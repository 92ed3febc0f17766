"""Means, variances and energies of random hierarchical targets against a million samples each.

    python -m tests.audit.energies [FIRST LAST]

The targets are those of `ENERGIES` in `tests/hierarchical_targets.py`. For two standard normal
vectors z and z' of correlation rho, E[f(z) f(z')] = sum_j rho^j |P_j f|^2: the sum is held against
pairs at two values of rho. The criterion is 4 standard errors of the samples, with rho^(K+1) times
the energy beyond the last known degree K as slack of the sum, and 1e-5 of the second moment for the
integrals of the library: the samples of labels that are signs have no error at all. A target whose
energies are refused must say why. About ten minutes of one core.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from learnability import LearnabilityError

from tests.hierarchical_targets import ENERGIES, drawn_case

PAIRS, BLOCK = 500_000, 50_000
"""Pairs of vectors: a million samples of the label."""
CORRELATIONS = (0.5, 0.8)
ERRORS, INTEGRALS = 4.0, 1e-5


def sampled(target: Any, seed: int) -> dict[str, tuple[float, float]]:
    """Return mean, second moment and correlations of the label, each with its standard error."""
    size = target.r * target.sizes[0]
    rng = np.random.default_rng([77, seed])
    sums: dict[str, list[np.ndarray]] = {}
    for _ in range(PAIRS // BLOCK):
        z, other = rng.standard_normal((2, BLOCK, size))
        f = label(target, z)
        sums.setdefault("mean", []).append(f)
        sums.setdefault("second moment", []).append(f**2)
        for rho in CORRELATIONS:
            near = label(target, rho * z + np.sqrt(1 - rho**2) * other)
            sums.setdefault(f"correlation at {rho}", []).append(f * near)
    found = {name: np.concatenate(parts) for name, parts in sums.items()}
    return {name: (float(v.mean()), float(v.std() / np.sqrt(len(v)))) for name, v in found.items()}


def label(target: Any, z: np.ndarray) -> np.ndarray:
    """Return f at values of the directions."""
    features = target.features(z, np.eye(z.shape[1]))[-1][..., 0]
    return np.asarray(target.link(features), dtype=float)


def compared(seed: int) -> tuple[str, list[str]]:
    """Return the name of a case, and what misses the samples; the reason of a refusal."""
    case = drawn_case(seed)
    target = case.target.at(case.d)
    try:
        energies, mean, variance = target.levels(), target.mean, target.variance
    except LearnabilityError as refusal:
        return case.name, [f"refused: {refusal}"]
    beyond = max(variance + mean**2 - float(energies.sum()), 0.0)
    exact = {"mean": (mean, 0.0), "second moment": (variance + mean**2, 0.0)}
    for rho in CORRELATIONS:
        powers = rho ** np.arange(len(energies))
        slack = rho ** len(energies) * beyond
        exact[f"correlation at {rho}"] = (float(powers @ energies), slack)
    missed, own = [], INTEGRALS * (variance + mean**2)
    for name, (value, error) in sampled(target, seed).items():
        known, slack = exact[name]
        allowed = ERRORS * error + own
        if not known - allowed <= value <= known + slack + allowed:
            missed.append(f"{name}: {known:.6g} (and at most {slack:.2g} more), "
                          f"samples {value:.6g} +- {error:.2g}")  # fmt: skip
    return case.name, missed


def main() -> None:
    """Hold all cases, or some, against their samples."""
    first, last = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (0, len(ENERGIES))
    failed = refused = 0
    for seed in ENERGIES[first:last]:
        name, missed = compared(seed)
        no_answer = bool(missed) and missed[0].startswith("refused")
        refused += no_answer
        failed += bool(missed) and not no_answer
        print(f"{name}\n    {'; '.join(missed) or 'agrees'}", flush=True)
    print(f"{failed} of {last - first} cases fail; {refused} are refused.")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
