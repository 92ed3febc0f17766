"""The values of a link where they are finitely many: by algebra, and as seen in samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import isfinite, isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.expressions.arithmetic import COMPARISONS, raise_to
from learnability.expressions.calculus import evaluate
from learnability.expressions.crossings import points_beside_breaks
from learnability.expressions.operations import OPERATIONS
from learnability.expressions.polynomial import constant_value
from learnability.expressions.tree import Call, Const, Tree, variables, walk

__all__ = ["possible_values", "values_of"]

MOST_VALUES = 64
_SAMPLE = 2**14
_MOST_SAMPLED_VALUES = 32


def values_of(
    function: Callable[[NDArray[np.float64]], Any],
    tree: Tree | None,
    r: int,
    breaks: Sequence[Callable[[Any], Any]] | None = None,
) -> tuple[float, ...] | None:
    """Return the values of a function of r normal variables, sorted, or None when they are not few.

    Parameters
    ----------
    function : callable
        Points (n, r) -> values (n,).
    tree : Tree or None
        Its tree, whose possible values are kept when they are seen in a fixed sample; without one
        the sample alone decides.
    r : int
        Number of variables.
    breaks : sequence of callable
        Functions whose zero sets hold its breaks, where they are known: cells that the sample
        does not meet are looked for beside them.
    """
    beside = points_beside_breaks(breaks or (), r)
    first, second = np.random.default_rng(7).standard_normal((2, _SAMPLE, r))
    if tree is None:
        seen = np.unique(np.asarray(function(np.concatenate([first, 3 * first, beside]))))
        new = np.unique(np.asarray(function(np.concatenate([second, 3 * second]))))
        few = len(seen) <= _MOST_SAMPLED_VALUES and np.isin(new, seen).all()
        return tuple(map(float, seen)) if few else None
    possible = possible_values(tree)
    if possible is None:
        return None
    seen = np.unique(function(np.concatenate([first, 3 * first, beside])))
    seen = seen[np.isfinite(seen)]
    # Rounding may split a value in two: one of each cluster that was seen is kept.
    kept: list[float] = []
    for value in sorted(filter(isfinite, possible)):
        tolerance = 1e-12 * max(1.0, abs(value))
        close = len(kept) > 0 and value - kept[-1] <= tolerance
        if not close and len(seen) and np.min(np.abs(seen - value)) <= tolerance:
            kept.append(value)
    return tuple(kept)


def possible_values(tree: Tree) -> frozenset[float] | None:
    """Return a finite set that almost surely contains the value of g, or None.

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
    if tree.name in ("+", "*", "max", "min"):  # Merged one at a time, sets stay small.
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
    """Return all values of an operation on a grid of arguments."""
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
    """Return values of an operation one of whose arguments takes infinitely many values."""
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
