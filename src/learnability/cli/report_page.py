"""The verb that writes one page for a colleague: the report, learning curves, runs, eigenvalues."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from learnability.cli.grids import seeds as read_seeds
from learnability.cli.options import argument, command, plain_option
from learnability.cli.output import check_suffix, make_room
from learnability.cli.target_options import target_from, target_options
from learnability.errors import LearnabilityError
from learnability.progress import working

if TYPE_CHECKING:
    from learnability.drawing.picture import Picture

__all__ = ["make"]

_RUNS, _LINE = 6, 24
"""The numbers of values of alpha for the runs, and for the theory."""


def make(verb: str, help: str) -> Any:
    """Return the command of the verb.

    Parameters
    ----------
    verb, help : str
        The name of the verb, and the sentence that describes it.
    """
    parameters = [
        argument("expression", str, ..., metavar="EXPR",
                 help="The link, such as 'z1**2 + sign(z1*z2*z3)'."),
        plain_option("html", Path, Path("report.html"), metavar="FILE",
                     help="The page. [default: report.html]"),
        plain_option("d", int, 200, metavar="N",
                     help="Dimension of the runs; 0 leaves them out. [default: 200]"),
        plain_option("seeds", str, "2", metavar="K", help="Number of runs. [default: 2]"),
        *(option.parameter() for option in target_options()),
    ]  # fmt: skip
    return command(verb, help, parameters, _written)


def _written(values: dict[str, Any]) -> None:
    check_suffix("--html", values["html"], (".html",))
    if values["d"] and values["d"] < 10:
        raise LearnabilityError(
            f"`--d` was given as {values['d']}, but 0 or a whole number of at least 10 is accepted."
        )
    count = read_seeds(values["seeds"])
    make_room(values["html"])
    from learnability.reports import hardness

    target = target_from(values["expression"], values)
    with working("hardness"):
        report = hardness(target)
    steps = getattr(report, "staircase", ())
    opened = [s.alpha for s in steps if s.alpha and math.isfinite(s.alpha)]
    pictures = _curves(target, 1.6 * max([1.0, *opened]), values["d"], count)
    text = report.to_html(values["html"], pictures=pictures)
    typer.echo(f"Page: {values['html']} ({len(text.encode()) / 1e6:.2f} MB, opens without network)")


def _curves(target: Any, end: float, d: int, seeds: Any) -> dict[str, Picture]:
    """Return learning curves of the best algorithms, where they have an answer for the target."""
    import numpy as np

    from learnability.drawing import plot
    from learnability.learners import BayesAMP, Spectral
    from learnability.learners.base import Learner
    from learnability.studies import study

    asked: list[tuple[str, Learner, str | None]] = [
        ("Learning curve of message passing", BayesAMP(), None),
        ("Learning curve of the spectral method", Spectral(), None),
        ("Leading eigenvalue of the spectral method", Spectral(), "eigenvalue"),
    ]
    found: dict[str, Picture] = {}
    for title, learner, variable in asked:
        try:
            with working(title):
                theory = learner.predict(target, alpha=np.linspace(end / _LINE, end, _LINE))
            places = np.linspace(end / _RUNS, end, _RUNS)
            runs = study(learner, target, d=d, alpha=places, seeds=seeds) if d else None
            found[title] = plot(theory, runs, variable=variable, width=5.0)
        except LearnabilityError as error:
            typer.echo(f"learnability: {title} is left out. {error}", err=True)
    return found
