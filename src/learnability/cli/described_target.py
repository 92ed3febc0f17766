"""The target that an expression and the options of a command describe."""

from __future__ import annotations

from typing import Any

from learnability.errors import LearnabilityError
from learnability.targets.hierarchical import Hierarchical
from learnability.targets.multi_index import MultiIndex
from learnability.targets.sparse_parity import SparseParity
from learnability.targets.spiked_index import SpikedIndex

__all__ = ["described"]


def described(
    expression: str,
    noise: float = 0.0,
    *,
    polynomial: str | None = None,
    epsilon: float | None = None,
    directions: int | None = None,
    depth: int | None = None,
    spike: float | None = None,
    spike_exponent: float | None = None,
    alignment: float | None = None,
    alignment_exponent: float | None = None,
    anisotropy: float | None = None,
    hierarchical: bool = False,
) -> Any:
    """A MultiIndex, or the target whose own options are given.

    Parameters
    ----------
    expression : str
        The link.
    noise : float
        Variance of the label noise.
    polynomial, epsilon, directions, depth
        Of a Hierarchical; directions are its N.
    spike, spike_exponent, alignment, alignment_exponent
        Of a SpikedIndex.
    anisotropy : float, optional
        Of a SparseParity, of which the expression is the product.
    hierarchical : bool
        Whether a Hierarchical is wanted without any of its options.
    """
    tree = {"polynomial": polynomial, "epsilon": epsilon, "directions": directions, "depth": depth}
    long = {
        "spike": spike,
        "spike-exponent": spike_exponent,
        "alignment": alignment,
        "alignment-exponent": alignment_exponent,
    }
    families = [
        [name for name, value in options.items() if value is not None]
        for options in (tree, long, {"anisotropy": anisotropy})
    ]
    chosen = [names[0] for names in families if names]
    if len(chosen) > 1 or (hierarchical and chosen and not families[0]):
        other = f"`--{chosen[1]}`" if len(chosen) > 1 else "a learner of hierarchical targets"
        raise LearnabilityError(
            f"`--{chosen[0]}` was given with {other}: they belong to different targets."
        )
    if anisotropy is not None:
        signs = MultiIndex(expression, noise=noise)
        if signs.link != SparseParity(signs.r).link or noise:
            raise LearnabilityError(
                f"`--anisotropy` was given with {expression!r}, but it is for a parity such as "
                "z1*z2*z3, without noise."
            )
        return SparseParity(signs.r, anisotropy)
    if families[1]:
        cosine = 1.0 if alignment is None else alignment
        return SpikedIndex(expression, spike, cosine, noise, spike_exponent, alignment_exponent)
    if polynomial is not None or hierarchical:
        return Hierarchical(
            expression, polynomial or "He2(z)", epsilon, directions, 3 if depth is None else depth,
            noise=noise,
        )  # fmt: skip
    if families[0]:
        raise LearnabilityError(f"`--{chosen[0]}` was given, but it belongs to `--polynomial`.")
    return MultiIndex(expression, noise=noise)
