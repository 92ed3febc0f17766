"""The verbs that take targets and no learner: hardness, compare, regimes, catalogue and figure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from learnability.cli.grids import grid
from learnability.cli.options import argument, command, plain_option
from learnability.cli.output import (
    PICTURES,
    check_suffix,
    make_room,
    terminal_width,
    told_files,
)
from learnability.cli.target_options import target_from, target_options
from learnability.errors import LearnabilityError
from learnability.progress import working

__all__ = ["make"]


def make(verb: str, help: str) -> Any:
    """Return the command of a verb.

    Parameters
    ----------
    verb : {"hardness", "compare", "regimes", "catalogue", "figure"}
        Its name.
    help : str
        The sentence that describes the verb.
    """
    return _MADE[verb](help)


def _hardness(help: str) -> Any:
    parameters = [
        argument("expression", str | None, None, metavar="EXPR",
                 help="The link, such as 'z1**2 + sign(z1*z2*z3)'."),
        *(option.parameter() for option in target_options()),
        plain_option("table", Path | None, None, metavar="FILE",
                     help="A table instead of EXPR: the law of its target is learned."),
        plain_option("target", str | None, None, metavar="NAME",
                     help="The column of the table to explain."),
        *_reading(),
        plain_option("json", bool, False, help="Print one JSON object."),
        plain_option("plot", Path | None, None, metavar="FILE",
                     help="Draw the report (.png, .pdf, .svg); the data go beside it."),
        plain_option("cite", bool, False, help="Print BibTeX of the results used."),
    ]  # fmt: skip
    return command("hardness", help, parameters, _report)


def _reading() -> list[Any]:
    """Return the options that say how a table is read, as in the verb fit."""
    return [
        plain_option(name, str | None, None, metavar=form, help=said)
        for name, (form, said) in _READING.items()
    ]


_READING = {
    "columns": ("A,B,...", "The columns of the table to take; all by default."),
    "drop": ("A,B,...", "Columns of the table to leave out."),
    "missing": ("refuse|impute", "What to do where values of the table are missing."),
    "weights": ("NAME", "A column of the table with weights of the rows."),
    "task": ("auto|numbers|classes", "What the target of the table is."),
}
"""Options that say how a table is read -> their form and meaning."""


def _report(values: dict[str, Any]) -> None:
    plot = values["plot"]
    check_suffix("--plot", plot, PICTURES)
    make_room(plot)
    from learnability.reports import hardness

    with working("hardness"):
        target, said = _asked(values)
        report = hardness(target)
    if values["json"]:
        typer.echo(json.dumps(report.to_dict(), allow_nan=False))
    elif values["cite"]:
        typer.echo(report.cite())
    else:
        if said:
            typer.echo(f"{said}\n")
        typer.echo(report.to_text(terminal_width(80)))
    if plot is not None:
        report.plot(plot)
        typer.echo(f"Picture and data: {told_files(plot)}", err=True)


def _asked(values: dict[str, Any]) -> tuple[Any, str]:
    """Return the target of a link, or of a table, and what is to be printed about it first."""
    expression, table, column = values["expression"], values["table"], values["target"]
    reading = {name: values[name] for name in _READING if values[name] is not None}
    if table is None and column is None and expression is not None and not reading:
        return target_from(expression, values), ""
    given = [option.name for option in target_options() if values.get(option.key) is not None]
    if expression is not None or table is None or column is None or given:
        raise LearnabilityError(
            "A link EXPR with its options is accepted, or a table: `--table FILE --target NAME`."
        )
    from learnability.estimators.table_fit import law_of_table
    from learnability.targets import MultiIndex

    for name in ("columns", "drop"):
        if name in reading:
            reading[name] = [one.strip() for one in reading[name].split(",") if one.strip()]
    law, said = law_of_table(table, column, **reading)
    return MultiIndex(law), said


def _compare(help: str) -> Any:
    parameters = [
        argument("expressions", list[str], ..., metavar="EXPR...", help="Two links or more."),
        *(option.parameter() for option in target_options()),
        plain_option("json", bool, False, help="Print one JSON list, one object per link."),
        plain_option("plot", Path | None, None, metavar="FILE",
                     help="Draw the staircases into one picture (.png, .pdf, .svg)."),
    ]  # fmt: skip
    return command("compare", help, parameters, _compared)


def _compared(values: dict[str, Any]) -> None:
    plot = values["plot"]
    check_suffix("--plot", plot, PICTURES)
    make_room(plot)
    from learnability.reports import compare

    with working("hardness"):
        found = compare(*(target_from(text, values) for text in values["expressions"]))
    if values["json"]:
        rows = [report.to_dict() for report in found.reports]
        typer.echo(json.dumps(rows, allow_nan=False))
    else:
        typer.echo(found.to_text(terminal_width(80)))
    if plot is not None:
        found.plot(plot)
        typer.echo(f"Picture and data: {told_files(plot)}", err=True)


def _regimes(help: str) -> Any:
    parameters = [
        argument("expression", str, ..., metavar="EXPR", help="The link, such as 'z1 + z1*z2'."),
        *(option.parameter() for option in target_options()),
        plain_option("n", str, "d", metavar="POWER",
                     help="Samples of a step and of the readout, such as d, 8*d^2 or d^1.5."),
        plain_option("p", str, "d", metavar="POWER", help="Neurons, such as 32, d or d^2."),
        plain_option("steps", int, 1, help="Number of giant steps."),
        plain_option("activation", str, "relu(z - 1/2)", help="The function of the neurons."),
        plain_option("strength", float, 1.0, metavar="X",
                     help="Length of neurons along each direction that was found."),
        plain_option("step", float | None, None, metavar="X",
                     help="Size of the steps over d^((k - 1) / 2), n of the order of d^k: the "
                     "errors are then those of neurons that have taken the steps."),
        plain_option("d", str, "100,1e3,1e4,1e5,1e6", metavar="GRID",
                     help="Dimensions in which the errors are computed."),
        plain_option("json", bool, False, help="Print one JSON object."),
    ]  # fmt: skip
    return command("regimes", help, parameters, _placed)


def _placed(values: dict[str, Any]) -> None:
    import numpy as np

    from learnability.theory import regimes

    with working("regimes"):
        found = regimes(
            target_from(values["expression"], values),
            values["n"],
            values["p"],
            values["steps"],
            activation=values["activation"],
            strength=values["strength"],
            step=values["step"],
            d=np.atleast_1d(grid(values["d"], "d")).tolist(),
        )
    typer.echo(json.dumps(found.to_dict(), allow_nan=False) if values["json"] else found.to_text())


def _catalogue(help: str) -> Any:
    name = argument("name", str | None, None, metavar="NAME",
                    help="The entry whose report is printed.")  # fmt: skip
    return command("catalogue", help, [name], _catalogued)


def _catalogued(values: dict[str, Any]) -> None:
    from learnability.labels import CATALOGUE, catalogue
    from learnability.reports import Table, hardness

    if values["name"] is None:
        rows = tuple(
            (one.name, one.text + (f"  (noise {one.noise:g})" if one.noise else ""), one.about)
            for one in CATALOGUE
        )
        typer.echo(Table("", ("name", "link", "use"), rows).to_text(terminal_width(80)))
        return
    entry = catalogue(values["name"])
    with working("hardness"):
        report = hardness(entry.link, noise=entry.noise)
    typer.echo(f"{entry.name}: {entry.about}\n\n{report.to_text(terminal_width(80))}")


def _figure(help: str) -> Any:
    from learnability.figures import FIGURES

    parameters = [
        argument("name", str | None, None, metavar="NAME", help="The figure; see --list.",
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


_MADE = {
    "hardness": _hardness,
    "compare": _compare,
    "regimes": _regimes,
    "catalogue": _catalogue,
    "figure": _figure,
}
