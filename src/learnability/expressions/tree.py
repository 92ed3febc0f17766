"""The expression tree of a link: three immutable nodes and their normal-form constructors.

Sums and products are n-ary, subtraction is the sum with a negation, and a negation never stands
inside a product or a quotient (it is hoisted in front), so that printing a tree and parsing the
text gives the same tree back. What the operations mean is in ``operations``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

__all__ = [
    "FIRST_LATENT",
    "Call",
    "Const",
    "Tree",
    "Var",
    "add",
    "call",
    "div",
    "linear",
    "mul",
    "neg",
    "power",
    "product_of",
    "substitute",
    "sum_of",
    "variables",
    "walk",
]

# Numbers in a link are at most this large; folded fractions have both parts below it.
LARGEST_NUMBER = 10**12
SMALLEST_NUMBER = 1e-50

FIRST_LATENT = 9
"""Variables from this index on are the latent ones: ``xi``, then ``xi1`` to ``xi9``."""


@dataclass(frozen=True, slots=True)
class Const:
    """A rational number, exact."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Var:
    """The variable z_{index + 1}; `index` counts from 0, and from 9 on it is a latent one."""

    index: int


@dataclass(frozen=True, slots=True)
class Call:
    """An operation of the table in ``operations`` applied to `args`."""

    name: str
    args: tuple[Tree, ...]


Tree: TypeAlias = Const | Var | Call

ZERO = Const(Fraction(0))
ONE = Const(Fraction(1))


def const(value: int | Fraction) -> Const:
    """Return the exact number `value`."""
    return Const(Fraction(value))


def call(name: str, *args: Tree) -> Call:
    """Return `name` applied to `args`, without any rewriting."""
    return Call(name, args)


def neg(tree: Tree) -> Tree:
    """Return -tree, with double negations and negated numbers folded."""
    if isinstance(tree, Const):
        return Const(-tree.value)
    if isinstance(tree, Call) and tree.name == "neg":
        return tree.args[0]
    front: Tree = tree
    while isinstance(front, Call) and front.name in ("*", "/"):
        front = front.args[0]
    if front == Const(Fraction(0)):
        return tree  # A zero in front absorbs the sign, as it does in print.
    return Call("neg", (tree,))


def _hoist(tree: Tree) -> tuple[bool, Tree]:
    """Split a tree into a sign and the rest: (is negative, |tree| in the sense of printing)."""
    if isinstance(tree, Const) and tree.value < 0:
        return True, Const(-tree.value)
    if isinstance(tree, Call) and tree.name == "neg":
        return True, tree.args[0]
    return False, tree


def _chain(name: str, args: Sequence[Tree]) -> Tree:
    """Return an n-ary node whose first argument is merged when it is the same operation."""
    first, *rest = args
    if not rest:
        return first
    head = first.args if isinstance(first, Call) and first.name == name else (first,)
    return Call(name, (*head, *rest))


def add(terms: Sequence[Tree]) -> Tree:
    """Return the sum of one or more terms."""
    return _chain("+", terms)


def mul(factors: Sequence[Tree]) -> Tree:
    """Return the product of one or more factors, its sign in front."""
    if len(factors) == 1:
        return factors[0]
    hoisted = [_hoist(factor) for factor in factors]
    product = _chain("*", [factor for _, factor in hoisted])
    return neg(product) if sum(negative for negative, _ in hoisted) % 2 else product


def div(numerator: Tree, denominator: Tree) -> Tree:
    """Return the quotient; of two numbers it is a number when its parts stay printable."""
    if isinstance(numerator, Const) and isinstance(denominator, Const) and denominator.value:
        value = numerator.value / denominator.value
        if max(abs(value.numerator), value.denominator) <= LARGEST_NUMBER:
            return Const(value)
    (up_negative, up), (down_negative, down) = _hoist(numerator), _hoist(denominator)
    quotient = Call("/", (up, down))
    return neg(quotient) if up_negative != down_negative else quotient


def power(base: Tree, exponent: Fraction | int) -> Tree:
    """Return the base to a constant exponent."""
    return Call("**", (base, const(exponent)))


def _printable(value: Fraction) -> bool:
    return max(abs(value.numerator), value.denominator) <= LARGEST_NUMBER


def sum_of(terms: Iterable[Tree]) -> Tree:
    """Return the sum, simplified: no zeros, numbers collected."""
    total = Fraction(0)
    rest: list[Tree] = []
    for term in terms:
        if isinstance(term, Const) and _printable(total + term.value):
            total += term.value
        else:
            rest.append(term)
    if total or not rest:
        rest.append(Const(total))
    return add(rest)


def product_of(factors: Iterable[Tree]) -> Tree:
    """Return the product, simplified: no ones, numbers in front, zero if a factor is zero."""
    total = Fraction(1)
    rest: list[Tree] = []
    for factor in factors:
        negative, factor = _hoist(factor)
        total = -total if negative else total
        if isinstance(factor, Const) and (not factor.value or _printable(total * factor.value)):
            total *= factor.value
        elif isinstance(factor, Call) and factor.name == "*":
            rest.extend(factor.args)
        else:
            rest.append(factor)
    if not total:
        return ZERO
    if abs(total) != 1 or not rest:
        rest.insert(0, Const(abs(total)))
    product = mul(rest)
    return neg(product) if total < 0 else product


def power_of(base: Tree, exponent: Fraction) -> Tree:
    """Return the power, simplified for the exponents 0 and 1."""
    if exponent == 0:
        return ONE
    return base if exponent == 1 else power(base, exponent)


def linear(row: Iterable[float]) -> Tree:
    """Return sum_j row[j] z_j; entries of the size of rounding errors are dropped."""
    terms = []
    for j, entry in enumerate(row):
        near = round(float(entry))
        value = float(near) if abs(entry - near) < 1e-15 else float(entry)
        terms.append(product_of([const(Fraction(repr(value))), Var(j)]))
    return sum_of(terms)


def walk(tree: Tree) -> Iterator[Tree]:
    """Return all nodes of the tree, each before its arguments."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, Call):
            stack.extend(reversed(node.args))


def variables(tree: Tree) -> frozenset[int]:
    """Return the indices (from 0) of the variables that occur."""
    return frozenset(node.index for node in walk(tree) if isinstance(node, Var))


def substitute(tree: Tree, replacements: Mapping[int, Tree]) -> Tree:
    """Return the tree with the variables of these indices replaced, back in normal form."""
    if isinstance(tree, Var):
        return replacements.get(tree.index, tree)
    if isinstance(tree, Const):
        return tree
    return rebuild(tree.name, tuple(substitute(arg, replacements) for arg in tree.args))


def rebuild(name: str, args: tuple[Tree, ...]) -> Tree:
    """Return `name` applied to `args` through the normal-form constructor of that name."""
    if name == "+":
        return add(args)
    if name == "*":
        return mul(args)
    if name == "neg":
        return neg(args[0])
    if name == "/":
        return div(args[0], args[1])
    return Call(name, args)
