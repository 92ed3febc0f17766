"""Exact polynomial forms.

A tree is expanded in the ring of rational polynomials whose generators ("atoms") are its
variables and the functions that cannot be expanded, such as ``tanh(z1 + 1)``. When no atom holds a
variable this is the polynomial form of the link; in any case the sorted expansion is a canonical
key, by which links are compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import zip_longest
from math import isfinite, prod
from typing import TypeAlias

import numpy as np

from learnability.expressions.arithmetic import COMPARISONS
from learnability.expressions.calculus import evaluate
from learnability.expressions.operations import OPERATIONS, hermite
from learnability.expressions.tree import Call, Const, Tree, Var, add, neg, variables

__all__ = ["canonical_key", "constant_value", "expand", "polynomial"]

MOST_TERMS = 5000
# Work and size are bounded too: products of terms in one expansion, bits of one coefficient.
MOST_PRODUCTS = 500_000
MOST_BITS = 8192

Monomial: TypeAlias = tuple[int, ...]
# Whole coefficients are ints, which are several times faster than Fractions.
Terms: TypeAlias = dict[Monomial, Fraction | int]


def _padded_sum(m: Monomial, n: Monomial) -> Iterator[int]:
    return (a + b for a, b in zip_longest(m, n, fillvalue=0))


class _TooLarge(Exception):
    """The expansion exceeds its bounds."""


class _Polynomial:
    """An element of the ring of an expansion, with the operators that ``hermite`` needs."""

    __slots__ = ("ring", "terms")

    def __init__(self, ring: Expansion, terms: Terms) -> None:
        self.ring = ring
        self.terms = terms

    def __mul__(self, other: _Polynomial) -> _Polynomial:
        self.ring.charge(len(self.terms) * len(other.terms))
        terms: Terms = {}
        for m, c in self.terms.items():
            for n, d in other.terms.items():
                same = len(m) == len(n)
                key = tuple(map(int.__add__, m, n) if same else _padded_sum(m, n))
                terms[key] = terms.get(key, 0) + c * d
        return self.ring.checked(terms)

    def __rmul__(self, scale: Fraction | int) -> _Polynomial:
        return self.ring.checked({m: scale * c for m, c in self.terms.items()})

    def __add__(self, other: _Polynomial) -> _Polynomial:
        terms = dict(self.terms)
        for m, c in other.terms.items():
            terms[m] = terms.get(m, 0) + c
        return self.ring.checked(terms)

    def __sub__(self, other: _Polynomial) -> _Polynomial:
        return self + (-1) * other

    def __pow__(self, exponent: int) -> _Polynomial:
        result, square = self.ring.constant(Fraction(1)), self
        while exponent:
            if exponent & 1:
                result = result * square
            exponent >>= 1
            square = square * square if exponent else square
        return result


class Expansion:
    """The expansion of one tree: its atoms, and its terms as exponents of the atoms.

    Attributes
    ----------
    atoms : dict of str to (int, Tree)
        Canonical text of an atom -> its place in the exponents, and a tree of its value.
    terms : dict of tuple of int to Fraction or int
        Exponents (without trailing zeros) -> nonzero coefficient.
    """

    def __init__(self, tree: Tree) -> None:
        self.atoms: dict[str, tuple[int, Tree]] = {}
        self._budget = MOST_PRODUCTS
        self.terms = self._expand(tree).terms

    def charge(self, products: int) -> None:
        self._budget -= products
        if self._budget < 0:
            raise _TooLarge

    def checked(self, terms: Terms) -> _Polynomial:
        terms = {m: c for m, c in terms.items() if c}
        if len(terms) > MOST_TERMS or any(
            max(c.numerator.bit_length(), c.denominator.bit_length()) > MOST_BITS
            for c in terms.values()
        ):
            raise _TooLarge
        return _Polynomial(self, terms)

    def constant(self, value: Fraction) -> _Polynomial:
        number = value.numerator if value.denominator == 1 else value
        return _Polynomial(self, {(): number} if number else {})

    def _atom(self, key: str, tree: Tree) -> _Polynomial:
        place, _ = self.atoms.setdefault(key, (len(self.atoms), tree))
        return _Polynomial(self, {(0,) * place + (1,): 1})

    def _inverse(self, denominator: Tree) -> _Polynomial:
        number = constant_value(denominator)
        if number:
            return self.constant(1 / number)
        # It is an atom of its own: z * (1/z) stays as it is, since z = 0 is a break.
        return self._atom(
            f"1/({canonical_key(denominator)})", Call("/", (Const(Fraction(1)), denominator))
        )

    def _expand(self, tree: Tree) -> _Polynomial:
        if isinstance(tree, Const):
            return self.constant(tree.value)
        if isinstance(tree, Var):
            return self._atom(f"z{tree.index + 1}", tree)
        name, args = tree.name, tree.args
        if name == "+":
            total = self.constant(Fraction(0))
            for arg in args:
                total = total + self._expand(arg)
            return total
        if name == "neg":
            return (-1) * self._expand(args[0])
        if name == "*":
            product = self._expand(args[0])
            for arg in args[1:]:
                product = product * self._expand(arg)
            return product
        if name == "/":
            return self._expand(args[0]) * self._inverse(args[1])
        if name == "**":
            exponent = args[1]
            assert isinstance(exponent, Const)
            whole = exponent.value.denominator == 1
            if whole and exponent.value >= 0:
                return self._expand(args[0]) ** int(exponent.value)
            if whole:
                return self._inverse(args[0]) ** -int(exponent.value)
        if name.startswith("He"):
            order = int(name[2:])
            one = self.constant(Fraction(1))
            return one if order == 0 else hermite(order, self._expand(args[0]), one)
        return self._function(tree)

    def _function(self, tree: Call) -> _Polynomial:
        """Return a function that is not a ring operation: a number, or an atom up to its parity."""
        operation = OPERATIONS[tree.name]
        if operation.exact is not None:
            numbers = [constant_value(arg) for arg in tree.args]
            exact = [number for number in numbers if number is not None]
            if len(exact) == len(numbers):
                return self.constant(operation.exact(*exact))
        if operation.parity is not None and _leads_negative(tree.args[0]):
            flipped = Call(tree.name, (neg(tree.args[0]),))
            return operation.parity * self._atom(_function_key(flipped), flipped)
        return self._atom(_function_key(tree), tree)

    def sorted_terms(self) -> list[tuple[tuple[tuple[str, int], ...], Fraction | int]]:
        """Return terms with named atoms, in an order that depends only on the function."""
        names = list(self.atoms)
        named = []
        for monomial, coefficient in self.terms.items():
            powers = ((names[i], e) for i, e in enumerate(monomial) if e)
            named.append((tuple(sorted(powers)), coefficient))
        return sorted(named)


@lru_cache(maxsize=4096)
def expand(tree: Tree) -> Expansion | None:
    """Return the expansion of a tree, or None when it would exceed the bounds.

    It is cached, because the key of a function needs those of its arguments at every level.
    """
    try:
        return Expansion(tree)
    except _TooLarge:
        return None


def constant_value(tree: Tree) -> Fraction | None:
    """Return the rational number that the tree is identically equal to, if it is seen to be one."""
    expansion = expand(tree)
    if expansion is None:
        return None
    if any(monomial for monomial in expansion.terms):
        return None
    return Fraction(expansion.terms.get((), 0))


def _leads_negative(tree: Tree) -> bool:
    expansion = expand(tree)
    terms = expansion.sorted_terms() if expansion else []
    return bool(terms) and terms[-1][1] < 0


def _function_key(tree: Tree) -> str:
    assert isinstance(tree, Call)
    name, args = tree.name, tree.args
    if name == "sqrt":
        return f"({canonical_key(args[0])})**(1/2)"
    if name == "**":
        assert isinstance(args[1], Const)
        return f"({canonical_key(args[0])})**({args[1].value})"
    if name in COMPARISONS:
        left, right = args if "<" in name else args[::-1]
        return f"{canonical_key(add([left, neg(right)]))}{name.replace('>', '<')}0"
    keys = [_function_key(a) if _is_condition(a) else canonical_key(a) for a in args]
    if name in ("max", "min", "chain"):
        keys = sorted(set(keys))
    return f"{name}({','.join(keys)})"


def _is_condition(tree: Tree) -> bool:
    return isinstance(tree, Call) and (tree.name in COMPARISONS or tree.name == "chain")


def canonical_key(tree: Tree) -> str:
    """Return a text shared by the trees that are equal by the laws of commutative algebra.

    Parity of functions and the order of arguments of max and min are taken into account; a tree
    too large to expand is keyed by its own shape.
    """
    expansion = expand(tree)
    if expansion is None:
        assert isinstance(tree, Call)
        if tree.name == "neg":
            return f"neg({canonical_key(tree.args[0])})"
        keys = [canonical_key(arg) for arg in tree.args]
        return f"{tree.name}({','.join(sorted(keys) if tree.name in '+*' else keys)})"
    terms = [
        "*".join([str(c), *[f"{atom}^{e}" for atom, e in powers]])
        for powers, c in expansion.sorted_terms()
    ]
    return "+".join(terms) or "0"


def polynomial(tree: Tree, r: int) -> dict[tuple[int, ...], Fraction | float] | None:
    """Return the exact polynomial form.

    Parameters
    ----------
    tree : Tree
    r : int
        Number of variables.

    Returns
    -------
    dict or None
        Exponents (length r) -> nonzero coefficient; all Fractions, or all floats when a constant
        such as ``pi`` or ``sqrt(2)`` is irrational. None when the tree is not a polynomial or
        has more than 5000 terms.
    """
    expansion = expand(tree)
    if expansion is None:
        return None
    used = {i for monomial in expansion.terms for i, e in enumerate(monomial) if e}
    columns: dict[int, int] = {}
    constants: dict[int, float] = {}
    for place, atom in expansion.atoms.values():
        if isinstance(atom, Var):
            columns[place] = atom.index
        elif place in used:
            if variables(atom):
                return None
            constants[place] = float(evaluate(atom, np.zeros((1, r)), np))
    result: dict[tuple[int, ...], Fraction | float] = {}
    for monomial, coefficient in expansion.terms.items():
        exponents = [0] * r
        for place, e in enumerate(monomial):
            if place in columns:
                exponents[columns[place]] = e
        if not constants:
            result[tuple(exponents)] = Fraction(coefficient)
            continue
        try:
            factor = prod(
                value ** monomial[i] for i, value in constants.items() if i < len(monomial)
            )
            total = float(result.get(tuple(exponents), 0.0)) + float(coefficient) * factor
        except OverflowError:
            return None
        if not isfinite(total):
            return None
        result[tuple(exponents)] = total
    return {m: c for m, c in result.items() if c}
