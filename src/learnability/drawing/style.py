"""The house style: widths, colours and settings of Matplotlib."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["COLOURS", "WIDTHS", "ShowsItself", "house_style", "new_axes"]

WIDTHS = {"column": 3.4, "text": 7.0}
"""Figure widths in inches."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's colours, in the order of use."""


@contextmanager
def house_style() -> Iterator[None]:
    """Draw in the house style inside a ``with`` block, leaving the user's settings alone."""
    import matplotlib as mpl
    from cycler import cycler

    settings: Any = {
        "axes.prop_cycle": cycler(color=COLOURS),
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlesize": 9,
        "axes.labelsize": 9,
        "font.size": 8,
        "legend.frameon": False,
        "legend.fontsize": 8,
        "lines.linewidth": 1.4,
        "mathtext.fontset": "cm",
        "savefig.dpi": 200,
        "savefig.bbox": "tight",
        "svg.hashsalt": "learnability",
    }
    with mpl.rc_context(settings):
        yield


def new_axes(ax: Any = None) -> Any:
    """Return the given axes, or those of a new figure that no window shows.

    Parameters
    ----------
    ax : matplotlib axes, optional
        Where to draw.
    """
    if ax is not None:
        return ax
    from learnability.drawing.picture import Picture

    return Picture(figsize=(3.6, 2.8), layout="constrained").subplots()


class ShowsItself:
    """What a display inherits so that a notebook shows what its `plot` drew."""

    figure_: Any

    def _repr_png_(self) -> Any:
        """Return the picture; None before `plot`, or when it drew into axes of another's figure."""
        shown = getattr(getattr(self, "figure_", None), "_repr_png_", None)
        return None if shown is None else shown()
