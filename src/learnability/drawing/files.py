"""Pictures as files, with their numbers beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnability.drawing.style import house_style
from learnability.results import save, whole_file

if TYPE_CHECKING:
    import xarray

__all__ = ["write"]

# Format -> metadata that are left out, so that equal pictures are equal files.
_DATED: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None},
    "png": {"Software": None},
    "svg": {"Date": None},
}


def write(
    figure: Any, data: xarray.Dataset, stem: Path, pictures: Sequence[str] = ("pdf", "png")
) -> list[Path]:
    """Save a picture and beside it its numbers as NetCDF and CSV; return the paths.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The picture.
    data : xarray.Dataset
        Its numbers.
    stem : Path
        The paths without their endings.
    pictures : sequence of str
        Formats among pdf, png and svg; the files end as they are written here.
    """
    drawn = [stem.with_name(f"{stem.name}.{kind}") for kind in pictures]
    with house_style():
        for path, kind in zip(drawn, pictures, strict=True):
            with whole_file(path) as part:
                figure.savefig(part, format=kind.lower(), metadata=_DATED[kind.lower()])
    numbers = [stem.with_name(f"{stem.name}.{kind}") for kind in ("nc", "csv")]
    for path in numbers:
        save(data, path)
    return [*drawn, *numbers]
