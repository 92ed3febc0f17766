"""Assumptions of the theorems, one by one."""

from __future__ import annotations

import math

import pytest

from learnability import Hierarchical, LearnabilityError
from learnability.theory import conditions


def verdicts(target: Hierarchical, activation: str) -> dict[str, str]:
    return {row.name: row.verdict for row in conditions(target, activation)}


def test_the_reference_target() -> None:
    target = Hierarchical("tanh(3*z)", "He2(z)/2 + He3(z)/6", N=8, normalisation="printed")
    found = verdicts(target, "relu(z)")
    assert found["c_1(g) is not zero"] == found["c_2(sigma) is not zero"] == "holds"
    assert found["c_3(sigma) is not zero"] == "fails"  # relu without biases
    assert found["c_3(g) is zero"] == found["all signs a_i are +1"] == "fails"
    assert found["c_2(g) is zero"] == found["P has no linear part"] == "holds"
    advice = [row.advice for row in conditions(target, "relu(z)") if "c_3(sigma)" in row.name]
    assert "add biases" in advice[0]
    numbers = {row.name: row.number for row in conditions(target) if row.kind == "number"}
    assert numbers["n* / (d N), samples of the first layer"] == pytest.approx(0.817, abs=0.002)
    assert numbers["monomials up to degree k: n and the first width exceed them"] == 165


def test_what_the_mechanism_needs() -> None:
    assert verdicts(Hierarchical("z**2", "He2(z)"), "tanh(z)")["c_1(g) is not zero"] == "fails"
    third = verdicts(Hierarchical("tanh(z)", "He3(z)"), "relu(z - 1/2)")
    assert third["the information exponent of P is at most 2"] == "fails"
    assert third["c_3(sigma) is not zero"] == "holds"
    with pytest.raises(LearnabilityError, match="one variable"):
        conditions(Hierarchical("z", "He2(z)"), "z1*z2")


def test_conditions_on_the_activation_applied_twice() -> None:
    target = Hierarchical("tanh(3*z)", "He2(z)/2 + He3(z)/6")
    rows = {row.name: row for row in conditions(target, "relu(z)")}
    # relu(relu) is relu, E[relu z] = 1/2 and E[relu He2] = 1/sqrt(2 pi); E[P He2] = 1.
    first, second = rows["E[sigma(sigma(z)) z] is zero"], rows["E[sigma(sigma) He2] E[P He2] > 0"]
    assert first.verdict == "fails" and first.number == pytest.approx(0.5, abs=1e-9)
    assert "even" in first.advice
    assert second.verdict == "holds"
    assert second.number == pytest.approx(1 / math.sqrt(2 * math.pi), abs=1e-9)
    even = {row.name: row for row in conditions(target, "softplus(2*z) - z")}
    assert even["E[sigma(sigma(z)) z] is zero"].verdict == "holds"
    # -relu applied twice is 0: not positive, and not that of -relu applied once.
    turned = {row.name: row for row in conditions(target, "-relu(z)")}
    assert turned["E[sigma(sigma) He2] E[P He2] > 0"].verdict == "fails"
    assert turned["E[sigma(sigma) He2] E[P He2] > 0"].number == pytest.approx(0, abs=1e-12)
    # 1 - z^2 applied twice is 2 z^2 - z^4, of which E[. He2] = 4 - 12; once it is -2.
    parabola = {row.name: row for row in conditions(target, "1 - z**2")}
    assert parabola["E[sigma(sigma) He2] E[P He2] > 0"].number == pytest.approx(-8)
    for name in (
        "the first layer is trained on the correlation loss",
        "layers after the first start anew",
    ):
        assert rows[name].verdict == "holds" and "Layerwise" in rows[name].advice


def test_every_assumption_of_the_talk_has_a_number() -> None:
    target = Hierarchical("tanh(3*z)", "He2(z)/2 + He3(z)/6", N=8, normalisation="printed")
    found = conditions(target, "relu(z)")
    assert {row.kind for row in found} == {"essential", "technical", "number"}
    assert all(math.isfinite(row.number) for row in found)
    assert len({row.name for row in found}) == len(found)


def test_an_even_activation_sees_no_linear_part() -> None:
    found = verdicts(Hierarchical("tanh(3*z)", "He2(z)/2 + He3(z)/6"), "abs(z)")
    assert found["c_1(sigma) is not zero"] == found["c_3(sigma) is not zero"] == "fails"
    assert found["c_2(sigma) is not zero"] == "holds"
