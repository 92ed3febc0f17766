"""Compositional information exponents: the degree at which a level of a target is first seen.

Let lev_k(N) = |P_k f|^2 / Var f in the variables of a level. The exponent (CIE) is the least k with
lev_k of order one as N grows. One N alone decides nothing: degree 2 of h^2 with P = He2 holds 18
percent at N = 16 and vanishes like 1 / N. In the limit features are Gaussian and He_m of one is a
sum of products of m different terms P(z_i), so that the energy of order m of g in the features of a
level is spread over sums of m independent degrees of P in the variables below:

    CIE(level) = IE(g) IE(P)^(levels in between) ,

where zero is decided by algebra and symmetry (`hermite`). For several features, a direction under
feature j first appears with the least order of g that contains h_j. Shares at several N, and the
slopes of their logarithms, show how the limit is reached, and decide where algebra does not.

References
----------
Dandi, Pesce, Zdeborova, Krzakala, arXiv:2502.13961 (with Hermite tensors in place of powers).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from learnability.errors import refuse
from learnability.fields import Declared, Several, Whole
from learnability.labels.hermite import expand
from learnability.labels.link import Link
from learnability.targets.hierarchical import Hierarchical

__all__ = ["Exponent", "compositional_exponent", "standardised_link"]

ORDERS = {1: 12, 2: 8}
"""Order up to which g is expanded, by the number of features; it is 5 for more features."""
_SLOPE = -0.25
_VANISHING = -0.5
_LEAST = 3e-3
_NOTHING = 1e-12


@dataclass(frozen=True)
class Exponent:
    """The compositional information exponent of a level.

    Attributes
    ----------
    value : int or None
        The exponent; None when undecided, or when g has no part up to the order it is expanded to.
    undecided : bool
        Whether the numbers do not settle it.
    sizes : tuple of int
        The N at which shares were computed.
    shares : array, shape (sizes, degrees)
        |P_k f|^2 / Var f by N and degree k, as far as they are resolved: up to 8 for one feature.
    slopes : tuple of float
        Slopes of log share against log N between the last two sizes, from degree 1; NaN for one
        size.
    verdicts : tuple of str
        "of order one", "vanishing", "zero" or "undecided", from degree 1.
    by_feature : tuple of int or None
        The exponent of the variables under each feature; None when it is undecided.
    """

    value: int | None
    undecided: bool
    sizes: tuple[int, ...]
    shares: NDArray[np.float64]
    slopes: tuple[float, ...]
    verdicts: tuple[str, ...]
    by_feature: tuple[int | None, ...]

    def __str__(self) -> str:
        if self.value is not None:
            return str(self.value)
        return "undecided" if self.undecided else "none"


def compositional_exponent(
    target: Hierarchical, level: int = 1, sizes: Sequence[int] = (64, 256, 1024)
) -> Exponent:
    """Return the exponent in the variables of a level, from exact energies at several N.

    Parameters
    ----------
    target : Hierarchical
        The target; its own N is not used.
    level : int
        1 for the directions z, 2 for the features over them, and so on up to the last features.
        Shares are those of the last level and of the one below it.
    sizes : sequence of int
        Numbers N of variables under a feature, growing. With one, nothing is decided.

    Returns
    -------
    Exponent
    """
    last = target.depth - 1
    level = Declared(Whole(at_least=1, at_most=last), "Level of the tree.").read("level", level)
    several = Declared(Several(Whole(at_least=1)), "Numbers N.").read("sizes", sizes)
    if not isinstance(several, tuple) or list(several) != sorted(several):
        raise refuse("sizes", sizes, "a list of growing whole numbers")
    found_at = [_shares(replace(target, epsilon=None, depth=3, N=(N,)), level == last)
                for N in several]  # fmt: skip
    known = min(map(len, found_at))  # Fewer degrees are known of larger sizes.
    shares = np.array([one[:known] for one in found_at])
    found = [_verdict(shares[:, k], several) for k in range(1, shares.shape[1])]
    verdicts = tuple(name for name, _ in found)
    slopes = tuple(slope for _, slope in found)
    if len(several) < 2:
        nothing = (None,) * target.r
        return Exponent(None, True, several, shares, slopes, verdicts, nothing)
    value, undecided, by_feature = _in_the_limit(target, last - level)
    if undecided and level >= last - 1:
        value, undecided = _by_slopes(verdicts)
    return Exponent(value, undecided, several, shares, slopes, verdicts, by_feature)


def _in_the_limit(
    target: Hierarchical, levels: int
) -> tuple[int | None, bool, tuple[int | None, ...]]:
    """Return the exponent, whether it is undecided, and those of each feature, by algebra."""
    g = expand(standardised_link(target), ORDERS.get(target.r, 5))
    inner = expand(target.polynomial, target.degree).information_exponent
    assert inner is not None
    factor = inner**levels
    orders: list[int | None] = [None] * target.r
    undecided = False
    floor = 1e-9 * math.sqrt(g.energy)
    for k in range(1, g.order + 1):
        zero = g.is_zero(k)
        if zero is None:
            undecided = True
            break
        if zero:
            continue
        for m in range(target.r):
            size = np.abs(g.tensors[k][m]).max() / math.sqrt(math.factorial(k))
            if orders[m] is None and size > floor + 10 * g.errors[k]:
                orders[m] = k
        if None not in orders:
            break
    known = [k for k in orders if k is not None]
    by_feature = tuple(None if k is None else k * factor for k in orders)
    return (min(known) * factor if known else None), undecided and not known, by_feature


def _by_slopes(verdicts: Sequence[str]) -> tuple[int | None, bool]:
    """Return the first degree whose share stays, and whether one before it is undecided."""
    for k, name in enumerate(verdicts, 1):
        if name == "undecided":
            return None, True
        if name == "of order one":
            return k, False
    return None, True


def standardised_link(target: Hierarchical) -> Link:
    """Return g as a function of features of unit variance.

    Parameters
    ----------
    target : Hierarchical
        The target.
    """
    scale, link = math.sqrt(target.feature_variance), target.link
    if scale == 1:
        return link
    if link.r == 1:
        return link.after(Link(f"{scale!r}*z"))
    return Link(lambda h: link(scale * h), r=link.r, breaks=() if link.breaks == () else None)


def _shares(target: Hierarchical, of_features: bool) -> NDArray[np.float64]:
    composition = target.composition
    if not of_features:
        return np.asarray(target.levels() / composition.variance)
    energies = composition.feature_energies(composition.highest).sum(axis=0)
    return np.asarray(energies / composition.variance)


def _verdict(shares: NDArray[np.float64], sizes: Sequence[int]) -> tuple[str, float]:
    """Return whether a share stays as N grows, and its slope."""
    if shares.max() < _NOTHING:
        return "zero", math.nan
    if len(sizes) < 2:
        return "undecided", math.nan
    ends = np.log(np.maximum(shares[-2:], 1e-300))
    slope = float((ends[1] - ends[0]) / math.log(sizes[-1] / sizes[-2]))
    if slope > _SLOPE and shares[-1] > _LEAST:
        return "of order one", slope
    return ("vanishing" if slope < _VANISHING else "undecided"), slope
