"""The verbs that ask a learner: predict, simulate and plot; their commands are the learners."""

from __future__ import annotations

import dataclasses
import re
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from learnability.cli.options import argument, command, listed, plain_option
from learnability.cli.output import (
    PICTURES,
    RESULTS,
    check_suffix,
    draw_into,
    drawable,
    hand_over,
    make_room,
    out_option,
    plot_option,
    told_files,
)
from learnability.errors import LearnabilityError
from learnability.progress import working

if TYPE_CHECKING:
    from learnability.cli.learner_options import Asked
    from learnability.learners.base import Learner
    from learnability.results.labelled import Labelled

__all__ = ["LearnerGroup"]

_AN_HOUR = 3600.0


class LearnerGroup(TyperGroup):
    """A verb whose commands are the learners, made when they are first used."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the learners that answer the verb."""
        from learnability.cli.learner_options import answers
        from learnability.learners import LEARNERS

        return [name for name, learner in LEARNERS.items() if answers(learner, str(self.name))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of a learner.

        Raises
        ------
        LearnabilityError
            When there is no such learner, or it does not answer.
        """
        with working("loading"):
            from learnability.cli.learner_options import answers
            from learnability.learners import LEARNERS

        learner = LEARNERS.get(cmd_name)
        if learner is not None and answers(learner, str(self.name)):
            return _command(str(self.name), learner)
        if ctx.resilient_parsing:
            return None
        if learner is not None:
            reason = learner.questions[0].reason
            raise LearnabilityError(f"{self.name} {cmd_name} has no answer: {reason}")
        raise LearnabilityError(
            f"The learner was given as {cmd_name!r}, but {listed(list(LEARNERS))} are accepted."
        )

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of a command, the first of which must be the learner.

        Raises
        ------
        LearnabilityError
            When the first word is an option.
        """
        first = args[0] if args else "-"
        if first.startswith("-") and first != "--help" and not ctx.resilient_parsing:
            raise LearnabilityError(
                f"{self.name} needs LEARNER EXPR before its options: `learnability learners` lists "
                "the learners."
            )
        return super().parse_args(ctx, args)


def _command(verb: str, learner: type[Learner]) -> Any:
    """Return the command of a verb and a learner."""
    from learnability.cli.learner_options import asked, learner_options, owners

    run = {"predict": _predict, "simulate": _simulate, "plot": _plot}[verb]
    axis = "" if verb == "predict" else " Several values x,y,z or a:b:n are an axis."
    fields = f"Any field of the learner, the target or its inputs; repeat it.{axis}"
    seeded = any(question.predict and question.predict.seeds for question in learner.questions)
    parameters = [
        argument("expression", str, ..., metavar="EXPR",
                 help="The link, such as 'z1**2 + sign(z1*z2*z3)'."),
        plain_option("question", str | None, None, metavar="NAME", rich_help_panel="Question",
                     help=_questions(learner), autocompletion=lambda: _names(learner)),
        *(option.parameter() for option in learner_options(learner, verb)),
        plain_option("set", list[str] | None, None, metavar="NAME=VALUE", help=fields),
        *_plain(verb, seeded),
    ]  # fmt: skip
    title = (learner.__doc__ or "").strip().partition("\n")[0]
    return command(
        learner.name,
        title,
        parameters,
        lambda values: run(asked(learner, verb, values), values),
        lambda: owners(verb),
    )


def _names(learner: type[Learner]) -> list[str]:
    return [question.name for question in learner.questions]


def _questions(learner: type[Learner]) -> str:
    told = " ".join(f"{question.name}: {question.help}" for question in learner.questions)
    return f"What is asked. {told} [default: {learner.questions[0].name}]"


def _plain(verb: str, seeded: bool) -> list[Any]:
    """Return the options without a declaration; a theory has seeds where it is `seeded`."""
    seeds = plain_option("seeds", str | None, None, metavar="K",
                         help="Number of runs, or their seeds x,y,z. [default: 1]")  # fmt: skip
    if verb == "predict":
        return [*([seeds] if seeded else []), out_option(), plot_option()]
    store = plain_option("store", Path | None, None, metavar="FILE",
                         help="Keep finished runs in this file, and reuse them.")  # fmt: skip
    cores = "Number of processes; 1 computes in this one. [default: all cores for long work]"
    workers = plain_option("workers", int | None, None, metavar="N", help=cores)
    yes = plain_option("yes", bool, False, help="Run also what is estimated to take over an hour.")
    if verb == "plot":
        return [
            seeds, store, workers, yes,
            plain_option("variable", str | None, None, metavar="NAME",
                         help="What is drawn; by default the first that theory and runs share."),
            plain_option("x", str | None, None, metavar="NAME", help="The horizontal axis."),
            plain_option("out", Path | None, None, metavar="FILE",
                         help="The picture (.png, .pdf, .svg); the data go beside it. "
                         "[default: LEARNER-EXPR.png, here]"),
        ]  # fmt: skip
    return [
        seeds, store, workers, yes,
        plain_option("scheduler", str | None, None, metavar="ADDRESS",
                     help="A running Dask scheduler, or its .json file."),
        plain_option("emit-slurm", Path | None, None, metavar="FILE",
                     help="Write a SLURM script of this command instead."),
        out_option(), plot_option(),
    ]  # fmt: skip


def _predict(what: Asked, values: dict[str, Any]) -> None:
    """Say what the theory expects of a learner in high dimension."""
    from learnability.cli.learner_options import check_needs
    from learnability.learners.base.driver import predicted

    _check_files(values)
    what = _set(what)
    check_needs(what, "predict")
    seeds = _seeds(values)
    with working(f"{what.learner.name}: theory"):
        found = predicted(
            what.learner, what.target, what.question.name, seeds, dict(what.arguments)
        )
    hand_over(found, values["out"])
    draw_into(found, None, values["plot"])


def _simulate(what: Asked, values: dict[str, Any]) -> None:
    """Run a learner on samples in dimension d; exit code 1 when some runs failed."""
    from learnability.cli.learner_options import check_needs

    check_suffix("--out", values["out"], RESULTS)
    if values["emit_slurm"] is not None:
        _emit_slurm(values["emit_slurm"], values["workers"], values["store"])
        return
    check_needs(what, "simulate")
    _check_files(values)
    found, told = _runs(what, values, what.arguments)
    hand_over(found, values["out"])
    draw_into(None, found, values["plot"])
    _tell(told)


def _check_files(values: dict[str, Any]) -> None:
    """Refuse unknown kinds of files and unusable places before the work begins."""
    for option, accepted in (("out", RESULTS), ("plot", PICTURES)):
        check_suffix(f"--{option}", values[option], accepted)
        make_room(values[option])


def _plot(what: Asked, values: dict[str, Any]) -> None:
    """Draw theory as lines and, with --d, runs as crosses."""
    from learnability.cli.learner_options import check_needs
    from learnability.drawing import plot
    from learnability.learners.base.driver import predicted

    out = values["out"] or Path(_file_name(what, values["expression"]))
    check_suffix("--out", out, PICTURES)
    theory = runs = None
    told: list[warnings.WarningMessage] = []
    if what.question.predict is not None:
        fixed = _set(what)
        check_needs(fixed, "predict")
        with working(f"{what.learner.name}: theory"):
            theory = predicted(
                fixed.learner, fixed.target, what.question.name, None, fixed.for_side("predict")
            )
    if what.question.simulate is not None and "d" in what.arguments:
        check_needs(what, "simulate")
        runs, told = _runs(what, values, what.for_side("simulate"))
    if theory is None:
        typer.echo(f"learnability: {what.learner.name}: {what.question.reason}", err=True)
    make_room(out)
    plot(drawable(theory), drawable(runs), variable=values["variable"], x=values["x"], file=out)
    typer.echo(f"Picture and data: {told_files(out)}")
    _tell(told)


def _file_name(what: Asked, expression: str) -> str:
    """Return a name for a picture without one: the learner and the letters of the link."""
    words = "-".join(re.findall(r"[A-Za-z0-9]+", expression))[:40].rstrip("-")
    return f"{what.learner.name}-{words}.png"


def _seeds(values: dict[str, Any]) -> Any:
    from learnability.cli.grids import seeds

    return None if values.get("seeds") is None else seeds(values["seeds"])


def _set(what: Asked) -> Asked:
    """Return what is asked, after --set has changed the learner, the target or its inputs."""
    learner, target = what.learner, what.target
    for name, text in what.settings.items():
        if _has(learner, name):
            learner = _replaced(learner, name, text)
        elif _has(target, name):
            target = _replaced(target, name, text)
        elif _has(target.inputs, name):
            inputs = _replaced(target.inputs, name, text)
            target = dataclasses.replace(target, inputs=inputs)
        else:
            records: tuple[Any, ...] = (learner, target, target.inputs)
            known = [field.name for record in records for field in dataclasses.fields(record)]
            raise LearnabilityError(
                f"`{name}` was given, but it is unknown here. Accepted are {', '.join(known)}."
            )
    return what._replace(learner=learner, target=target)


def _has(record: Any, name: str) -> bool:
    return any(field.name == name for field in dataclasses.fields(record))


def _replaced(record: Any, name: str, text: str) -> Any:
    """Return a record with one field changed to a value that is read from text."""
    from learnability.cli.grids import setting
    from learnability.cli.options import Option
    from learnability.fields import declared

    about = {field.name: about for field, about in declared(record)}
    value = Option(name, about[name], "").read(text) if name in about else setting(text, name)
    return dataclasses.replace(record, **{name: value})


def _runs(
    what: Asked, values: dict[str, Any], arguments: dict[str, Any]
) -> tuple[Labelled, list[warnings.WarningMessage]]:
    """Return the runs of a study, and the warnings that it gave."""
    from learnability.cli.grids import setting
    from learnability.studies.sweep import StudyWarning, labelled_study

    settings = {name: setting(text, name) for name, text in what.settings.items()}
    store = values["store"]
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", StudyWarning)
            found = labelled_study(
                what.learner,
                what.target,
                question=what.question.name,
                seeds=1 if values["seeds"] is None else _seeds(values),
                store=store,
                scheduler=values.get("scheduler"),
                workers=values["workers"],
                longest=None if values["yes"] else _AN_HOUR,
                **arguments,
                **settings,
            )
    except KeyboardInterrupt:
        kept = f": what is finished is in {store}, the same command goes on" if store else ""
        typer.echo(f"learnability: stopped{kept}.", err=True)
        raise typer.Exit(130) from None
    return found, caught


def _tell(told: list[warnings.WarningMessage]) -> None:
    """Print warnings; the exit code is 1 when runs failed."""
    from learnability.studies.sweep import StudyWarning

    for warning in told:
        typer.echo(f"learnability: {warning.message}", err=True)
    if any(issubclass(warning.category, StudyWarning) for warning in told):
        raise typer.Exit(1)


def _emit_slurm(path: Path, workers: int | None, store: Path | None) -> None:
    """Write a script that runs this command line without the options that the script sets."""
    from learnability.studies.slurm import write_slurm_script

    if store is None:
        raise LearnabilityError(
            "`--emit-slurm` was given without `--store`, but a job that can be stopped needs a "
            "file for what is finished: add `--store FILE`."
        )
    make_room(path)
    own = ("--emit-slurm", "--workers", "--scheduler")
    kept, words = [], iter(sys.argv[1:])
    for word in words:
        if word in own:
            next(words, None)
        elif word.split("=")[0] not in own:
            kept.append(word)
    write_slurm_script(path, kept, workers or 16)
    typer.echo(f"{path}: submit it with `sbatch {path}`.")
