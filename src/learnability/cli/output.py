"""Where a command leaves what it computed: a table on the screen, or a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import typer

from learnability.cli.light_results import leave_dask_unloaded
from learnability.errors import LearnabilityError, visible

if TYPE_CHECKING:
    import xarray

    from learnability.results.labelled import Labelled

__all__ = [
    "PICTURES",
    "RESULTS",
    "check_suffix",
    "draw_into",
    "drawable",
    "hand_over",
    "make_room",
    "out_option",
    "plot_option",
    "terminal_width",
    "told_files",
]

PICTURES = (".png", ".pdf", ".svg")
RESULTS = (".nc", ".csv", ".zarr")


def out_option() -> Any:
    """Return the parameter of the option --out of results."""
    from learnability.cli.options import plain_option

    help = f"Save the result ({', '.join(RESULTS)}) instead of printing a table."
    return plain_option("out", Path | None, None, metavar="FILE", help=help)


def check_suffix(option: str, path: Path | None, accepted: tuple[str, ...]) -> None:
    """Refuse a file whose name has another ending.

    Raises
    ------
    LearnabilityError
        The message names the option.
    """
    if path is not None and path.suffix.lower() not in accepted:
        raise LearnabilityError(
            f"`{option}` was given as {path.name!r}, "
            f"but a file ending in {', '.join(accepted)} is accepted."
        )


def make_room(path: Path | None) -> None:
    """Make the folder of a file before the work begins, so that a bad place is reported at once.

    Raises
    ------
    LearnabilityError
        When the path is a folder.
    """
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir() and path.suffix.lower() != ".zarr":
            raise LearnabilityError(f"{str(path)!r} is a folder, but a file is to be written.")


def told_files(picture: Path) -> str:
    """Return the names of the picture and of the data beside it, as a list in a sentence."""
    return f"{picture}, {picture.with_suffix('.nc')}, {picture.with_suffix('.csv')}"


def terminal_width(elsewhere: int) -> int:
    """Characters of a line: the terminal's own, from 60 to 120, or `elsewhere` in a pipe."""
    import shutil
    import sys

    columns = shutil.get_terminal_size().columns
    return min(max(columns, 60), 120) if sys.stdout.isatty() else elsewhere


def hand_over(found: xarray.Dataset | Labelled, out: Path | None) -> None:
    """Print a result as a table, or save it."""
    if out is None:
        from learnability.results.tables import table

        typer.echo(visible(table(found, terminal_width(100))))
    else:
        from learnability.results.files import save

        save(drawable(found), out)


@overload
def drawable(found: xarray.Dataset | Labelled) -> xarray.Dataset: ...


@overload
def drawable(found: xarray.Dataset | Labelled | None) -> xarray.Dataset | None: ...


def drawable(found: xarray.Dataset | Labelled | None) -> xarray.Dataset | None:
    """Return a result in the form that is drawn and saved; a table does not need it."""
    if not isinstance(found, tuple):
        return found
    leave_dask_unloaded()
    return found.to_dataset()


def plot_option() -> Any:
    """Return the parameter of the option --plot of results."""
    from learnability.cli.options import plain_option

    help = "Also draw the result (.png, .pdf, .svg); the data go beside it."
    return plain_option("plot", Path | None, None, metavar="FILE", help=help)


def draw_into(
    prediction: Labelled | None, runs: Labelled | None, picture: Path | None, **chosen: Any
) -> None:
    """Draw a result into a file, and say where it is; do nothing without a file."""
    if picture is not None:
        from learnability.drawing import plot

        plot(drawable(prediction), drawable(runs), file=picture, **chosen)
        typer.echo(f"Picture and data: {told_files(picture)}", err=True)
