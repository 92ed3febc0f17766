"""Rules against the normal law: exactness, splits, and honest second rules."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate
from scipy.stats import norm

from learnability import LearnabilityError
from learnability.gaussian.quadrature import adapted_frame, rules_for
from learnability.gaussian.rules import Rule
from learnability.gaussian.sections import Section
from learnability.labels import Link

from tests.geometry import random_rotation, turn


def section_of(text: str, r: int | None = None) -> Section:
    return Section.whole(Link(text, r=r))


# ---- rules on the line


# ---- rules for sections


def gaussian_mean(function, m: int) -> float:  # type: ignore[no-untyped-def]
    """By adaptive quadrature."""

    def integrand(*z: float) -> float:
        return function(*z) * math.exp(-sum(x * x for x in z) / 2) / (2 * math.pi) ** (m / 2)

    return float(integrate.nquad(integrand, [(-8.5, 8.5)] * m)[0])


@pytest.mark.parametrize(
    ("text", "how", "exact"),
    [
        ("z1**2*z2**2", "product", 1.0),
        ("cos(z1 + z2)", "product", math.exp(-1)),
        ("abs(z1)*sign(z2 - 1)", "product", math.sqrt(2 / math.pi) * (1 - 2 * norm.cdf(1))),
        ("abs(z1)*relu(z2)*step(z3)", "product", math.sqrt(2 / math.pi) * norm.pdf(0) / 2),
        ("step(z1)*step(z2)*step(z3)*step(z4)", "product", 1 / 16),
        ("abs(z1 + z2)", "slanted", 2 / math.sqrt(math.pi)),
        ("step(z1 + z2)*step(z1)", "slanted", 3 / 8),
        ("step(z1**2 + z2**2 - 1)", "slanted", math.exp(-0.5)),
        ("max(z1, z2)", "slanted", 1 / math.sqrt(math.pi)),
    ],
)
def test_expectations(text: str, how: str, exact: float) -> None:
    section = section_of(text)
    rules, method = rules_for(section)
    assert (method == "product") == (how == "product") and method != "sobol"
    assert len(rules) == 2
    best, second = (rule.mean(rule.evaluate(section)) for rule in rules)
    assert best == pytest.approx(exact, abs=1e-10)
    assert second == pytest.approx(exact, abs=1e-6)
    for rule in rules:
        assert rule.mean(np.ones((len(rule.outer), rule.inner.shape[1]))) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("step(z1 + z2 + z3)*step(z1)", 0.25 + math.asin(1 / math.sqrt(3)) / (2 * math.pi)),
        ("abs(z1 + z2 + z3)", math.sqrt(6 / math.pi)),
        ("max(z1, z2, z3)", 1.5 / math.sqrt(math.pi)),
        ("step(z1**2 + z2**2 + z3**2 - 2)", 0.5724067044708797),
    ],
)
def test_the_spread_of_the_rules_tells_their_error_in_three_dimensions(
    text: str, exact: float
) -> None:
    section = section_of(text)
    rules, _ = rules_for(section)
    best, second = (rule.mean(rule.evaluate(section)) for rule in rules[:2])
    assert abs(best - exact) <= 5 * abs(best - second) + 1e-10
    assert abs(best - exact) < 0.02


def test_unknown_breaks_and_many_variables_are_sampled() -> None:
    hidden = Section.whole(Link(lambda z: np.sign(z[..., 0] - z[..., 1] ** 3), r=2))
    wide = section_of("abs(z1 + z5)")
    for section, exact in ((hidden, 0.0), (wide, 2 / math.sqrt(math.pi))):
        rules, method = rules_for(section)
        assert method == "sobol" and len(rules) == 8
        values = [rule.mean(rule.evaluate(section)) for rule in rules]
        error = np.std(values, ddof=1) / math.sqrt(8)
        assert abs(np.mean(values) - exact) < 5 * error + 1e-12 and error < 1e-3


def test_conditional_expectations_given_the_outer_coordinate() -> None:
    section = section_of("z1*z2 + sign(z1)*abs(z2)")
    for rule in rules_for(section, known=1)[0]:
        u = rule.outer[:, 0]
        moments = rule.hermite_moments(rule.evaluate(section), [0, 1, 2])
        half = math.sqrt(2 / math.pi)
        np.testing.assert_allclose(moments[0][:, 0], np.sign(u) * half, atol=1e-10)
        np.testing.assert_allclose(moments[1][:, 0], u, atol=1e-10)
        np.testing.assert_allclose(moments[2][:, 0], np.sign(u) * half / math.sqrt(2), atol=1e-10)
        assert rule.outer_weights @ u**2 == pytest.approx(1, abs=1e-12)


def test_conditional_expectations_along_lines() -> None:
    section = section_of("step(z1 + z2)")
    for rule in rules_for(section, known=1)[0]:
        u = rule.outer[:, 0]
        near = np.abs(u) < 4
        moments = rule.hermite_moments(rule.evaluate(section), [0, 1])
        np.testing.assert_allclose(moments[0][near, 0], norm.cdf(u[near]), atol=1e-10)
        np.testing.assert_allclose(moments[1][near, 0], norm.pdf(u[near]), atol=1e-10)


def test_moments_axis_by_axis_agree_with_sums_over_nodes() -> None:
    section = section_of("abs(z1)*exp(z2/3) + z3")
    rule = rules_for(section, known=1)[0][1]
    values = rule.evaluate(section)
    plain = Rule(rule.outer, rule.outer_weights, rule.inner, rule.inner_weights)
    fast, slow = rule.hermite_moments(values, [0, 2]), plain.hermite_moments(values, [0, 2])
    for k in (0, 2):
        np.testing.assert_allclose(fast[k], slow[k], atol=1e-12)


def test_too_many_variables_to_condition_on() -> None:
    with pytest.raises(LearnabilityError, match="at most 4"):
        rules_for(Section.whole(Link(lambda z: z[..., 0], r=5)), known=2)


def test_the_adapted_frame_carries_the_planes() -> None:
    Q = turn(0.7)
    section = Section.whole(Link("sign(z1*z2)").rotate(Q))
    frame = adapted_frame(section)
    np.testing.assert_allclose(frame @ frame.T, np.eye(2), atol=1e-10)
    assert rules_for(section.inside(frame))[1] == "product"
    assert rules_for(section)[1] not in ("product", "sobol")
    np.testing.assert_array_equal(adapted_frame(section_of("z1*z2*z3")), np.eye(3))


@pytest.mark.parametrize("text", ["abs(z1)*z2**2", "sign(z1*z2) + z1*z2"])
def test_a_turned_section_has_the_same_moments(text: str) -> None:
    link = Link(text).rotate(random_rotation(2, 3))
    section = Section.whole(link)
    for frame in (np.eye(2), adapted_frame(section)):
        turned = section.inside(frame)
        rule = rules_for(turned)[0][0]
        values = rule.evaluate(turned)
        original = Section.whole(Link(text))
        base = rules_for(original)[0][0]
        for power in (1, 2):
            assert rule.mean(values**power) == pytest.approx(
                base.mean(base.evaluate(original) ** power), abs=1e-8
            )


def test_adaptive_quadrature_agrees() -> None:
    section = section_of("tanh(z1*z2 + z1)*abs(z2)")
    rule = rules_for(section)[0][0]
    exact = gaussian_mean(lambda a, b: math.tanh(a * b + a) * abs(b), 2)
    assert rule.mean(rule.evaluate(section)) == pytest.approx(exact, abs=1e-7)
