"""Random laws of labels that nobody wrote down: text and Python, theory and runs.

Seeds and criterion were fixed before the first run. A law is made of a random function u of z. The
report of the text equals that of the same law in Python. Where state evolution answers, the mean
overlap of runs at d = 400 is within three standard errors and 0.5 / sqrt(d) of it.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import BayesAMP, FiniteLaw, MultiIndex, hardness

D, RUNS = 400, 6
INNER = ("z", "z**2 - 1", "abs(z) - 0.8", "tanh(2*z)", "sin(2*z)", "He3(z)/3", "relu(z) - 0.4")
WORDS = ("bernoulli", "flip", "categorical", "latent", "poisson")


def law_text(seed: int) -> tuple[str, FiniteLaw | None]:
    """The text of a random law, and the same law in Python where it has finitely many labels."""
    rng = np.random.default_rng([20261117, seed])
    word = WORDS[seed % len(WORDS)]
    scale = round(float(rng.uniform(0.8, 2.5)), 2)
    u = f"{scale}*({INNER[rng.integers(len(INNER))]})"
    p = round(float(rng.uniform(0.02, 0.2)), 2)
    if word == "bernoulli":
        law = FiniteLaw([0, 1], [f"sigmoid(-({u}))", f"sigmoid({u})"])
        return f"bernoulli(sigmoid({u}))", law
    if word == "flip":
        law = FiniteLaw(
            [-1, 1], [f"{1 - p} - {1 - 2 * p}*step({u})", f"{p} + {1 - 2 * p}*step({u})"]
        )
        return f"flip(sign({u}), {p})", law
    if word == "categorical":
        chances = [f"sigmoid({u} - 1)", f"1 - sigmoid({u} - 1) - sigmoid(-({u}) - 1)"]
        chances.append(f"sigmoid(-({u}) - 1)")
        return f"categorical({', '.join(chances)})", FiniteLaw([0, 1, 2], chances)
    if word == "latent":
        return f"sign({u} + {math.sqrt(p) + 0.2:.2f}*xi)", None
    return f"poisson(exp(0.5*tanh({u})))", None


@pytest.mark.parametrize("seed", range(10))
def test_text_is_python(seed: int) -> None:
    text, law = law_text(seed)
    if law is None:
        pytest.skip("a law that has no form of finitely many labels")
    ours, theirs = hardness(text), hardness(law)
    assert ours.kind == theirs.kind
    assert ours.generative_exponent == theirs.generative_exponent
    assert ours.alpha_c == pytest.approx(theirs.alpha_c, rel=1e-7)


@pytest.mark.parametrize("seed", range(10))
def test_runs_agree_with_state_evolution(seed: int) -> None:
    target = MultiIndex(law_text(seed)[0])
    report = hardness(target)
    if report.kind == "hard":
        pytest.skip("message passing finds nothing at this ratio")
    alpha = 2.0 if report.kind == "trivial" else 2.5 * report.alpha_c
    theory = float(BayesAMP().predict(target, alpha=alpha)["subspace_overlap"])
    runs = BayesAMP().simulate(target, d=D, alpha=alpha, seeds=RUNS)["subspace_overlap"].values
    error = float(np.std(runs, ddof=1)) / math.sqrt(RUNS)
    assert abs(float(np.mean(runs)) - theory) <= 3 * error + 0.5 / math.sqrt(D)
