"""The command line: one verb a question."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.exceptions import TyperException

import learnability
from learnability.errors import LearnabilityError

if TYPE_CHECKING:
    import xarray

__all__ = ["app", "main"]

app = typer.Typer(
    name="learnability",
    help="How many samples does it take to learn a function, and which algorithm gets there?",
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
)

PICTURES = (".png", ".pdf", ".svg")
RESULTS = (".nc", ".csv")

LearnerName = Annotated[
    str, typer.Argument(metavar="LEARNER", help="bayes-amp, spectral or online-sgd.")
]
Expression = Annotated[
    str, typer.Argument(metavar="EXPR", help="The link, such as 'z1**2 + sign(z1*z2*z3)'.")
]
Alpha = Annotated[
    str | None,
    typer.Option(
        metavar="GRID", help="Samples over dimension: a:b:n (n points from a to b), x,y,z or one."
    ),
]
Time = Annotated[
    str | None,
    typer.Option(metavar="GRID", help="For online-sgd instead of --alpha: steps over dimension."),
]
Width = Annotated[int | None, typer.Option(help="Neurons of online-sgd.")]
Activation = Annotated[
    str | None, typer.Option(metavar="EXPR", help="Activation of online-sgd, such as 'relu(z)'.")
]
Loss = Annotated[str | None, typer.Option(help="Loss of online-sgd: squared or correlation.")]
Step = Annotated[float | None, typer.Option(help="Step size of online-sgd in units of 1/d.")]
Rule = Annotated[
    str | None,
    typer.Option(help="Of online-sgd: plain, extragradient, repetition, sam or lookahead."),
]
LookAhead = Annotated[float | None, typer.Option(help="Look-ahead of online-sgd in units of 1/d.")]
Spherical = Annotated[
    bool | None, typer.Option("--spherical", help="Keep the neurons of online-sgd on the sphere.")
]
Noise = Annotated[float, typer.Option(help="Variance of the label noise.")]
Start = Annotated[
    str | None,
    typer.Option(help="Where bayes-amp begins: auto, random, spectral or informed."),
]
Out = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Save the result (.nc, .csv) instead of printing a table."),
]


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
    expression: Expression,
    noise: Noise = 0.0,
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
    _check_suffix("--plot", plot, PICTURES)
    _make_room(plot)
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


@app.command()
def predict(
    learner: LearnerName,
    expression: Expression,
    alpha: Alpha = None,
    time: Time = None,
    d: Annotated[
        int | None, typer.Option("--d", help="For online-sgd: dimension of the random start.")
    ] = None,
    noise: Noise = 0.0,
    start: Start = None,
    width: Width = None,
    activation: Activation = None,
    loss: Loss = None,
    step: Step = None,
    rule: Rule = None,
    look_ahead: LookAhead = None,
    spherical: Spherical = None,
    out: Out = None,
) -> None:
    """Say what the theory expects of a learner in high dimension."""
    _check_suffix("--out", out, RESULTS)
    from learnability.learners.names import named
    from learnability.targets import MultiIndex

    chosen = named(
        learner, start=start, width=width, activation=activation, loss=loss, step=step, rule=rule,
        look_ahead=look_ahead, spherical=spherical,
    )  # fmt: skip
    axis = _axis(learner, chosen, alpha, time)
    if d is not None:
        if "time" not in axis:
            raise LearnabilityError(f"`--d` was given with predict {learner}, which needs none.")
        axis["d"] = d
    target = MultiIndex(expression, noise=noise)
    _make_room(out)
    _hand_over(chosen.predict(target, **axis), out)


@app.command()
def simulate(
    learner: LearnerName,
    expression: Expression,
    d: Annotated[int, typer.Option("--d", help="Dimension.")],
    alpha: Alpha = None,
    time: Time = None,
    seeds: Annotated[
        str, typer.Option(metavar="K", help="Number of runs, or their seeds x,y,z.")
    ] = "1",
    noise: Noise = 0.0,
    start: Start = None,
    width: Width = None,
    activation: Activation = None,
    loss: Loss = None,
    step: Step = None,
    rule: Rule = None,
    look_ahead: LookAhead = None,
    spherical: Spherical = None,
    out: Out = None,
) -> None:
    """Run a learner on samples in dimension d."""
    _check_suffix("--out", out, RESULTS)
    from learnability.grids import seeds as read_seeds
    from learnability.learners.names import named
    from learnability.targets import MultiIndex

    chosen = named(
        learner, start=start, width=width, activation=activation, loss=loss, step=step, rule=rule,
        look_ahead=look_ahead, spherical=spherical,
    )  # fmt: skip
    axis, runs = _axis(learner, chosen, alpha, time), read_seeds(seeds)
    target = MultiIndex(expression, noise=noise)
    _make_room(out)
    _hand_over(chosen.simulate(target, d=d, seeds=runs, **axis), out)


@app.command()
def figure(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The figure; --list names them.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Smaller sizes: one or two minutes on two cores.")
    ] = False,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where NAME.pdf, .png, .nc and .csv go.")
    ] = Path(),
    names: Annotated[bool, typer.Option("--list", help="List the figures.")] = False,
) -> None:
    """Draw a figure of the literature: theory as lines, runs as crosses."""
    from learnability.figures import FIGURES, draw

    if names:
        width = max(map(len, FIGURES))
        for known, title in FIGURES.items():
            typer.echo(f"{known:<{width}}  {title}")
        return
    if name is None:
        raise LearnabilityError("No figure was named: `learnability figure --list` lists them.")
    for path in draw(name, out, quick=quick):
        typer.echo(str(path))


def _axis(name: str, learner: Any, alpha: str | None, time: str | None) -> dict[str, Any]:
    """The natural axis of a learner, read from its option."""
    from inspect import signature

    from learnability.grids import grid

    given = {"alpha": alpha, "time": time}
    own = next(axis for axis in given if axis in signature(learner.predict).parameters)
    (other,) = given.keys() - {own}
    if given[other] is not None:
        raise LearnabilityError(f"`--{other}` was given with {name}, but it runs along `--{own}`.")
    text = given[own]
    if text is None:
        raise LearnabilityError(f"{name} needs `--{own}`: `a:b:n`, `x,y,z` or one number.")
    return {own: grid(text, own)}


def _check_suffix(option: str, path: Path | None, accepted: tuple[str, ...]) -> None:
    if path is not None and path.suffix.lower() not in accepted:
        raise LearnabilityError(
            f"`{option}` was given as {path.name!r}, "
            f"but a file ending in {', '.join(accepted)} is accepted."
        )


def _make_room(path: Path | None) -> None:
    """Make the folder of a file before the work, so that a bad place is told at once."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise LearnabilityError(f"{str(path)!r} is a folder, but a file is to be written.")


def _hand_over(dataset: xarray.Dataset, out: Path | None) -> None:
    from learnability.results import save, table

    if out is None:
        typer.echo(table(dataset))
    else:
        save(dataset, out)


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
