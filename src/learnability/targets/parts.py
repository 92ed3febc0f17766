"""A target, degree by degree, in variables that are partly known: energies, radial parts, features.

Where a variable z' has overlap m with a direction z, E[He_b(z) | z'] = m^b He_b(z'): the part
of degree j keeps m^j of itself (an Ornstein-Uhlenbeck contraction). Shares m^2 are given for each
feature and for each sign of the variables under it. The radial polynomial of degree 2 k in all D
variables is R_0k = sum prod_i He_{2 b_i}(z_i) / b_i! over b_1 + ... = k, up to its norm.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.targets._feature_law import FeatureLaw
from learnability.targets.hierarchical import Hierarchical

__all__ = ["Parts", "parts_by_degree"]

Array = NDArray[np.float64]


class Parts(NamedTuple):
    """The centred target in the variables that are known.

    Attributes
    ----------
    energies : array, shape (j,)
        The energies by degree, from 0.
    radial, squares : array, shape (k,)
        E[f R_0k] and E[(f - E f)^2 R_0k].
    features : array, shape (r, j)
        <P_j f, h_m>.
    feature_radial : array, shape (r, k)
        E[h_m R_0k].
    """

    energies: Array
    radial: Array
    squares: Array
    features: Array
    feature_radial: Array


def parts_by_degree(target: Hierarchical, shares: Array, dimension: int | None = None) -> Parts:
    """Return the parts of a target, and of its features.

    Parameters
    ----------
    target : Hierarchical
        A target whose N is a number.
    shares : array, shape (r, 2)
        m^2 of the directions under each feature, by the sign of its variable.
    dimension : int, optional
        Number of all variables, including those that the target ignores; by default the directions.
    """
    composition = target.composition
    r, highest = target.r, composition.highest
    degrees = _by_sign(composition.law)  # (types, 2)
    radial = _radial_weights(composition.law) * np.array([t.copies for t in composition.types])
    lengths = np.array([t.copies / t.norm for t in composition.types])
    total = _total([degrees.sum(axis=1)] * r, np.add)
    # There is one factor m for each degree, under each feature.
    shrunk = [np.prod(shares[m] ** (degrees / 2), axis=1) for m in range(r)]
    f, squared = composition.powered(1), composition.powered(2)
    count = highest // 2 + 1
    norms = _radial_norms(dimension or r * target.sizes[0], count)

    def radial_part(values: Array, kept: Array) -> Array:
        found = values * kept
        sums = [found[total == 2 * k].sum() for k in range(count)]
        return np.array(sums) / norms

    weights = _total([s * w for s, w in zip(shrunk, [radial] * r, strict=True)], np.multiply)
    shares_of_squares = _total([s**2 * lengths for s in shrunk], np.multiply)
    energies = f**2 * shares_of_squares
    by_degree = np.array([energies[total == j].sum() for j in range(highest + 1)])
    features, feature_radial = np.zeros((r, highest + 1)), np.zeros((r, count))
    h = composition.feature_coefficients
    for m in range(r):
        alone = tuple(slice(None) if k == m else 0 for k in range(r))
        products = f[alone] * h * shares_of_squares[alone]
        features[m] = [products[total[alone] == j].sum() for j in range(highest + 1)]
        own = h * weights[alone]
        feature_radial[m] = [own[total[alone] == 2 * k].sum() for k in range(count)] / norms
    return Parts(
        by_degree, radial_part(f, weights), radial_part(squared, weights), features, feature_radial
    )


def _total(values: list[Array], combine: np.ufunc) -> Array:
    """Return the sum or the product over features, shape (types,) * r."""
    found = values[0]
    for value in values[1:]:
        found = combine.outer(found, value)
    return np.asarray(found)


def _by_sign(law: FeatureLaw) -> Array:
    """Return the degree of each type on variables of sign +1 and of sign -1, shape (types, 2)."""
    below = [b for b in range(law.highest + 1)]
    if law.below is not None:
        below = [t.degree for t in law.below.types]
    return np.array(
        [[sum(below[k] for k in t.plus), sum(below[k] for k in t.minus)] for t in law.types],
        dtype=float,
    )


def _radial_weights(law: FeatureLaw) -> Array:
    """Return prod 1 / b_i! of each type prod He_{2 b_i}, and zero for others."""
    if law.below is None:
        kinds = [0.0 if b % 2 else 1 / math.factorial(b // 2) for b in range(law.highest + 1)]
    else:
        kinds = list(_radial_weights(law.below))
    return np.array([math.prod(kinds[k] for k in (*t.plus, *t.minus)) for t in law.types])


def _radial_norms(D: int, count: int) -> Array:
    """Return the norms of sum prod He_{2 b_i} / b_i!."""
    return np.array(
        [
            2.0**k
            * math.exp(0.5 * (math.lgamma(k + D / 2) - math.lgamma(D / 2) - math.lgamma(k + 1)))
            for k in range(count)
        ]
    )
