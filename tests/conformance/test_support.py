"""What a learner does not support is refused in a sentence that names both sides."""

from __future__ import annotations

import pytest

from learnability.errors import LearnabilityError
from learnability.learners import LEARNERS
from learnability.learners.base import Learner, Question
from learnability.learners.base.questions import ARGUMENTS
from learnability.targets import MultiIndex, Target

from tests.conformance.cases import (
    VERBS,
    accepts,
    argument,
    ask,
    named,
    needed,
    places,
    small,
    targets_of,
)

QUESTIONS = [
    (learner, question, verb)
    for learner in LEARNERS.values()
    for question in learner.questions
    for verb in VERBS
]
ASKED = pytest.mark.parametrize(("learner", "question", "verb"), QUESTIONS, ids=named)


def is_a_sentence(text: str) -> bool:
    return text[:1] in "`'\"" or (text[:1].isalnum() and text.rstrip().endswith("."))


def _others(learner: type[Learner], question: Question, verb: str) -> list[Target]:
    return [
        target
        for place in places()
        for target in targets_of(*place)
        if not accepts(learner, question, verb, target)
    ]


@ASKED
def test_an_unsupported_target_is_refused_and_both_sides_are_named(
    learner: type[Learner], question: Question, verb: str
) -> None:
    side = question.side(verb)
    for target in _others(learner, question, verb):
        if side is None:
            found = _refused(learner, question, verb, target, {})
            assert question.reason in found
            continue
        found = ask(small(learner, question, verb), target, question, verb).sentence
        assert found, f"{target!r} is not declared, but accepted"
        assert is_a_sentence(found)
        assert f"{verb} {learner.name}" in found
        taken = side.targets or learner.supports.targets
        laws = side.inputs or learner.supports.inputs
        if target.kind not in taken:
            assert target.kind in found and all(one in found for one in taken)
        elif target.inputs.kind not in laws:
            assert target.inputs.kind in found and all(one in found for one in laws)
        else:
            assert str(target.r) in found and str(learner.supports.most_directions) in found


def _refused(
    learner: type[Learner], question: Question, verb: str, target: Target, at: dict[str, object]
) -> str:
    with pytest.raises(LearnabilityError) as refusal:
        if verb == "simulate":
            small(learner, question, verb).simulate(target, question=question.name, **at)  # type: ignore[arg-type]
        else:
            small(learner, question, verb).predict(target, question=question.name, **at)  # type: ignore[arg-type]
    return str(refusal.value)


@ASKED
def test_arguments_that_are_missing_or_too_many_are_named(
    learner: type[Learner], question: Question, verb: str
) -> None:
    side = question.side(verb)
    accepted = [t for p in places() for t in targets_of(*p) if accepts(learner, question, verb, t)]
    if side is None or not accepted:
        pytest.skip("this side has no answer")
    target = accepted[0]
    asked = needed(question, verb, target)
    for name in asked:
        rest = {other: value for other, value in asked.items() if other != name}
        found = _refused(learner, question, verb, target, rest)
        assert f"`{name}`" in found and learner.name in found and is_a_sentence(found)
    for name in ARGUMENTS:
        if name not in {*asked, *side.takes}:
            found = _refused(learner, question, verb, target, {**asked, name: argument(name)})
            assert f"`{name}`" in found and learner.name in found and is_a_sentence(found)


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=named)
def test_a_question_that_is_not_known_is_refused(learner: type[Learner]) -> None:
    with pytest.raises(LearnabilityError, match=learner.name) as refusal:
        small(learner).simulate("z", question="weather", d=4)
    assert all(question.name in str(refusal.value) for question in learner.questions)


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=named)
def test_what_is_no_target_is_refused(learner: type[Learner]) -> None:
    for wrong in (3, None, MultiIndex):
        with pytest.raises(LearnabilityError):
            small(learner).simulate(wrong, d=4)  # type: ignore[arg-type]
