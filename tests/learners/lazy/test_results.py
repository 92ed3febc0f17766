"""Loops over runs, and predictions that random features and kernels share."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import KernelRidge, LearnabilityError, RandomFeatures
from learnability.learners.lazy._results import Lazy, Run, runs


def test_runs_are_laid_out_by_alpha_seed_and_ridge() -> None:
    learner = KernelRidge("exp(z)", (0.5, 2.0))

    def run(target, n, d, seed, ridges):  # type: ignore[no-untyped-def]
        values = np.array([100 * n + 10 * seed + k for k in range(len(ridges))], dtype=float)
        return Run(values, -values, ("solved",) * len(ridges))

    found = runs(learner, "z", 10, [1.0, 2.0], [7, 3], run, lambda n: 0.0)
    assert float(found.error.sel(alpha=2.0, seed=3, ridge=2.0)) == 100 * 20 + 10 * 3 + 1
    assert float(found.train_error.sel(alpha=1.0, seed=7, ridge=0.5)) == -(100 * 10 + 70)
    assert found.status.dims == ("alpha", "seed", "ridge")


def test_memory_is_planned() -> None:
    def run(*_: object) -> Run:
        raise AssertionError("refused before the work")

    with pytest.raises(LearnabilityError, match="GiB"):
        runs(KernelRidge(), "z", 10, 1.0, 1, run, lambda n: 1e18)


def test_both_learners_predict_alike() -> None:
    for learner in (RandomFeatures(), KernelRidge()):
        assert isinstance(learner, Lazy)
        finite = learner.predict_finite("z", d=1000, alpha=1.0)
        limit = learner.predict("z", alpha=1.0)
        assert float(finite.error) == pytest.approx(float(limit.error), rel=0.02)
        assert float(finite.kappa) == 1.0
    with pytest.raises(TypeError):
        Lazy()  # type: ignore[abstract]
