"""Linear models of random labels: one quadrature of (z, y) for every law."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import LinearModel, MultiIndex

EQUAL = [
    ("z + sqrt(0.3)*xi", MultiIndex("z", noise=0.3), "huber"),
    ("bernoulli(step(z))", MultiIndex("step(z)"), "logistic"),
    ("flip(sign(z), 0)", MultiIndex("sign(z)"), "hinge"),
    ("sign(z + 0*xi)", MultiIndex("sign(z)"), "logistic"),
    ("categorical(step(-z), step(z))", MultiIndex("step(z)"), "squared"),
]


@pytest.mark.parametrize(("text", "plain", "loss"), EQUAL, ids=[e[0] for e in EQUAL])
def test_a_law_without_randomness_is_its_function(text: str, plain: MultiIndex, loss: str) -> None:
    learner = LinearModel(loss=loss, ridge=0.4)
    one, other = (learner.predict(t, alpha=[0.8, 3.0]) for t in (MultiIndex(text), plain))
    for name in ("overlap", "error", "misclassification"):
        if name in one:
            np.testing.assert_allclose(one[name], other[name], atol=1e-6)


@pytest.mark.parametrize(
    ("text", "loss"),
    [
        ("bernoulli(sigmoid(2*z))", "logistic"),
        ("sign(z + sqrt(0.5)*xi)", "hinge"),
        ("poisson(exp(z/2))", "huber"),
        ("z1 + abs(z2)*xi", "squared"),
    ],
)
def test_runs_on_random_labels_lie_on_the_theory(text: str, loss: str) -> None:
    # Fixed before the first run: d = 200, eight runs, four standard errors plus 0.5 / sqrt(d).
    learner, d, runs = LinearModel(loss=loss, ridge=0.5), 200, 8
    theory = learner.predict(text, alpha=2.0)
    found = learner.simulate(text, d=d, alpha=2.0, seeds=runs)
    for name in ("overlap", "error", "misclassification"):
        if name in theory:
            mean = found[name].mean("seed")
            spread = found[name].std("seed", ddof=1) / np.sqrt(runs)
            size = max(1.0, float(np.abs(theory[name]).max()))
            assert (np.abs(mean - theory[name]) <= 4 * spread + 0.5 / np.sqrt(d) * size).all()
