"""Every learner, target and question, walked from the registries, at sizes that take no time.

Nothing here knows a learner by name. Arguments of questions and a few sizes of networks have small
values by their own name; other values of a field follow from its kind. A new learner needs no line
here; a new argument of questions or a new kind of field needs one.
"""

from __future__ import annotations

import dataclasses
import inspect
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import xarray

from learnability.errors import LearnabilityError
from learnability.fields import (
    Choice,
    Declared,
    Flag,
    Kind,
    Number,
    Several,
    Whole,
    declared,
    is_number,
)
from learnability.inputs import INPUTS, Inputs
from learnability.learners import LEARNERS
from learnability.learners.base import Learner, Question
from learnability.learners.base.questions import ARGUMENTS
from learnability.targets import TARGETS, Target

D = 16
SEEDS = (0, 1)
VERBS = ("simulate", "predict")
LINKS = ("tanh(2*z)", "sign(z1*z2)")
"""One with a linear part and one without, of one and of two variables."""
FURTHER_LINKS = ("sign(z)", "abs(z)", "sign(z1) + sign(z2)")
"""Where those show nothing: one that is learned at once, one of unbounded preprocessing, and one
of which a run may find one direction alone."""

# Name of an argument of a question -> a small value; other arguments have theirs from their kind.
VALUES: dict[str, Any] = {
    "d": D,
    "alpha": (1.5, 3.0),
    "time": (0.0, 0.5, 1.0),
    "start": (1.0, 0.5),  # Q and M of one neuron and one hidden direction
    "overlap": 0.4,
    "degree": 1,
    "parameters": (1.0, 0.5, 1.0),
    "points": 12,
    "samples": 64,
    "steps": 3,
}
# Name of a field -> the largest value of whole numbers that only make a run long.
SMALL = {"width": 8, "steps": 8, "samples": 64, "batch": 8, "replicas": 8}


@dataclass(frozen=True)
class Answer:
    """A result or the sentence of a refusal."""

    result: xarray.Dataset | None
    sentence: str

    @property
    def given(self) -> xarray.Dataset:
        assert self.result is not None, self.sentence
        return self.result


# ---- laws of data


def small_law(law: type[Inputs]) -> Inputs:
    """A law of inputs with other values than its defaults, as far as its fields go together."""
    given: dict[str, Any] = {}
    for field, about in declared(law):
        for value in others(about, field.default):
            if _made(law, {**given, field.name: value}) is not None:
                given[field.name] = value
                break
    made = _made(law, given)
    assert made is not None, f"{law.__name__} cannot be made from its declared fields."
    return made


def plain_law(law: type[Inputs]) -> Inputs:
    """A law of inputs with its defaults, but for what must be given."""
    made = _made(law, {})
    if made is not None:
        return made
    return next(
        made
        for field, about in declared(law)
        for value in others(about, field.default)
        if (made := _made(law, {field.name: value})) is not None
    )


def _made(law: type[Inputs], given: dict[str, Any]) -> Inputs | None:
    try:
        return law(**given)
    except LearnabilityError:
        return None


def targets_of(
    kind: str, law: str, links: Sequence[str] = LINKS, plain: bool = False
) -> list[Target]:
    """Targets of a kind on inputs of a kind, one for each link, where they go together."""
    made = TARGETS[kind]
    if "inputs" in inspect.signature(made).parameters:
        inputs = (plain_law if plain else small_law)(INPUTS[law])
        return [made(link, inputs=inputs) for link in links]  # type: ignore[call-arg]
    found = [made(link) for link in links]  # type: ignore[call-arg]
    return [target for target in found if target.inputs.kind == law]


@cache
def places() -> list[tuple[str, str]]:
    """Kinds of targets and of inputs that exist together."""
    return [place for place in itertools.product(TARGETS, INPUTS) if targets_of(*place)]


