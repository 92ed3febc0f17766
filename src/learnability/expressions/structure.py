"""What can be read off a link before any integral: breaks, finitely many values, symmetries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations, product
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.expressions.operations import COMPARISONS, OPERATIONS, evaluate, raise_to
from learnability.expressions.polynomial import constant_value, expand
from learnability.expressions.tree import Call, Const, Tree, variables, walk

__all__ = ["Symmetry", "break_expressions", "possible_values", "symmetries"]

MOST_VALUES = 64
# Zero set of f(x) = zero set (or its boundary) of x; never zero at all.
_SAME_ZEROS = {"neg", "sign", "abs", "relu", "step", "sqrt", "tanh", "erf", "He1", "**"}
_NO_ZEROS = {"exp", "sigmoid", "softplus", "He0", "pi"}


def break_expressions(tree: Tree) -> tuple[Tree, ...]:
    """Trees whose zero sets together contain every jump, kink, pole and branch point of g.

    Products and the like are split into their factors; what cannot vanish is dropped; expressions
    that differ by a constant factor are listed once.
    """
    found: dict[str, Tree] = {}
    for node in walk(tree):
        if isinstance(node, Call):
            for expression in OPERATIONS[node.name].breaks(node.args):
                for factor in _factors(expression):
                    key = _direction(factor)
                    if key is not None:
                        found.setdefault(key, factor)
    return tuple(found.values())


def _factors(tree: Tree) -> Iterator[Tree]:
    """Trees whose zero sets are, together, that of `tree`."""
    if isinstance(tree, Call):
        if tree.name in ("*", "/"):
            for arg in tree.args:
                yield from _factors(arg)
            return
        if tree.name in _SAME_ZEROS:
            yield from _factors(tree.args[0])
            return
        if tree.name in _NO_ZEROS:
            return
    if variables(tree) and possible_values(tree) is None:
        yield tree


def _direction(tree: Tree) -> str | None:
    """Return a key up to a constant factor; None when the tree is seen to have no zero."""
    expansion = expand(tree)
    if expansion is None:
        return str(tree)
    terms = expansion.sorted_terms()
    if not terms or all(not powers for powers, _ in terms):
        return None
    even = all(e % 2 == 0 for powers, _ in terms for _, e in powers)
    if even and not terms[0][0] and len({c > 0 for _, c in terms}) == 1:
        return None  # a sum of even monomials and a number, all of one sign
    scale = terms[0][1]
    return str([(powers, Fraction(c) / scale) for powers, c in terms])


def possible_values(tree: Tree) -> frozenset[float] | None:
    """Return a finite set that holds almost surely the value of g, or None.

    The set may be too large (the events may exclude each other), never too small.
    """
    if isinstance(tree, Const):
        return frozenset({float(tree.value)})
    if not isinstance(tree, Call):
        return None
    if not variables(tree):
        value = float(evaluate(tree, np.zeros((1, 1)), np))
        return None if isnan(value) else frozenset({value})
    sets: list[frozenset[float]] = []
    for arg in tree.args:
        values = None if _is_condition(arg) else possible_values(arg)
        if values is None and not _is_condition(arg):
            return _values_of_infinite(tree)
        sets.append(values or frozenset())
    if tree.name == "where":
        return _bounded(sets[1] | sets[2])
    if tree.name in ("+", "*", "max", "min"):  # one argument at a time, to stay small
        total = sets[0]
        for values in sets[1:]:
            merged = _image(tree.name, [total, values])
            if merged is None:
                return _exact_value(tree)
            total = merged
        return total
    if tree.name == "**":
        exponent = tree.args[1]
        assert isinstance(exponent, Const)
        with np.errstate(all="ignore"):
            powers = [raise_to(np, np.float64(v), exponent.value) for v in sets[0]]
        return _bounded(frozenset(map(float, powers)))
    return _image(tree.name, sets)


def _is_condition(tree: Tree) -> bool:
    return isinstance(tree, Call) and (tree.name in COMPARISONS or tree.name == "chain")


def _bounded(values: frozenset[float]) -> frozenset[float] | None:
    values = frozenset(v + 0.0 for v in values if not isnan(v))
    return values if 0 < len(values) <= MOST_VALUES else None


def _image(name: str, sets: list[frozenset[float]]) -> frozenset[float] | None:
    """All values of an operation on a grid of arguments."""
    operation = OPERATIONS[name]
    with np.errstate(all="ignore"):
        return _bounded(
            frozenset(
                float(operation.evaluate(np, *map(np.float64, point))) for point in product(*sets)
            )
        )


def _exact_value(tree: Tree) -> frozenset[float] | None:
    value = constant_value(tree)
    try:
        return None if value is None else frozenset({float(value)})
    except OverflowError:
        return None


def _values_of_infinite(tree: Call) -> frozenset[float] | None:
    """Values of an operation one of whose arguments takes infinitely many values."""
    exact = _exact_value(tree)
    if exact is not None or tree.name not in ("sign", "step"):
        return exact
    argument = constant_value(tree.args[0])
    if argument is not None:
        return frozenset({float((argument > 0) - (argument < 0) * (tree.name == "sign"))})
    if tree.name == "step":
        return frozenset({0.0, 1.0})
    # An analytic argument vanishes on a null set; a kinked one, such as relu, on half of space.
    kinked = any(
        isinstance(n, Call) and OPERATIONS[n.name].breaks(n.args) for n in walk(tree.args[0])
    )
    return frozenset({-1.0, 0.0, 1.0}) if kinked else frozenset({-1.0, 1.0})


@dataclass(frozen=True)
class Symmetry:
    """A signed permutation P with g(Pz) = character * g(z), (Pz)_i = signs[i] z[permutation[i]].

    Attributes
    ----------
    permutation : tuple of int, length r
    signs : tuple of int, length r
        Each +1 or -1.
    character : int
        +1 or -1.
    """

    permutation: tuple[int, ...]
    signs: tuple[int, ...]
    character: int

    @property
    def matrix(self) -> NDArray[np.float64]:
        """P as an orthogonal matrix, shape (r, r)."""
        r = len(self.permutation)
        matrix = np.zeros((r, r))
        matrix[np.arange(r), list(self.permutation)] = self.signs
        return matrix


def _signed_permutations(r: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the full group for r <= 4; all sign flips and (signed) transpositions beyond."""
    identity = tuple(range(r))
    if r <= 4:
        yield from product(permutations(range(r)), product((1, -1), repeat=r))
        return
    for signs in product((1, -1), repeat=r):
        yield identity, signs
    for i, j in combinations(range(r), 2):
        swapped = list(identity)
        swapped[i], swapped[j] = j, i
        for sign in (1, -1):
            yield tuple(swapped), tuple(sign if k in (i, j) else 1 for k in range(r))


