"""The one function that draws theory and runs, whatever the learner, by the schema of results.

Labels are written for LaTeX; Matplotlib's own mathtext sets them unless the user's settings ask for
LaTeX (``text.usetex``).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnability.drawing.marks import crosses, line, mark
from learnability.drawing.series import MARKERS, bands, chosen, drawn_label, label_of, series
from learnability.drawing.style import WIDTHS, house_style
from learnability.drawing.theory_and_runs import against
from learnability.errors import LearnabilityError
from learnability.results.schema import COORDINATES, THRESHOLDS

if TYPE_CHECKING:
    import xarray

    from learnability.drawing.picture import Picture

__all__ = ["plot"]

_STYLES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (5, 1)), (0, (1, 1)))
_LETTER, _PANEL = 0.06, 0.8
"""The width of a letter in the name of a threshold, in inches, and the panel's share of a width."""


def plot(
    prediction: xarray.Dataset | None = None,
    runs: xarray.Dataset | None = None,
    *,
    variable: str | None = None,
    x: str | None = None,
    file: str | Path | None = None,
    show: bool = False,
    width: str | float = "column",
) -> Picture:
    """Draw theory as lines and runs as crosses with error bars.

    Parameters
    ----------
    prediction : xarray.Dataset, optional
        From `predict`. Its thresholds (`alpha_c`, ...) are marked when alpha is the axis, and its
        standard errors, where it has some, are shaded; of a theory with seeds the mean is drawn.
    runs : xarray.Dataset, optional
        From `study` or `simulate`: the mean over the seeds and its standard error are drawn.
    variable : str, optional
        What is drawn; by default the first of the schema (overlap, error, ...) that both have.
    x : str, optional
        The horizontal axis; by default time, alpha, kappa, n, d or another numeric dimension.
    file : str or Path, optional
        Save the picture (.pdf, .svg, .png) and beside it the numbers (.nc, .csv).
    show : bool
        Open a window, or display the picture below the cell of a notebook at once. A notebook
        also displays the picture when it is the last value of a cell.
    width : {"column", "text"} or float
        Of a journal's column or page, or in inches.

    Returns
    -------
    Picture
        A Matplotlib figure with one colour per index; other dimensions of the grid, such as several
        d, get a marker and a line style each. The axes are ``figure.axes[0]``.

    Raises
    ------
    LearnabilityError
        When there is nothing to draw, or `file`, `width` or `show` cannot be served.
    """
    from learnability.drawing.picture import Picture, checked_picture, finish

    path = checked_picture(file)
    if prediction is not None and "seed" in prediction.dims:
        prediction = prediction.mean("seed", keep_attrs=True)
    sides = [side for side in (prediction, runs) if side is not None]
    if not sides:
        raise LearnabilityError("Nothing was given to draw: give a prediction, runs or both.")
    variable, x = chosen(sides, variable, x)
    inches = WIDTHS.get(str(width), width)
    if isinstance(inches, bool) or not isinstance(inches, int | float) or not 1 <= inches <= 40:
        raise LearnabilityError(
            f"`width` was given as {width!r}, but column, text or inches from 1 to 40 are accepted."
        )
    with house_style():
        figure = Picture(figsize=(inches, min(0.76 * inches, 3.6)), layout="constrained")
        axes = figure.subplots()
        entries: dict[str, Any] = {}
        if prediction is not None:
            for values, colour, place, label in series(prediction, variable, x):
                if x in values.dims:
                    line(axes, values[x], values, colour, _STYLES[place])
                else:
                    axes.axhline(float(values), color=colour, ls=_STYLES[place], zorder=2)
                _enter(entries, label, colour, _STYLES[place], "")
            for values, error, colour in bands(prediction, variable, x):
                low, high = values - 2 * error, values + 2 * error
                axes.fill_between(values[x], low, high, color=colour, alpha=0.2, lw=0)
        if runs is not None:
            for values, colour, place, label in series(runs, variable, x):
                crosses(axes, values[x], values, colour, MARKERS[place])
                _enter(entries, label, colour, "", MARKERS[place])
        marks = _thresholds(prediction, axes.get_xlim(), inches) if x == "alpha" else []
        for at, name in marks:
            mark(axes, at, name)
        axes.set(xlabel=label_of(COORDINATES, x), ylabel=drawn_label(sides[-1], variable))
        if len(sides) > 1 or len(entries) > 1:
            _legend(figure, entries, prediction, runs)
    data = sides[0]
    if path is not None and prediction is not None and runs is not None:
        thresholds = [at for at, _ in marks]
        data = against(prediction, runs, thresholds, paths="time" in runs[variable].dims)
    return finish(figure, data, path, show)