def accepts(learner: type[Learner], question: Question, verb: str, target: Target) -> bool:
    """Whether the declared support takes a target."""
    side, support = question.side(verb), learner.supports
    if side is None:
        return False
    most = support.most_directions
    return (
        target.kind in (support.targets if side.targets is None else side.targets)
        and target.inputs.kind in (support.inputs if side.inputs is None else side.inputs)
        and (most is None or target.r <= most)
    )


# ---- learners


def small(
    learner: type[Learner], question: Question | None = None, verb: str = "simulate"
) -> Learner:
    """A learner with few neurons, steps and samples, else with its defaults.

    Fields that a side of a question takes at their default only have it.
    """
    side = None if question is None else question.side(verb)
    return _small(learner, frozenset(side.fixed if side is not None else ()))


@cache
def _small(learner: type[Learner], fixed: frozenset[str]) -> Learner:
    made = learner()
    for field, about in declared(made):
        most, value = SMALL.get(field.name), getattr(made, field.name)
        if most is None or not isinstance(about.kind, Whole) or field.name in fixed:
            continue
        if not isinstance(value, int) or value <= most:
            continue
        try:
            made = dataclasses.replace(made, **{field.name: most})
        except LearnabilityError:
            continue
    return made


def others(about: Declared, value: Any = None) -> list[Any]:
    """Other values of a field than the given one, from what it accepts."""
    found = []
    for one in _candidates(about.kind, value):
        try:
            read = about.read("value", one)
        except LearnabilityError:
            continue
        if read != value and read not in found:
            found.append(read)
    return found


def _candidates(kind: Kind, value: Any) -> Iterator[Any]:
    if isinstance(kind, Several):
        first = value[0] if isinstance(value, tuple) else value
        yield from _candidates(kind.each, first)
    elif isinstance(kind, Choice):
        yield from kind.words
    elif isinstance(kind, Flag):
        yield from (True, False)
    elif isinstance(kind, Number):
        start = value if is_number(value) else 2.0
        low = kind.above if kind.at_least is None else kind.at_least
        high = kind.below if kind.at_most is None else kind.at_most
        if isinstance(kind, Whole):
            yield from (start, start + 1, start if low is None else low)
            yield from (2, 2 * start, start - 1, 2 * start + 1)
        else:
            yield from (start, 2 * start, start / 2, start + 0.5, -start / 4, 10.0 * start)
        if low is not None and high is not None:
            yield from (low + share * (high - low) for share in (0.5, 0.02, 0.75))
    else:
        yield from kind.examples


# ---- asking


def argument(name: str) -> Any:
    """A small value of an argument of a question."""
    if name in VALUES:
        return VALUES[name]
    kind = ARGUMENTS[name].kind
    return kind.words[-1] if isinstance(kind, Choice) else others(ARGUMENTS[name])[0]


def needed(question: Question, verb: str, target: Target) -> dict[str, Any]:
    """The arguments without which a question cannot be asked."""
    side = question.side(verb)
    assert side is not None
    names = dict.fromkeys(side.needs)
    if verb == "predict" and target.depends_on_dimension and not side.limit:
        names["d"] = None
    return {name: argument(name) for name in names}


def ask(
    learner: Learner,
    target: Target,
    question: Question,
    verb: str,
    seeds: Sequence[int] = SEEDS,
    more: Mapping[str, Any] | None = None,
) -> Answer:
    """Ask once in a session; later the same answer is handed out."""
    at = {**needed(question, verb, target), **(more or {})}
    key = repr((learner, target, question.name, verb, tuple(seeds), sorted(at.items())))
    if key not in _ANSWERS:
        _ANSWERS[key] = _asked(learner, target, question, verb, seeds, at)
    return _ANSWERS[key]


_ANSWERS: dict[str, Answer] = {}


