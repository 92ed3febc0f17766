"""The one table of what a link may contain, and the two walks that only read it.

For each name: how many arguments, its value in NumPy or JAX, its partial derivatives, a bound on
its polynomial degree, its LaTeX, its precedence in text, where it jumps, kinks or has a pole, its
parity, and its exact value at rational numbers where there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import combinations
from math import ceil
from typing import Any, Literal

import numpy as np

from learnability.expressions.tree import (
    ONE,
    ZERO,
    Call,
    Const,
    Tree,
    Var,
    call,
    const,
    neg,
    power_of,
    product_of,
    sum_of,
)
from learnability.expressions.tree import div as quotient

__all__ = ["COMPARISONS", "FUNCTIONS", "OPERATIONS", "Operation", "degree", "differentiate"]

Args = Sequence[Tree]

# Precedence in printed text, Python's own.
COMPARE, SUM, PRODUCT, POWER, ATOM = range(5)


@dataclass(frozen=True, kw_only=True)
class Operation:
    """What the library knows about one operation.

    Attributes
    ----------
    evaluate : callable
        ``evaluate(xp, *values)`` with `xp` being ``numpy`` or ``jax.numpy``.
    partials : callable
        Trees -> one partial derivative an argument, for the chain rule.
    derivative : callable
        (trees, their derivatives) -> derivative, where the chain rule would multiply a branch
        that is not taken (and may be infinite there) by zero.
    degree : callable
        (trees, their degrees) -> upper bound of the degree; 0 for what grows slower than any
        power or is never expanded.
    breaks : callable
        Trees -> trees whose zero sets contain the jumps, kinks and poles of the operation itself.
    fewest, most : int
        Number of arguments; `most` None is any number.
    parity : {1, -1, None}
        Even, odd or neither, in its only argument.
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


def _erf(xp: Any, x: Any) -> Any:
    if xp is np:
        from scipy import special

        return special.erf(x)
    from jax.scipy.special import erf

    return erf(x)


def _softplus(xp: Any, x: Any) -> Any:
    return xp.logaddexp(x, x.dtype.type(0))


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
    """Compute x to an exact exponent; not a number for x < 0 unless the exponent is whole."""
    p = float(exponent)
    if p == 0:
        return xp.ones_like(x)
    if p == 0.5:
        return xp.sqrt(x)
    if p != int(p):
        return xp.power(x, x.dtype.type(p))
    result = _whole_power(x, abs(int(p)))
    return result if p > 0 else 1 / result


def hermite(order: int, x: Any, one: Any) -> Any:
    """Compute He_order(x) by the three-term recurrence; works in any ring whose unit is `one`."""
    previous, current = one, x
    if order == 0:
        return one
    for k in range(1, order):
        previous, current = current, x * current - k * previous
    return current


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


def _extremum_derivative(relation: str, name: str) -> Callable[[Args, Args], Tree]:
    """Return the derivative of the first argument where it beats all later ones, and so on."""

    def derivative(args: Args, inner: Args) -> Tree:
        result = inner[-1]
        for k in range(len(args) - 2, -1, -1):
            rest = args[k + 1] if k == len(args) - 2 else call(name, *args[k + 1 :])
            result = _choose(call(relation, args[k], rest), inner[k], result)
        return result

    return derivative


def _flat(args: Args, inner: Args) -> Tree:
    return ZERO


def _choose(condition: Tree, a: Tree, b: Tree) -> Tree:
    return a if a == b else call("where", condition, a, b)


def _differences(args: Args) -> Sequence[Tree]:
    return tuple(sum_of([a, neg(b)]) for a, b in combinations(args, 2))


def _where_breaks(args: Args) -> Sequence[Tree]:
    condition = args[0]
    assert isinstance(condition, Call)
    links = condition.args if condition.name == "chain" else (condition,)
    return tuple(d for link in links if isinstance(link, Call) for d in _differences(link.args))


def _bounded_work(args: Args, degrees: Sequence[int]) -> int:
    return 0


def _itself(args: Args) -> Sequence[Tree]:
    return (args[0],)


def _square(tree: Tree) -> Tree:
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

