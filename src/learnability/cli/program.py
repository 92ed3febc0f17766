"""The command line as a whole: its verbs, and how errors end.

Verbs are made when they are called, so that `learnability --help` loads nothing heavy.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

import learnability
from learnability.cli.learner_verbs import LearnerGroup
from learnability.cli.output import RESULTS, check_suffix, hand_over, make_room
from learnability.errors import LearnabilityError

__all__ = ["app", "main"]

_ORDER = ("hardness", "predict", "simulate", "plot", "learners", "figure", "study", "fit")


class Verbs(TyperGroup):
    """The verbs in the order in which a user meets them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names."""
        return sorted(super().list_commands(ctx), key=_ORDER.index)


app = typer.Typer(
    name="learnability",
    cls=Verbs,
    help="How many samples does it take to learn a function, and which algorithm gets there?",
    invoke_without_command=True,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"learnability {learnability.__version__}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """How many samples does it take to learn a function, and which algorithm gets there?"""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


class LaterCommand(TyperCommand):
    """A verb that is made by the `make` of its module when it is called."""

    home = ""

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Parse the words by the real command."""
        made = import_module(self.home).make(str(self.name), str(self.help))
        return made.make_context(info_name, args, parent=parent, **extra)


def _later(name: str, module: str, help: str) -> None:
    home = f"learnability.cli.{module}"
    made = type("Later", (LaterCommand,), {"home": home})
    app.command(name, cls=made, help=help, short_help=help)(lambda: None)


def _asking(name: str, help: str) -> None:
    words = "LEARNER EXPR [OPTIONS]"
    verb = typer.Typer(cls=LearnerGroup, subcommand_metavar=words, rich_markup_mode=None)
    app.add_typer(verb, name=name, help=help, short_help=help)


_later("hardness", "target_verbs", "Report how hard a function is to learn, by which algorithm.")
_asking("predict", "Say what the theory expects of a learner in high dimension.")
_asking("simulate", "Run a learner on samples in dimension d; exit code 1 when some runs failed.")
_asking("plot", "Draw theory as lines and, with --d, runs as crosses.")
_later("learners", "learner_list", "List learners, what they support and which options they have.")
_later("figure", "target_verbs", "Draw a figure of the literature, or the same for your own link.")

study_app = typer.Typer(help="Look into the file of a study.", rich_markup_mode=None)
app.add_typer(study_app, name="study")
StudyFile = Annotated[Path, typer.Argument(metavar="FILE", help="The store of a study.")]


@study_app.command()
def info(file: StudyFile) -> None:
    """Say what was asked of a store, what is finished and what failed."""
    from learnability.studies import info as told

    typer.echo(told(file))


@study_app.command()
def export(
    file: StudyFile,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Save the result instead of printing a table."),
    ] = None,
    number: Annotated[
        int | None, typer.Option("--study", metavar="N", help="Which study; the last by default.")
    ] = None,
) -> None:
    """Write a study of a store as one result; runs that are not finished are NaN."""
    check_suffix("--out", out, RESULTS)
    from learnability.studies import export as exported

    make_room(out)
    hand_over(exported(file, number), out)


@app.command(short_help="Find the few combinations of columns that a target depends on.")
def fit(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A table: .csv or .parquet.")],
    target: Annotated[str, typer.Option(metavar="NAME", help="The column to explain.")],
    components: Annotated[
        str, typer.Option(metavar="R", help="Number of directions, or auto.")
    ] = "auto",
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for components, report, picture and model."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Fixes everything that is random.")] = 0,
) -> None:
    """Find the few combinations of columns that a target depends on, function unknown."""
    from learnability.estimators.table_fit import fit_table

    if out is not None and out.is_file():
        raise LearnabilityError(
            f"`--out` was given as {str(out)!r}, which is a file, not a folder."
        )
    typer.echo(str(fit_table(file, target, components, out, seed).report_))


def main() -> None:
    """Run the command line; bad input ends in one sentence on stderr and exit code 2."""
    try:
        code = app(prog_name="learnability", standalone_mode=False)
    except (LearnabilityError, OSError, TyperException) as error:
        say = getattr(error, "format_message", error.__str__)
        typer.echo(f"learnability: {' '.join(say().split())}", err=True)
        code = 2
    except typer.Abort:
        code = 130
    sys.exit(code if isinstance(code, int) else 0)