def _asked(
    learner: Learner,
    target: Target,
    question: Question,
    verb: str,
    seeds: Sequence[int],
    at: dict[str, Any],
) -> Answer:
    try:
        if verb == "simulate":
            found = learner.simulate(target, question=question.name, seeds=list(seeds), **at)  # type: ignore[misc]
        else:
            found = learner.predict(target, question=question.name, **at)  # type: ignore[misc]
    except LearnabilityError as error:
        return Answer(None, str(error))
    return Answer(found, "")


def cases(verb: str | None = None) -> list[tuple[type[Learner], Question, str, str, str]]:
    """Learner, question, verb, kind of target, kind of inputs, as declared."""
    return [
        (learner, question, word, *place)
        for learner in LEARNERS.values()
        for question in learner.questions
        for word in (VERBS if verb is None else (verb,))
        for place in places()
        if any(accepts(learner, question, word, target) for target in targets_of(*place))
    ]


def named(value: Any) -> str:
    """The name of a parameter of a test."""
    return str(getattr(value, "name", value))


@dataclass(frozen=True)
class Asked:
    """A learner and a question that has an answer on a target."""

    learner: Learner
    question: Question
    verb: str
    target: Target
    more: Mapping[str, Any]

    def again(self, seeds: Sequence[int] = SEEDS, **more: Any) -> xarray.Dataset:
        """The answer, with other seeds or arguments."""
        every = {**self.more, **more}
        return ask(self.learner, self.target, self.question, self.verb, seeds, every).given

    @property
    def result(self) -> xarray.Dataset:
        """The answer."""
        return self.again()


def answered(
    learner: type[Learner], question: Question, verb: str, kind: str, law: str
) -> list[Asked]:
    """How a question is asked so that there is an answer, for each target of a place.

    Where the law of inputs must be a special one, its defaults are tried too.
    """
    found: list[Asked] = []
    for plain in (False, True):
        targets = targets_of(kind, law, plain=plain)
        found += [one for target in targets for one in answered_on(learner, question, verb, target)]
        if found:
            return found
    return found


def answered_on(
    learner: type[Learner], question: Question, verb: str, target: Target
) -> list[Asked]:
    """How a question is asked so that there is an answer; none where the target is not accepted."""
    if not accepts(learner, question, verb, target):
        return []
    found = _answer(learner, question.name, verb, repr(target), target)
    return [] if found is None else [found]


def _answer(learner: type[Learner], name: str, verb: str, key: str, target: Target) -> Asked | None:
    """With small defaults, or else with one optional argument or one other value of a field."""
    memory = (learner.name, name, verb, key)
    if memory not in _WAYS:
        question = next(one for one in learner.questions if one.name == name)
        _WAYS[memory] = next(
            (
                Asked(made, question, verb, target, more)
                for made, more in _ways(learner, question, verb)
                if ask(made, target, question, verb, more=more).result is not None
            ),
            None,
        )
    return _WAYS[memory]


_WAYS: dict[tuple[str, ...], Asked | None] = {}


def _ways(
    learner: type[Learner], question: Question, verb: str
) -> Iterator[tuple[Learner, dict[str, Any]]]:
    base, side = small(learner, question, verb), question.side(verb)
    assert side is not None
    yield base, {}
    for name in side.takes:
        yield base, {name: argument(name)}
    if "d" in {*side.needs, *side.takes}:  # What holds for large dimensions may refuse small ones.
        yield base, {"d": 16 * D}
    for field, about in declared(base):
        for value in others(about, getattr(base, field.name)):
            try:
                made = dataclasses.replace(base, **{field.name: value})  # type: ignore[type-var]
            except LearnabilityError:
                continue
            yield made, {}


def same_bits(one: xarray.Dataset, other: xarray.Dataset) -> bool:
    """Whether two results have the same variables, shapes and bits."""
    if set(one.data_vars) != set(other.data_vars):
        return False
    for name in one.data_vars:
        a, b = one[name].values, other[name].values
        if a.shape != b.shape or a.dtype.kind != b.dtype.kind:
            return False
        if not np.array_equal(a, b, equal_nan=a.dtype.kind == "f"):
            return False
    return True
