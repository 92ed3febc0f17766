"""Exact polynomial forms and the canonical key."""

from __future__ import annotations

from fractions import Fraction as F
from math import pi, sqrt

import numpy as np
import pytest
from hypothesis import assume, given, settings

from learnability.expressions.calculus import evaluate
from learnability.expressions.parse import parse
from learnability.expressions.polynomial import canonical_key, polynomial
from learnability.expressions.tree import Tree

from tests.expressions.strategies import trees


@pytest.mark.parametrize(
    ("text", "r", "expected"),
    [
        ("z**2 - 1", 1, {(2,): F(1), (0,): F(-1)}),
        ("(z1 + z2)**2", 2, {(2, 0): F(1), (1, 1): F(2), (0, 2): F(1)}),
        ("He3(z)", 1, {(3,): F(1), (1,): F(-3)}),
        ("He2(z1*z2)/2", 2, {(2, 2): F(1, 2), (0, 0): F(-1, 2)}),
        ("0.1*z", 1, {(1,): F(1, 10)}),
        ("z/(1 + 2)", 1, {(1,): F(1, 3)}),
        ("z*2**-2", 1, {(1,): F(1, 4)}),
        ("z - z", 1, {}),
        ("tanh(z)*0 + z", 1, {(1,): F(1)}),
        ("tanh(z) - tanh(z) + 1", 1, {(0,): F(1)}),
        ("sign(2)*z + abs(-3) + relu(-1) + step(1) + max(1, 2)", 1, {(1,): F(1), (0,): F(6)}),
        ("He0(z)", 1, {(0,): F(1)}),
        ("z2", 3, {(0, 1, 0): F(1)}),
    ],
)
def test_exact_forms(text: str, r: int, expected: dict[tuple[int, ...], F]) -> None:
    found = polynomial(parse(text), r)
    assert found == expected
    assert all(isinstance(c, F) for c in found.values())


@pytest.mark.parametrize(
    ("text", "coefficient"),
    [
        ("pi*z", pi),
        ("sqrt(2)*z", sqrt(2)),
        ("z/sqrt(pi)", 1 / sqrt(pi)),
        ("(2*pi)**2*z", 4 * pi**2),
    ],
)
def test_irrational_constants_give_floats(text: str, coefficient: float) -> None:
    assert polynomial(parse(text), 1) == {(1,): pytest.approx(coefficient, rel=1e-15)}


@pytest.mark.parametrize(
    "text",
    ["tanh(z)", "1/z", "z/z", "z**0.5", "abs(z)", "where(z < 0, z, z)", "z**-2", "log(-1)*z"],
)
def test_others_have_none(text: str) -> None:
    assert polynomial(parse(text), 1) is None


def test_bounds() -> None:
    assert polynomial(parse("(z1+z2+z3+z4+z5+z6+z7+z8+z9)**10"), 9) is None
    assert polynomial(parse("((((9**16)**16)**16)**16)*z"), 1) is None
    full = polynomial(parse("((z1 + z2 + 1)**16)**4"), 2)
    assert full is not None and len(full) == 65 * 66 // 2


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("tanh(z1 + z2)", "tanh(z2 + z1)"),
        ("z1*tanh(z2)*2", "2*tanh(z2)*z1"),
        ("z1 - tanh(z2)", "-(tanh(z2) - z1)"),
        ("sign(-z1)", "-sign(z1)"),
        ("cos(z1 - z2)", "cos(z2 - z1)"),
        ("max(z1, z2, z1)", "max(z2, z1)"),
        ("where(z1 < z2, 1, 0)", "where(z2 > z1, 1, 0)"),
        ("sqrt(z1)", "z1**(1/2)"),
        ("(1 + exp(z1))**2", "1 + 2*exp(z1) + exp(z1)*exp(z1)"),
        ("1/(z1 + z2)", "(z2 + z1)**-1"),
        ("2*pi*z1*3", "z1*pi*6"),
    ],
)
def test_equal_functions_share_their_key(a: str, b: str) -> None:
    assert canonical_key(parse(a)) == canonical_key(parse(b))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("tanh(z1)", "tanh(z2)"),
        ("relu(z1)", "relu(-z1)"),
        ("where(z1 < z2, 1, 0)", "where(z1 <= z2, 1, 0)"),
        ("max(z1, z2)", "min(z1, z2)"),
        ("z1/z1", "1"),
        ("sign(z1)", "sign(-z1)"),
    ],
)
def test_different_functions_do_not(a: str, b: str) -> None:
    assert canonical_key(parse(a)) != canonical_key(parse(b))


@settings(max_examples=300)
@given(trees(leaves=10))
def test_form_agrees_with_the_tree(tree: Tree) -> None:
    form = polynomial(tree, 3)
    assume(form is not None)
    assert form is not None
    z = np.random.default_rng(4).standard_normal((8, 3))
    terms = [float(c) * np.prod(z ** np.array(m), axis=1) for m, c in form.items()]
    scale = np.sum(np.abs(terms), axis=0) + 1 if terms else 1.0
    value = evaluate(tree, z, np)
    assume(np.all(np.isfinite(value)))
    # 1e12 and cancellation are allowed in a tree, hence the generous scale.
    assert np.all(np.abs(sum(terms, np.zeros(8)) - value) <= 1e-3 * scale)
