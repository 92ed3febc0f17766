"""No text of a picture crosses another or leaves the figure."""

from __future__ import annotations

import numpy as np
import pytest
import xarray

import learnability as lb
from learnability.drawing.picture import Picture
from learnability.reports import Comparison

from tests.reports.shared import report_on
from tests.tools.overlaps import faults

LINKS = (
    "z", "abs(z)", "z**3 - 3*z", "z**2*exp(-z**2)", "sign(z1*z2)",
    "sign(z1) + 3*sign(abs(z2) - 1)", "sign(z1) + sign(z1*z2) + sign(z1*z2*z3)",
)  # fmt: skip


def test_the_check_sees_what_crosses_and_what_leaves() -> None:
    figure = Picture(figsize=(2, 1))
    figure.text(0.5, 0.5, "one")
    assert faults(figure) == []
    figure.text(0.52, 0.5, "two")
    figure.text(0.95, 0.2, "far out")
    assert faults(figure) == ["'far out' leaves the figure", "'one' crosses 'two'"]


@pytest.mark.parametrize("text", LINKS)
def test_reports(text: str) -> None:
    assert faults(report_on(text).plot()) == []


def test_reports_of_noise_and_of_a_hierarchy() -> None:
    assert faults(report_on("abs(z)", 0.1).plot()) == []
    assert faults(lb.hardness(lb.Hierarchical("tanh(z)")).plot()) == []


def test_staircases_side_by_side() -> None:
    assert faults(Comparison(tuple(map(report_on, LINKS))).plot()) == []


@pytest.mark.parametrize("width", ["column", "text"])
def test_theory_and_runs(width: str) -> None:
    alphas = np.linspace(0.1, 4, 20)
    values = np.clip(alphas - 1, 0, 1)[:, None, None] * np.eye(3)
    data = {
        "overlap": (("alpha", "estimate", "index"), values),
        "error": ("alpha", 1 - values[:, 0, 0]),
    }
    theory = xarray.Dataset(data, {"alpha": alphas}, {"alpha_c": 1.0, "alpha_algorithmic": 1.1,
                                                      "alpha_full": 1.5})  # fmt: skip
    runs = theory.isel(alpha=[3, 9]).expand_dims(seed=3).transpose("alpha", "seed", ...)
    runs = runs.assign_attrs(d=200)
    assert faults(lb.plot(theory, runs, width=width)) == []
    assert faults(lb.plot(theory, runs, variable="error", width=width)) == []
