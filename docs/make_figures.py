"""Draws the pictures of the pages into docs/_static: the README's report, the map, the gallery.

The gallery's figures are computed in full, for hours; `--quick` takes small sizes, and `--small`
draws only those that take seconds. Their other files (PDF, NetCDF, CSV) go to out/.
"""

from __future__ import annotations

import runpy
import shutil
import sys
from pathlib import Path
from typing import Any

from learnability.drawing.style import COLOURS, WIDTHS, house_style
from learnability.figures import FIGURES, draw
from learnability.labels import CATALOGUE, Entry
from learnability.reports import Hardness, compare, hardness

STATIC = Path(__file__).resolve().parent / "_static"
OUT = STATIC.parents[1] / "out"
README_LINK = "z1**2 + sign(z1*z2*z3)"
# (name, attribute, marker, shift, colour): shifted sideways, so that equal exponents stay visible.
EXPONENTS = (
    ("generative exponent", "generative_exponent", "D", -0.07, COLOURS[2]),
    ("information exponent", "information_exponent", "o", 0.0, COLOURS[0]),
    ("leap", "leap", "s", 0.07, COLOURS[1]),
)
FLIPPED = ("sign(z1*z2)", "flip(sign(z1*z2), 0.1)", "flip(sign(z1*z2), 0.2)")
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


def draw_small() -> None:
    """The pictures of the guide that take seconds: a report, a table, the learner of its page."""
    from sklearn.datasets import load_diabetes

    from learnability.estimators import IndexSubspace, SummaryDisplay

    X, y = load_diabetes(return_X_y=True, as_frame=True)
    table = IndexSubspace(1, random_state=0).fit(X, y)
    examples = STATIC.parents[1] / "examples"
    sys.path.insert(0, str(examples))  # The script imports the learner that lies beside it.
    example = runpy.run_path(str(examples / "plot_new_learner.py"))
    pictures = {
        "hardness": hardness(README_LINK).plot(),
        "summary": SummaryDisplay.from_estimator(table, X, y).figure_,
        "mean-vector": example["picture"],
        "laws-of-labels": compare(*FLIPPED).plot(),
    }
    with house_style():
        for name, picture in pictures.items():
            picture.savefig(STATIC / f"{name}.png", metadata={"Software": None})


def main(quick: bool) -> None:
    """Draw all pictures."""
    STATIC.mkdir(exist_ok=True)
    draw_small()
    reports = [(entry, hardness(entry.link, noise=entry.noise)) for entry in CATALOGUE]
    with house_style():
        draw_map(reports).savefig(STATIC / "map.png")
    for name in FIGURES:
        draw(name, OUT, quick=quick)
        shutil.copy(OUT / f"{name}.png", STATIC)


if __name__ == "__main__":
    draw_small() if "--small" in sys.argv[1:] else main("--quick" in sys.argv[1:])
