"""Every field acts on every target that its learner accepts, or is refused in a sentence.

On the old code red for GiantSteps, whose `init` and `reuse` were ignored on spiked inputs without a
word.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest

from learnability.errors import LearnabilityError
from learnability.fields import Declared, declared
from learnability.learners import LEARNERS
from learnability.learners.base import Learner, Question
from learnability.targets import Target

from tests.conformance.cases import (
    FURTHER_LINKS,
    LINKS,
    VERBS,
    Answer,
    accepts,
    ask,
    named,
    needed,
    others,
    places,
    same_bits,
    small,
    targets_of,
)

FIELDS = [(learner, field.name) for learner in LEARNERS.values() for field, _ in declared(learner)]
MOST = 4
"""Other values of a field that are tried."""
ONE = {"alpha": 1.5}
"""Where one number is enough."""


def about(learner: type[Learner], name: str) -> Declared:
    return next(about for field, about in declared(learner) if field.name == name)


def acting(learner: type[Learner], name: str) -> Learner:
    """A small learner whose other fields are such that this one acts."""
    made = small(learner)
    chosen: dict[str, Any] = {}
    waiting = [name]
    while waiting:
        for other, values in about(learner, waiting.pop()).when.items():
            if getattr(made, other) not in values:
                chosen[other] = values[0]
                waiting.append(other)
    return dataclasses.replace(made, **chosen) if chosen else made  # type: ignore[type-var]


def variants(base: Learner, name: str) -> Iterator[Learner]:
    """The learner with other values of a field."""
    found = 0
    for value in others(about(type(base), name), getattr(base, name)):
        try:
            yield dataclasses.replace(base, **{name: value})  # type: ignore[type-var]
        except LearnabilityError:
            continue
        found += 1
        if found == MOST:
            return


def _neighbours(learner: type[Learner], name: str) -> Iterator[Learner]:
    """Learners of which a field may have another value: small, default, or one field changed."""
    base = acting(learner, name)
    yield base
    yield learner()
    for field, known in declared(base):
        for value in others(known, getattr(base, field.name)):
            try:
                yield dataclasses.replace(base, **{field.name: value})  # type: ignore[type-var]
            except LearnabilityError:
                continue


def _once(learner: Learner, target: Target, question: Question, verb: str) -> Answer:
    """One seed at one number of samples."""
    asked = needed(question, verb, target)
    return ask(learner, target, question, verb, (0,), {k: v for k, v in ONE.items() if k in asked})


def asked(learner: type[Learner], kind: str, law: str) -> Iterator[tuple[Target, Question, str]]:
    """Where to look for a change, the first question first, then on further links."""
    return (
        (target, question, verb)
        for target in targets_of(kind, law, (*LINKS, *FURTHER_LINKS))
        for question in learner.questions
        for verb in VERBS
        if accepts(learner, question, verb, target)
    )


@pytest.mark.parametrize(("learner", "name"), FIELDS, ids=named)
def test_a_field_acts_or_is_refused(learner: type[Learner], name: str) -> None:
    base, tried = next(
        (
            (one, found)
            for one in _neighbours(learner, name)
            if (found := list(variants(one, name)))
        ),
        (small(learner), []),
    )
    assert tried, f"no other value of {name} is known: give its kind `examples`"
    for place in places():
        _look_for_a_change(base, tried, name, asked(learner, *place))


def parts() -> list[tuple[type[Learner], str, int, int, str]]:
    """Fields of records that are values of a field: learner, field, example, place, inner field."""
    return [
        (learner, field.name, example, place, inner.name)
        for learner in LEARNERS.values()
        for field, known in declared(learner)
        for example, records in enumerate(known.kind.examples)
        if isinstance(records, tuple) and all(map(dataclasses.is_dataclass, records))
        for place, record in enumerate(records)
        for inner, _ in declared(record)
    ]


@pytest.mark.parametrize(("learner", "name", "example", "place", "inner"), parts(), ids=named)
def test_a_field_of_a_part_acts_or_is_refused(
    learner: type[Learner], name: str, example: int, place: int, inner: str
) -> None:
    whole = about(learner, name).kind.examples[example]
    part = whole[place]
    known = next(known for field, known in declared(part) if field.name == inner)
    base = dataclasses.replace(learner(), **{name: whole})  # type: ignore[type-var]
    tried = []
    for value in others(known, getattr(part, inner))[:MOST]:
        changed = dataclasses.replace(part, **{inner: value})
        stack = (*whole[:place], changed, *whole[place + 1 :])
        tried.append(dataclasses.replace(base, **{name: stack}))  # type: ignore[type-var]
    assert tried, f"no other value of {inner} is known: give its kind `examples`"
    for kind, law in places():
        _look_for_a_change(base, tried, f"{name}[{place}].{inner}", asked(learner, kind, law))


def _look_for_a_change(
    base: Learner, tried: list[Learner], name: str, where: Iterator[tuple[Target, Question, str]]
) -> None:
    idle = []
    for target, question, verb in where:
        first = _once(base, target, question, verb)
        if first.result is None:
            continue
        for variant in tried:
            second = _once(variant, target, question, verb)
            if second.result is None:
                assert second.sentence.rstrip().endswith(".")
            elif same_bits(first.result, second.result):
                idle.append(f"{verb} {question.name} of {target!r} with {variant!r}")
            else:
                return
    assert not idle, f"`{name}` was ignored: {idle[0]}"


@pytest.mark.parametrize(("learner", "name"), FIELDS, ids=named)
def test_a_field_that_does_not_act_beside_the_others_is_refused(
    learner: type[Learner], name: str
) -> None:
    for other, values in about(learner, name).when.items():
        base = acting(learner, name)
        for idle in (v for v in others(about(learner, other), None) if v not in values):
            for variant in variants(base, name):
                with pytest.raises(LearnabilityError, match="`"):
                    dataclasses.replace(variant, **{other: idle})  # type: ignore[type-var]


@pytest.mark.parametrize(("learner", "name"), FIELDS, ids=named)
def test_a_field_is_described_and_refuses_nonsense(learner: type[Learner], name: str) -> None:
    known = about(learner, name)
    assert (known.help.endswith(".") and known.help[:1].isupper()) or known.help[:1] in "0123456789"
    assert f"{name} : " in (learner.__doc__ or "")
    with pytest.raises(LearnabilityError, match=f"`{name}`"):
        learner(**{name: object()})
