"""Theory against runs on a few strange problems; `python -m tests.audit.strange` has many more."""

from __future__ import annotations

import pytest

from learnability import KernelRidge, MultiIndex, OnlineSGD, RandomFeatures
from learnability.inputs import Spiked

from tests.audit.strange import judged


@pytest.mark.parametrize("k", range(6))
@pytest.mark.parametrize("family", ["features", "kernel"])
def test_strange_problems(family: str, k: int) -> None:
    found = judged(family, k)
    assert found["verdict"] != "wrong", found


@pytest.mark.parametrize("text", ["2*sin(17*z) + z - 10", "2*sin(11*z1) + tanh(z2) + 5"])
def test_fast_labels_about_a_constant(text: str) -> None:
    """One-pass SGD in motion: fixed numbers of nodes gave a wrong square of such labels."""
    learner = OnlineSGD(activation="relu(z)", step=0.2)
    target = MultiIndex(text)
    start = (1.0, [[0.3] * target.r])
    theory = learner.predict(target, time=[1.0], start=start)
    runs = learner.simulate(target, d=500, time=[1.0], start=start, seeds=16)
    for name in ("gram", "overlap", "error"):
        values = runs[name].values.reshape(16, -1)
        stderr = values.std(axis=0, ddof=1) / 4
        expected = theory[name].values.ravel()
        gap = abs(values.mean(axis=0) - expected)
        assert (gap <= 3 * stderr + 0.02 * abs(expected) + 0.01).all(), (name, expected, values)


LEARNERS = (RandomFeatures(2.0, "abs(z)", 0.1), KernelRidge("exp(z3 - z1/2 - z2/2)", 0.1))


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_constants_on_two_spikes(learner: RandomFeatures | KernelRidge) -> None:
    target = MultiIndex("tanh(z) - 10", inputs=Spiked((8.0, 4.0), ((0.5,), (0.3,))))
    theory = float(learner.predict(target, d=300, alpha=1.5).error)
    runs = learner.simulate(target, d=300, alpha=1.5, seeds=6).error
    stderr = float(runs.std(ddof=1)) / 6**0.5
    assert theory == pytest.approx(float(runs.mean()), rel=0.06, abs=3 * stderr)
