"""The command line: one verb a question."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import TyperException

import learnability
from learnability.errors import LearnabilityError

__all__ = ["app", "main"]

app = typer.Typer(
    name="learnability",
    help="How many samples does it take to learn a function, and which algorithm gets there?",
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
)

PICTURES = (".png", ".pdf", ".svg")


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


@app.command()
def hardness(
    expression: Annotated[
        str, typer.Argument(metavar="EXPR", help="The link, such as 'z1**2 + sign(z1*z2*z3)'.")
    ],
    noise: Annotated[float, typer.Option(help="Variance of the label noise.")] = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw the report (.png, .pdf, .svg); the data (.nc, .csv) go beside it.",
        ),
    ] = None,
    cite: Annotated[bool, typer.Option("--cite", help="Print BibTeX of the results used.")] = False,
) -> None:
    """Report how hard a function is to learn, and by which algorithm."""
    if plot is not None and plot.suffix.lower() not in PICTURES:
        raise LearnabilityError(
            f"`--plot` was given as {plot.name!r}, "
            f"but a file ending in {', '.join(PICTURES)} is accepted."
        )
    if plot is not None:  # Before the work, so that a bad place is told at once.
        plot.parent.mkdir(parents=True, exist_ok=True)
    from learnability.hardness import hardness as report_on

    report = report_on(expression, noise=noise)
    if as_json:
        typer.echo(json.dumps(report.to_dict(), allow_nan=False))
    elif cite:
        typer.echo(report.cite())
    else:
        typer.echo(str(report))
    if plot is not None:
        from learnability.results import save

        report.plot(str(plot))
        save(report.to_dataset(), plot.with_suffix(".nc"))
        save(report.to_dataset(), plot.with_suffix(".csv"))


def main() -> None:
    """Run the command line; bad input ends in one sentence on stderr and exit code 2."""
    try:
        code = app(standalone_mode=False)
    except (LearnabilityError, OSError, TyperException) as error:
        say = getattr(error, "format_message", error.__str__)
        typer.echo(f"learnability: {' '.join(say().split())}", err=True)
        code = 2
    except typer.Abort:
        code = 130
    sys.exit(code if isinstance(code, int) else 0)
