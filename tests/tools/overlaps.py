"""Faults of a figure that can be measured: texts that cross or leave it, legends over curves."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Bbox

__all__ = ["faults"]

MARGIN = 1.0
"""Pixels by which boxes may touch: they hold the empty room above low letters."""


def faults(figure: Any) -> list[str]:
    """Say which texts cross or leave the figure, and which curves run below a legend.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure; it is drawn once.

    Returns
    -------
    list of str
        Empty for a good picture.
    """
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    return [*_crossing_texts(figure, renderer), *_covered_curves(figure, renderer)]


def _crossing_texts(figure: Any, renderer: Any) -> Iterator[str]:
    hidden = _not_drawn(figure)
    shown = [
        (text.get_text(), text.get_window_extent(renderer))
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and id(text) not in hidden
    ]
    whole = figure.bbox
    for words, box in shown:
        low = min(box.x0 - whole.x0, box.y0 - whole.y0)
        high = max(box.x1 - whole.x1, box.y1 - whole.y1)
        if low < -1 or high > 1:
            yield f"{words!r} leaves the figure"
    for (words, box), (others, other) in itertools.combinations(shown, 2):
        across = min(box.x1, other.x1) - max(box.x0, other.x0)
        along = min(box.y1, other.y1) - max(box.y0, other.y0)
        if across > MARGIN and along > MARGIN:
            yield f"{words!r} crosses {others!r}"


def _covered_curves(figure: Any, renderer: Any) -> Iterator[str]:
    """Legends of axes whose box a curve or a bar of its errors enters."""
    for axes in figure.axes:
        legend = axes.get_legend()
        if legend is None:
            continue
        entries = [*legend.get_texts(), *legend.legend_handles]
        box = Bbox.union([entry.get_window_extent(renderer) for entry in entries])
        within = Bbox.intersection(box, axes.bbox)
        if within is not None and any(path.intersects_bbox(within, filled=False)
                                      for path in _curves(axes)):  # fmt: skip
            yield f"the legend of {legend.get_texts()[0].get_text()!r} stands over a curve"


def _curves(axes: Any) -> Iterator[Path]:
    """Lines and bars of errors of axes, in pixels."""
    for line in axes.lines:
        if line.get_visible() and len(line.get_xdata()):
            yield line.get_transform().transform_path(line.get_path())
    for group in axes.collections:
        if isinstance(group, LineCollection):
            for path in group.get_paths():
                yield group.get_transform().transform_path(path)


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
