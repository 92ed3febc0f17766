"""Moments over latent coordinates of sums and products: each part by itself, at each point once.

Given z, parts that share no latent variable are independent: of a sum the means and variances add
up, of a product the first and second moments are multiplied. A part depends on few of the visible
coordinates, and on the grids of product rules these take few values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from learnability.expressions.tree import (
    Call,
    Const,
    Tree,
    Var,
    const,
    div,
    neg,
    product_of,
    substitute,
    sum_of,
    variables,
)
from learnability.labels._latents import first_two_moments
from learnability.labels._visible_arguments import at_many_numbers, visible_arguments

if TYPE_CHECKING:
    from learnability.labels.link import Link

__all__ = ["LatentParts", "at_different_points", "independent_parts", "independent_summands"]

Array = NDArray[np.float64]

_MANY, _SPARSE, _SHARED = 4096, 16, 2
"""From so many points on, one of sixteen tells whether half of them or more are repeated."""
_GRAINS = 2.0**40
"""Coordinates are told apart that differ by more than the inverse of this."""


@dataclass(frozen=True, eq=False)
class LatentParts:
    """A function of visible and latent coordinates, taken apart.

    Attributes
    ----------
    kind : {"whole", "sum", "product"}
        How the parts make up the function; a whole has none.
    parts : tuple of LatentParts
        Functions of disjoint sets of latent variables.
    function : Link or None
        Of a whole: a function of its own visible coordinates, or of `arguments` if it has latent
        ones, which come after them.
    visible : tuple of int
        Of a whole: its visible coordinates.
    latents : int
        Of a whole: the number of its latent ones.
    arguments : tuple of Link
        Of a whole with latent coordinates: functions of all visible coordinates.
    """

    kind: str
    parts: tuple[LatentParts, ...] = ()
    function: Link | None = None
    visible: tuple[int, ...] = ()
    latents: int = 0
    arguments: tuple[Link, ...] = ()

    def mean(self, z: Array) -> Array:
        """Return the mean given visible coordinates (n, r), of shape (n,)."""
        if self.function is not None:
            return np.asarray(self._of_whole(self.function, z, 1)[0])
        means = [part.mean(z) for part in self.parts]
        return np.asarray((np.sum if self.kind == "sum" else np.prod)(means, axis=0))

    def mean_and_variance(self, z: Array) -> tuple[Array, Array]:
        """Return both, given visible coordinates (n, r), each of shape (n,)."""
        if self.function is not None:
            first, second = self._of_whole(self.function, z, 2)
            return first, np.maximum(second - first**2, 0.0)
        means, variances = zip(*(part.mean_and_variance(z) for part in self.parts), strict=True)
        if self.kind == "sum":
            return np.sum(means, axis=0), np.sum(variances, axis=0)
        first = np.prod(means, axis=0)
        second = np.prod([m**2 + v for m, v in zip(means, variances, strict=True)], axis=0)
        return first, np.maximum(second - first**2, 0.0)

    def _of_whole(self, function: Link, z: Array, highest: int) -> Array:
        """Moments (highest, n) of a whole."""
        if not self.latents:
            value = np.asarray(function(z[:, self.visible or (0,)]), dtype=float)
            return np.stack([value, value**2][:highest])

        def moments(at: Array) -> Array:
            return first_two_moments(function, at, self.latents, highest)

        if not self.arguments:
            return moments(np.zeros((1, 0))).repeat(len(z), axis=1)
        at = np.column_stack([np.asarray(one(z), dtype=float) for one in self.arguments])
        if len(self.arguments) > 1:
            return at_different_points(moments, at)
        return at_many_numbers(lambda a: moments(a[:, None]), at[:, 0])


def independent_parts(core: Link, r: int) -> LatentParts:
    """Return parts of disjoint sets of latent variables, of which a function is made.

    Parameters
    ----------
    core : Link
        A function of r visible coordinates and the latent ones after them.
    r : int
        Number of visible coordinates.
    """
    if core.tree is None:
        own = tuple(core._from_tree(Var(k), r) for k in range(r))
        return LatentParts("whole", (), core, tuple(range(r)), core.r - r, own)
    return _split(core.tree, r)


def independent_summands(core: Link, r: int) -> tuple[Link, ...]:
    """Return functions of disjoint sets of latent variables that add up to a function.

    Each is a function of the variables that it depends on. Parameters are those of
    `independent_parts`.
    """
    if core.tree is None:
        return (core,)
    return tuple(_own(sum_of(group))[0] for group in _groups(_terms(core.tree), r))


def _own(tree: Tree) -> tuple[Link, list[int]]:
    """A function of the variables that occur in a tree, and which these are."""
    from learnability.labels.link import Link

    names = sorted(variables(tree))
    new = substitute(tree, {old: Var(k) for k, old in enumerate(names)})
    return Link._from_tree(new, max(len(names), 1)), names


def _split(tree: Tree, r: int) -> LatentParts:
    from learnability.labels.link import Link

    for kind, pieces, joined in (("sum", _terms, sum_of), ("product", _factors, product_of)):
        groups = _groups(pieces(tree), r)
        if len(groups) > 1:
            return LatentParts(kind, tuple(_split(joined(group), r) for group in groups))
    function, names = _own(tree)
    visible = tuple(k for k in names if k < r)
    latents = len(names) - len(visible)
    if not latents:
        return LatentParts("whole", (), function, visible)
    trees: tuple[Tree, ...] = tuple(map(Var, visible))
    short, found = visible_arguments(tree, visible)
    of_arguments = Link._from_tree(short, len(found) + latents)
    if of_arguments.tree is not None:
        function, trees = of_arguments, found
    arguments = tuple(Link._from_tree(one, r) for one in trees)
    return LatentParts("whole", (), function, visible, latents, arguments)


def _groups(pieces: Iterable[Tree], r: int) -> list[list[Tree]]:
    """Pieces that share latent variables together, and those that have none."""
    groups: list[tuple[set[int], list[Tree]]] = []
    for piece in pieces:
        latent, members = {k for k in variables(piece) if k >= r}, [piece]
        apart = []
        for other in groups:
            if other[0] & latent or not (other[0] or latent):
                latent, members = latent | other[0], [*other[1], *members]
            else:
                apart.append(other)
        groups = [*apart, (latent, members)]
    return [members for _, members in groups]


def _factors(tree: Tree) -> Iterator[Tree]:
    """The factors of a product, of the negative of one, or of a quotient."""
    if isinstance(tree, Call) and tree.name == "*":
        for arg in tree.args:
            yield from _factors(arg)
    elif isinstance(tree, Call) and tree.name == "neg":
        yield const(-1)
        yield from _factors(tree.args[0])
    elif isinstance(tree, Call) and tree.name == "/":
        yield from _factors(tree.args[0])
        yield div(const(1), tree.args[1])
    else:
        yield tree


def _terms(tree: Tree) -> Iterator[Tree]:
    """The terms of a sum, of the negative of one, or of a multiple of one."""
    if isinstance(tree, Call) and tree.name == "+":
        for arg in tree.args:
            yield from _terms(arg)
    elif isinstance(tree, Call) and tree.name == "neg":
        yield from (neg(term) for term in _terms(tree.args[0]))
    elif isinstance(tree, Call) and tree.name == "*":
        factors = [arg for arg in tree.args if not isinstance(arg, Const)]
        scale = [arg for arg in tree.args if isinstance(arg, Const)]
        if len(factors) == 1:
            yield from (product_of([*scale, term]) for term in _terms(factors[0]))
        else:
            yield tree
    elif isinstance(tree, Call) and tree.name == "/" and isinstance(tree.args[1], Const):
        yield from (div(term, tree.args[1]) for term in _terms(tree.args[0]))
    else:
        yield tree


def at_different_points(function: Callable[[Array], Array], z: Array) -> Array:
    """Return the values of a function (q, n), computed once where points are the same.

    Points that differ by rounding, as those of a turned grid do, are the same.

    Parameters
    ----------
    function : callable
        Points (m, k) -> values (q, m).
    z : array, shape (n, k)
        The points.
    """
    if len(z) < _MANY:
        return function(z)
    key = np.zeros(len(z))
    for j, column in enumerate(z.T):
        key += math.sqrt(j + 1.0) * np.round(_GRAINS * column)
    some = key[::_SPARSE]
    if len(np.unique(some)) * _SHARED > len(some):
        return function(z)
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    chosen = z[first]
    if np.abs(chosen[place] - z).max(initial=0.0) > 2 / _GRAINS:
        return function(z)
    return function(chosen)[:, place]
