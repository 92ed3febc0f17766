"""The scales of the levels of a tree that give its features unit variance, exactly.

h = c s^(-1/2) sum_{i <= s} a_i P(x_i) over independent copies of a feature x of the level below.
The variables of the first level are Gaussian. Above it they are not, and with few of them under a
feature they are far from it: over four squares He2 the variance of He2(x) is 5, not 2. Cumulants of
a sum are sums of cumulants, so that moments follow level by level from exact algebra. The variance
at the top of L levels needs moments of order 2 k^L of the Gaussian, k the degree of P.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from learnability.errors import LearnabilityError
from learnability.labels.link import Link
from learnability.targets.tree import sign_counts

__all__ = ["level_scales"]

MOST = 200
"""The highest order of a moment that is computed."""


@lru_cache(maxsize=64)
def level_scales(polynomial: Link, sizes: tuple[int, ...], signs: str) -> tuple[float, ...]:
    """Return the factor c of every level.

    Parameters
    ----------
    polynomial : Link
        P, a polynomial of one variable.
    sizes : tuple of int
        Numbers of variables of the levels, directions first.
    signs : str
        "balanced" or "ones".
    """
    terms = {sum(powers): Fraction(c) for powers, c in (polynomial.polynomial or {}).items()}
    k, top = max(terms), len(sizes)
    if 2 * k**top > MOST:
        raise LearnabilityError(
            f"A tree of {top} levels of a polynomial of degree {k} was given, but unit variance of "
            f"its features needs moments of order {2 * k**top}, and those up to {MOST} are "
            "computed: use fewer levels or a lower degree."
        )
    moments = _gaussian_moments(2 * k**top)
    scales = []
    for level, (size, above) in enumerate(zip(sizes, (*sizes[1:], 1), strict=True)):
        order = 2 * k ** (top - level - 1)
        of_term = _cumulants(_composed(terms, moments, order))
        plus, minus = sign_counts(signs, size // above)
        factor = 1 / math.sqrt((plus + minus) * of_term[2])
        scales.append(factor * math.sqrt(plus + minus))
        c = Fraction(factor)
        moments = _moments([(plus + (-1) ** m * minus) * v * c**m for m, v in enumerate(of_term)])
    return tuple(scales)


def _gaussian_moments(order: int) -> list[Fraction]:
    moments = [Fraction(1), Fraction(0)]
    for m in range(2, order + 1):
        moments.append((m - 1) * moments[m - 2])
    return moments


def _composed(
    terms: Mapping[int, Fraction], moments: Sequence[Fraction], order: int
) -> list[Fraction]:
    """Return moments of P(x) up to an order, from those of x."""
    power: dict[int, Fraction] = {0: Fraction(1)}
    found = [Fraction(1)]
    for _ in range(order):
        raised: dict[int, Fraction] = {}
        for a, u in power.items():
            for b, v in terms.items():
                raised[a + b] = raised.get(a + b, Fraction(0)) + u * v
        power = raised
        found.append(sum((c * moments[a] for a, c in power.items()), Fraction(0)))
    return found


def _cumulants(moments: Sequence[Fraction]) -> list[Fraction]:
    found = [Fraction(0)]
    for n in range(1, len(moments)):
        rest = sum(
            (math.comb(n - 1, j - 1) * found[j] * moments[n - j] for j in range(1, n)), Fraction(0)
        )
        found.append(moments[n] - rest)
    return found


def _moments(cumulants: Sequence[Fraction]) -> list[Fraction]:
    found = [Fraction(1)]
    for n in range(1, len(cumulants)):
        found.append(
            sum(
                (math.comb(n - 1, j - 1) * cumulants[j] * found[n - j] for j in range(1, n + 1)),
                Fraction(0),
            )
        )
    return found
