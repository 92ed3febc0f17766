"""Linear models on random targets: scikit-learn's fits lie on their asymptotics.

Seeds, sizes and the criterion were fixed before the first run: four targets for each loss,
d = 300, six runs; every mean within four standard errors plus 0.5 / sqrt(d) of the prediction.
"""

from __future__ import annotations

import numpy as np
import pytest

from learnability import LinearModel, MultiIndex

D, RUNS, TARGETS = 300, 6, 4
TERMS = (
    "z1", "z2", "z1*z2", "tanh(2*z1)", "abs(z2)", "He2(z1)", "relu(z1 - z2)", "cos(2*z3)", "z1*z3",
)  # fmt: skip


def drawn(loss: str, k: int) -> tuple[LinearModel, MultiIndex, float]:
    """A random learner, target and ratio of samples."""
    rng = np.random.default_rng([20, k, len(loss)])
    chosen = rng.choice(TERMS, size=3, replace=False)
    parts = [f"{c:.2f}*{term}" for c, term in zip(rng.normal(size=3), chosen, strict=True)]
    link = " + ".join(parts)
    noise = float(rng.choice([0.0, 0.1, 0.5]))
    if loss in ("logistic", "hinge"):
        link, noise = f"sign({link} + {rng.normal():.2f})", 0.0
    alpha = float(rng.choice([1.5, 3.0, 6.0]))
    ridge = float(rng.choice([0.1, 0.5, 2.0]))
    return LinearModel(loss=loss, ridge=ridge), MultiIndex(link, r=3, noise=noise), alpha


@pytest.mark.parametrize("loss", ["squared", "huber", "logistic", "hinge"])
@pytest.mark.parametrize("k", range(TARGETS))
def test_runs_lie_on_the_theory(loss: str, k: int) -> None:
    learner, target, alpha = drawn(loss, k)
    theory = learner.predict(target, alpha=alpha)
    runs = learner.simulate(target, d=D, alpha=alpha, seeds=RUNS)
    for name in ("overlap", "subspace_overlap", "error", "misclassification"):
        if name not in theory:
            continue
        mean, spread = runs[name].mean("seed"), runs[name].std("seed", ddof=1) / np.sqrt(RUNS)
        size = max(1.0, float(np.abs(theory[name]).max()))
        allowed = 4 * spread + 0.5 / np.sqrt(D) * size + 3 * theory[f"{name}_stderr"]
        assert (np.abs(mean - theory[name]) <= allowed).all(), (learner, target, alpha, name)
