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
    assert "three layers  d^1.5" in str(report) and "information exponent  2" in str(report)
    assert all(len(line) <= 80 for line in str(report).splitlines())
    assert json.loads(json.dumps(report.to_dict(), allow_nan=False))["function_leap"] == 1
    assert "dandi2025depth" in report.cite()
    labels = [label.get_text() for label in report.plot().axes[0].get_yticklabels()]
    assert labels == [f"{c.algorithm}: {c.learns}" for c in report.costs]
    with pytest.raises(LearnabilityError, match="belong to the target"):
        hardness(report.target, noise=0.1)


def test_every_feature_has_its_own_exponent() -> None:
    """tanh(z1) z2 + z1: the second feature is not seen by the second moment of the labels."""
    report = hardness(Hierarchical("tanh(z1)*z2 + z1", "He2(z)"))
    first = {c.learns: c.exponent for c in report.costs if c.algorithm == "first layer"}
    assert first == {"the directions of h_1": 1.5, "the directions of h_2": None}
    assert report.exponent.by_feature == (2, 4)
    assert any("directions of feature 2" in note for note in report.notes)
    names = {row.name: row.verdict for row in report.conditions}
    assert names["c_1(g) in h_1 is not zero"] == "holds"
    assert names["c_1(g) in h_2 is not zero"] == "fails"


def test_a_tree_needs_its_depth() -> None:
    report = hardness(Hierarchical("tanh(z)", "He2(z)", depth=4))
    costs = {(c.algorithm, c.learns): c.exponent for c in report.costs}
    assert costs["three layers", "f, up to the floor of its N"] is None
    assert costs["4 layers", "f, given the features below the last"] == 0.5
    assert costs["first layer", "the hidden directions"] is None  # Its exponent is 4.
    assert [layer.samples for layer in report.layers] == [None, None, 0.5, 0.0]
    carried = hardness(Hierarchical("tanh(z)", "He2(z) + z", depth=4))
    assert carried.layers[0].samples == 1.5
    cubic = hardness(Hierarchical("z + z**3/6", "He2(z)"))
    exponents = {c.learns: c.exponent for c in cubic.costs}
    assert exponents["all of f, of degree 6"] == 3.0
    assert [layer.samples for layer in cubic.layers] == [1.5, 1.0, 0.0]
    assert "Layers of the theorems" in str(cubic)
    assert [layer.batch for layer in cubic.layers] == [1.5, 1.0, 0.0]
    assert [layer.width for layer in cubic.layers] == [1.0, 0.0, 0.0]
    assert "degrees up to 4 of f" in exponents and "degrees up to 6 of f" not in exponents
    for g, degree, exponent in (("z", 2, 1.5), ("z + z**2", 4, 2.0), ("z + z**4", 8, 4.0)):
        costs = {c.learns: c.exponent for c in hardness(Hierarchical(g, "He2(z)")).costs}
        assert costs[f"all of f, of degree {degree}"] == exponent
        assert f"degrees up to {degree} of f" not in costs


def test_the_staircase_in_function_space() -> None:
    climbing = hardness(Hierarchical("tanh(z1)*(1 + tanh(z2))", "He2(z)"))
    assert [s.order for s in climbing.function_staircase] == [1, 1]
    assert climbing.function_leap == 1
    apart = "each step of g's staircase in h is of order 1 and finds one feature"
    assert {c.name: c.verdict for c in climbing.conditions}[apart] == "holds"
    committee = hardness(Hierarchical("(tanh(3*z1) + tanh(3*z2))/sqrt(2)", "He2(z)"))
    assert {c.name: c.verdict for c in committee.conditions}[apart] == "fails"
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
