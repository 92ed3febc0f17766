"""Compositional information exponents: the degree at which a level of a target is first seen.

lev_k(N) = |P_k f|^2 / Var f in the variables of a level. CIE is the least k with lev_k of order one
as N grows. At one N nothing is decided: degree 2 of h^2 with P = He2 holds 18 percent at N = 16 and
vanishes like 1 / N. So lev_k is computed at several N, and the slope of log lev_k decides.

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
from learnability.targets.hierarchical import Hierarchical

__all__ = ["Exponent", "compositional_exponent"]

HIGHEST = 4
"""Degrees that are looked at."""
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
        The exponent; None when undecided, or when no degree up to 4 stays.
    undecided : bool
        Whether the numbers do not settle it.
    sizes : tuple of int
        The N at which shares were computed.
    shares : array, shape (sizes, 5)
        |P_k f|^2 / Var f by N and degree k.
    slopes : tuple of float
        Of log share against log N between the last two sizes, degrees 1 to 4; NaN for one size.
    verdicts : tuple of str
        "of order one", "vanishing", "zero" or "undecided", degrees 1 to 4.
    """

    value: int | None
    undecided: bool
    sizes: tuple[int, ...]
    shares: NDArray[np.float64]
    slopes: tuple[float, ...]
    verdicts: tuple[str, ...]

    def __str__(self) -> str:
        if self.value is not None:
            return str(self.value)
        return "undecided" if self.undecided else "above 4"


def compositional_exponent(
    target: Hierarchical, level: int = 1, sizes: Sequence[int] = (64, 256, 1024)
) -> Exponent:
    """Return the exponent in the variables of a level, from exact energies at several N.

    Parameters
    ----------
    target : Hierarchical
        The target; its own N is not used.
    level : int
        1 for the directions z, 2 for the features over them, and so on up to the last features. In
        trees, levels further below the last features than one are composed: their exponent is
        that of the level above times the information exponent of P.
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
    if level < last - 1:
        above = compositional_exponent(target, level + 1, sizes)
        inner = expand(target.polynomial, target.degree).information_exponent
        value = None if above.value is None or inner is None else above.value * inner
        return replace(above, value=value)
    shares = np.array([_shares(replace(target, epsilon=None, depth=3, N=(N,)), level == last)
                       for N in several])  # fmt: skip
    found = [_verdict(shares[:, k], several) for k in range(1, HIGHEST + 1)]
    verdicts = tuple(name for name, _ in found)
    slopes = tuple(slope for _, slope in found)
    value, undecided = None, False
    for k, name in enumerate(verdicts, 1):
        if name == "undecided":
            undecided = True
            break
        if name == "of order one":
            value = k
            break
    return Exponent(value, undecided, several, shares, slopes, verdicts)


def _shares(target: Hierarchical, of_features: bool) -> NDArray[np.float64]:
    composition = target.composition
    if not of_features:
        return target.levels(HIGHEST) / composition.variance
    return np.asarray(composition.feature_energies(HIGHEST).sum(axis=0) / composition.variance)


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
