"""The command line: one verb a question."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.exceptions import TyperException

import learnability
from learnability.cli.options import (
    LEARNER,
    TARGET,
    Activation,
    Alignment,
    AlignmentExponent,
    Alpha,
    Anisotropy,
    Batch,
    Depth,
    Directions,
    Epsilon,
    Expression,
    Kernel,
    LearnerName,
    LookAhead,
    Loss,
    Noise,
    Out,
    Polynomial,
    Ridge,
    Rule,
    Spherical,
    SpikeExponent,
    SpikeStrength,
    Start,
    Steps,
    StepSize,
    StoreFile,
    Time,
    Width,
    given,
)
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
RESULTS = (".nc", ".csv", ".zarr")
HIERARCHICAL = "layerwise"
"""The learner whose targets are hierarchical."""


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
    context: typer.Context,
    expression: Expression,
    polynomial: Polynomial = None,
    epsilon: Epsilon = None,
    directions: Directions = None,
    depth: Depth = None,
    noise: Noise = 0.0,
    spike: SpikeStrength = None,
    spike_exponent: SpikeExponent = None,
    alignment: Alignment = None,
    alignment_exponent: AlignmentExponent = None,
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
    from learnability.reports import hardness as report_on

    report = report_on(_target(context))
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
    context: typer.Context,
    learner: LearnerName,
    expression: Expression,
    alpha: Alpha = None,
    time: Time = None,
    d: Annotated[
        int | None,
        typer.Option(
            "--d", help="Dimension: of online-sgd's random start, of layerwise, of spiked inputs."
        ),
    ] = None,
    polynomial: Polynomial = None,
    epsilon: Epsilon = None,
    directions: Directions = None,
    depth: Depth = None,
    noise: Noise = 0.0,
    spike: SpikeStrength = None,
    spike_exponent: SpikeExponent = None,
    alignment: Alignment = None,
    alignment_exponent: AlignmentExponent = None,
    anisotropy: Anisotropy = None,
    start: Start = None,
    width: Width = None,
    activation: Activation = None,
    loss: Loss = None,
    kernel: Kernel = None,
    ridge: Ridge = None,
    batch: Batch = None,
    step: StepSize = None,
    steps: Steps = None,
    rule: Rule = None,
    look_ahead: LookAhead = None,
    spherical: Spherical = None,
    out: Out = None,
) -> None:
    """Say what the theory expects of a learner in high dimension."""
    _check_suffix("--out", out, RESULTS)
    from learnability.learners.names import named

    chosen = named(learner, **given(context, LEARNER))
    axis = _axis(learner, chosen, alpha, time)
    target = _target(context, learner)
    if d is not None:
        if "time" not in axis and type(target).__name__ == "MultiIndex":
            raise LearnabilityError(f"`--d` was given with predict {learner}, which needs none.")
        axis["d"] = d
    elif learner == HIERARCHICAL:
        raise LearnabilityError(f"predict {learner} needs `--d`: its theory is that of one size.")
    _make_room(out)
    _hand_over(chosen.predict(target, **axis), out)


@app.command()
def simulate(
    context: typer.Context,
    learner: LearnerName,
    expression: Expression,
    d: Annotated[str, typer.Option("--d", metavar="GRID", help="Dimension, or several.")],
    alpha: Alpha = None,
    time: Time = None,
    seeds: Annotated[
        str, typer.Option(metavar="K", help="Number of runs, or their seeds x,y,z.")
    ] = "1",
    polynomial: Polynomial = None,
    epsilon: Epsilon = None,
    directions: Directions = None,
    depth: Depth = None,
    noise: Noise = 0.0,
    spike: SpikeStrength = None,
    spike_exponent: SpikeExponent = None,
    alignment: Alignment = None,
    alignment_exponent: AlignmentExponent = None,
    anisotropy: Anisotropy = None,
    start: Start = None,
    width: Width = None,
    activation: Activation = None,
    loss: Loss = None,
    kernel: Kernel = None,
    ridge: Ridge = None,
    batch: Batch = None,
    step: StepSize = None,
    steps: Steps = None,
    rule: Rule = None,
    look_ahead: LookAhead = None,
    spherical: Spherical = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=GRID", help="Any field of the learner or the target; repeat it."
        ),
    ] = None,
    store: StoreFile = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="A running Dask scheduler, or its .json file."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", help="Processes; 1 is this one. Default: cores, if worth it."),
    ] = None,
    emit_slurm: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a SLURM script of this command instead."),
    ] = None,
    out: Out = None,
) -> None:
    """Run a learner on samples in dimension d; exit code 1 when some runs failed."""
    _check_suffix("--out", out, RESULTS)
    if emit_slurm is not None:
        _emit_slurm(emit_slurm, workers, store)
        return
    from learnability.cli.grids import seeds as read_seeds
    from learnability.cli.grids import setting
    from learnability.learners.names import named
    from learnability.studies import StudyWarning, study

    axes = {"d": setting(d, "--d")}
    if not all(type(size) is int for size in (axes["d"] if "," in d or ":" in d else [axes["d"]])):
        raise LearnabilityError(
            f"`--d` was given as {d!r}, but a whole number, or several as x,y,z or a:b:n, is "
            "accepted."
        )
    for text in settings or []:
        name, equals, value = text.partition("=")
        if not (name and equals) or name in axes:
            raise LearnabilityError(
                f"`--set` was given as {text!r}, but NAME=GRID is accepted, each name once."
            )
        axes[name] = setting(value, name)
    runs = read_seeds(seeds)
    chosen = named(learner, **given(context, LEARNER))
    axes |= _axis(learner, chosen, alpha, time)
    target = _target(context, learner)
    _make_room(out)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", StudyWarning)
            found = study(
                chosen,
                target,
                seeds=runs,
                store=store,
                scheduler=scheduler,
                workers=workers,
                **axes,
            )
    except KeyboardInterrupt:
        kept = f": what is finished is in {store}, the same command goes on" if store else ""
        typer.echo(f"learnability: stopped{kept}.", err=True)
        raise typer.Exit(130) from None
    _hand_over(found, out)
    for warning in caught:
        typer.echo(f"learnability: {warning.message}", err=True)
    if any(issubclass(warning.category, StudyWarning) for warning in caught):
        raise typer.Exit(1)


def _target(context: typer.Context, learner: str = "") -> Any:
    """The target that the options of a command describe."""
    from learnability.cli.described_target import described

    expression, noise = context.params["expression"], context.params["noise"]
    options = given(context, TARGET)
    return described(expression, noise, **options, hierarchical=learner == HIERARCHICAL)


def _emit_slurm(path: Path, workers: int | None, store: Path | None) -> None:
    """Write a script that runs this command line, less the options that the script sets."""
    from learnability.studies.slurm import write_slurm_script

    if store is None:
        raise LearnabilityError(
            "`--emit-slurm` was given without `--store`, but a job that can be stopped needs a "
            "file for what is finished: add `--store FILE`."
        )
    _make_room(path)
    own = ("--emit-slurm", "--workers", "--scheduler")
    kept, words = [], iter(sys.argv[1:])
    for word in words:
        if word in own:
            next(words, None)
        elif word.split("=")[0] not in own:
            kept.append(word)
    write_slurm_script(path, kept, workers or 16)
    typer.echo(f"{path}: submit it with `sbatch {path}`.")


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
    out: Out = None,
    number: Annotated[
        int | None, typer.Option("--study", metavar="N", help="Which study; the last by default.")
    ] = None,
) -> None:
    """Write a study of a store as one result; runs that are not finished are NaN."""
    _check_suffix("--out", out, RESULTS)
    from learnability.studies import export as exported

    _make_room(out)
    _hand_over(exported(file, number), out)


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


@app.command()
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


def _axis(name: str, learner: Any, alpha: str | None, time: str | None) -> dict[str, Any]:
    """The natural axis of a learner, read from its option."""
    from inspect import signature

    from learnability.cli.grids import grid

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
        if path.is_dir() and path.suffix.lower() != ".zarr":
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
