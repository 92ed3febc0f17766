"""What a request asks: the declarations of the command line read it, and write it as a command.

A value is the text of an option, so that a page, its address, a command and a script agree.
"""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping
from typing import Any

import numpy as np

from learnability.cli.grids import grid, seeds
from learnability.cli.learner_options import Asked, asked, check_needs, learner_options
from learnability.cli.options import Option, listed
from learnability.cli.target_options import target_from, target_options
from learnability.errors import LearnabilityError
from learnability.explorer.limits import LIMITS, Request
from learnability.labels.link import Link
from learnability.learners import LEARNERS
from learnability.learners.base.questions import GRIDS
from learnability.learners.base.sizes import size_of, spelled

__all__ = ["Asking", "asking", "python_of", "target_of", "words_of"]

_OWN = ("expression", "question", "runs", "seeds")
"""Values without a declaration; `runs` is the grid of the runs where it is not the theory's."""


@dataclasses.dataclass(frozen=True)
class Asking:
    """What is asked of a learner.

    Attributes
    ----------
    what : Asked
        The learner, the target, the question and its arguments, as on the command line.
    seeds : int or list of int
        The seeds of the runs.
    runs : dict
        The arguments of the runs.
    """

    what: Asked
    seeds: int | list[int]
    runs: dict[str, Any]

    @property
    def chosen(self) -> list[int]:
        """The seeds themselves."""
        return list(range(self.seeds)) if isinstance(self.seeds, int) else self.seeds


def _refuse_unknown(values: Mapping[str, str], known: list[str], whose: str) -> None:
    for name in values:
        if name not in known:
            raise LearnabilityError(f"`{name}` was given, but {whose} takes {listed(known)}.")


def _keyed(values: Mapping[str, str]) -> dict[str, Any]:
    return {name.replace("-", "_"): text for name, text in values.items()}


def _expression(values: Mapping[str, str]) -> str:
    if "expression" not in values:
        raise LearnabilityError("No function was given: type one, such as z1**2 + sign(z1*z2*z3).")
    return values["expression"]


def target_of(values: Mapping[str, str]) -> Any:
    """The target that the values of a page describe, whoever learns it.

    Parameters
    ----------
    values : mapping
        Option -> text.

    Raises
    ------
    LearnabilityError
        When a value is unknown or not accepted.
    """
    known = ["expression", *(option.name for option in target_options())]
    _refuse_unknown(values, known, "a target")
    return target_from(_expression(values), _keyed(values))


def asking(request: Request) -> Asking:
    """What a request asks of a learner.

    Parameters
    ----------
    request : Request
        Its values name options of ``learnability plot LEARNER``.

    Raises
    ------
    LearnabilityError
        When there is no such learner, or a value is unknown, not accepted or too large.
    """
    if request.learner not in LEARNERS:
        raise LearnabilityError(
            f"The learner was given as {request.learner!r}, but {listed(list(LEARNERS))} are "
            "accepted."
        )
    learner = LEARNERS[request.learner]
    known = [*_OWN, *(option.name for option in learner_options(learner, "plot"))]
    _refuse_unknown(request.values, known, request.learner)
    _expression(request.values)
    what = asked(learner, "plot", _keyed(request.values))
    for name in GRIDS:  # One number is a grid of one point, so that it can be drawn.
        if name in what.arguments:
            what.arguments[name] = np.atleast_1d(what.arguments[name])
    count = seeds(request.values.get("seeds", "1"))
    runs = what.for_side("simulate") if what.question.simulate else {}
    own = [name for name in GRIDS if name in runs]
    if "runs" in request.values and own:
        runs[own[0]] = np.atleast_1d(grid(request.values["runs"], "runs"))
    for name, value in [*what.arguments.items(), *runs.items()]:
        if name in GRIDS and np.size(value) > LIMITS.points:
            raise LearnabilityError(
                f"`{name}` has {np.size(value)} points, but at most {LIMITS.points} are accepted "
                "here."
            )
    return Asking(what, count, runs)


def check_runs(asked: Asking) -> None:
    """Refuse runs that a page should not start.

    Parameters
    ----------
    asked : Asking
        What is asked, with its runs.

    Raises
    ------
    LearnabilityError
        The message names the number, the size or the time that is too large.
    """
    what = asked.what
    check_needs(what, "simulate")
    if len(asked.chosen) > LIMITS.seeds:
        raise LearnabilityError(
            f"{len(asked.chosen)} seeds were given, but at most {LIMITS.seeds} are accepted here."
        )
    if isinstance(asked.runs.get("d"), list):
        raise LearnabilityError("Several dimensions were given, but only one is accepted here.")
    size = size_of(what.learner, what.target, asked.runs)
    places = max(np.size(asked.runs.get(name, 0)) for name in GRIDS) if _alphas(asked) else 1
    total = size.seconds * len(asked.chosen) * places
    if total > LIMITS.cpu_seconds or size.bytes > LIMITS.memory / 3:
        raise LearnabilityError(
            f"These runs would take about {spelled(total)} and {size.bytes / 2**30:.1f} GB, which "
            "is too much for a page: use smaller sizes, or the command line."
        )


def _alphas(asked: Asking) -> bool:
    return "alpha" in asked.runs


# ---- the same, as a command and as a script