def symmetries(function: Callable[[NDArray[np.float64]], Any], r: int) -> tuple[Symmetry, ...]:
    """Return the signed permutations under which g is invariant or changes sign.

    Tested at 64 fixed random points and at three times them to a relative 1e-12, and at points
    ten and thirty times as far to 1e-6, to notice what happens only far out.

    Parameters
    ----------
    function : callable
        From an (n, r) array to an (n,) array.
    r : int

    Returns
    -------
    tuple of Symmetry
        The identity first. For r >= 5 only sign flips and transpositions are tried.
    """
    points = np.random.default_rng(20240131).standard_normal((64, r))
    batches = []
    for scale, tolerance in ((1, 1e-12), (3, 1e-12), (10, 1e-6), (30, 1e-6)):
        z = scale * points
        batches.append((z, np.asarray(function(z), dtype=float), tolerance))
    found = []
    for permutation, signs in _signed_permutations(r):
        characters = [1, -1]
        for z, value, tolerance in batches:
            image = np.asarray(function(z[:, list(permutation)] * np.array(signs)), dtype=float)
            characters = [c for c in characters if _same(image, c * value, tolerance)]
            if not characters:
                break
        if characters:
            found.append(Symmetry(permutation, signs, characters[0]))
    return tuple(found)


def _same(a: NDArray[np.float64], b: NDArray[np.float64], tolerance: float) -> bool:
    finite = np.isfinite(a)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return False
    a, b = a[finite], b[finite]
    if not a.size:
        return True
    scale = np.maximum(np.abs(a), np.abs(b)) + np.median(np.abs(a))
    return bool(np.all(np.abs(a - b) <= tolerance * scale))
