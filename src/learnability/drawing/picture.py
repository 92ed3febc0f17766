"""A figure that shows itself: in a notebook, in a window, or as a file with its numbers beside it.

The module loads Matplotlib: functions import it when they draw.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from learnability.drawing.files import write
from learnability.drawing.style import house_style
from learnability.errors import LearnabilityError

if TYPE_CHECKING:
    import xarray

__all__ = ["PICTURES", "Picture", "checked_picture", "finish"]

PICTURES = ("pdf", "svg", "png")
"""Formats of pictures."""
_DPI = 144
"""Dots per inch of a picture in a notebook, which shows it at half that density."""


class Picture(Figure):
    """A Matplotlib figure that a notebook displays and that can open a window.

    It belongs to no window until `show` is called, so that scripts draw without a screen and leave
    nothing open.
    """

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """Return the picture, and the width at which it is shown, in pixels."""
        data = self.png()
        width = int.from_bytes(data[16:20], "big")  # The header of the file holds it.
        return data, {"width": width // 2}

    def __repr__(self) -> str:
        width, height = self.get_size_inches()
        return (
            f"<Picture of {width:.1f} x {height:.1f} inches: .show() opens a window, "
            ".savefig('picture.png') writes a file>"
        )

    def png(self, dpi: float = _DPI) -> bytes:
        """Return the picture as the bytes of a PNG file.

        Parameters
        ----------
        dpi : float
            Dots per inch.
        """
        file = BytesIO()
        with house_style():
            self.savefig(file, format="png", dpi=dpi, metadata={"Software": None})
        return file.getvalue()

    def show(self, warn: bool = True) -> None:
        """Show the picture: below the cell of a notebook, else in a window, until it is closed.

        Parameters
        ----------
        warn : bool
            Whether to refuse where there is no screen; False does nothing there.

        Raises
        ------
        LearnabilityError
            When Matplotlib cannot open a window here.
        """
        from matplotlib import pyplot
        from matplotlib.backends.registry import BackendFilter, backend_registry

        known: Any = backend_registry
        interactive = known.list_builtin(BackendFilter.INTERACTIVE)
        name = pyplot.get_backend().lower()
        if "inline" in name or "ipympl" in name:
            from IPython import display

            display.display(self)  # type: ignore[no-untyped-call]
        elif name in interactive:
            probe = pyplot.figure()
            canvas = type(probe.canvas)
            pyplot.close(probe)
            manager: Any = canvas.new_manager(self, 1)
            manager.show()
            type(manager).start_main_loop()
        elif warn:
            raise LearnabilityError(
                f"No window can be opened here (Matplotlib's backend is {name}): write the picture "
                "with file='picture.png'."
            )


def checked_picture(file: str | Path | None) -> Path | None:
    """Return the path of a picture, refused before any work when its ending is not known.

    Parameters
    ----------
    file : str or Path, optional
        Where the picture is to go.

    Raises
    ------
    LearnabilityError
        The message names the endings that are accepted.
    """
    if file is None:
        return None
    path = Path(file)
    if path.suffix.lower().lstrip(".") not in PICTURES:
        raise LearnabilityError(
            f"`file` was given as {str(file)!r}, but .pdf, .svg, .png are accepted."
        )
    return path


def finish(figure: Picture, data: xarray.Dataset, file: Path | None, show: bool) -> Picture:
    """Write a picture with its numbers, show it, or both.

    Parameters
    ----------
    figure : Picture
        What was drawn.
    data : xarray.Dataset
        Its numbers.
    file : Path, optional
        The picture; the numbers go beside it as .nc and .csv, and the folder is made.
    show : bool
        Whether to show it; see `Picture.show`.
    """
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        write(figure, data, file.with_suffix(""), (file.suffix.lstrip("."),))
    if show:
        figure.show()
    return figure
