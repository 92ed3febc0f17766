"""Links that once came out wrong: weak, saturating, badly scaled, broken along what is known.

Each has a closed form or a one-dimensional integral, given beside it.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from learnability import Link, hardness

from tests.reports.shared import report_on

HALF = 0.5  # Every injective function of |z|.


@pytest.mark.parametrize(
    "text",
    [
        "exp(-5*z**2)",
        "sigmoid(-20*z**2)",
        "tanh(5*z)**2",
        "5 + 1e-4*z**2",
        "1 + 1e-8*z**2",
        "1e-12*z**2",
        "1e8*abs(z)",
        "exp(z**2/4)",
        "log(abs(z))",
    ],
)
def test_injective_functions_of_the_modulus(text: str) -> None:
    report = report_on(text)
    assert report.kind == "easy"
    assert abs(report.alpha_c - HALF) <= 3 * report.alpha_c_error
    assert report.alpha_c == pytest.approx(HALF, rel=2e-3)


def test_labels_are_compared_in_their_own_unit() -> None:
    tail = 2 * norm.sf(1.0)
    exact = tail * (1 - tail) / (2 * norm.pdf(1.0)) ** 2
    assert report_on("1e-13*sign(z**2 - 1)").alpha_c == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize(
    ("text", "alpha"),
    [
        ("z1 + step(z1 - 0.5)*z2**2", 0.5 / norm.sf(0.5)),
        ("z1 + step(z1 - 1)*sign(z2*z3)", math.pi**2 / 4 / norm.sf(1.0)),
        ("max(0, z1*z2)", 1.21034),
        ("relu(z1)*relu(z2)", 2.42069),
        ("max(z1, z2, z3)", 1.210588),
        ("sign(z1) + sign(z2) + sign(z3)", 4.0512273),
        ("z1 + abs(z2) + abs(z3)", 1.0679875),
        ("z1 + z2*z3*z4", 2.5651804),
    ],
)
def test_second_steps(text: str, alpha: float) -> None:
    """The operator of the second step breaks or bends along the direction that is known."""
    second = report_on(text).staircase[1]
    assert second.kind == "easy" and second.alpha is not None and second.alpha_error is not None
    assert abs(second.alpha - alpha) <= 3 * second.alpha_error + 1e-5 * alpha
    assert second.alpha == pytest.approx(alpha, rel=5e-3)


def test_a_second_step_behind_a_zero_that_no_symmetry_shows_is_right_or_undecided() -> None:
    report = report_on("relu(z1)*relu(z1 + z2)")
    second = report.staircase[1]
    if second.kind is None:
        assert report.undecided
    else:
        assert second.kind == "easy" and second.alpha == pytest.approx(1.43429, rel=5e-3)


@pytest.mark.parametrize(
    ("text", "exponent"),
    [
        ("sign(sin(5*z))", 1),
        ("cos(5*z)", 2),
        ("abs(z) + 1e-6*z", 1),
        ("He4(z) + 1e-4*He2(z)", 2),
        ("He3(z) + 1e-4*z", 1),
    ],
)
def test_weak_signals_are_proved_by_correlations(text: str, exponent: int) -> None:
    report = report_on(text)
    assert report.information_exponent == exponent
    assert report.leap == exponent
    assert report.generative_exponent is not None and report.generative_exponent <= exponent


def test_without_a_second_moment() -> None:
    single = report_on("1/z")
    assert single.kind == "trivial" and single.information_exponent is None
    assert {"information_exponent", "leap"} <= set(single.undecided)
    # Given the ratio the angle is known and the radius is not: G = 2 u u^T - I, so G^2 = I.
    double = report_on("z1/z2")
    assert abs(double.alpha_c - 1) <= 3 * double.alpha_c_error


def test_a_weak_direction_opens_with_the_strong_one() -> None:
    """The top eigenmatrix has full rank, its small eigenvalue 4.6e-4 is far above the error."""
    (step,) = report_on("abs(z1 + z2) + abs(z1)").staircase
    assert step.directions.shape == (2, 2)


def test_noise_does_not_change_the_class() -> None:
    weak = hardness("sign(z1*z2)", noise=1e7)
    assert weak.kind == "easy" and weak.generative_exponent == 2
    # A weak signal adds up as its square: alpha grows like the noise.
    assert weak.alpha_c == pytest.approx(math.pi**2 / 4 * 1e7, rel=0.02)


def test_a_function_with_many_jumps_that_nobody_declared() -> None:
    report = hardness(Link(lambda z: np.round(50 * z[..., 0] ** 2), r=1))
    assert report.kind == "easy"
    # What samples of many jumps do not settle is undecided, and never another number.
    if report.alpha_c is None:
        assert "alpha_c" in report.undecided
    else:
        assert report.alpha_c == pytest.approx(HALF, rel=1e-3)
