"""What the library knows about an operation, and the operations of arithmetic and comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import ceil
from typing import Any, Literal

import numpy as np

from learnability.expressions.tree import (
    ONE,
    ZERO,
    Const,
    Tree,
    const,
    neg,
    power_of,
    product_of,
)
from learnability.expressions.tree import div as quotient

__all__ = ["ARITHMETIC", "COMPARISONS", "Args", "Operation", "raise_to", "square"]

Args = Sequence[Tree]

# Precedence in printed text is Python's own.
COMPARE, SUM, PRODUCT, POWER, ATOM = range(5)


@dataclass(frozen=True, kw_only=True)
class Operation:
    """What the library knows about one operation.

    Attributes
    ----------
    evaluate : callable
        ``evaluate(xp, *values)`` with `xp` being ``numpy`` or ``jax.numpy``.
    partials : callable
        Trees -> one partial derivative for each argument, for the chain rule.
    derivative : callable
        (trees, their derivatives) -> derivative, where the chain rule would multiply a branch
        that is not taken (and may be infinite there) by zero.
    degree : callable
        (trees, their degrees) -> upper bound of the degree; 0 for what grows slower than any
        power or is never expanded.
    breaks : callable
        Trees -> trees whose zero sets contain the jumps, kinks and poles of the operation itself.
    fewest, most : int
        Number of arguments; None as `most` means any number.
    parity : {1, -1, None}
        Whether it is even, odd or neither in its only argument.
    exact : callable or None
        Exact value at rational numbers.
    latex : str
        A template of the printed arguments ``{0}``, ``{1}``, or of all of them ``{args}``.
    """

    evaluate: Callable[..., Any]
    partials: Callable[[Args], Sequence[Tree]] | None = None
    derivative: Callable[[Args, Args], Tree] | None = None
    degree: Callable[[Args, Sequence[int]], int] = lambda args, degrees: max(degrees, default=0)
    breaks: Callable[[Args], Sequence[Tree]] = lambda args: ()
    fewest: int = 1
    most: int | None = 1
    precedence: int = ATOM
    parity: Literal[1, -1] | None = None
    exact: Callable[..., Fraction] | None = None
    latex: str = ""


def _whole_power(x: Any, exponent: int) -> Any:
    """Compute x to a positive whole power by repeated squaring, exact signs included."""
    result = None
    while exponent:
        if exponent & 1:
            result = x if result is None else result * x
        exponent >>= 1
        x = x * x if exponent else x
    return result


def raise_to(xp: Any, x: Any, exponent: Fraction) -> Any:
    """Compute x to an exact exponent; NaN for x < 0 unless the exponent is whole."""
    p = float(exponent)
    if p == 0:
        return xp.ones_like(x)
    if p == 0.5:
        return xp.sqrt(x)
    if p != int(p):
        return xp.power(x, x.dtype.type(p))
    result = _whole_power(x, abs(int(p)))
    return result if p > 0 else 1 / result


def _power_partials(args: Args) -> Sequence[Tree]:
    base, exponent = args
    assert isinstance(exponent, Const)
    return product_of([exponent, power_of(base, exponent.value - 1)]), ZERO


def _power_breaks(args: Args) -> Sequence[Tree]:
    base, exponent = args
    assert isinstance(exponent, Const)
    return () if exponent.value >= 0 and exponent.value.denominator == 1 else (base,)


def _power_degree(args: Args, degrees: Sequence[int]) -> int:
    exponent = args[1]
    assert isinstance(exponent, Const)
    return degrees[0] * ceil(abs(exponent.value))


def _flat(args: Args, inner: Args) -> Tree:
    return ZERO


def square(tree: Tree) -> Tree:
    """Return the square of a tree."""
    return power_of(tree, Fraction(2))


def _comparison(evaluate: Callable[..., Any], latex: str) -> Operation:
    return Operation(
        evaluate=evaluate,
        derivative=_flat,
        fewest=2,
        most=2,
        precedence=COMPARE,
        latex="{0} " + latex + " {1}",
    )


COMPARISONS: dict[str, Operation] = {
    "<": _comparison(lambda xp, a, b: a < b, "<"),
    "<=": _comparison(lambda xp, a, b: a <= b, r"\le"),
    ">": _comparison(lambda xp, a, b: a > b, ">"),
    ">=": _comparison(lambda xp, a, b: a >= b, r"\ge"),
}

ARITHMETIC: dict[str, Operation] = {
    "chain": Operation(  # Comparisons in a row share their inner operands.
        evaluate=lambda xp, *conditions: reduce(lambda a, b: a & b, conditions),
        derivative=_flat,
        fewest=2,
        most=None,
        precedence=COMPARE,
    ),
    "pi": Operation(evaluate=lambda xp: np.pi, fewest=0, most=0, latex=r"\pi"),
    "+": Operation(
        evaluate=lambda xp, *terms: reduce(lambda a, b: a + b, terms),
        partials=lambda args: [ONE] * len(args),
        fewest=2,
        most=None,
        precedence=SUM,
    ),
    "neg": Operation(evaluate=lambda xp, x: -x, partials=lambda args: [const(-1)], precedence=SUM),
    "*": Operation(
        evaluate=lambda xp, *factors: reduce(lambda a, b: a * b, factors),
        partials=lambda args: [product_of([*args[:k], *args[k + 1 :]]) for k in range(len(args))],
        degree=lambda args, degrees: sum(degrees),
        fewest=2,
        most=None,
        precedence=PRODUCT,
    ),
    "/": Operation(
        evaluate=lambda xp, a, b: a / b,
        partials=lambda args: [
            quotient(ONE, args[1]),
            neg(quotient(args[0], square(args[1]))),
        ],
        degree=lambda args, degrees: sum(degrees),
        breaks=lambda args: (args[1],),
        fewest=2,
        most=2,
        precedence=PRODUCT,
        latex=r"\frac{{{0}}}{{{1}}}",
    ),
    "**": Operation(
        evaluate=raise_to,
        partials=_power_partials,
        degree=_power_degree,
        breaks=_power_breaks,
        fewest=2,
        most=2,
        precedence=POWER,
    ),
}
