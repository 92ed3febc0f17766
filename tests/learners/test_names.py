"""Learners by name."""

from __future__ import annotations

import pytest

from learnability import BayesAMP, KernelRidge, Layerwise, LearnabilityError, Spectral
from learnability.learners.names import LEARNERS, named
from learnability.learners.protocol import Learner


@pytest.mark.parametrize("name", LEARNERS)
def test_every_name_is_a_learner(name: str) -> None:
    learner = named(name)
    assert isinstance(learner, Learner) and type(learner) is LEARNERS[name]


def test_options_are_fields() -> None:
    assert named("bayes-amp", start="random") == BayesAMP(start="random")
    assert named("bayes-amp", start=None, damping=1.0) == BayesAMP(damping=1.0)
    assert named("spectral", start=None) == Spectral()


def test_options_of_layers() -> None:
    assert named("layerwise") == Layerwise()
    first, second, last = named("layerwise", width=50.0, steps=3, ridge=0.1).layers  # type: ignore[attr-defined]
    assert (first.width, first.steps) == (50, 3) and second.ridge == last.ridge == 0.1
    with pytest.raises(LearnabilityError, match="with layerwise, but it belongs to bayes-amp"):
        named("layerwise", start="random")


def test_bad_names_and_options_end_in_a_sentence() -> None:
    with pytest.raises(
        LearnabilityError, match=r"'amp', but bayes-amp and spectral and .* are accepted"
    ):
        named("amp")
    assert named("kernel-ridge", ridge=0.5) == KernelRidge(ridge=0.5)
    with pytest.raises(LearnabilityError, match=r"`--kernel` .* belongs to kernel-ridge"):
        named("random-features", kernel="exp(z)")
    with pytest.raises(LearnabilityError, match="with spectral, but it belongs to bayes-amp"):
        named("spectral", start="random")
