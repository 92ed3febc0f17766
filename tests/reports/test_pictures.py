"""The report as a picture."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from learnability.reports.multi_index import Hardness
from learnability.reports.pictures import draw

from tests.reports.shared import report_on


def test_the_picture(report: Hardness, tmp_path: Path) -> None:
    path = tmp_path / "report.png"
    figure = report.plot(path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.with_suffix(".nc").exists() and path.with_suffix(".csv").exists()
    staircase, floors, costs = figure.axes
    assert (report.kind or "constant") in staircase.get_title()
    assert len(floors.get_xticks()) == len(report.floors)
    assert [t.get_text() for t in costs.get_yticklabels()] == [
        c.algorithm for c in report.costs if c.exponent is not None
    ]
    steps = staircase.lines[0]
    finite = [s for s in report.staircase if s.alpha is not None and math.isfinite(s.alpha)]
    assert steps.get_ydata()[-1] == sum(len(s.directions) for s in finite)
    np.testing.assert_allclose(sorted(steps.get_xdata()), steps.get_xdata())


def test_bounds_look_different_from_costs(report: Hardness) -> None:
    axes = draw(report).axes[2]
    known = [cost for cost in report.costs if cost.exponent is not None]
    bars = {round(bar.get_y() + bar.get_height() / 2): bar for bar in reversed(axes.patches)}
    told = [text.get_text() for text in axes.texts]
    for place, cost in enumerate(known):
        empty = bars[place].get_facecolor()[3] == 0
        assert empty == (cost.bound != "") == ("bound" in cost.algorithm)
        assert told[place].startswith(r"$\geq") == (cost.bound == "lower")


@pytest.mark.parametrize("suffix", [".pdf", ".svg"])
def test_vector_pictures(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"report{suffix}"
    report_on("abs(z)").plot(path)
    assert path.stat().st_size > 1000


def test_drawing_leaves_the_settings_alone() -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    draw(report_on("abs(z)"))
    assert dict(mpl.rcParams) == before
