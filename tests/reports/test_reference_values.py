"""Every reference value of the sections Hermite, exponents, alpha_c and window.

One test a link, so that its report is made once; the id says which method meets the thresholds.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability.labels import Channel, Link, catalogue, expand
from learnability.reports import Hardness

from tests.reference_values import (
    ALPHA_C,
    BUMP,
    GENERATIVE_EXPONENT,
    HERMITE,
    INFORMATION_EXPONENT,
    WINDOW,
    WINDOW_END,
    WINDOW_FOURTH,
    Coefficient,
    Threshold,
)
from tests.reports.shared import report_on

SAMPLED = "Thresholds come from samples of the label; their errors are in alpha_error."


@pytest.mark.parametrize("entry", HERMITE, ids=lambda e: f"{e.link} at {e.index}")
def test_hermite_coefficients(entry: Coefficient) -> None:
    link = Link(entry.link)
    value = np.asarray(link.hermite(len(entry.index)))
    found = float(value if link.r == 1 else value[entry.index])
    how = expand(link, len(entry.index)).method
    assert abs(found - entry.value) <= max(10 * entry.tolerance, 1e-10), f"by {how}: {entry.how}"


def links() -> list[object]:
    entries = [*INFORMATION_EXPONENT, *GENERATIVE_EXPONENT]
    pairs = dict.fromkeys(
        [*((e.link, 0.0) for e in entries), *((e.link, e.noise) for e in ALPHA_C)]
    )
    methods = {
        pair: " then ".join(e.method for e in ALPHA_C if (e.link, e.noise) == pair) or "exponents"
        for pair in pairs
    }
    return [
        pytest.param(*pair, id=f"{pair[0]}, noise {pair[1]:g}, by {methods[pair]}")
        for pair in pairs
    ]


@pytest.mark.parametrize(("text", "noise"), links())
def test_the_report_meets_every_value_of_a_link(text: str, noise: float) -> None:
    report = report_on(text, noise)
    assert report.undecided == ()
    for entry in INFORMATION_EXPONENT:
        if (entry.link, 0.0) == (text, noise):
            assert report.information_exponent == entry.value, entry.how
    for entry in GENERATIVE_EXPONENT:
        if (entry.link, 0.0) == (text, noise):
            assert report.generative_exponent == entry.value, entry.how
    for threshold in ALPHA_C:
        if (threshold.link, threshold.noise) == (text, noise):
            check(report, threshold)


def check(report: Hardness, entry: Threshold) -> None:
    step = report.staircase[entry.step]
    alpha, error = step.alpha, step.alpha_error
    assert alpha is not None
    if entry.step == 0:
        assert (report.alpha_c, report.alpha_c_error) == (alpha, error or 0.0)
        assert report.kind == ("hard" if math.isinf(entry.value) else "easy")
    what = f"{entry.link} by {entry.method}: {alpha} +- {error}, not {entry.value} ({entry.how})"
    if math.isinf(entry.value):
        assert alpha == math.inf, what
        return
    if entry.method == "regression":
        assert SAMPLED in report.notes
        relative = 1e-4 if report.target.r == 2 else 1e-3
        assert abs(alpha / entry.value - 1) <= relative, what
        assert error is not None and abs(alpha - entry.value) <= 3 * error, what
        return
    known = np.vstack([np.zeros((0, report.target.r)), *earlier(report, entry.step)])
    moments = report.target.channel.conditional_moments([2], known if len(known) else None)
    assert moments[2].method == entry.method
    assert abs(alpha - entry.value) <= max(10 * entry.tolerance, 1e-10), what


def earlier(report: Hardness, count: int) -> list[np.ndarray]:
    return [step.directions for step in report.staircase[:count]]


# ---- links that look easy and are not


@pytest.mark.parametrize(
    ("text", "exponent"), [(BUMP, 4), (WINDOW, 4), ("sign(z1*z2*z3)", 3)], ids=str
)
def test_links_that_look_easy_are_hard(text: str, exponent: int) -> None:
    report = report_on(text)
    assert (report.kind, report.alpha_c, report.generative_exponent) == ("hard", math.inf, exponent)
    assert report.information_exponent == report.leap == exponent
    assert [step.kind for step in report.staircase] == ["hard"]
    assert report.staircase[0].order == exponent
    assert report.undecided == ()
    assert report.to_dict()["alpha_c"] is None


def test_the_window() -> None:
    def density(x: float) -> float:
        return x * math.exp(-(x**2) / 2)

    assert density(WINDOW_END) == pytest.approx(density(0.5), abs=1e-12)
    assert Link(catalogue("window").text) == Link(WINDOW)
    moments = Channel(Link(WINDOW)).conditional_moments([1, 2, 3, 4])
    assert {k: m.method for k, m in moments.items()} == {
        1: "symmetry",
        2: "level sets",
        3: "symmetry",
        4: "level sets",
    }
    assert moments[1].power == moments[3].power == (0.0, 0.0)
    assert moments[2].power[0] < 1e-12
    assert moments[4].power[0] == pytest.approx(WINDOW_FOURTH, abs=1e-8)
