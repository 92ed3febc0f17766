"""What a label takes of the visible coordinates, and tables of one number."""

from __future__ import annotations

import numpy as np
import pytest

from learnability.expressions.text import to_text
from learnability.labels import Link
from learnability.labels._latents import first_two_moments
from learnability.labels._visible_arguments import at_many_numbers, visible_arguments


@pytest.mark.parametrize(
    ("text", "visible", "function", "arguments"),
    [
        ("tanh(z1*z2 + abs(z3) + 2*z4)", 3, "tanh(z1 + 2*z2)", ["z1*z2 + abs(z3)"]),
        ("max(z1, z2, z3)", 2, "max(z1, z2)", ["max(z1, z2)"]),
        ("sign(z1)*z3**2*abs(z1*z2 + z3)", 2, "z1*z3**2*abs(z2 + z3)", ["sign(z1)", "z1*z2"]),
        ("exp(z1 + z3)*sin(z1*z3)*z2**2", 2, "z2*exp(z1 + z3)*sin(z1*z3)", ["z1", "z2**2"]),
        ("abs(z1**2 + z3)*abs(z1 - z3)*abs(z2 + z3)", 2, None, ["z1", "z2"]),
    ],
)
def test_arguments_of_a_label(
    text: str, visible: int, function: str | None, arguments: list[str]
) -> None:
    tree = Link(text).tree
    assert tree is not None
    found, taken = visible_arguments(tree, tuple(range(visible)))
    assert {to_text(one) for one in taken} == set(arguments)
    z = np.random.default_rng(1).standard_normal((50, Link(text).r))
    values = [np.asarray(Link._from_tree(one, visible)(z[:, :visible])) for one in taken]
    points = np.column_stack([*values, z[:, visible:]])
    again = Link._from_tree(found, points.shape[1])
    np.testing.assert_allclose(again(points), Link(text)(z), rtol=1e-12, atol=1e-14)
    if function is not None and len(arguments) == 1:
        assert again == Link(function)


@pytest.mark.parametrize("kink", [0.0, 0.3])
def test_a_table_has_the_values_of_its_function(kink: float) -> None:
    asked = []

    def function(a: np.ndarray) -> np.ndarray:
        asked.append(len(a))
        return np.stack([np.exp(a) * np.cos(3 * a), np.abs(a - kink), np.sign(a - kink)])

    a = np.random.default_rng(2).standard_normal(50_000)
    found = at_many_numbers(function, a)
    np.testing.assert_allclose(found, function(a), rtol=1e-10, atol=1e-11)
    assert sum(asked[:-1]) < 8000


def test_few_numbers_and_equal_ones_are_asked_for_themselves() -> None:
    for a in (np.array([0.3]), np.full(5000, 0.7), np.array([1.0, -2.0, 0.5])):
        found = at_many_numbers(lambda x: np.stack([x**3, np.tan(x)]), a)
        np.testing.assert_allclose(found, [a**3, np.tan(a)], rtol=1e-11)


def test_a_table_of_a_function_that_overflows() -> None:
    def function(a: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.exp(a)[None]

    a = np.linspace(-1400, 1400, 40_000)
    with np.errstate(invalid="ignore", over="ignore"):
        found = at_many_numbers(function, a)
    few = a < 709
    assert np.isinf(found[0, a > 710]).all()
    np.testing.assert_allclose(found[0, few], np.exp(a[few]), rtol=1e-9, atol=1e-12 * np.exp(709))


@pytest.mark.parametrize(
    "text",
    [
        "max(0.5*sign(z2*z3) + sign(z1), xi)", "sign(z1)*xi**2*abs(z1*z2 + xi)",
        "floor(z1*z2 + xi)", "exp(z1*z2/8 + xi/4)*tanh(xi)", "z3 + tanh(xi)",
        "abs(z1*xi1 + z2*xi2)",
    ],
)  # fmt: skip
def test_moments_by_arguments_are_those_of_the_whole(text: str) -> None:
    law = Link(text).law
    assert law is not None
    z = np.random.default_rng(3).standard_normal((600, law.r))
    first, second = first_two_moments(law.core, z, law.core.r - law.r)
    scale = np.abs(second).max()
    np.testing.assert_allclose(law.mean(z), first, atol=1e-10 * np.sqrt(scale))
    np.testing.assert_allclose(law.variance(z), second - first**2, atol=1e-9 * scale)
