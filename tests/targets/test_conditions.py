"""Assumptions of the theorems, one by one."""

from __future__ import annotations

import pytest

from learnability import Hierarchical, LearnabilityError


def verdicts(target: Hierarchical, activation: str) -> dict[str, str]:
    return {row.name: row.verdict for row in target.conditions(activation)}


def test_the_reference_target() -> None:
    target = Hierarchical("tanh(3*z)", "He2(z)/2 + He3(z)/6", N=8, normalisation="printed")
    found = verdicts(target, "relu(z)")
    assert found["c_1(g) is not zero"] == found["c_2(sigma) is not zero"] == "holds"
    assert found["c_3(sigma) is not zero"] == "fails"  # relu without biases
    assert found["c_3(g) is zero"] == found["all signs a_i are +1"] == "fails"
    assert found["c_2(g) is zero"] == found["P has no linear part"] == "holds"
    advice = [row.advice for row in target.conditions("relu(z)") if "c_3(sigma)" in row.name]
    assert "add biases" in advice[0]
    numbers = {row.name: row.number for row in target.conditions() if row.kind == "number"}
    assert numbers["n* / (d N), samples of the first layer"] == pytest.approx(0.817, abs=0.002)
    assert numbers["monomials up to degree k: n and the first width exceed them"] == 165


def test_what_the_mechanism_needs() -> None:
    assert verdicts(Hierarchical("z**2", "He2(z)"), "tanh(z)")["c_1(g) is not zero"] == "fails"
    third = verdicts(Hierarchical("tanh(z)", "He3(z)"), "relu(z - 1/2)")
    assert third["the information exponent of P is at most 2"] == "fails"
    assert third["c_3(sigma) is not zero"] == "holds"
    with pytest.raises(LearnabilityError, match="one variable"):
        Hierarchical("z", "He2(z)").conditions("z1*z2")
