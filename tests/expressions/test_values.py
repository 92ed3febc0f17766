"""Finitely many values, by algebra and in samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings

from learnability.expressions.calculus import evaluate
from learnability.expressions.parse import parse
from learnability.expressions.tree import Tree
from learnability.expressions.values import possible_values, values_of

from tests.expressions.strategies import trees


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sign(z1*z2)", {-1, 1}),
        ("step(z1)", {0, 1}),
        ("sign(z1) + sign(z2)", {-2, 0, 2}),
        ("sign(z1)*sign(z2)", {-1, 1}),
        ("where(z1 < 2, 3, sign(z2))", {3, -1, 1}),
        ("exp(sign(z1)*0)", {1}),
        ("abs(sign(z1))**0.5", {1}),
        ("max(sign(z1), 0.5)", {0.5, 1}),
        ("sign(relu(z1))", {-1, 0, 1}),
        ("3", {3}),
        ("z1 - z1", {0}),
        ("sign(z1 - z1)", {0}),
        ("He2(step(z1))", {-1, 0}),
        ("1/sign(z1)", {-1, 1}),
    ],
)
def test_possible_values(text: str, expected: set[float]) -> None:
    assert possible_values(parse(text)) == expected


@pytest.mark.parametrize("text", ["z1", "z1*sign(z2)", "where(z1 < 0, z1, 1)", "tanh(z1)"])
def test_infinitely_many_values(text: str) -> None:
    assert possible_values(parse(text)) is None


def test_too_many_values() -> None:
    assert possible_values(parse("+".join(f"{3**k}*sign(z{k + 1})" for k in range(9)))) is None


@settings(max_examples=200)
@given(trees(leaves=8))
def test_values_are_among_the_possible(tree: Tree) -> None:
    possible = possible_values(tree)
    assume(possible is not None)
    assert possible is not None
    z = np.random.default_rng(8).standard_normal((50, 3))
    value = np.atleast_1d(evaluate(tree, z, np))
    for v in value[np.isfinite(value)]:
        assert any(abs(v - p) <= 1e-9 * max(1, abs(p)) for p in possible)


def test_values_are_those_that_occur() -> None:
    """Events that exclude each other leave fewer values than algebra allows."""
    text = "sign(z1) + sign(z1 - 1)"
    tree = parse(text)
    assert possible_values(tree) == {-2, 0, 2}
    nested = parse("sign(z1)*step(z1)")
    assert possible_values(nested) == {-1, 0, 1}
    assert values_of(lambda z: evaluate(nested, z, np), nested, 1) == (0.0, 1.0)


def test_values_of_a_function_are_those_of_its_samples() -> None:
    assert values_of(lambda z: np.sign(z[:, 0]) * np.sign(z[:, 1]), None, 2) == (-1.0, 1.0)
    assert values_of(lambda z: z[:, 0], None, 1) is None
    assert values_of(lambda z: np.floor(50 * z[:, 0]), None, 1) is None
