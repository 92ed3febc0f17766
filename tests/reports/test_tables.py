"""The report as a table and as labelled data."""

from __future__ import annotations

import math
import re

import numpy as np

from learnability import hardness
from learnability.reports.multi_index import Hardness
from learnability.reports.tables import dataset, table

from tests.reports.shared import report_on


def test_the_table_holds_the_numbers(report: Hardness) -> None:
    text = table(report)
    assert text == str(report)
    assert f"y = {report.target.link.text}" in text
    assert report.kind is None or report.kind in text
    for cost in report.costs:
        assert cost.algorithm in text and cost.reference in text
    assert all(note in " ".join(text.split()) for note in report.notes)
    alpha = "infinite" if math.isinf(report.alpha_c) else f"{report.alpha_c:.4g}"
    assert re.search(rf"^  alpha_c +{re.escape(alpha)}", text, flags=re.MULTILINE)
    formula, *others = text.splitlines()
    assert formula.startswith("y = ")
    assert all(len(line) <= 80 for line in others)
    assert all(len(line) <= 60 for line in table(report, 60).splitlines()[1:])


def test_the_table_names_the_noise_and_the_directions() -> None:
    text = str(report_on("abs(z)", 0.1))
    assert "y = abs(z) + sqrt(0.1) xi" in text
    assert re.search(
        "easy .* z2$", str(report_on("sign(z1) + 3*sign(abs(z2) - 1)")), flags=re.MULTILINE
    )
    assert re.search("easy .* z1, z2$", str(report_on("sign(z1*z2)")), flags=re.MULTILINE)
    turned = str(hardness("abs(3*z1 - 4*z2)"))
    assert "- 0.6 z1 + 0.8 z2" in turned or "0.6 z1 - 0.8 z2" in turned


def test_the_table_of_a_function() -> None:
    assert "y = Link(" in str(hardness(lambda z: np.abs(z[..., 0]), r=1))


def test_labelled_data(report: Hardness) -> None:
    data = dataset(report)
    r = report.target.r
    assert data["projector"].shape == (len(report.staircase), r, r)
    assert data["csq_projector"].shape == (len(report.csq_staircase), r, r)
    assert data["floor"].dims == ("known_steps", "kappa")
    np.testing.assert_array_equal(data["floor"], report.floors)
    assert [float(a) for a in data["alpha"]] == [s.alpha for s in report.staircase]
    for step, span in zip(report.staircase, data["projector"].values, strict=True):
        np.testing.assert_allclose(span, step.directions.T @ step.directions)
    assert list(data["algorithm"].values) == [c.algorithm for c in report.costs]
    assert data.attrs["link"] == report.target.link.text
    assert data.attrs["kind"] == (report.kind or "constant")
    assert data.attrs["alpha_c"] == report.alpha_c
    assert report.to_dataset().identical(data)
