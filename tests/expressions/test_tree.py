"""Expression trees."""

from __future__ import annotations

from hypothesis import given

from learnability.expressions.tree import (
    Tree,
    Var,
    const,
    linear,
    product_of,
    substitute,
    sum_of,
    variables,
)

from tests.expressions.strategies import trees


@given(trees())
def test_substitution_of_variables_by_themselves_changes_nothing(tree: Tree) -> None:
    assert substitute(tree, {}) == tree
    assert variables(tree) <= {0, 1, 2}


def test_a_row_of_numbers_is_a_linear_tree() -> None:
    assert linear([1.0, 0.0, -1.0]) == sum_of([Var(0), product_of([const(-1), Var(2)])])
    assert linear([1e-17, 1 + 1e-16]) == Var(1)
    assert variables(linear([0.6, 0.8])) == {0, 1}
