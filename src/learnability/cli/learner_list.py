"""The verb that lists learners, with what they support and which questions they answer."""

from __future__ import annotations

import textwrap
from typing import Any

import typer

from learnability.cli.learner_options import field_options
from learnability.cli.options import argument, command, listed
from learnability.errors import LearnabilityError
from learnability.learners import LEARNERS
from learnability.learners.base import ARGUMENTS, Learner, Side

__all__ = ["make"]

_WIDTH = 100


def make(verb: str, help: str) -> Any:
    """Return the command of the verb.

    Parameters
    ----------
    verb, help : str
        The name of the verb, and the sentence that describes it.
    """
    name = argument("name", str | None, None, metavar="NAME", autocompletion=lambda: list(LEARNERS),
                    help="A learner, to see its fields and questions.")  # fmt: skip
    return command(verb, help, [name], _told)


def _told(values: dict[str, Any]) -> None:
    name = values["name"]
    if name is None:
        typer.echo("\n\n".join(_summary(learner) for learner in LEARNERS.values()))
    elif name in LEARNERS:
        typer.echo(_all_of(LEARNERS[name]))
    else:
        raise LearnabilityError(
            f"The learner was given as {name!r}, but {listed(list(LEARNERS))} are accepted."
        )


def _summary(learner: type[Learner]) -> str:
    """Return a few lines: what a learner is, what it accepts, and which questions it answers."""
    supports = learner.supports
    title = (learner.__doc__ or "").strip().partition("\n")[0]
    most = supports.most_directions
    accepts = f"{', '.join(supports.targets)} targets; {', '.join(supports.inputs)} inputs"
    if most is not None:
        accepts += f"; at most {most} direction{'s' if most > 1 else ''}"
    questions = []
    for question in learner.questions:
        sides = [("runs", question.simulate), ("theory", question.predict)]
        by = " and ".join(word for word, side in sides if side is not None)
        questions.append(f"{question.name} (by {by})")
    lines = [f"{learner.name}: {title}", f"  accepts {accepts}", f"  answers {listed(questions)}"]
    return "\n".join(_wrapped(line, "    ") for line in lines)


def _all_of(learner: type[Learner]) -> str:
    lines = [_summary(learner), "", "Fields"]
    for option in field_options(learner).values():
        default = f" [default: {option.default}]" if option.default else ""
        optional = " None is the default." if option.about.optional else ""
        lines.append(f"  --{option.name}: {option.about.accepted.rstrip(',')}{default}")
        lines.append(_wrapped(f"      {option.about.help}{optional}", "      "))
        lines += [
            f"      It acts with {other} = {' or '.join(map(str, values))}."
            for other, values in option.about.when.items()
        ]
        if option.about.inputs is not None:
            lines.append(f"      It acts on {listed(option.about.inputs)} inputs.")
    if lines[-1] == "Fields":
        lines.append("  none")
    for question in learner.questions:
        lines += ["", _wrapped(f"Question {question.name}: {question.help}", "  ")]
        for verb, side in (("simulate", question.simulate), ("predict", question.predict)):
            if side is None:
                lines.append(_wrapped(f"  {verb}: no answer; {question.reason}", "    "))
            else:
                lines.append(_wrapped(f"  {verb}: {_arguments(side)}", "    "))
                names = ", ".join(question.names(verb))
                lines.append(_wrapped(f"    gives {names}", "      "))
    return "\n".join(lines)


def _arguments(side: Side) -> str:
    needs = (
        f"needs {listed([f'--{name}' for name in side.needs])}" if side.needs else "needs nothing"
    )
    takes = f", takes {listed([f'--{name}' for name in side.takes])}" if side.takes else ""
    fewer = f"; {', '.join(side.inputs)} inputs only" if side.inputs is not None else ""
    meanings = [f"{name}: {ARGUMENTS[name].help}" for name in (*side.needs, *side.takes)]
    return f"{needs}{takes}{fewer}. {' '.join(meanings)}".strip()


def _wrapped(line: str, indent: str) -> str:
    return textwrap.fill(line, _WIDTH, subsequent_indent=indent, break_on_hyphens=False)
