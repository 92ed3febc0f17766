"""The simplest label that carries the same information.

Without label noise, what is learnable depends on the label only through its level sets: y and T(y)
are the same label when T is one-to-one. Taking such outer functions away (a shift, a scale, a
sign, tanh, exp, an odd power) keeps the report the same under relabelling, and keeps the digits
that a saturating T rounds away: tanh(z^2 - 1) is z^2, and tanh(z + xi) is z with normal noise.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from learnability.expressions.calculus import evaluate
from learnability.expressions.tree import (
    FIRST_LATENT,
    Call,
    Const,
    Tree,
    Var,
    add,
    mul,
    power,
    substitute,
    variables,
)
from learnability.labels.channel import Channel
from learnability.labels.continuous_laws import LatentLaw
from learnability.labels.link import Link

__all__ = ["plain_channel", "plain_label"]

_ODD = {"neg", "tanh", "erf", "He1"}
_ONE_TO_ONE = {"exp", "log", "sqrt", "sigmoid", "softplus"}


def plain_label(link: Link, noisy: bool = False) -> Link:
    """Return a link with the same level sets, without outer functions that are one-to-one.

    Parameters
    ----------
    link : Link
        Any link; a function, and a random label that is none of latent variables, are returned as
        they are.
    noisy : bool
        Whether noise is added to the label, so that only constants that are added to it may go.
    """
    law = link.law
    whole = law.core.tree if isinstance(law, LatentLaw) else link.tree if law is None else None
    if whole is None:
        return link
    tree = _moving(whole) if noisy else _peeled(whole)
    if tree is whole:
        return link
    latents: dict[int, Tree] = {
        k: Var(FIRST_LATENT + k - link.r) for k in variables(tree) if k >= link.r
    }
    return Link._from_tree(substitute(tree, latents), link.r)


def plain_channel(channel: Channel) -> Channel:
    """Return a channel whose labels tell the same, by the plain label; see `plain_label`.

    Latent variables of it that are merely added become plain noise.

    Parameters
    ----------
    channel : Channel
        Any channel; of one with noise of its own only constants that are added go.
    """
    plain = plain_label(channel.link, channel.noise > 0)
    return channel if plain is channel.link else Channel(plain, channel.noise)


def _moving(tree: Tree) -> Tree:
    """The summands of a sum that are not constant."""
    if not isinstance(tree, Call) or tree.name != "+":
        return tree
    moving = [arg for arg in tree.args if variables(arg)]
    return add(moving) if 0 < len(moving) < len(tree.args) else tree


def _peeled(tree: Tree) -> Tree:
    inner = _inside(tree)
    while inner is not None:
        tree, inner = inner, _inside(inner)
    return tree


def _inside(tree: Tree, odd: bool = False) -> Tree | None:
    """The argument of the outermost operation if that is one-to-one (and odd), else None."""
    if not isinstance(tree, Call):
        return None
    if tree.name in (_ODD if odd else _ONE_TO_ONE | _ODD):
        return tree.args[0]
    moving = [arg for arg in tree.args if variables(arg)]
    fixed = [arg for arg in tree.args if not variables(arg)]
    if tree.name == "+" and moving and fixed and not odd:
        return add(moving)
    if tree.name == "*" and moving and fixed and all(map(_is_a_factor, fixed)):
        return mul(moving)
    if tree.name == "/" and len(moving) == 1 and all(map(_is_a_factor, fixed)):
        return moving[0]
    if tree.name == "**" and isinstance(tree.args[1], Const):
        return _base(tree.args[0], tree.args[1].value, odd)
    if tree.name == "abs" and not odd and (inner := _inside(tree.args[0], odd=True)) is not None:
        return Call("abs", (inner,))
    return None


def _is_a_factor(number: Tree) -> bool:
    """Whether a constant is finite and not zero."""
    value = float(np.ravel(evaluate(number, np.zeros((1, 1)), np))[0])
    return bool(np.isfinite(value)) and value != 0.0


def _base(base: Tree, exponent: Fraction, odd: bool) -> Tree | None:
    """The base of a power that is one-to-one; its square when only the sign is lost."""
    if exponent.denominator != 1:  # The base is nowhere negative, else the link is not finite.
        return None if odd else base
    if exponent % 2:
        return base
    if odd or not exponent:
        return None
    if (inner := _inside(base, odd=True)) is not None:
        return power(inner, 2)
    return power(base, 2) if exponent != 2 else None
