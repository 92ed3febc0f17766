"""What a function of visible and latent coordinates takes of the visible ones.

tanh(z1*z2 + abs(z3) + xi) is a function of a = z1 z2 + |z3| and xi: averages over xi are a function
of one number, which is computed at the nodes of an adaptive table when many are asked for.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from learnability.expressions.tree import Call, Tree, Var, rebuild, substitute, variables

__all__ = ["at_many_numbers", "visible_arguments"]

Array = NDArray[np.float64]

_JOINED = ("+", "*", "max", "min")
"""Operations of many arguments, of which those without latent variables go together."""

_DEGREE, _TAIL = 18, 4
"""Degree of a panel of a table, and the last coefficients that have to be small."""
_PANELS, _HALVINGS = 8, 12
_EXACT, _ROUNDING = 1e-12, 1e-14
"""The largest last coefficients, relative to the values of a panel, and to all values."""


def visible_arguments(tree: Tree, visible: tuple[int, ...]) -> tuple[Tree, tuple[Tree, ...]]:
    """Return a function of arguments and latent coordinates, and the arguments.

    Parameters
    ----------
    tree : Tree
        A function of the visible coordinates named and of latent ones after them.
    visible : tuple of int
        The visible coordinates on which it depends.

    Returns
    -------
    function : Tree
        Of the arguments, which are its first variables, then of the latent ones in their order.
    arguments : tuple of Tree
        Functions of visible coordinates, no more than there are such coordinates.
    """
    found: dict[Tree, int] = {}
    first = 1 + max(variables(tree), default=0)

    def replaced(part: Tree) -> Tree:
        names = variables(part)
        if not names:
            return part
        if names <= set(visible):
            return Var(first + found.setdefault(part, len(found)))
        if not isinstance(part, Call):
            return part
        args = list(part.args)
        alone = [arg for arg in args if variables(arg) and variables(arg) <= set(visible)]
        if part.name in _JOINED and len(alone) > 1:
            rest = [arg for arg in args if arg not in alone]
            args = [rebuild(part.name, tuple(alone)), *rest]
        return rebuild(part.name, tuple(replaced(arg) for arg in args))

    new = replaced(tree)
    arguments = tuple(found)
    if len(arguments) > len(visible):
        new = substitute(tree, {k: Var(first + j) for j, k in enumerate(visible)})
        arguments = tuple(Var(k) for k in visible)
    latents = sorted(k for k in variables(new) if k < first)
    names: dict[int, Tree] = {first + j: Var(j) for j in range(len(arguments))}
    names |= {k: Var(len(arguments) + j) for j, k in enumerate(latents)}
    return substitute(new, names), arguments


def at_many_numbers(function: Callable[[Array], Array], a: Array) -> Array:
    """Return the values (q, n) of a function of one number, interpolated where it is smooth.

    Intervals are halved until the last Chebyshev coefficients are rounding errors. The function
    itself is called where an interval holds few numbers, or still has a kink after many halvings;
    on intervals where it overflows at every node it is taken as infinite.

    Parameters
    ----------
    function : callable
        Numbers (m,) -> values (q, m).
    a : array, shape (n,)
        The numbers.
    """
    order = np.argsort(a, kind="stable")
    ordered = a[order]
    if ordered[0] == ordered[-1]:
        return function(ordered[:1]).repeat(len(a), axis=1)
    edges = np.linspace(ordered[0], ordered[-1], _PANELS + 1)
    active = list(zip(edges[:-1], edges[1:], strict=True))
    found: Array | None = None
    largest = 0.0
    left: list[slice] = []
    nodes = np.cos((np.arange(_DEGREE + 1) + 0.5) * np.pi / (_DEGREE + 1))
    fit = np.linalg.inv(chebyshev.chebvander(nodes, _DEGREE))
    for _ in range(_HALVINGS):
        inside = [_between(ordered, *ends, edges[-1]) for ends in active]
        few = [here.stop - here.start <= 2 * _DEGREE for here in inside]
        left += [here for here, is_few in zip(inside, few, strict=True) if is_few]
        pairs = [pair for pair, is_few in zip(active, few, strict=True) if not is_few]
        inside = [here for here, is_few in zip(inside, few, strict=True) if not is_few]
        if not pairs:
            break
        low, high = np.array(pairs).T[..., None]
        values = function((0.5 * (low + high) + 0.5 * (high - low) * nodes).ravel())
        values = values.reshape(len(values), len(pairs), -1)
        if found is None:
            found = np.empty((len(values), len(a)))
        infinite = ~np.asarray(np.isfinite(values).any(axis=(0, 2)))
        largest = max(largest, float(np.abs(values[np.isfinite(values)]).max(initial=0.0)))
        with np.errstate(invalid="ignore"):
            coefficients = values @ fit.T
        allowed = _EXACT * np.abs(values).max(axis=2) + _ROUNDING * largest
        settled = np.abs(coefficients[..., -_TAIL:]).max(axis=2) <= allowed
        sound: NDArray[np.bool_] = (settled & np.isfinite(values).all(axis=2)).all(axis=0)
        active = []
        for k, here in enumerate(inside):
            start, end = pairs[k]
            if sound[k]:
                u = (2 * ordered[here] - start - end) / (end - start)
                found[:, order[here]] = chebyshev.chebval(u, coefficients[:, k].T)
            elif infinite[k]:
                found[:, order[here]] = values[:, k, :1]
            else:
                middle = 0.5 * (start + end)
                active += [(start, middle), (middle, end)]
    left += [_between(ordered, *ends, edges[-1]) for ends in active]
    rest = np.concatenate([np.arange(here.start, here.stop) for here in left] or [order[:0]])
    if len(rest):
        direct = function(ordered[rest])
        if found is None:
            found = np.empty((len(direct), len(a)))
        found[:, order[rest]] = direct
    assert found is not None
    return found


def _between(ordered: Array, low: float, high: float, last: float) -> slice:
    """The numbers of an interval, its end included where it is the last one."""
    start = int(np.searchsorted(ordered, low))
    return slice(start, len(ordered) if high >= last else int(np.searchsorted(ordered, high)))