def _enter(
    entries: dict[str, Any], labels: dict[str, str], colour: str, ls: Any, marker: str
) -> None:
    """Record the entries of the legend: colours for indices, styles and markers for the grid."""
    from matplotlib.lines import Line2D

    if "index" in labels:
        entries.setdefault(labels["index"], Line2D([], [], color=colour, lw=2.5))
    if "grid" in labels:
        entries.setdefault(labels["grid"] + marker, (
            labels["grid"], Line2D([], [], color="0.3", ls=ls, marker=marker, ms=4, mew=1.1)
        ))  # fmt: skip


def _legend(figure: Any, entries: dict[str, Any], prediction: Any, runs: Any) -> None:
    """Put the legend above the panel: indices, the grid, and what lines and crosses are."""
    from matplotlib.lines import Line2D

    shown = [e if isinstance(e, tuple) else (name, e) for name, e in entries.items()]
    grid = any(isinstance(entry, tuple) for entry in entries.values())
    if prediction is not None and runs is not None:
        shown.append(("theory", Line2D([], [], color="0.3")))
    if runs is not None and not grid:
        count = runs.sizes.get("seed", 1)
        d = runs.attrs.get(
            "d", runs.coords["d"].item() if "d" in runs.coords and not runs["d"].ndim else None
        )
        told = (
            "runs"
            + ("" if d is None else f", $d = {d}$")
            + (f", {count} seeds" if count > 1 else "")
        )
        shown.append((told, Line2D([], [], color="0.3", ls="", marker="x", ms=4, mew=1.1)))
    figure.legend(
        [handle for _, handle in shown],
        [label for label, _ in shown],
        loc="outside upper center",
        ncols=min(len(shown), 3),
        handlelength=1.5,
    )


def _thresholds(
    prediction: Any, limits: tuple[float, float], inches: float
) -> list[tuple[float, str]]:
    """Return the thresholds within the limits and their labels; close ones share a label."""
    attrs = {} if prediction is None else prediction.attrs
    known = [(float(attrs[name]), name) for name in THRESHOLDS if name in attrs]
    inside = [(at, name) for at, name in sorted(known) if max(limits[0], 0) < at < limits[1]]
    letter = (limits[1] - limits[0]) * _LETTER / (_PANEL * inches)
    groups: list[list[tuple[float, str]]] = []
    for at, name in inside:
        room = 0.5 * letter * (_length(groups[-1]) + _length([(at, name)])) if groups else 0.0
        if groups and at - groups[-1][0][0] < room:
            groups[-1].append((at, name))
        else:
            groups.append([(at, name)])
    found: list[tuple[float, str]] = []
    for group in groups:
        words = [rf"$\alpha_{{\mathrm{{{name.removeprefix('alpha_')}}}}}$" for _, name in group]
        found.append((group[0][0], ", ".join(words)))
        apart = [at for at, _ in group[1:] if at - group[0][0] > 1e-3 * at]
        found += [(at, "") for at in apart]
    return found


def _length(group: list[tuple[float, str]]) -> int:
    """Return the number of letters of a label, including the space around it."""
    return sum(len(name.removeprefix("alpha_")) + 3 for _, name in group)
