"""The text of a law of the label is turned into that law, in its simplest form.

Latent variables on which nothing depends are left out. Those that enter linearly make a normal law,
or a probit law inside a sign or a step. A law without randomness is a formula.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LinkError
from learnability.expressions.calculus import differentiate, evaluate
from learnability.expressions.crossings import points_beside_breaks
from learnability.expressions.parse import quote
from learnability.expressions.structure import break_expressions
from learnability.expressions.text import to_text
from learnability.expressions.tree import (
    FIRST_LATENT,
    ONE,
    ZERO,
    Call,
    Tree,
    Var,
    call,
    const,
    div,
    neg,
    product_of,
    substitute,
    sum_of,
    variables,
)
from learnability.labels.continuous_laws import GaussianLaw, LatentLaw
from learnability.labels.finite_laws import FiniteLaw
from learnability.labels.laws import Law, probe_points
from learnability.labels.special_laws import CellLaw, PoissonLaw

if TYPE_CHECKING:
    from learnability.labels.link import Link

__all__ = ["law_of", "written"]

Array = NDArray[np.float64]

_MOST_LATENTS = 3
_HALF = const(Fraction(1, 2))


def written(word: str | None, trees: Sequence[Tree], r: int) -> str:
    """Return the text of a law, in ``z`` when r = 1."""
    parts = [to_text(tree, "z" if r == 1 else "z{}") for tree in trees]
    return parts[0] if word is None else f"{word}({', '.join(parts)})"


def law_of(word: str | None, trees: tuple[Tree, ...], r: int) -> Law | Tree:
    """Return the law, or the formula of a label that is not random.

    Parameters
    ----------
    word : str or None
        One of `LAW_WORDS`, or None for a formula.
    trees : tuple of Tree
        Its arguments, or the one formula.
    r : int
        Number of hidden coordinates.

    Raises
    ------
    LinkError
        When it is not a law: it has probabilities outside [0, 1], negative rates, or flips labels
        other than +1 and -1.
    """
    name = written(word, trees, r)
    trees = tuple(_without_idle(tree) for tree in trees)
    if word is None:
        return _formula(trees[0], r, name)
    if word == "poisson":
        (rate,), latents = _numbered(trees, r)
        return PoissonLaw(_link(rate, r + latents), latents, name)
    labels = [-1.0, 1.0] if word == "flip" else [float(k) for k in range(max(len(trees), 2))]
    if word == "flip":
        _check_signs(trees[0], name)
        trees = (_expected_sign(trees[0], trees[1]), trees[1])
        mean = product_of([trees[0], sum_of([ONE, neg(product_of([const(2), trees[1]]))])])
        plus = product_of([_HALF, sum_of([ONE, mean])])
        chances: tuple[Tree, ...] = (product_of([_HALF, sum_of([ONE, neg(mean)])]), plus)
        _check_chance(trees[1], r, name)
    elif word == "bernoulli":
        mean = trees[0]
        chances = (sum_of([ONE, neg(mean)]), mean)
    else:
        chances = trees
        mean = sum_of(product_of([const(k), tree]) for k, tree in enumerate(trees))
    fields, latents = _numbered(chances, r)
    links = [_link(tree, r + latents) for tree in fields]
    law = FiniteLaw(
        labels,
        links,
        latents=latents,
        name=name,
        given_mean=None if latents else _link(mean, r),
    )
    if latents:
        return law
    points = probe_points(r, links)
    # Points on the axes are left out, since a sign is zero there.
    likely = np.concatenate([points[:4096], points[len(probe_points(r)) :]])
    seen = law.probabilities(likely)
    return mean if np.isin(seen, (0.0, 1.0)).all() else law


def _link(tree: Tree, size: int) -> Link:
    from learnability.labels.link import Link

    return Link._from_tree(tree, size)


def _latents(tree: Tree) -> list[int]:
    return sorted(index for index in variables(tree) if index >= FIRST_LATENT)


def _numbered(trees: Sequence[Tree], r: int) -> tuple[list[Tree], int]:
    """Trees whose latent variables are the ones after the first r, and how many there are."""
    names = sorted({index for tree in trees for index in _latents(tree)})
    if len(names) > _MOST_LATENTS:
        raise LinkError(
            f"A label with {len(names)} latent variables that do not enter linearly was given, "
            f"but at most {_MOST_LATENTS} are accepted."
        )
    if r + len(names) > FIRST_LATENT:
        raise LinkError(
            f"A label of {r} hidden coordinates and {len(names)} latent variables was given, but "
            f"at most {FIRST_LATENT} in all are accepted."
        )
    turn: dict[int, Tree] = {index: Var(r + k) for k, index in enumerate(names)}
    return [substitute(tree, turn) for tree in trees], len(names)


def _points(seed: int) -> Array:
    """Values of all visible and latent variables at fixed points."""
    return np.random.default_rng(seed).standard_normal((256, FIRST_LATENT + 10))


def _values(tree: Tree, points: Array) -> Array:
    return np.broadcast_to(np.asarray(evaluate(tree, points, np), dtype=float), len(points))


def _beside(tree: Tree) -> Array:
    """Values of all variables beside the breaks of a tree, in cells that samples may not meet."""
    active = sorted(variables(tree))

    def everything(points: Array) -> Array:
        found = np.zeros((len(points), FIRST_LATENT + 10))
        found[:, active] = points
        return found

    def values(edge: Tree) -> Callable[[Array], Array]:
        return lambda points: _values(edge, everything(points))

    beside = points_beside_breaks([values(edge) for edge in break_expressions(tree)], len(active))
    return everything(beside)


def _unchanged(tree: Tree, index: int) -> bool:
    """Whether the value of a tree does not depend on one variable."""
    first = np.concatenate([_points(41), _beside(tree)])
    other = first.copy()
    other[:, index] = np.resize(_points(43)[:, index], len(first))
    a, b = _values(tree, first), _values(tree, other)
    scale = 1e-12 * (np.abs(a) + np.median(np.abs(a)))
    return bool(np.isfinite(a).all() and (np.abs(a - b) <= scale).all())


def _without_idle(tree: Tree) -> Tree:
    """The tree without the latent variables on which its value does not depend."""
    idle = {index: ONE for index in _latents(tree) if _unchanged(tree, index)}
    return substitute(tree, dict(idle)) if idle else tree


def _linear(tree: Tree) -> tuple[Tree, Tree] | None:
    """Return (a, b^2) of a tree that is a + sum_i b_i xi_i; None for others."""
    names = _latents(tree)
    if any(_latents(edge) for edge in break_expressions(tree)):
        return None
    nothing: dict[int, Tree] = dict.fromkeys(names, ZERO)
    slopes = [differentiate(tree, index) for index in names]
    if any(not _unchanged(slope, index) for slope in slopes for index in names if _latents(slope)):
        return None
    a, slopes = substitute(tree, nothing), [substitute(slope, nothing) for slope in slopes]
    points = _points(47)
    whole = _values(a, points) + sum(
        _values(b, points) * points[:, index] for b, index in zip(slopes, names, strict=True)
    )
    value = _values(tree, points)
    close = np.abs(whole - value) <= 1e-11 * (np.abs(value) + np.median(np.abs(value)))
    if not (np.isfinite(whole).all() and close.all()):
        return None
    return a, sum_of(product_of([b, b]) for b in slopes)


def _formula(tree: Tree, r: int, name: str) -> Law | Tree:
    if not _latents(tree):
        return tree
    straight = _linear(tree)
    if straight is not None:
        mean, variance = (_link(part, r) for part in straight)
        if np.mean(np.asarray(variance(probe_points(r))) > 0) > 0.99:
            return GaussianLaw(mean, variance, name)
    chance = _probit(tree)
    if chance is not None:
        low = -1.0 if isinstance(tree, Call) and tree.name == "sign" else 0.0
        chances = [_link(t, r) for t in (sum_of([ONE, neg(chance)]), chance)]
        expected = sum_of([product_of([const(2), chance]), const(-1)]) if low else chance
        return FiniteLaw([low, 1.0], chances, name=name, given_mean=_link(expected, r))
    (core,), latents = _numbered([tree], r)
    link = _link(core, r + latents)
    if link.values is not None and link.breaks is not None:
        return CellLaw(link, latents, name)
    return LatentLaw(link, latents, name)


def _probit(tree: Tree) -> Tree | None:
    """P(+) for the sign or step of a function linear in its latent variables; else None."""
    if not isinstance(tree, Call) or tree.name not in ("sign", "step"):
        return None
    straight = _linear(tree.args[0])
    if straight is None:
        return None
    a, b = straight
    ratio = div(a, call("sqrt", product_of([const(2), b])))
    chance = product_of([_HALF, sum_of([ONE, call("erf", ratio)])])
    seen = _values(chance, _points(53))
    return chance if np.isfinite(seen).all() else None


def _expected_sign(label: Tree, p: Tree) -> Tree:
    """The mean of a label of +1 and -1 over its latent variables, where it has a formula."""
    chance = None if not _latents(label) or _latents(p) else _probit(label)
    return label if chance is None else sum_of([product_of([const(2), chance]), const(-1)])


def _check_signs(label: Tree, name: str) -> None:
    seen = np.unique(np.concatenate([_values(label, s * _points(59)) for s in (1.0, 3.0)]))
    if not np.isin(seen, (-1.0, 1.0)).all():
        other = next(float(v) for v in seen if v not in (-1.0, 1.0))
        raise LinkError(
            f"In {quote(name)} the label takes the value {other:.4g}, but `flip` is for labels "
            "that are +1 or -1, such as sign(z1*z2)."
        )


def _check_chance(p: Tree, r: int, name: str) -> None:
    (tree,), latents = _numbered([p], r)
    link = _link(tree, r + latents)
    points = probe_points(r + latents, [link])
    seen = np.asarray(link(points), dtype=float)
    wrong = ~((seen >= 0) & (seen <= 1))
    if wrong.any():
        raise LinkError(
            f"In {quote(name)} the probability of a flip is {seen[wrong][0]:.4g} at z = "
            f"{np.round(points[wrong][0][:r], 3).tolist()}, but it must lie between 0 and 1."
        )
