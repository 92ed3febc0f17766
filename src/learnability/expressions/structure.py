"""What the formula of a link shows before any integral: its breaks and its symmetries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.expressions.crossings import points_beside_breaks
from learnability.expressions.operations import OPERATIONS
from learnability.expressions.polynomial import expand
from learnability.expressions.tree import ONE, Call, Tree, sum_of, variables, walk
from learnability.expressions.values import possible_values

__all__ = ["Symmetry", "break_expressions", "points_beside_jumps", "soft_edges", "symmetries"]

_SEGMENTS = 512

# Functions that vanish where x does (or on the boundary), and those that never vanish.
_SAME_ZEROS = {"neg", "sign", "abs", "relu", "step", "sqrt", "tanh", "erf", "He1", "**"}
_NO_ZEROS = {"exp", "sigmoid", "softplus", "He0", "pi"}


def break_expressions(tree: Tree) -> tuple[Tree, ...]:
    """Return trees whose zero sets together contain every jump, kink, pole and branch point of g.

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


def soft_edges(tree: Tree) -> tuple[Tree, ...]:
    """Return trees that vanish where a bounded smooth function turns from one level to the other.

    For tanh, erf and sigmoid of t that is t = 0, for exp of t it is t = -1. Where t is steep these
    surfaces bound cells as jumps do.
    """
    found: dict[str, Tree] = {}
    for node in walk(tree):
        if isinstance(node, Call) and node.name in ("tanh", "erf", "sigmoid", "exp"):
            edge = sum_of([node.args[0], ONE]) if node.name == "exp" else node.args[0]
            if variables(edge):
                found.setdefault(str(edge), edge)
    return tuple(found.values())


def _factors(tree: Tree) -> Iterator[Tree]:
    """Return trees whose zero sets are, together, that of `tree`."""
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
    """Return a key that ignores a constant factor; None when the tree is seen to have no zero."""
    expansion = expand(tree)
    if expansion is None:
        return str(tree)
    terms = expansion.sorted_terms()
    if not terms or all(not powers for powers, _ in terms):
        return None
    even = all(e % 2 == 0 for powers, _ in terms for _, e in powers)
    if even and not terms[0][0] and len({c > 0 for _, c in terms}) == 1:
        return None  # It is a sum of even monomials and a number, all of one sign.
    scale = terms[0][1]
    return str([(powers, Fraction(c) / scale) for powers, c in terms])


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


def symmetries(
    function: Callable[[NDArray[np.float64]], Any],
    r: int,
    mirror: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = np.negative,
    breaks: Sequence[Callable[[Any], Any]] | None = None,
) -> tuple[Symmetry, ...]:
    """Return the signed permutations under which g is invariant or changes sign.

    They are tested at 64 fixed random points and at three times these points to a relative 1e-12;
    at points ten and thirty times as far to 1e-6, to notice what happens only far out; and beside
    the jumps of g, to notice boundaries that turn or move a little and cells that samples miss.

    Parameters
    ----------
    function : callable
        It maps an (n, r) array to an (n,) array, or to an (n, q) array that determines the law.
    r : int
    mirror : callable or None
        What a change of sign of the label does to these values; None when it gives another law.
    breaks : sequence of callable
        Functions from an (n, r) array whose zero sets hold breaks of g, where they are known.

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
    beside = np.concatenate(
        [points_beside_jumps(function, r), points_beside_breaks(breaks or (), r)]
    )
    if len(beside):
        batches.append((beside, np.asarray(function(beside), dtype=float), 1e-6))
    found = []
    for permutation, signs in _signed_permutations(r):
        characters = [1] if mirror is None else [1, -1]
        for z, value, tolerance in batches:
            image = np.asarray(function(z[:, list(permutation)] * np.array(signs)), dtype=float)
            expected = {1: value} if mirror is None else {1: value, -1: mirror(value)}
            characters = [c for c in characters if _same(image, expected[c], tolerance)]
            if not characters:
                break
        if characters:
            found.append(Symmetry(permutation, signs, characters[0]))
    return tuple(found)


def points_beside_jumps(
    function: Callable[[NDArray[np.float64]], Any], r: int
) -> NDArray[np.float64]:
    """Return pairs of points at 2e-7 from each other with a jump of a function between them.

    A map that moves a boundary by more than that changes the value at one of them, though it may
    leave all values at random points unchanged.

    Parameters
    ----------
    function : callable
        It maps an (n, r) array to an (n,) or (n, q) array.
    r : int

    Returns
    -------
    array, shape (2 * k, r)
        At most 128 points; none when no jump was met.
    """
    rng = np.random.default_rng(20240201)
    low = 1.5 * rng.standard_normal((_SEGMENTS, r))
    step = rng.standard_normal((_SEGMENTS, r))
    high = low + 0.4 * step / np.linalg.norm(step, axis=1, keepdims=True)

    def value(z: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(function(z), dtype=float).reshape(len(z), -1)

    def change(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(invalid="ignore"):
            return np.asarray(np.nan_to_num(np.abs(b - a), posinf=0.0).max(axis=1))

    at_low, at_high = value(low), value(high)
    least = 0.1 * change(at_low, at_high)
    for _ in range(21):
        middle = 0.5 * (low + high)
        at_middle = value(middle)
        first = (change(at_low, at_middle) >= change(at_middle, at_high))[:, None]
        low, at_low = np.where(first, low, middle), np.where(first, at_low, at_middle)
        high, at_high = np.where(first, middle, high), np.where(first, at_middle, at_high)
    jump = np.nonzero(change(at_low, at_high) > least)[0][:64]
    return np.concatenate([low[jump], high[jump]])


def _same(a: NDArray[np.float64], b: NDArray[np.float64], tolerance: float) -> bool:
    finite = np.isfinite(a)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return False
    a, b = a[finite], b[finite]
    if not a.size:
        return True
    scale = np.maximum(np.abs(a), np.abs(b)) + np.median(np.abs(a))
    return bool(np.all(np.abs(a - b) <= tolerance * scale))
