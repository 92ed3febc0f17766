"""The share of each direction that the second moment of the labels recovers.

C = (1/n) sum_i T_i x_i x_i^T, T = y - E y, has the mean M = E[T (z z^T - I)] on the D hidden
directions z. Let v be an eigenvector of M with eigenvalue theta, and d' = d - D. The other d'
inputs are independent of the labels, so that the eigenvalue of C that belongs to v and the overlap
of its eigenvector with v follow from the law of (T, v.z) alone: with u the root of

    d' / (n u) = theta + u a_2 + u^2 a_3 ,   a_k = v.E[T^k (z z^T - I)] v ,   A = d' / (n u^2) ,
    m^2 = (A - k_2 - 2 u k_3) / (A + a_2 + 2 u a_3) ,      k_j = E T^j ,

to second order in u T, which is small of order (d / n)^(1/2). To first order m^2 = 1 - n*/n with
n* = d' E[T^2] / theta^2, below which v is not seen. Eigenvectors that find no direction are uniform
in the remaining space. Near n* a finite dimension rounds the transition, and a few labels so large
that u T is of order one have eigenvectors of their own: there only bounds are given.

References
----------
Baik, Ben Arous, Peche, Ann. Probab. 33 (2005); Benaych-Georges, Nadakuditi, Adv. Math. 227 (2011).
Lu, Li, Inf. Inference 9 (2020); Mondelli, Montanari, Found. Comput. Math. 19 (2019) (labels).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from learnability.targets.directions import second_moments
from learnability.targets.hierarchical import Hierarchical

__all__ = ["Recovered", "exact_directions", "recovered_directions"]

Array = NDArray[np.float64]

_FOUND, _LOST = 3.0, 0.25  # Values of n / n* between which the transition is rounded.
_ROUNDED = 0.3  # The largest share that a finite dimension shows below n*.
_LARGE = 0.6  # The largest u T of the largest label for which the expansion holds.


@dataclass(frozen=True)
class Recovered:
    """The share of the hidden directions in a first layer, in the basis of the directions.

    Attributes
    ----------
    basis : array, shape (D, D)
        Orthonormal columns v.
    share : array, shape (D,)
        The share m^2 of each v.
    least, most : array, shape (D,)
        Bounds of the share, equal to it where it is known.
    n_star : array, shape (D,)
        Samples from which each v is seen.
    reason : str
        Why some shares are not known; empty when all are.
    """

    basis: Array
    share: Array
    least: Array
    most: Array
    n_star: Array
    reason: str

    @property
    def overlap(self) -> float:
        """M_W, the root mean square length of the rows within the hidden subspace."""
        return math.sqrt(float(np.mean(self.share)))

    def matrix(self, share: Array) -> Array:
        """Return the projection W* P W*^T that belongs to shares, shape (D, D)."""
        return np.asarray((self.basis * share) @ self.basis.T)


def exact_directions(target: Hierarchical) -> Recovered:
    """Return directions that are known: every share is one."""
    D = target.r * target.sizes[0]
    one = np.ones(D)
    return Recovered(np.eye(D), one, one, one, np.zeros(D), "")


def recovered_directions(target: Hierarchical, d: int, n: float) -> Recovered:
    """Return the shares of all directions in the leading eigenvectors of C.

    Parameters
    ----------
    target : Hierarchical
        A target whose N is a number.
    d : int
        Dimension.
    n : float
        Number of samples.
    """
    theta, basis, a2, a3, k3 = _moments(target)
    D, k2 = len(theta), target.label_variance
    away = d - D
    if away == 0:
        one = np.ones(D)
        return Recovered(basis, one, one, one, np.zeros(D), "")
    seen = theta != 0
    n_star = np.full(D, math.inf)
    n_star[seen] = away * k2 / theta[seen] ** 2
    share, steep = np.zeros(D), np.zeros(D)
    for k in np.flatnonzero(seen):
        share[k], steep[k] = _share(away / n, theta[k], a2[k], a3[k], k2, k3)
    ratio = n / n_star
    found = ratio > 1
    share = np.where(found, share, 0.0)
    least, most = share.copy(), share.copy()
    near = seen & (ratio < _FOUND) & (ratio > _LOST)
    rounding = np.where(ratio < 1.5, _ROUNDED * np.minimum(ratio, 1), 0.08)
    most = np.where(near, np.minimum(share + rounding, 1.0), most)
    least = np.where(near, np.maximum(share - 0.08, 0.0), least)
    reason = ""
    if near.any():
        reason = (
            f"n is {ratio[near].min():.2g} to {ratio[near].max():.2g} times the n* of "
            f"{int(near.sum())} of {D} directions, where a finite dimension rounds the transition"
        )
    largest = target.composition.tail(min(1 / n, 0.5)) + 3 * math.sqrt(target.noise)
    heavy = found & (steep * largest > _LARGE)
    # Inputs with large labels are large along the directions: they show an unknown share of those
    # that are not found.
    if math.sqrt(away / (n * k2)) * largest > _LARGE:
        heavy |= ~found
    if heavy.any():
        least = np.where(heavy, 0.0, least)
        most = np.where(heavy, np.where(found, np.minimum(share + 0.1, 1.0), 1.0), most)
        reason = (
            "a few labels are so large that they have leading eigenvectors of their own: the "
            f"largest of {n:g} is about {largest / math.sqrt(k2):.2g} standard deviations"
        )
    lost = D - int(found.sum())
    chance = lost / (d - D + lost)  # The share of any direction in random vectors.

    def with_chance(values: Array) -> Array:
        return np.asarray(values + (1 - values) * chance)

    share, least, most = with_chance(share), with_chance(least), with_chance(most)
    missing = float(np.sum(1 - share))
    if missing > away:  # D vectors leave out `away` dimensions, so the shares miss no more.
        share = 1 - (1 - share) * away / missing
        least, most = np.maximum(least, share), np.ones(D)
        reason = reason or (
            f"only {away} dimensions are left besides the {D} directions, too few for a theory of "
            "their noise"
        )
    return Recovered(basis, share, least, most, n_star, reason)


def _share(
    c: float, theta: float, a2: float, a3: float, k2: float, k3: float
) -> tuple[float, float]:
    """Return m^2 of a direction and |u|; c = d' / n."""
    u = c / theta
    for _ in range(50):
        slope = theta + u * a2 + u**2 * a3
        if slope * theta <= 0:
            return 0.0, abs(u)
        u = 0.5 * (u + c / slope)
    A = c / u**2
    bottom = A + a2 + 2 * u * a3
    if bottom <= 0:
        return 0.0, abs(u)
    return min(max((A - k2 - 2 * u * k3) / bottom, 0.0), 1.0), abs(u)


def _moments(target: Hierarchical) -> tuple[Array, Array, Array, Array, float]:
    """Return theta, the basis, a_2, a_3 and k_3; theta is zero where only rounding is left."""
    composition, size = target.composition, target.sizes[0]
    first, second, third = (second_moments(composition, size, power) for power in (1, 2, 3))
    theta, basis = np.linalg.eigh(first)
    error = float(np.abs(first - second_moments(composition, size, 1, True)).max())
    floor = max(10 * error, 1e-7 * math.sqrt(target.label_variance))
    theta = np.where(np.abs(theta) > floor, theta, 0.0)
    third = third + 3 * target.noise * first

    def along(matrix: Array) -> Array:
        return np.asarray(np.einsum("ik,ij,jk->k", basis, matrix, basis))

    return theta, basis, along(second), along(third), float(target.composition.powered(3).flat[0])
