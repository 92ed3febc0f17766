"""Where a command leaves what it computed: a table on the screen, or a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from learnability.errors import LearnabilityError

if TYPE_CHECKING:
    import xarray

__all__ = ["PICTURES", "RESULTS", "check_suffix", "hand_over", "make_room", "out_option"]

PICTURES = (".png", ".pdf", ".svg")
RESULTS = (".nc", ".csv", ".zarr")


def out_option() -> Any:
    """The parameter of the option --out of results."""
    from learnability.cli.options import plain_option

    help = f"Save the result ({', '.join(RESULTS)}) instead of printing a table."
    return plain_option("out", Path | None, None, metavar="FILE", help=help)


def check_suffix(option: str, path: Path | None, accepted: tuple[str, ...]) -> None:
    """Refuse a file whose name ends in another way.

    Raises
    ------
    LearnabilityError
        Naming the option.
    """
    if path is not None and path.suffix.lower() not in accepted:
        raise LearnabilityError(
            f"`{option}` was given as {path.name!r}, "
            f"but a file ending in {', '.join(accepted)} is accepted."
        )


def make_room(path: Path | None) -> None:
    """Make the folder of a file before the work, so that a bad place is told at once.

    Raises
    ------
    LearnabilityError
        When the path is a folder.
    """
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir() and path.suffix.lower() != ".zarr":
            raise LearnabilityError(f"{str(path)!r} is a folder, but a file is to be written.")


def hand_over(dataset: xarray.Dataset, out: Path | None) -> None:
    """Print a result as a table, or save it."""
    from learnability.results import save, table

    if out is None:
        typer.echo(table(dataset))
    else:
        save(dataset, out)
