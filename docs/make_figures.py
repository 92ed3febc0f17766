"""Draws the pictures of the pages into docs/_static: the README's report, the map, the gallery.

The gallery's figures are computed in full, for hours; `--quick` takes small sizes. Their other
files (PDF, NetCDF, CSV) go to out/.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from learnability.drawing.style import COLOURS, WIDTHS, house_style
from learnability.figures import FIGURES, draw
from learnability.labels import CATALOGUE, Entry
from learnability.reports import Hardness, hardness

STATIC = Path(__file__).resolve().parent / "_static"
OUT = STATIC.parents[1] / "out"
README_LINK = "z1**2 + sign(z1*z2*z3)"
# (name, attribute, marker, shift, colour): shifted sideways, so that equal exponents stay visible.
EXPONENTS = (
    ("generative exponent", "generative_exponent", "D", -0.07, COLOURS[2]),
    ("information exponent", "information_exponent", "o", 0.0, COLOURS[0]),
    ("leap", "leap", "s", 0.07, COLOURS[1]),
)
KINDS = ("trivial", "easy", "hard")
BOX = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}


def draw_map(reports: list[tuple[Entry, Hardness]]) -> Any:
    """The three exponents of every entry, sorted by kind and then by the exponents."""
    from matplotlib.figure import Figure

    reports = sorted(reports, key=lambda pair: exponents(pair[1]))
    rows = range(len(reports))
    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 0.17 * len(reports) + 0.8), layout="constrained")
        axes = figure.subplots()
        for name, attribute, marker, shift, colour in EXPONENTS:
            values = [(getattr(report, attribute) or float("nan")) + shift for _, report in reports]
            axes.plot(values, rows, marker, ms=5, mew=0, color=colour, label=name)
        for kind in KINDS:
            own = [row for row in rows if reports[row][1].kind == kind]
            if own[0]:
                axes.axhline(own[0] - 0.5, color="0.6", lw=0.8, zorder=4)
            axes.text(
                4.45, own[0], kind, ha="right", va="center", style="italic", fontsize=9, bbox=BOX
            )
        axes.set_yticks(rows, [entry.name for entry, _ in reports])
        axes.tick_params(axis="y", length=0)
        axes.set_xticks(range(1, 5))
        axes.set(xlabel="exponent", xlim=(0.6, 4.5), ylim=(len(reports) - 0.4, -0.6))
        axes.grid(color="0.92", lw=0.6)
        axes.set_axisbelow(True)
        figure.legend(loc="outside upper center", ncols=3)
    return figure


def exponents(report: Hardness) -> tuple[int, ...]:
    """Generative exponent, information exponent, leap; 0 where one is undecided."""
    return tuple(getattr(report, attribute) or 0 for _, attribute, *_ in EXPONENTS)


def main(quick: bool) -> None:
    """Draw all pictures."""
    STATIC.mkdir(exist_ok=True)
    hardness(README_LINK).plot(str(STATIC / "hardness.png"))
    reports = [(entry, hardness(entry.link, noise=entry.noise)) for entry in CATALOGUE]
    with house_style():
        draw_map(reports).savefig(STATIC / "map.png")
    for name in FIGURES:
        draw(name, OUT, quick=quick)
        shutil.copy(OUT / f"{name}.png", STATIC)


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
