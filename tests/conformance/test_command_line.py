"""Every combination on the command line ends in a result, or in one sentence and exit code 2.

On the old code red in 37 of 140 combinations of `predict LEARNER`, target and `--d`, which ended in
a raw TypeError.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from learnability.cli import main
from learnability.cli.learner_options import learner_options
from learnability.cli.target_options import input_options, tree_options
from learnability.fields import Flag, declared, given
from learnability.labels.link import Link
from learnability.learners import LEARNERS
from learnability.learners.base import Learner, Question
from learnability.learners.base.questions import ARGUMENTS
from learnability.targets import Target

from tests.conformance.cases import (
    VERBS,
    accepts,
    answered,
    argument,
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


class Done(NamedTuple):
    """How a command ended."""

    words: list[str]
    code: Any
    out: str
    err: str


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    for cls in {Learner, *LEARNERS.values()}:
        for name in ("run", "theory"):
            if name in vars(cls):
                monkeypatch.setattr(cls, name, _remembered(vars(cls)[name]))

    def call(words: list[str]) -> Done:
        monkeypatch.setattr(sys, "argv", ["learnability", *words])
        try:
            main()
        except SystemExit as end:
            code = end.code
        except Exception as error:
            raise AssertionError(f"{' '.join(words)} ended in {error!r}") from error
        captured = capsys.readouterr()
        return Done(words, code, captured.out, captured.err)

    return call


_FOUND: dict[str, Any] = {}


def _remembered(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of learners that computes the same only once in a session."""

    def once(self: Learner, question: str, target: Any, at: Any, seeds: Any) -> Any:
        key = repr((method.__qualname__, self, question, target, sorted(at.items()), seeds))
        if key not in _FOUND:
            _FOUND[key] = method(self, question, target, at, seeds)
        return _FOUND[key]

    return once


# ---- words


def text(value: Any) -> str:
    """A value as it is typed."""
    if isinstance(value, tuple | list):
        return ",".join(map(text, value))
    return str(value.text) if isinstance(value, Link) else str(value)


def argument_words(name: str, value: Any) -> list[str]:
    if isinstance(ARGUMENTS[name].kind, Flag):
        return [f"--{name}"]
    return [f"--{name}", text(value)]


def target_words(learner: type[Learner], verb: str, target: Target) -> list[str]:
    """The expression, and options that say the kinds of the target and of its inputs."""
    known = {option.name for option in learner_options(learner, verb)}

    def option(name: str) -> str:
        return f"--target-{name}" if f"target-{name}" in known else f"--{name}"

    words = [str(target.link.text)]
    if target.kind != "multi-index":
        field, about = next((f, a) for f, a in declared(target) if f.name in tree_options())
        own = tree_options()[field.name]
        words += [option(own.name), text(about.read(field.name, getattr(target, field.name)))]
    law = [
        (input_options()[target.inputs.kind, field.name].name, getattr(target.inputs, field.name))
        for field, about in declared(target.inputs)
        if given(target.inputs, field, about)
    ]
    for name, value in law:
        words += [option(name), text(value)]
    if not law and target.kind == "multi-index":
        words += [option("inputs"), target.inputs.kind]
    return words


def settings(learner: Learner) -> list[str]:
    """The fields of a learner that are not its defaults."""
    found = []
    for field, about in declared(learner):
        value = getattr(learner, field.name)
        if given(learner, field, about) and not isinstance(value, tuple):
            found += ["--set", f"{field.name}={text(value)}"]
    return found


def command(learner: type[Learner], question: Question, verb: str, target: Target) -> list[str]:
    who = small(learner, question, verb)
    words = [verb, learner.name, *target_words(learner, verb, target)]
    return [*words, "--question", question.name, *settings(who)]


# ---- how a command may end


def check(done: Done) -> bool:
    """Whether it ended in a result; otherwise it ended in one sentence."""
    told = f"{' '.join(done.words)}\n{done.out}{done.err}"
    if done.code == 0:
        assert done.out.strip() and "Traceback" not in done.out, told
        return True
    assert done.code == 2 and done.out == "", told
    assert done.err.startswith("learnability: ") and done.err.count("\n") == 1, told
    assert done.err.rstrip().endswith(".") and len(done.err) > 40, told
    return False


