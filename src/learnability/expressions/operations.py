"""The one table of what a link may contain.

For each name it holds the number of arguments, the value in NumPy or JAX, the partial derivatives,
a bound on the polynomial degree, the LaTeX, the precedence in text, the jumps, kinks and poles, the
parity, and the exact value at rational numbers where there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from itertools import combinations
from math import floor
from typing import Any

import numpy as np

from learnability.expressions.arithmetic import ARITHMETIC, COMPARISONS, Args, Operation, square
from learnability.expressions.tree import (
    ONE,
    ZERO,
    Call,
    Tree,
    call,
    const,
    neg,
    product_of,
    sum_of,
)
from learnability.expressions.tree import div as quotient

__all__ = ["FUNCTIONS", "OPERATIONS", "hermite"]


def _erf(xp: Any, x: Any) -> Any:
    if xp is np:
        from scipy import special

        return special.erf(x)
    from jax.scipy.special import erf

    return erf(x)


def _softplus(xp: Any, x: Any) -> Any:
    return xp.logaddexp(x, x.dtype.type(0))


def hermite(order: int, x: Any, one: Any) -> Any:
    """Compute He_order(x) by the three-term recurrence; works in any ring whose unit is `one`."""
    previous, current = one, x
    if order == 0:
        return one
    for k in range(1, order):
        previous, current = current, x * current - k * previous
    return current


def _extremum_derivative(relation: str, name: str) -> Callable[[Args, Args], Tree]:
    """Return the derivative of the first argument where it is the extremum, and so on."""

    def derivative(args: Args, inner: Args) -> Tree:
        result = inner[-1]
        for k in range(len(args) - 2, -1, -1):
            rest = args[k + 1] if k == len(args) - 2 else call(name, *args[k + 1 :])
            result = _choose(call(relation, args[k], rest), inner[k], result)
        return result

    return derivative


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


def _full_turns(wave: str, tree: Tree) -> Tree:
    """Return a wave that vanishes where its argument is whole (sin), or half a whole off (cos)."""
    return call(wave, product_of([call("pi"), tree]))


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
        partials=lambda args: [sum_of([ONE, neg(square(call("tanh", args[0])))])],
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
                    call("exp", neg(square(args[0]))),
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
    "atan": Operation(
        evaluate=lambda xp, x: xp.arctan(x),
        partials=lambda args: [quotient(ONE, sum_of([ONE, square(args[0])]))],
        degree=_bounded_work,
        parity=-1,
        latex=r"\arctan\left({0}\right)",
    ),
    "sinh": Operation(
        evaluate=lambda xp, x: xp.sinh(x),
        partials=lambda args: [call("cosh", args[0])],
        degree=_bounded_work,
        parity=-1,
        latex=r"\sinh\left({0}\right)",
    ),
    "cosh": Operation(
        evaluate=lambda xp, x: xp.cosh(x),
        partials=lambda args: [call("sinh", args[0])],
        degree=_bounded_work,
        parity=1,
        latex=r"\cosh\left({0}\right)",
    ),
    "floor": Operation(
        evaluate=lambda xp, x: xp.floor(x),
        partials=lambda args: [ZERO],
        degree=_bounded_work,
        breaks=lambda args: (_full_turns("sin", args[0]),),
        exact=lambda x: Fraction(floor(x)),
        latex=r"\left\lfloor {0} \right\rfloor",
    ),
    "round": Operation(
        evaluate=lambda xp, x: xp.round(x),
        partials=lambda args: [ZERO],
        degree=_bounded_work,
        breaks=lambda args: (_full_turns("cos", args[0]),),
        parity=-1,
        exact=lambda x: Fraction(round(x)),
        latex=r"\operatorname{{round}}\left({0}\right)",
    ),
    "mod": Operation(
        evaluate=lambda xp, x, y: x - y * xp.floor(x / y),
        partials=lambda args: [ONE, neg(call("floor", quotient(args[0], args[1])))],
        degree=_bounded_work,
        breaks=lambda args: (_full_turns("sin", quotient(args[0], args[1])), args[1]),
        fewest=2,
        most=2,
        latex=r"\operatorname{{mod}}\left({0}, {1}\right)",
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

OPERATIONS: dict[str, Operation] = {**ARITHMETIC, **COMPARISONS, **FUNCTIONS}
