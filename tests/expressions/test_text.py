"""Text of a tree parses back to the tree; LaTeX is balanced."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings

from learnability.errors import LinkError
from learnability.expressions.calculus import evaluate
from learnability.expressions.parse import parse
from learnability.expressions.text import to_latex, to_text
from learnability.expressions.tree import Tree

from tests.expressions.strategies import trees


@settings(max_examples=500)
@given(trees(leaves=12))
def test_round_trip(tree: Tree) -> None:
    text = to_text(tree)
    try:
        parsed = parse(text)
    except LinkError as error:
        assume("degree" not in str(error))
        raise
    assert parsed == tree


@pytest.mark.parametrize(
    ("given_text", "printed"),
    [
        ("((z1))+(z2)", "z1 + z2"),
        ("z1-(z2-z3)", "z1 - (z2 - z3)"),
        ("(z1-z2)-z3", "z1 - z2 - z3"),
        ("z1/(z2*z3)", "z1/(z2*z3)"),
        ("(z1/z2)/z3", "z1/z2/z3"),
        ("z1/(z2/z3)", "z1/(z2/z3)"),
        ("(-z1)**2", "(-z1)**2"),
        ("-(z1**2)", "-z1**2"),
        ("(z1**2)**3", "(z1**2)**3"),
        ("2**(-1)", "2**-1"),
        ("(1/3)*z1", "1/3*z1"),
        ("z1*(1/3)", "z1*(1/3)"),
        ("-2*z1", "-2*z1"),
        ("z1*(-2)", "-z1*2"),
        ("z1**(1/2)", "z1**0.5"),
        ("z1**(-1/3)", "z1**(-1/3)"),
        ("1e-7*z1", "1e-7*z1"),
        ("where((z1)<(2),1,(-1))", "where(z1 < 2, 1, -1)"),
        ("where(0.5<abs(z1)<=2,1,0)", "where(0.5 < abs(z1) <= 2, 1, 0)"),
        ("z1 - -z2", "z1 + z2"),
        ("-(0/z1/z2)", "0/z1/z2"),
    ],
)
def test_parentheses_are_minimal(given_text: str, printed: str) -> None:
    assert to_text(parse(given_text)) == printed
    assert parse(printed) == parse(given_text)


@settings(max_examples=200)
@given(trees(leaves=12))
def test_text_keeps_the_value(tree: Tree) -> None:
    z = np.random.default_rng(1).standard_normal((20, 3))
    try:
        parsed = parse(to_text(tree))
    except LinkError:
        assume(False)
    np.testing.assert_array_equal(evaluate(tree, z, np), evaluate(parsed, z, np))


@given(trees(leaves=12))
def test_latex_is_balanced(tree: Tree) -> None:
    latex = to_latex(tree)
    assert latex.count("{") == latex.count("}")
    assert latex.count(r"\left") == latex.count(r"\right")


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("z1**2 + sign(z1*z2)", r"z_{1}^{2} + \operatorname{sign}\left(z_{1} \, z_{2}\right)"),
        ("z1/2", r"\frac{z_{1}}{2}"),
        ("1/3*z1", r"\frac{1}{3} \, z_{1}"),
        ("(z1/z2)**2", r"\left(\frac{z_{1}}{z_{2}}\right)^{2}"),
        ("(1/3)**2", r"\left(\frac{1}{3}\right)^{2}"),
        ("He3(z1)", r"\mathrm{He}_{3}\left(z_{1}\right)"),
        ("abs(z1)", r"\left|z_{1}\right|"),
        ("max(z1, 0)", r"\max\left(z_{1}, 0\right)"),
        ("1e-9*z1*2", r"1 \cdot 10^{-9} \, z_{1} \cdot 2"),
        (
            "where(0 < z1 <= 2, 1, -1)",
            r"\begin{cases}1 & 0 < z_{1} \le 2 \\ -1 & \text{otherwise}\end{cases}",
        ),
    ],
)
def test_latex(text: str, latex: str) -> None:
    assert to_latex(parse(text)) == latex
