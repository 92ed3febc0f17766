"""The verbs that take a target and no learner: hardness and figure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from learnability.cli.options import argument, command, plain_option
from learnability.cli.output import PICTURES, check_suffix, make_room
from learnability.cli.target_options import target_from, target_options
from learnability.errors import LearnabilityError

__all__ = ["make"]


def make(verb: str, help: str) -> Any:
    """The command of a verb.

    Parameters
    ----------
    verb : {"hardness", "figure"}
        Its name.
    help : str
        One sentence.
    """
    return _hardness(help) if verb == "hardness" else _figure(help)


def _hardness(help: str) -> Any:
    parameters = [
        argument("expression", str, ..., metavar="EXPR",
                 help="The link, such as 'z1**2 + sign(z1*z2*z3)'."),
        *(option.parameter() for option in target_options()),
        plain_option("json", bool, False, help="Print one JSON object."),
        plain_option("plot", Path | None, None, metavar="FILE",
                     help="Draw the report (.png, .pdf, .svg); the data go beside it."),
        plain_option("cite", bool, False, help="Print BibTeX of the results used."),
    ]  # fmt: skip
    return command("hardness", help, parameters, _report)


def _report(values: dict[str, Any]) -> None:
    plot = values["plot"]
    check_suffix("--plot", plot, PICTURES)
    make_room(plot)
    from learnability.reports import hardness

    report = hardness(target_from(values["expression"], values))
    if values["json"]:
        typer.echo(json.dumps(report.to_dict(), allow_nan=False))
    elif values["cite"]:
        typer.echo(report.cite())
    else:
        typer.echo(str(report))
    if plot is not None:
        from learnability.results import save

        report.plot(str(plot))
        save(report.to_dataset(), plot.with_suffix(".nc"))
        save(report.to_dataset(), plot.with_suffix(".csv"))


def _figure(help: str) -> Any:
    from learnability.figures import FIGURES

    parameters = [
        argument("name", str | None, None, metavar="NAME", help="The figure; --list names them.",
                 autocompletion=lambda: list(FIGURES)),
        argument("expression", str | None, None, metavar="EXPR",
                 help="A link of your own, for the figures that take one."),
        plain_option("quick", bool, False, help="Smaller sizes: one or two minutes on two cores."),
        plain_option("out", Path, Path(), metavar="DIR",
                     help="Where NAME.pdf, .png, .nc and .csv go."),
        plain_option("list", bool, False, help="List the figures."),
        *(option.parameter() for option in target_options()),
    ]  # fmt: skip
    return command("figure", help, parameters, _draw)


def _draw(values: dict[str, Any]) -> None:
    from learnability.figures import FIGURES, draw, takes_target

    name, expression = values["name"], values["expression"]
    if values["list"]:
        width = max(map(len, FIGURES))
        for known, title in FIGURES.items():
            own = " [EXPR]" if takes_target(known) else ""
            typer.echo(f"{known:<{width}}  {title}{own}")
        return
    if name is None:
        raise LearnabilityError("No figure was named: `learnability figure --list` lists them.")
    given = [option for option in target_options() if values.get(option.key) is not None]
    if expression is None and given:
        raise LearnabilityError(
            f"`--{given[0].name}` was given without EXPR, the link of the target it belongs to."
        )
    target = None if expression is None else target_from(expression, values)
    for path in draw(name, values["out"], quick=values["quick"], target=target):
        typer.echo(str(path))
