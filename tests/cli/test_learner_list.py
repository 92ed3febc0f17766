"""The list of learners."""

from __future__ import annotations

import pytest

from learnability.fields import declared
from learnability.learners import LEARNERS


def test_every_learner_is_listed(run) -> None:  # type: ignore[no-untyped-def]
    done = run("learners")
    assert (done.code, done.err) == (0, "")
    heads = [line.split(":")[0] for line in done.out.splitlines() if line[:1].isalnum()]
    assert heads == list(LEARNERS)
    assert "at most 4 directions" in done.out


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_with_its_fields_and_questions(run, name: str) -> None:  # type: ignore[no-untyped-def]
    done = run("learners", name)
    assert (done.code, done.err) == (0, "")
    learner = LEARNERS[name]
    for field, _ in declared(learner):
        assert f"  --{field.name.replace('_', '-')}: " in done.out
    words = done.out.replace(",", " ").split()
    for question in learner.questions:
        assert f"Question {question.name}: {question.help}" in " ".join(done.out.split())
        for verb in ("simulate", "predict"):
            if question.side(verb) is not None:
                assert set(question.names(verb)) <= set(words)
            else:
                assert question.reason and f"{verb}: no answer" in done.out


def test_an_unknown_learner(run) -> None:  # type: ignore[no-untyped-def]
    done = run("learners", "amp")
    assert done.code == 2 and "but batch-gd, bayes-amp" in done.err
