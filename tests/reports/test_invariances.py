"""What must not change, or must change along: rotations, relabellings, spectators, noise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnability.labels import Link
from learnability.reports import Hardness, hardness

from tests.geometry import projector, random_rotation, spanned_by, turn
from tests.reports.shared import opened, report_on


def agree(report: Hardness, other: Hardness) -> None:
    """The same grand staircase up to the errors that both report."""
    assert [s.kind for s in report.staircase] == [s.kind for s in other.staircase]
    assert [s.order for s in report.staircase] == [s.order for s in other.staircase]
    for a, b in zip(report.staircase, other.staircase, strict=True):
        assert a.alpha is not None and b.alpha is not None
        if math.isinf(a.alpha):
            assert math.isinf(b.alpha)
            continue
        error = math.hypot(a.alpha_error or 0.0, b.alpha_error or 0.0)
        assert abs(a.alpha - b.alpha) <= 4 * error + 1e-6 * a.alpha


def same_directions(report: Hardness, other: Hardness, Q: np.ndarray, tolerance: float) -> None:
    """Each step of `other`, the report on z -> g(Q z), opens the turned directions."""
    for a, b in zip(report.staircase, other.staircase, strict=True):
        span = projector(a.directions)
        np.testing.assert_allclose(projector(b.directions), Q.T @ span @ Q, atol=tolerance)


# ---- rotations


@settings(max_examples=4)
@given(st.floats(0.05, 3.0))
def test_a_turned_parity(angle: float) -> None:
    Q = turn(angle)
    base, turned = report_on("sign(z1*z2)"), hardness(Link("sign(z1*z2)").rotate(Q))
    agree(base, turned)
    assert turned.alpha_c == pytest.approx(math.pi**2 / 4, rel=1e-8)
    assert turned.information_exponent == 2 and turned.leap == 2


@settings(max_examples=4)
@given(
    st.floats(-3.1, 3.1), st.sampled_from(["abs(z1)", "He4(z1)", "sign(abs(z1) - 1)", "He3(z1)"])
)
def test_a_turned_single_index(angle: float, text: str) -> None:
    Q = turn(angle)
    base, turned = report_on(text, r=2), hardness(Link(text, r=2).rotate(Q))
    agree(base, turned)
    same_directions(base, turned, Q, 1e-6)
    assert base.information_exponent == turned.information_exponent
    assert base.leap == turned.leap


@pytest.mark.parametrize("r", [3, 4])
def test_a_single_index_in_general_position(r: int) -> None:
    Q = random_rotation(r, 1)
    report = hardness(Link("abs(z1)", r=r).rotate(Q))
    assert report.alpha_c == pytest.approx(0.5, abs=1e-8)
    np.testing.assert_allclose(opened(report.staircase), [np.outer(Q[0], Q[0])], atol=1e-5)


def test_a_turned_staircase() -> None:
    # max(z1, z2) = (u + |v|)/sqrt(2) with u, v = (z1 +- z2)/sqrt(2): a turned copy of z1 + |z2|.
    base, turned = report_on("z1 + abs(z2)"), report_on("max(z1, z2)")
    agree(base, turned)
    np.testing.assert_allclose(
        opened(turned.staircase), [spanned_by((1, 1)), spanned_by((1, -1))], atol=1e-5
    )
    np.testing.assert_allclose(
        opened(turned.csq_staircase), [spanned_by((1, 1)), spanned_by((1, -1))], atol=1e-5
    )
    assert (base.information_exponent, base.leap) == (turned.information_exponent, turned.leap)
    # One link is 1/sqrt(2) times the other.
    np.testing.assert_allclose(np.array(turned.floors), np.array(base.floors) / 2, atol=1e-6)


def test_a_turned_grand_staircase() -> None:
    Q = random_rotation(3, 0)
    turned = hardness(Link("z1**2 + sign(z1*z2*z3)").rotate(Q))
    assert turned.alpha_c == pytest.approx(0.575166352288349, rel=1e-3)
    assert abs(turned.alpha_c - 0.575166352288349) <= 3 * turned.alpha_c_error
    first = np.outer(Q[0], Q[0])
    assert [step.kind for step in turned.staircase] == ["easy", "easy"]
    np.testing.assert_allclose(opened(turned.staircase), [first, np.eye(3) - first], atol=2e-3)
    assert turned.staircase[1].alpha == pytest.approx(math.pi**2 / 4, rel=1e-3)


# ---- permutations and signs


@pytest.mark.parametrize(
    ("text", "permuted", "order"),
    [
        ("sign(z1) + 3*sign(abs(z2) - 1)", "sign(z2) + 3*sign(abs(z1) - 1)", [1, 0]),
        ("sign(z1*(z2 + 0.5))", "sign(z2*(z1 + 0.5))", [1, 0]),
        ("abs(z1) + 0*z3", "abs(z3)", [2, 1, 0]),
        ("He3(z1) + 0*z2", "He3(-z2)", [1, 0]),
    ],
)
def test_names_do_not_matter(text: str, permuted: str, order: list[int]) -> None:
    base, other = report_on(text, r=len(order)), report_on(permuted, r=len(order))
    agree(base, other)
    same_directions(base, other, np.eye(len(order))[order], 1e-6)
    np.testing.assert_allclose(base.floors, other.floors, atol=1e-8)
    exponents = [(x.information_exponent, x.leap) for x in (base, other)]
    assert exponents[0] == exponents[1]


# ---- labels

RELABELLED = [
    # link, a monotone function of it, the information exponents of both
    ("abs(z)", "abs(z)**3", 2, 2),
    ("abs(z)", "tanh(abs(z))", 2, 2),
    ("He4(z)", "He4(z)**3", 4, 2),
    ("He4(z)", "He4(z)/(1 + abs(He4(z)))", 4, 2),
    ("He3(z)", "He3(z)**3", 3, 1),
    ("He3(z)", "exp(He3(z)/100)", 3, 1),
    ("sign(abs(z) - 1)", "5 - 2*sign(abs(z) - 1)", 2, 2),
    ("z**2*exp(-z**2)", "sqrt(z**2*exp(-z**2))", 4, 4),
    ("sign(z1*z2)", "exp(3*sign(z1*z2))", 2, 2),
    ("z1*z2", "exp(z1*z2/4)", 2, 2),
    ("z1*z2", "tanh(z1*z2)", 2, 2),
]


@pytest.mark.parametrize(("text", "relabelled", "before", "after"), RELABELLED)
def test_a_monotone_relabelling(text: str, relabelled: str, before: int, after: int) -> None:
    base, other = report_on(text), report_on(relabelled)
    agree(base, other)
    r = base.target.r
    same_directions(base, other, np.eye(r), 1e-6)
    assert (base.information_exponent, other.information_exponent) == (before, after)
    assert base.generative_exponent == other.generative_exponent
    if base.alpha_c_error < 1e-8 and math.isfinite(base.alpha_c):
        assert other.alpha_c == pytest.approx(base.alpha_c, rel=1e-8)


@settings(max_examples=6)
@given(
    st.sampled_from(["abs(z)", "He4(z)", "He3(z)", "sign(z1*z2)", "sign(abs(z) - 1)"]),
    st.floats(0.01, 50).map(lambda x: round(x, 3)),
    st.integers(-9, 9),
    st.booleans(),
)
def test_scale_and_shift(text: str, scale: float, shift: int, flip: bool) -> None:
    base = report_on(text)
    other = hardness(f"{shift} + {'-' if flip else ''}{scale}*({text})")
    agree(base, other)
    assert base.information_exponent == other.information_exponent and base.leap == other.leap
    np.testing.assert_allclose(other.floors, scale**2 * np.array(base.floors), rtol=1e-6, atol=1e-8)


def test_scale_and_shift_of_continuous_labels() -> None:
    agree(report_on("z1*z2"), report_on("2 - 3*z1*z2"))


# ---- spectators


@pytest.mark.parametrize(
    ("text", "r"), [("abs(z1)", 2), ("He4(z1)", 3), ("sign(z1*z2)", 4), ("z1*z2", 3)]
)
def test_irrelevant_variables_change_nothing(text: str, r: int) -> None:
    base, wider = report_on(text), report_on(text, r=r)
    agree(base, wider)
    few = base.target.r
    for a, b in zip(base.staircase, wider.staircase, strict=True):
        np.testing.assert_allclose(b.directions[:, few:], 0, atol=1e-6)
        np.testing.assert_allclose(
            projector(b.directions)[:few, :few], projector(a.directions), atol=1e-6
        )
    exponents = [(x.information_exponent, x.generative_exponent, x.leap) for x in (base, wider)]
    assert exponents[0] == exponents[1]
    np.testing.assert_allclose(base.floors, wider.floors, atol=1e-8)


# ---- noise


@pytest.mark.parametrize(
    "text", ["abs(z)", "He4(z)", "sign(abs(z) - 0.5)", "sign(z1*z2)", "cos(2*z)"]
)
def test_noise_never_lowers_a_threshold(text: str) -> None:
    alphas = [report_on(text, noise).alpha_c for noise in (0.0, 0.01, 0.1, 1.0)]
    assert all(a <= b + 1e-8 for a, b in zip(alphas[:-1], alphas[1:], strict=True))
    assert alphas[0] < alphas[-1] < math.inf


@pytest.mark.parametrize("noise", [0.01, 1.0])
@pytest.mark.parametrize("text", ["He3(z)", "z", "sign(z)"])
def test_noise_leaves_trivial_what_is_trivial(text: str, noise: float) -> None:
    report = report_on(text, noise)
    assert (report.kind, report.alpha_c) == ("trivial", 0.0)
    assert report.information_exponent == report_on(text).information_exponent


def test_noise_leaves_hard_what_is_hard() -> None:
    window = "where(0.5 < abs(z) < 1.608310598815743, 1, 0)"
    assert report_on(window, 0.1).kind == "hard"
    assert report_on(window, 0.1).generative_exponent == 4


def test_noise_does_not_undo_the_cancelling_of_the_bump() -> None:
    # The weights of its two roots cancel label by label; blurred labels mix them, and they
    # still cancel: every function of y + noise is, on average over the noise, one of y.
    assert report_on("z**2*exp(-z**2)", 0.01).kind == "hard"


# ---- exponents


@pytest.mark.parametrize(
    "text",
    ["z", "He2(z)", "He5(z)", "He6(z)", "sin(3*z)", "z**4 - 2*z", "abs(z) - z", "sign(cos(z))"],
)
def test_a_transform_of_the_label_only_helps(text: str) -> None:
    report = report_on(text)
    assert report.generative_exponent is not None and report.information_exponent is not None
    assert 1 <= report.generative_exponent <= report.information_exponent
    polynomial = report.target.link.is_polynomial
    assert not polynomial or report.generative_exponent <= 2
