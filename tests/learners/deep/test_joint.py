"""Joint training: starts, seeds, sentences. That it separates depths is an agreement test."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from learnability import Hierarchical, LearnabilityError
from learnability.learners import JointAdamW

TARGET = Hierarchical("tanh(3*z)", "He2(z)/2 + He3(z)/6", normalisation="printed")


@pytest.mark.parametrize(
    ("depth", "start"),
    [(3, "layerwise"), (2, "layerwise"), (5, "layerwise"), (4, "random")],
)
def test_training_does_not_hurt(depth: int, start: str) -> None:
    second = {"second_width": 16} if depth > 2 else {}
    learner = JointAdamW(depth, start, width=64, steps=120, batch=128, **second)
    found = learner.simulate(TARGET, d=16, alpha=100.0)
    assert found.error.item() <= 1.02 * found.start_error.item()
    assert str(found.status.item()) == "trained" and found.n_total.item() == 1600
    assert 0 <= found.iterations.item() <= 120
    if start == "layerwise":
        assert found.start_error.item() < 0.75 * found.attrs["label_variance"]
        again = learner.simulate(TARGET, d=16, alpha=100.0)
        np.testing.assert_array_equal(found.error, again.error)


def test_all_steps_are_made() -> None:
    """89 steps in chunks of 2: the last was not made. From random weights all of them help."""
    learner = JointAdamW(2, "random", width=64, steps=89, batch=1024, step=1e-3)
    assert learner.simulate(TARGET, d=16, alpha=100.0).iterations.item() == 89


def test_sentences() -> None:
    with pytest.raises(LearnabilityError, match="of at least 2 and of at most 8"):
        JointAdamW(9)
    with pytest.raises(LearnabilityError, match="one of layerwise, random"):
        JointAdamW(start="zero")
    with pytest.raises(LearnabilityError, match="`decay` was given"):
        JointAdamW(decay=-1)
    with pytest.raises(LearnabilityError, match="but 10 samples are needed"):
        JointAdamW().simulate(TARGET, d=16, alpha=0.3)
    with pytest.raises(LearnabilityError, match="no theory of jointly trained networks is known"):
        JointAdamW().predict(TARGET, d=16, alpha=1.0)
    with pytest.raises(LearnabilityError, match=r"`second_width` .* acts only with `depth` = "):
        JointAdamW(2, second_width=16)
    with pytest.raises(LearnabilityError, match="acts only with `start` = 'layerwise'"):
        JointAdamW(start="random", first_steps=3)


@pytest.mark.parametrize("start", ["layerwise", "random"])
def test_start_and_batches_are_drawn_apart(start: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No stream of random numbers is used twice: each asks for a seed of its own."""
    asked, plain = [], np.random.default_rng

    def recorded(seed=None):  # type: ignore[no-untyped-def]
        if sys._getframe(1).f_globals["__name__"] == JointAdamW.__module__:
            asked.append(tuple(seed))
        return plain(seed)

    monkeypatch.setattr(np.random, "default_rng", recorded)
    JointAdamW(2, start, width=16, steps=4, batch=32).simulate(TARGET, d=8, alpha=50.0, seeds=[3])
    assert len(asked) == (3 if start == "random" else 2)
    assert len(set(asked)) == len(asked) and all(seed[0] == 3 for seed in asked)