_ARITHMETIC: dict[str, Operation] = {
    "chain": Operation(  # comparisons in a row that share their inner operands
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
            neg(quotient(args[0], _square(args[1]))),
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

FUNCTIONS: dict[str, Operation] = {
    "where": Operation(
        evaluate=lambda xp, condition, a, b: xp.where(condition, a, b),
        derivative=lambda args, inner: _choose(args[0], inner[1], inner[2]),
        breaks=_where_breaks,
        fewest=3,
        most=3,
        latex=r"\begin{{cases}}{1} & {0} \\ {2} & \text{{otherwise}}\end{{cases}}",
    ),
    "sign": Operation(
        evaluate=lambda xp, x: xp.sign(x),
        partials=lambda args: [ZERO],
        breaks=_itself,
        parity=-1,
        exact=lambda x: Fraction((x > 0) - (x < 0)),
        latex=r"\operatorname{{sign}}\left({0}\right)",
    ),
    "abs": Operation(
        evaluate=lambda xp, x: xp.abs(x),
        partials=lambda args: [call("sign", args[0])],
        breaks=_itself,
        parity=1,
        exact=abs,
        latex=r"\left|{0}\right|",
    ),
    "relu": Operation(
        evaluate=lambda xp, x: xp.maximum(x, x.dtype.type(0)),
        partials=lambda args: [call("step", args[0])],
        breaks=_itself,
        exact=lambda x: max(x, Fraction(0)),
        latex=r"\operatorname{{relu}}\left({0}\right)",
    ),
    "step": Operation(
        evaluate=lambda xp, x: xp.where(x > 0, x.dtype.type(1), x.dtype.type(0)),
        partials=lambda args: [ZERO],
        breaks=_itself,
        exact=lambda x: Fraction(x > 0),
        latex=r"\mathbf{{1}}\left[{0} > 0\right]",
    ),
    "tanh": Operation(
        evaluate=lambda xp, x: xp.tanh(x),
        partials=lambda args: [sum_of([ONE, neg(_square(call("tanh", args[0])))])],
        degree=_bounded_work,
        parity=-1,
        latex=r"\tanh\left({0}\right)",
    ),
    "erf": Operation(
        evaluate=_erf,
        partials=lambda args: [
            product_of(
                [
                    quotient(const(2), call("sqrt", call("pi"))),
                    call("exp", neg(_square(args[0]))),
                ]
            )
        ],
        degree=_bounded_work,
        parity=-1,
        latex=r"\operatorname{{erf}}\left({0}\right)",
    ),
    "exp": Operation(
        evaluate=lambda xp, x: xp.exp(x),
        partials=lambda args: [call("exp", args[0])],
        degree=_bounded_work,
        latex=r"\exp\left({0}\right)",
    ),
    "log": Operation(
        evaluate=lambda xp, x: xp.log(x),
        partials=lambda args: [quotient(ONE, args[0])],
        degree=_bounded_work,
        breaks=_itself,
        latex=r"\log\left({0}\right)",
    ),
    "sqrt": Operation(
        evaluate=lambda xp, x: xp.sqrt(x),
        partials=lambda args: [quotient(ONE, product_of([const(2), call("sqrt", args[0])]))],
        breaks=_itself,
        latex=r"\sqrt{{{0}}}",
    ),
    "sin": Operation(
        evaluate=lambda xp, x: xp.sin(x),
        partials=lambda args: [call("cos", args[0])],
        degree=_bounded_work,
        parity=-1,
        latex=r"\sin\left({0}\right)",
    ),
    "cos": Operation(
        evaluate=lambda xp, x: xp.cos(x),
        partials=lambda args: [neg(call("sin", args[0]))],
        degree=_bounded_work,
        parity=1,
        latex=r"\cos\left({0}\right)",
    ),
    "sigmoid": Operation(
        evaluate=lambda xp, x: xp.exp(-_softplus(xp, -x)),
        partials=lambda args: [
            product_of([call("sigmoid", args[0]), call("sigmoid", neg(args[0]))])
        ],
        degree=_bounded_work,
        latex=r"\operatorname{{sigmoid}}\left({0}\right)",
    ),
    "softplus": Operation(
        evaluate=_softplus,
        partials=lambda args: [call("sigmoid", args[0])],
        degree=_bounded_work,
        latex=r"\operatorname{{softplus}}\left({0}\right)",
    ),
    "max": Operation(
        evaluate=lambda xp, *values: reduce(xp.maximum, values),
        derivative=_extremum_derivative(">=", "max"),
        breaks=_differences,
        fewest=2,
        most=None,
        exact=max,
        latex=r"\max\left({args}\right)",
    ),
    "min": Operation(
        evaluate=lambda xp, *values: reduce(xp.minimum, values),
        derivative=_extremum_derivative("<=", "min"),
        breaks=_differences,
        fewest=2,
        most=None,
        exact=min,
        latex=r"\min\left({args}\right)",
    ),
}


def _hermite_operation(order: int) -> Operation:
    lower = f"He{order - 1}"
    return Operation(
        evaluate=lambda xp, x: hermite(order, x, xp.ones_like(x)),
        partials=lambda args: [
            product_of([const(order), call(lower, args[0])]) if order > 1 else const(order)
        ],
        degree=lambda args, degrees: order * degrees[0],
        parity=1 if order % 2 == 0 else -1,
        latex=rf"\mathrm{{{{He}}}}_{{{{{order}}}}}\left({{0}}\right)",
    )


FUNCTIONS.update({f"He{order}": _hermite_operation(order) for order in range(10)})

OPERATIONS: dict[str, Operation] = {**_ARITHMETIC, **COMPARISONS, **FUNCTIONS}


def evaluate(tree: Tree, z: Any, xp: Any) -> Any:
    """Return the value of the tree at points.

    Parameters
    ----------
    tree : Tree
    z : array, shape (..., r)
        Of a floating dtype, which the result keeps.
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
    if tree.name == "**":  # the exponent stays exact: float32 would spoil 1/3
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