def variations(question: Question, verb: str, target: Target) -> Iterator[list[str]]:
    """What is needed; each of it left out; each other argument added."""
    if question.side(verb) is None:
        yield []
        return
    base = {name: argument_words(name, v) for name, v in needed(question, verb, target).items()}
    yield [word for words in base.values() for word in words]
    for left_out in base:
        yield [word for name, words in base.items() if name != left_out for word in words]
    for name in ARGUMENTS:
        if name not in base:
            extra = argument_words(name, argument(name))
            yield [*(word for words in base.values() for word in words), *extra]


@ASKED
def test_arguments_with_and_without(
    run: Callable[..., Done], learner: type[Learner], question: Question, verb: str
) -> None:
    every = [target for place in places() for target in targets_of(*place)]
    taken = [target for target in every if accepts(learner, question, verb, target)]
    target = (taken or every)[0]
    ends = []
    for arguments in variations(question, verb, target):
        words = [*command(learner, question, verb, target), *arguments]
        ends.append(check(run([*words, *(["--workers", "1"] if verb == "simulate" else [])])))
    assert not all(ends), "nothing was refused: is an argument that is missing not missed?"


@ASKED
def test_targets_with_and_without_a_dimension(
    run: Callable[..., Done], learner: type[Learner], question: Question, verb: str
) -> None:
    for place in places():
        for target in targets_of(*place):
            side = question.side(verb)
            asked = {} if side is None else needed(question, verb, target)
            for d in ([], ["--d", "16"]):
                arguments = [w for n, v in asked.items() if n != "d" for w in argument_words(n, v)]
                words = [*command(learner, question, verb, target), *arguments, *d]
                if verb == "simulate":
                    words += ["--workers", "1"]
                ended = check(run(words))
                # Without options of another kind a target is of the first kind that is supported.
                if target.kind in learner.supports.targets:
                    assert not ended or accepts(learner, question, verb, target), words


@ASKED
def test_what_has_an_answer_has_one_on_the_command_line(
    run: Callable[..., Done], learner: type[Learner], question: Question, verb: str
) -> None:
    for place in places():
        if question.side(verb) is None:
            continue
        for asked in answered(learner, question, verb, *place)[:1]:
            words = [verb, learner.name, *target_words(learner, verb, asked.target)]
            words += ["--question", question.name, *settings(asked.learner)]
            at = {**needed(question, verb, asked.target), **asked.more}
            words += [word for name, value in at.items() for word in argument_words(name, value)]
            if verb == "simulate":
                words += ["--workers", "1"]
            done = run(words)
            assert check(done), (words, done.err)


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=named)
def test_a_field_that_is_not_there_and_a_value_that_is_not_accepted(
    run: Callable[..., Done], learner: type[Learner]
) -> None:
    question = learner.questions[0]
    verb = "simulate" if question.simulate else "predict"
    target = next(
        target
        for place in places()
        for target in targets_of(*place)
        if accepts(learner, question, verb, target)
    )
    at = needed(question, verb, target)
    words = [verb, learner.name, *target_words(learner, verb, target)]
    words += [word for name, value in at.items() for word in argument_words(name, value)]
    assert not check(run([*words, "--set", "no_such_field=1"]))
    assert not check(run([*words, "--no-such-option", "1"]))
    for field, _ in declared(learner):
        assert not check(run([*words, "--set", f"{field.name}=@nonsense@"]))


def test_plots(run: Callable[..., Done], tmp_path: Path) -> None:
    """One picture a question, with runs where there are any."""
    drawn = 0
    for learner in LEARNERS.values():
        for question in learner.questions:
            for place in places():
                found = answered(learner, question, "predict", *place) if question.predict else []
                for asked in found[:1]:
                    words = ["plot", learner.name, *target_words(learner, "plot", asked.target)]
                    words += ["--question", question.name, *settings(asked.learner)]
                    at = {**needed(question, "predict", asked.target), **asked.more}
                    words += [w for n, v in at.items() for w in argument_words(n, v)]
                    out = tmp_path / f"{learner.name}-{question.name}-{place[1]}.png"
                    drawn += check(run([*words, "--out", str(out)]))
                if found:
                    break
    assert drawn >= len(LEARNERS) // 2
