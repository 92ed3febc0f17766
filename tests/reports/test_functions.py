"""Links given as functions, curved boundaries, labels said otherwise, and what is out of reach."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import Link, hardness

from tests.reports.shared import report_on


def test_a_function_climbs_the_staircase_of_its_formula() -> None:
    """The first direction is exact: off by 1e-4 it would make the parity look trivial."""
    report = hardness(Link(lambda z: z[..., 0] ** 2 + np.sign(z.prod(axis=-1)), r=3))
    assert [step.kind for step in report.staircase] == ["easy", "easy"]
    np.testing.assert_allclose(np.abs(report.staircase[0].directions), [[1, 0, 0]], atol=1e-12)
    assert report.staircase[1].alpha == pytest.approx(math.pi**2 / 4, rel=1e-8)
    exponents = (report.information_exponent, report.generative_exponent, report.leap)
    assert exponents == (2, 2, 2) and report.undecided == ()


def test_a_quadratic_form_that_vanishes_on_planes() -> None:
    for link in (
        Link("sign(z1**2 - z2**2)"),
        Link(lambda z: np.sign(z[..., 0] ** 2 - z[..., 1] ** 2), r=2),
    ):
        assert hardness(link).alpha_c == pytest.approx(math.pi**2 / 4, rel=1e-8)


def test_a_hyperboloid() -> None:
    first, second = report_on("sign(z1**2 + z2**2 - z3**2 - 1)").staircase
    for step, truth in ((first, 2.36737), (second, 1.74429)):
        assert step.kind == "easy" and step.alpha is not None
        assert step.alpha == pytest.approx(truth, rel=1e-4)
        assert abs(step.alpha - truth) <= 3 * (step.alpha_error or 0.0) + 5e-6


@pytest.mark.parametrize(
    ("text", "kind", "exponent", "alpha"),
    [
        ("3 - z**2*exp(-z**2)", "hard", 4, math.inf),
        ("tanh(z**2 - 1)", "easy", 2, 0.5),
        ("exp(z**2/5)", "easy", 2, 0.5),
    ],
)
def test_outer_functions_of_the_label_change_nothing(
    text: str, kind: str, exponent: int, alpha: float
) -> None:
    report = report_on(text)
    assert (report.kind, report.generative_exponent) == (kind, exponent)
    assert report.alpha_c == pytest.approx(alpha, rel=1e-10)


@pytest.mark.parametrize("text", ["cos(10*z)", "sin(50*z)", "sign(sin(10*z))"])
def test_what_is_out_of_reach_is_undecided(text: str) -> None:
    report = report_on(text)
    assert report.kind is None and report.alpha_c is None and report.generative_exponent is None
    assert {"kind", "alpha_c", "generative_exponent"} <= set(report.undecided)
    lines = [line.split() for line in str(report).splitlines()]
    assert ["kind", "?"] in lines and ["alpha_c", "?"] in lines


def test_digits_that_a_function_rounds_away_are_not_guessed() -> None:
    hard = hardness(Link(lambda z: 3 - z[..., 0] ** 2 * np.exp(-(z[..., 0] ** 2)), r=1))
    assert hard.kind is None
    easy = hardness(Link(lambda z: np.tanh(z[..., 0] ** 2 - 1), r=1))
    assert easy.kind == "easy" and easy.alpha_c is not None and easy.alpha_c_error is not None
    assert abs(easy.alpha_c - 0.5) <= easy.alpha_c_error < 5e-3


def test_heavy_tails_have_an_expansion() -> None:
    report = report_on("exp(z**2/5)")
    assert (report.information_exponent, report.leap) == (2, 2)
    variance = math.sqrt(5) - 5 / 3  # E g^2 - (E g)^2
    assert report.floors[0][0] == pytest.approx(variance, rel=1e-9)


def test_the_table_shows_the_true_threshold_of_a_later_step() -> None:
    text = str(report_on("z1 + abs(z2)"))
    row = next(line for line in text.splitlines() if line.split()[:1] == ["easy"])
    assert row.split()[1:3] == ["0.9972", "0.5"]
