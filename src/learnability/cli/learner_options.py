"""The options of a learner, made from its fields and questions, and the question they make up."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any, NamedTuple

from learnability.cli.grids import grid, setting
from learnability.cli.options import Option, listed
from learnability.cli.target_options import target_from, target_given, target_options
from learnability.errors import LearnabilityError
from learnability.fields import declared
from learnability.learners import LEARNERS
from learnability.learners.base import ARGUMENTS, Learner, Question, Side, check_support
from learnability.learners.base.driver import the_question

__all__ = ["Asked", "answers", "asked", "check_needs", "field_options", "learner_options", "owners"]

SIDES = {"predict": ("predict",), "simulate": ("simulate",), "plot": ("predict", "simulate")}
"""Verb -> the sides of questions that it asks."""
GRIDS = ("alpha", "time")


class Asked(NamedTuple):
    """What a command asks.

    Attributes
    ----------
    learner, target, question
        The learner that is asked, the target it is asked about, and the question.
    arguments : dict
        The arguments of the question, as lists where there are several values.
    settings : dict
        Name of a field -> what --set gives it, as text.
    """

    learner: Learner
    target: Any
    question: Question
    arguments: dict[str, Any]
    settings: dict[str, str]

    def side(self, verb: str) -> Side:
        """Return how one side, theory or runs, answers.

        Raises
        ------
        LearnabilityError
            When that side has no answer.
        """
        side = self.question.side(verb)
        if side is None:
            raise LearnabilityError(
                f"{verb} {self.learner.name} ({self.question.name}) has no answer: "
                f"{self.question.reason}"
            )
        return side

    def for_side(self, verb: str) -> dict[str, Any]:
        """Return the arguments that one side takes, of those that were given."""
        side = self.side(verb)
        names = [*side.needs, *side.takes]
        sized = self.target.depends_on_dimension and not side.limit
        names += ["d"] if verb == "simulate" or sized else []
        return {name: value for name, value in self.arguments.items() if name in names}


def field_options(learner: type[Learner]) -> dict[str, Option]:
    """Return the option of each declared field of a learner."""
    found = {}
    for field, about in declared(learner):
        default = getattr(field.default, "text", field.default)
        shown = "" if default is None else str(default)
        found[field.name] = Option(field.name.replace("_", "-"), about, "Learner", shown)
    return found


def argument_options(learner: type[Learner], verb: str) -> dict[str, Option]:
    """Return the option of each argument of the questions that a verb asks."""
    questions: dict[str, dict[str, None]] = {"d": {}}
    for kind in SIDES[verb]:
        for question in learner.questions:
            side = question.side(kind)
            for name in () if side is None else (*side.needs, *side.takes):
                questions.setdefault(name, {})[question.name] = None
    supports = learner.supports
    no_size = supports.inputs == ("isotropic",) and supports.targets == ("multi-index",)
    found = {}
    for name, asking in questions.items():
        about = ARGUMENTS[name]
        if asking and learner.questions[0].name not in asking:
            of = "questions" if len(asking) > 1 else "question"
            help = f"{about.help} It belongs to the {of} {listed(list(asking))}."
            about = dataclasses.replace(about, help=help)
        several = name in GRIDS or (name == "d" and verb != "predict")
        hidden = name == "d" and not asking and no_size
        found[name] = Option(name, about, "Question", grid=several, hidden=hidden)
    return found


def learner_options(learner: type[Learner], verb: str) -> list[Option]:
    """Return options of the question, of the learner and of the target."""
    arguments, fields = argument_options(learner, verb), field_options(learner)
    own = {**{o.name: o for o in fields.values()}, **{o.name: o for o in arguments.values()}}
    order = [*arguments.values(), *(o for o in fields.values() if own[o.name] is o)]
    return order + target_options(learner, frozenset(own))


@lru_cache(maxsize=8)
def owners(verb: str) -> dict[str, list[str]]:
    """Option -> the learners that have it, after the verb where only another verb takes it."""
    found: dict[str, list[str]] = {}
    for other in sorted(SIDES, key=lambda one: one != verb):
        told = dict.fromkeys(found)
        for name, learner in LEARNERS.items():
            options = (*field_options(learner).values(), *argument_options(learner, other).values())
            for option in {f"--{option.name}" for option in options if not option.hidden}:
                if answers(learner, other) and option not in told:
                    own = name if other == verb else f"{other} {name}"
                    found.setdefault(option, []).append(own)
    return found


def answers(learner: type[Learner], verb: str) -> bool:
    """Return whether a learner has an answer to a verb."""
    return any(question.side(side) for side in SIDES[verb] for question in learner.questions)


def asked(learner: type[Learner], verb: str, values: Mapping[str, Any]) -> Asked:
    """Return what a command asks.

    Parameters
    ----------
    learner : type
        The class of the learner.
    verb : str
        One of `SIDES`.
    values : mapping
        Key of an option -> what was given, None for nothing.

    Raises
    ------
    LearnabilityError
        When a value is not accepted, or the learner does not know the question.
    """
    arguments: dict[str, Any] = {}
    options = argument_options(learner, verb)
    for name, option in options.items():
        text = values.get(option.key)
        if text is not None:
            arguments[name] = _argument(option, text)
    fields = {
        name: option.read(values[option.key])
        for name, option in field_options(learner).items()
        if name not in options and values.get(option.key) is not None
    }
    taken = frozenset(option.name for option in learner_options(learner, verb)
                      if option.section != "Target")  # fmt: skip
    target = target_from(values["expression"], values, learner, taken)
    made = learner(**fields)
    question = the_question(made, values.get("question"))
    settings = _settings(
        values.get("set") or [], {*arguments, *fields}, target_given(values, taken)
    )
    return Asked(made, target, question, arguments, settings)


_OWN = ("learner", "target", "question", "seeds", "store", "scheduler", "workers", "longest")
"""The arguments of a study other than its grid."""


def _settings(
    texts: Sequence[str], given: AbstractSet[str], of_target: AbstractSet[str]
) -> dict[str, str]:
    """Return what --set gives, unless an option gives it too; values may vary the target."""
    settings: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals) or name in settings:
            raise LearnabilityError(
                f"`--set` was given as {text!r}, but NAME=VALUE is accepted, each name once."
            )
        if name in given or (name in of_target and not ("," in value or ":" in value)):
            raise LearnabilityError(
                f"`--set` was given as {text!r}, but `{name}` has an option of its own that was "
                "given too: leave out one of them."
            )
        if name in _OWN:
            raise LearnabilityError(
                f"`--set` was given as {text!r}, but it sets fields of the learner, the target and "
                "its inputs: `learnability simulate LEARNER --help` lists the other options."
            )
        settings[name] = value
    return settings


def _argument(option: Option, text: Any) -> Any:
    if not option.grid:
        return option.read(text)
    if option.name in GRIDS:
        values = grid(text, option.name)
        return values if values.ndim else values.item()
    values = setting(text, f"--{option.name}")
    if not all(type(value) is int for value in (values if isinstance(values, list) else [values])):
        raise LearnabilityError(
            f"`--{option.name}` was given as {text!r}, but a whole number, or several as x,y,z or "
            "a:b:n, is accepted."
        )
    return values


def check_needs(what: Asked, verb: str) -> None:
    """Refuse a target that is not supported, and a question that lacks an argument.

    Raises
    ------
    LearnabilityError
        The message names what is supported, or the option that is missing.
    """
    side = what.side(verb)
    check_support(what.learner, side, f"{verb} {what.learner.name}", what.target)
    sized = verb == "predict" and what.target.depends_on_dimension and not side.limit
    for name in (*side.needs, *(("d",) if sized else ())):
        if name not in what.arguments:
            how = " Write a:b:n, x,y,z or one number." if name in GRIDS else ""
            raise LearnabilityError(
                f"{verb} {what.learner.name} needs `--{name}`: {ARGUMENTS[name].help}{how}"
            )
