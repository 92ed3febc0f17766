"""Texts of a figure that cross one another or leave it."""

from __future__ import annotations

import itertools
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

__all__ = ["crossing_texts"]

MARGIN = 1.0
"""Pixels by which boxes may touch: they hold the empty room above low letters."""


def crossing_texts(figure: Any) -> list[str]:
    """Say which texts cross, and which leave the figure; empty for a good picture.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure; it is drawn once.
    """
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    hidden = _not_drawn(figure)
    shown = [
        (text.get_text(), text.get_window_extent(renderer))
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and id(text) not in hidden
    ]
    whole = figure.bbox
    found = []
    for words, box in shown:
        low = min(box.x0 - whole.x0, box.y0 - whole.y0)
        high = max(box.x1 - whole.x1, box.y1 - whole.y1)
        if low < -1 or high > 1:
            found.append(f"{words!r} leaves the figure")
    for (words, box), (others, other) in itertools.combinations(shown, 2):
        across = min(box.x1, other.x1) - max(box.x0, other.x0)
        along = min(box.y1, other.y1) - max(box.y0, other.y0)
        if across > MARGIN and along > MARGIN:
            found.append(f"{words!r} crosses {others!r}")
    return found


def _not_drawn(figure: Any) -> set[int]:
    """The labels of ticks beyond the limits of their axes, which exist and are not drawn."""
    found = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            slack = 1e-9 * (high - low)
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                if not low - slack <= tick.get_loc() <= high + slack:
                    found |= {id(tick.label1), id(tick.label2)}
    return found
