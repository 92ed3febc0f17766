"""Learners by name."""

from __future__ import annotations

import pytest

from learnability import BayesAMP, LearnabilityError, Spectral
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


def test_bad_names_and_options_end_in_a_sentence() -> None:
    with pytest.raises(
        LearnabilityError, match="'amp', but bayes-amp and spectral and online-sgd are accepted"
    ):
        named("amp")
    with pytest.raises(LearnabilityError, match="with spectral, but it belongs to bayes-amp"):
        named("spectral", start="random")
