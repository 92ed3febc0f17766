"""Several functions side by side."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import learnability as lb
from learnability import LearnabilityError
from learnability.reports import Comparison, compare

from tests.reports.shared import report_on

LINKS = ("abs(z)", "sign(z1*z2)", "z**2*exp(-z**2)")


@pytest.fixture(scope="module")
def found() -> Comparison:
    return Comparison(tuple(report_on(text) for text in LINKS))


def test_the_reports_are_those_of_hardness() -> None:
    one, other = compare("abs(z)", lb.MultiIndex("z")).reports
    assert one.to_dict() == report_on("abs(z)").to_dict() and other.kind == "trivial"


def test_the_table_has_a_row_per_function(found: Comparison) -> None:
    assert [row[0] for row in found.table.rows] == list(LINKS)
    assert [row[1] for row in found.table.rows] == ["easy", "easy", "hard"]
    assert all(len(line) <= 80 for line in str(found).splitlines())
    assert "<table>" in found._repr_html_() and found.to_latex().count(r" \\") == 4


def test_the_picture_rises_at_the_thresholds(found: Comparison, tmp_path: Path) -> None:
    path = tmp_path / "compared.png"
    axes = found.plot(path).axes[0]
    assert path.exists() and path.with_suffix(".nc").exists()
    rises = [line.get_xdata()[1] for line in axes.lines[:2]]
    np.testing.assert_allclose(rises, [0.5, math.pi**2 / 4], rtol=1e-6)
    assert max(axes.lines[2].get_ydata()) == 0
    assert "nothing opens" in axes.lines[2].get_label()
    assert found.to_dataset()["leap"].values.tolist() == [2, 2, 4]


def test_what_cannot_be_compared_is_refused(found: Comparison) -> None:
    with pytest.raises(LearnabilityError, match="1 given, but two or more"):
        compare("z")
    with pytest.raises(LearnabilityError, match="hierarchical target was given"):
        compare("z", lb.Hierarchical("tanh(z)"))
    with pytest.raises(LearnabilityError, match=r"9 functions .* 7 can be told apart"):
        Comparison(found.reports * 3).plot()