def words_of(request: Request) -> dict[str, str]:
    """The command lines and the script that give the same numbers as a page.

    Parameters
    ----------
    request : Request
        As in `asking`; without a learner only the report is asked for.

    Returns
    -------
    dict
        The command lines as "command" and the script as "python".
    """
    own = _of_target(request)
    expression, flags = own.pop("expression", ""), _flags(own)
    lines = [f"learnability hardness {shlex.quote(expression)}{flags}"]
    code = ["import learnability as lb", ""]
    if not request.learner:
        target = target_of(request.values)
        code += [f"target = {python_of(target)}", "report = lb.hardness(target)", "print(report)"]
        return {"command": lines[0], "python": "\n".join(code)}
    asked = asking(request)
    what = asked.what
    asked_of = f", question={what.question.name!r}" if "question" in request.values else ""
    rest = {name: text for name, text in request.values.items() if name != "expression"}
    theory = {name: text for name, text in rest.items() if name not in ("seeds", "runs")}
    if what.question.predict is not None:
        given = what.for_side("predict")
        kept = {n: t for n, t in theory.items() if n in given or n not in what.arguments}
        lines.append(f"learnability predict {request.learner} {shlex.quote(expression)}"
                     + _flags(kept))  # fmt: skip
    code += [f"target = {python_of(what.target)}", "report = lb.hardness(target)"]
    code += [f"learner = {python_of(what.learner)}"]
    if what.question.predict is not None:
        code.append(f"theory = learner.predict(target{asked_of}{_arguments(given)})")
    if what.question.simulate is not None and "d" in asked.runs:
        own_grid = next((name for name in GRIDS if name in asked.runs), "")
        kept = {n: t for n, t in rest.items() if n in asked.runs or n not in what.arguments}
        if "runs" in kept:
            kept[own_grid] = kept.pop("runs")
        lines.append(f"learnability simulate {request.learner} {shlex.quote(expression)}"
                     + _flags(kept))  # fmt: skip
        code.append(
            f"runs = learner.simulate(target{asked_of}, seeds={asked.seeds!r}"
            f"{_arguments(asked.runs)})"
        )
    drawn = [name for name in ("theory", "runs") if any(c.startswith(f"{name} =") for c in code)]
    code.append(f"lb.plot({', '.join(['None'] * (drawn == ['runs']) + drawn)})")
    if any("np." in line for line in code):
        code.insert(0, "import numpy as np")
    return {"command": "\n".join(lines), "python": "\n".join(code)}


def _of_target(request: Request) -> dict[str, str]:
    """The values of the target, under the names that they have without a learner."""
    plain = {option.name: option.name for option in target_options()}
    if request.learner in LEARNERS:
        taken = [o.name for o in learner_options(LEARNERS[request.learner], "plot")
                 if o.section != "Target"]  # fmt: skip
        plain = {f"target-{name}" if name in taken else name: name for name in plain}
    plain["expression"] = "expression"
    return {plain[name]: text for name, text in request.values.items() if name in plain}


def _flags(values: Mapping[str, str]) -> str:
    return "".join(f" --{name} {shlex.quote(text)}" for name, text in values.items())


def _arguments(values: Mapping[str, Any]) -> str:
    return "".join(f", {name}={_value(value)}" for name, value in values.items())


def _value(value: Any) -> str:
    """A number or a grid as Python code that gives exactly these values."""
    if isinstance(value, np.ndarray):
        if value.size > 2:
            even = np.linspace(value[0], value[-1], value.size)
            if np.array_equal(even, value):
                return f"np.linspace({float(value[0])!r}, {float(value[-1])!r}, {value.size})"
        return repr(value.tolist())
    return repr(value)


def python_of(record: Any) -> str:
    """The expression that makes a target, its inputs or a learner.

    Parameters
    ----------
    record : Target, Inputs or Learner
        The record.

    Examples
    --------
    >>> import learnability as lb
    >>> python_of(lb.MultiIndex("z1*z2", noise=0.5))
    "lb.MultiIndex('z1*z2', noise=0.5)"
    """
    parts = []
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        if isinstance(value, Link):
            text = repr(value.text)
            default = field.default.text if isinstance(field.default, Link) else field.default
            if field.name == "link":
                parts.append(text)
            elif value.text != default:
                parts.append(f"{field.name}={text}")
        elif value != field.default:
            made = python_of(value) if dataclasses.is_dataclass(value) else repr(value)
            parts.append(f"{field.name}={made}")
    return f"lb.{type(record).__name__}({', '.join(parts)})"


def controls(options: list[Option]) -> list[dict[str, Any]]:
    """The options as data from which the page makes its controls.

    Parameters
    ----------
    options : list of Option
        The options of a learner or a target.
    """
    return [_control(option) for option in options]


def _control(option: Option) -> dict[str, Any]:
    kind = option.about.kind
    limits = {name: getattr(kind, name, None) for name in ("above", "at_least", "below", "at_most")}
    return {
        "name": option.name,
        "help": option.about.help,
        "unit": option.about.unit,
        "accepted": option.about.accepted,
        "section": option.section,
        "default": option.default,
        "type": type(kind).__name__.lower(),
        "words": list(getattr(kind, "words", ())),
        "grid": option.grid,
        "applies": not option.hidden,
        **limits,
    }
