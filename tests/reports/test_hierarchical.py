"""The report on hierarchical targets."""

from __future__ import annotations

import json

import pytest

from learnability import Hierarchical, LearnabilityError, hardness


def test_one_feature() -> None:
    report = hardness(Hierarchical("tanh(3*z)", "He2(z)/2 + He3(z)/6", normalisation="printed"))
    costs = {(c.algorithm, c.learns): c for c in report.costs}
    assert costs["kernel", "degrees up to 3"].exponent == 3
    first = costs["first layer", "the hidden directions"]
    assert first.exponent == 1.5 and first.constant == pytest.approx(0.809, abs=0.003)
    assert costs["two layers", "degrees up to 6 of f"].exponent == 3
    assert costs["three layers", "f, up to the floor of its N"].exponent == 1.5
    assert "n ~ d^1.5" in str(report) and "exponent of the directions: 2" in str(report)
    assert json.loads(json.dumps(report.to_dict(), allow_nan=False))["function_leap"] == 1
    assert "dandi2025depth" in report.cite()
    with pytest.raises(LearnabilityError, match="no picture"):
        report.plot()
    with pytest.raises(LearnabilityError, match="belong to the target"):
        hardness(report.target, noise=0.1)


def test_the_staircase_in_function_space() -> None:
    climbing = hardness(Hierarchical("tanh(z1)*(1 + tanh(z2))", "He2(z)"))
    assert [s.order for s in climbing.function_staircase] == [1, 1]
    assert climbing.function_leap == 1
    committee = hardness(Hierarchical("(tanh(3*z1) + tanh(3*z2))/sqrt(2)", "He2(z)"))
    assert committee.function_leap and committee.function_leap > 1
    assert any("not told apart" in note for note in committee.notes)
    product = hardness(Hierarchical("tanh(z1)*tanh(z2)", "He2(z)"))
    assert product.function_leap == 2 and product.exponent.value == 4
    assert product.costs[-1].exponent is None


def test_directions_that_a_first_layer_does_not_see() -> None:
    for g, P, lowest in (("tanh(z)", "z", 1), ("tanh(z)", "He3(z)", 3), ("z**2", "He2(z)", 4)):
        report = hardness(Hierarchical(g, P))
        costs = {(c.algorithm, c.learns): c for c in report.costs}
        assert costs["kernel", "the lowest degree of f"].exponent == lowest
        first = costs["first layer", "the hidden directions"]
        assert first.exponent is None and first.constant is None
        assert report.costs[-1].exponent is None
    assert any("no part of degree 2" in n for n in hardness(Hierarchical("tanh(z)", "z")).notes)
    seen = hardness(Hierarchical("tanh(z)", "z + He2(z)", epsilon=0.4)).costs
    assert [c.exponent for c in seen if c.algorithm == "first layer"] == [1.4]
