"""Values, derivatives and degrees of a tree, by walks that read the table of operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnability.expressions.arithmetic import raise_to
from learnability.expressions.operations import OPERATIONS
from learnability.expressions.tree import ONE, ZERO, Const, Tree, Var, product_of, sum_of

__all__ = ["degree", "differentiate", "evaluate"]


def evaluate(tree: Tree, z: Any, xp: Any) -> Any:
    """Return the value of the tree at points.

    Parameters
    ----------
    tree : Tree
    z : array, shape (..., r)
        Points of a floating dtype, which the result keeps.
    xp : module
        ``numpy`` or ``jax.numpy``, the home of `z`.

    Returns
    -------
    array, shape (...) or a scalar when no variable occurs
    """
    with np.errstate(all="ignore"):
        return _evaluate(tree, z, xp)


def _evaluate(tree: Tree, z: Any, xp: Any) -> Any:
    if isinstance(tree, Var):
        return z[..., tree.index]
    if isinstance(tree, Const):
        return z.dtype.type(float(tree.value))
    if tree.name == "pi":
        return z.dtype.type(np.pi)
    if tree.name == "**":  # The exponent stays exact: float32 would round 1/3.
        base, exponent = tree.args
        assert isinstance(exponent, Const)
        return raise_to(xp, _evaluate(base, z, xp), exponent.value)
    return OPERATIONS[tree.name].evaluate(xp, *[_evaluate(arg, z, xp) for arg in tree.args])


def differentiate(tree: Tree, index: int) -> Tree:
    """Return the partial derivative in variable `index` (from 0), away from the breaks."""
    if isinstance(tree, Var):
        return ONE if tree.index == index else ZERO
    if isinstance(tree, Const):
        return ZERO
    operation = OPERATIONS[tree.name]
    inner = [differentiate(arg, index) for arg in tree.args]
    if all(derivative == ZERO for derivative in inner):
        return ZERO
    if operation.derivative is not None:
        return operation.derivative(tree.args, inner)
    assert operation.partials is not None
    partials = operation.partials(tree.args)
    return sum_of(product_of(pair) for pair in zip(partials, inner, strict=True))


def degree(tree: Tree) -> int:
    """Return an upper bound of the polynomial degree; functions that cannot be expanded count 0."""
    if isinstance(tree, Var):
        return 1
    if isinstance(tree, Const):
        return 0
    return OPERATIONS[tree.name].degree(tree.args, [degree(arg) for arg in tree.args])
