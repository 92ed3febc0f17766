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
from learnability.cli.compiled_code import keep_compiled_code
from learnability.cli.learner_verbs import LearnerGroup
from learnability.cli.output import RESULTS, check_suffix, hand_over, make_room
from learnability.errors import LearnabilityError
from learnability.progress import working

__all__ = ["app", "main"]

_ORDER = (
    *("hardness", "compare", "regimes", "catalogue", "report", "predict", "simulate", "plot"),
    *("learners", "figure", "study", "fit", "apply", "explore"),
)


class Verbs(TyperGroup):
    """The verbs in the order in which a user meets them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the verbs."""
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
    """A verb whose command is made by the `make` of its module when it is called."""

    home = ""

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Let the real command parse the words."""
        with working("loading"):
            home = import_module(self.home)
        made = home.make(str(self.name), str(self.help))
        return made.make_context(info_name, args, parent=parent, **extra)


def _later(name: str, module: str, help: str) -> None:
    home = module if "." in module else f"learnability.cli.{module}"
    made = type("Later", (LaterCommand,), {"home": home})
    app.command(name, cls=made, help=help, short_help=help)(lambda: None)


def _asking(name: str, help: str) -> None:
    words = "LEARNER EXPR [OPTIONS]"
    verb = typer.Typer(cls=LearnerGroup, subcommand_metavar=words, rich_markup_mode=None)
    app.add_typer(verb, name=name, help=help, short_help=help)


_later("hardness", "target_verbs", "Report how hard a function is to learn, by which algorithm.")
_later("compare", "target_verbs", "Put the reports of several functions side by side.")
_later("regimes", "target_verbs", "Say what giant steps learn at n and p of given powers of d.")
_later("catalogue", "target_verbs", "List the functions of the literature, or report on one.")
_later("report", "report_page", "Write one page for a colleague: the report, curves and runs.")
_asking("predict", "Say what the theory expects of a learner in high dimension.")
_asking("simulate", "Run a learner on samples in dimension d; exit code 1 when some runs failed.")
_asking("plot", "Draw theory as lines and, with --d, runs as crosses.")
_later("learners", "learner_list", "List learners, what they support and which options they have.")
_later("figure", "target_verbs", "Draw a figure of the literature, or the same for your own link.")

_later("explore", "learnability.explorer.command", "Open the explorer, a page on this machine.")

study_app = typer.Typer(help="Look into the file of a study.", rich_markup_mode=None)
app.add_typer(study_app, name="study")
StudyFile = Annotated[Path, typer.Argument(metavar="FILE", help="The store of a study.")]


@study_app.command()
def info(file: StudyFile) -> None:
    """Say what was asked of a store, what is finished and what failed."""
    from learnability.studies import info as told

    typer.echo(told(file))


@study_app.command()
def check(file: StudyFile) -> None:
    """Read every row of a store and say what is damaged; exit code 1 when something is."""
    from learnability.studies import check as checked

    findings = checked(file)
    typer.echo(f"{file.name}: {findings}")
    if findings.damaged:
        raise typer.Exit(1)


@study_app.command()
def repair(file: StudyFile) -> None:
    """Keep what is sound in a store, and the damaged file beside it."""
    from learnability.studies import repair as repaired

    findings, old = repaired(file)
    typer.echo(f"{file.name}: {findings}")
    if findings.damaged:
        typer.echo(f"The damaged file is kept as {old.name}; the same study computes the rest.")


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
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A table: .csv, .tsv, .parquet, or a folder.")
    ],
    target: Annotated[str, typer.Option(metavar="NAME", help="The column to explain.")],
    components: Annotated[
        str, typer.Option(metavar="R", help="Number of directions, or auto.")
    ] = "auto",
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for components, report, picture and model."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Fixes everything that is random.")] = 0,
    columns: Annotated[
        str, typer.Option(metavar="A,B,...", help="The columns to take; all by default.")
    ] = "",
    drop: Annotated[str, typer.Option(metavar="A,B,...", help="Columns to leave out.")] = "",
    missing: Annotated[
        str, typer.Option(metavar="refuse|impute", help="What to do where values are missing.")
    ] = "refuse",
    weights: Annotated[
        str | None, typer.Option(metavar="NAME", help="A column of weights of the rows.")
    ] = None,
    task: Annotated[
        str,
        typer.Option(
            metavar="auto|numbers|classes",
            help="What the target is; auto takes words, truth values and two numbers for classes.",
        ),
    ] = "auto",
    compare: Annotated[
        bool, typer.Option(help="Compare predictions with those of models of all columns.")
    ] = True,
) -> None:
    """Find the few combinations of columns that a target depends on, function unknown."""
    from learnability.estimators.table_fit import fit_table

    if out is not None and out.is_file():
        raise LearnabilityError(
            f"`--out` was given as {str(out)!r}, which is a file, not a folder."
        )
    with working("fit"):
        found = fit_table(
            file, target, components, out, seed, columns=_names(columns), drop=_names(drop),
            missing=missing, weights=weights, task=task, compare=compare,
        )  # fmt: skip
    typer.echo(str(found))
    if out is not None:
        typer.echo(f"Components, report, pictures and model: {out}", err=True)


def _names(text: str) -> list[str]:
    """Return the names between the commas of a text."""
    return [name.strip() for name in text.split(",") if name.strip()]


@app.command(short_help="Coordinates of new rows by a model that `fit` wrote.")
def apply(
    model: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of fit --out.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A table of new rows.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A .csv file instead of the screen.")
    ] = None,
) -> None:
    """Coordinates of the rows of a table in the directions that `fit` found in another."""
    check_suffix("--out", out, (".csv",))
    from learnability.estimators.table_fit import apply_model
    from learnability.results import whole_file

    coordinates = apply_model(model, file)
    if out is None:
        typer.echo(coordinates.to_csv(index=False), nl=False)
    else:
        make_room(out)
        with whole_file(out) as part:
            coordinates.to_csv(part, index=False)


def main() -> None:
    """Run the command line; bad input ends in one sentence on stderr and exit code 2."""
    keep_compiled_code()
    try:
        code = app(prog_name="learnability", standalone_mode=False)
    except (LearnabilityError, OSError, TyperException) as error:
        say = getattr(error, "format_message", error.__str__)
        typer.echo(f"learnability: {' '.join(say().split())}", err=True)
        code = 2
    except MemoryError as error:
        typer.echo(f"learnability: There is not enough memory for this ({error}).", err=True)
        code = 2
    except typer.Abort:
        code = 130
    sys.exit(code if isinstance(code, int) else 0)
