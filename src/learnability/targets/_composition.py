"""Exact energies by degree of f = g(h_1 ... h_r), h the features of a tree of any depth, finite N.

E[g(h) prod_i He_{b_i}(z_i)] is the integral of g with the signed density of the features and the
product (`_feature_law`), one number for each type of product (`_partitions`). The energy of degree
j is the sum over its types of this number squared, divided by the norm and times the number of
products. The energies from half of the frequencies of the densities give the error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.gaussian.quadrature import axis_breaks
from learnability.gaussian.sections import Section
from learnability.labels.link import Link
from learnability.targets._feature_law import FeatureLaw
from learnability.targets._partitions import Type, hermite_powers, symmetric_sum

__all__ = ["Composition", "composed"]

Array = NDArray[np.float64]

_INNER = 0.9  # Beyond this share of the reach of the nodes, the part of f^2 bounds what they miss.
_ACCURACY = 2e-3
_CONSTANT = 1e-20  # A smaller variance, relative to the mean square, is that of a constant.


@dataclass(frozen=True)
class Composition:
    """The function g of features, and how it decomposes by degree of the directions under them.

    Parameters
    ----------
    link : Link
        The function g of r features.
    polynomial : Link
        P, a function of one variable with mean zero.
    plus, minus : int
        Number of variables of each sign under one feature.
    scale : float
        Factor s of the features.
    below : FeatureLaw, optional
        The law of a variable under a feature; by default it is a Gaussian direction.
    """

    link: Link
    polynomial: Link
    plus: int
    minus: int
    scale: float
    below: FeatureLaw | None = None

    @property
    def N(self) -> int:
        """Number of variables under one feature."""
        return self.plus + self.minus

    @cached_property
    def law(self) -> FeatureLaw:
        """The law of a feature, its nodes split at the breaks of g on the axes."""
        section = Section.whole(self.link)
        if self.link.r == 1:
            breaks = section.breakpoints if self.link.breaks is not None else np.zeros(0)
        else:
            breaks = np.concatenate(axis_breaks(section) or [np.zeros(0)])
        return FeatureLaw(
            self.polynomial, self.plus, self.minus, self.scale, self.below, self.link.r,
            tuple(float(b) for b in breaks),
        )  # fmt: skip

    @property
    def highest(self) -> int:
        """Highest degree that is resolved; lower for several features, whose types multiply."""
        return self.law.highest

    @property
    def spread(self) -> float:
        """Standard deviation of a feature."""
        return self.law.spread

    @property
    def types(self) -> list[Type]:
        """Types of Hermite products under one feature, degree 0 first."""
        return self.law.types

    @property
    def _nodes(self) -> tuple[Array, Array]:
        return self.law.nodes

    @property
    def _densities(self) -> tuple[Array, Array]:
        return self.law.densities

    @cached_property
    def _values(self) -> Array:
        """g at all nodes, shape (q,) * r."""
        h, _ = self._nodes
        grid = np.stack(np.meshgrid(*[h] * self.link.r, indexing="ij"), axis=-1)
        with np.errstate(all="ignore"):
            value = np.asarray(self.link(grid), dtype=float)
        if not np.isfinite(value).all():
            raise LearnabilityError(
                f"The function {self.link!r} of the features is not finite within "
                f"{h.max():.3g} of zero: use one that is, such as tanh(z)."
            )
        return value

    def _contracted(self, values: Array, law: Array) -> Array:
        """Expectations of values at the nodes times the products of every type, (types,) * r."""
        for _ in range(self.link.r):
            values = np.tensordot(values, law, axes=(0, 0))
        return values

    @cached_property
    def coefficients(self) -> Array:
        """E[f times a product] by type under each feature, shape (types,) * r."""
        return self._contracted(self._values, self._densities[0])

    @cached_property
    def feature_coefficients(self) -> Array:
        """E[h times a product] by type under the feature, shape (types,)."""
        return np.asarray(self._nodes[0] @ self._densities[0])

    def powered(self, power: int, rough: bool = False) -> Array:
        """Return E[(f - E f)^power times a product] by type, like `coefficients`.

        Parameters
        ----------
        power : int
            The power; 1 stands for the function itself.
        rough : bool
            Whether half of the frequencies are used: the difference shows the error.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            values = (self._values - self.mean) ** power
        return self._contracted(values, self._densities[int(rough)])

    def tail(self, share: float) -> float:
        """Return the value of |f - E f| that a given share of all inputs exceeds.

        Parameters
        ----------
        share : float
            The share, between 0 and 1.
        """
        size, beyond = self._tails
        return float(size[min(int(np.searchsorted(beyond, share)), len(size) - 1)])

    def rare(self, share: float) -> float:
        """Return how much of Var f comes from the given share of inputs with the largest values.

        Parameters
        ----------
        share : float
            The share, between 0 and 1.
        """
        size, beyond = self._tails
        squares = np.diff(beyond, prepend=0.0) * size**2
        return float(squares[beyond <= share].sum() / squares.sum())

    @cached_property
    def _tails(self) -> tuple[Array, Array]:
        """Values of |f - E f| at the nodes, the largest first, and the share that reaches them."""
        size = np.abs(self._values - self.mean).ravel()
        law = self._densities[0][:, 0]
        weight = law
        for _ in range(self.link.r - 1):
            weight = np.multiply.outer(weight, law)
        order = np.argsort(size)[::-1]
        return size[order], np.cumsum(np.maximum(weight.ravel()[order], 0.0))

    def _moment(self, values: Array) -> float:
        return float(self._contracted(values, self._densities[0][:, :1]).ravel()[0])

    @cached_property
    def mean(self) -> float:
        """E f."""
        return self._moment(self._values)

    @cached_property
    def variance(self) -> float:
        """Var f."""
        h, _ = self._nodes
        law = self._densities[0][:, :1]
        inner = np.where(np.abs(h)[:, None] > _INNER * h.max(), 0.0, law)
        with np.errstate(over="ignore", invalid="ignore"):
            squares = (self._values - self.mean) ** 2
            found = float(self._contracted(squares, law).ravel()[0])
            beyond = found - float(self._contracted(squares, inner).ravel()[0])
        if not abs(beyond) <= _ACCURACY * abs(found):
            raise LearnabilityError(
                f"The function {self.link!r} grows so fast in the tails of features of "
                f"{self.polynomial!r} with N = {self.N}, or their law is so far from smooth, that "
                "its variance is not known: use one that grows less, such as tanh(z), or a larger "
                "N."
            )
        return found

    @cached_property
    def feature_correlation(self) -> Array:
        """E[f h_m] by feature, shape (r,)."""
        h, _ = self._nodes
        shapes = np.eye(self.link.r, dtype=int) * (len(h) - 1) + 1
        return np.array([self._moment(self._values * h.reshape(shape)) for shape in shapes])

    @cached_property
    def _degrees(self) -> NDArray[np.int_]:
        """Total degree of every entry of the coefficients."""
        one = np.array([t.degree for t in self.types])
        total = np.zeros((1,) * self.link.r, dtype=int)
        for m in range(self.link.r):
            total = total + one.reshape([-1 if k == m else 1 for k in range(self.link.r)])
        return total

    def _by_type(self, one: Sequence[float]) -> Array:
        """Return products over the features of a number of each type."""
        total = np.ones((1,) * self.link.r)
        for m in range(self.link.r):
            total = total * np.array(one).reshape([-1 if k == m else 1 for k in range(self.link.r)])
        return total

    def _energies(self, coefficients: Array) -> Array:
        shares = coefficients**2 * self._by_type([t.copies / t.norm for t in self.types])
        return np.array([shares[self._degrees == j].sum() for j in range(self.highest + 1)])

    @cached_property
    def energies(self) -> Array:
        """|P_j f|^2 by degree from 0; the rest of E f^2 is of higher degree."""
        _ = self.variance  # It refuses what would overflow below.
        found = self._energies(self.coefficients)
        rough = self._energies(self._contracted(self._values, self._densities[1]))
        self._check(float(np.abs(found - rough).max()))
        return found

    def _check(self, error: float) -> None:
        if self.variance <= _CONSTANT * self.mean**2:
            raise LearnabilityError(
                f"The function {self.link!r} of the features is constant: there is nothing to "
                "learn."
            )
        if not error <= _ACCURACY * max(self.variance, 1e-300):
            raise LearnabilityError(
                f"The degree energies of {self.link!r} of {self.polynomial!r} with N = {self.N} "
                f"are known to {error:.1e} only: use a larger N, or a smoother function."
            )

    def feature_energies(self, degree: int) -> Array:
        """E[f He_k(h_m)]^2 / k! for k = 0 ... `degree`, h_m of unit variance, shape (r, k)."""
        h, _ = self._nodes
        shapes = np.eye(self.link.r, dtype=int) * (len(h) - 1) + 1
        powers = hermite_powers(h / self.spread, degree)
        return np.array(
            [
                [
                    self._moment(self._values * p.reshape(shape)) ** 2 / math.factorial(k)
                    for k, p in enumerate(powers)
                ]
                for shape in shapes
            ]
        )

    def project(self, z: Array, degrees: int) -> list[Array]:
        """Return the parts P_0 f ... P_degrees f at points.

        Parameters
        ----------
        z : array, shape (n, r, N)
            Variables under each feature, those of sign +1 first.
        degrees : int
            Highest degree, at most 4.

        Returns
        -------
        list of array, shape (n,)
        """
        kept = [k for k, t in enumerate(self.types) if t.degree <= degrees]
        sums = []
        for m in range(self.link.r):
            powers = hermite_powers(z[:, m], degrees)
            up = [p[:, : self.plus] for p in powers]
            down = [p[:, self.plus :] for p in powers]
            sums.append(
                [
                    symmetric_sum(self.types[k].plus, up) * symmetric_sum(self.types[k].minus, down)
                    for k in kept
                ]
            )
        parts = [np.zeros(len(z)) for _ in range(degrees + 1)]
        inverse = self._by_type([1 / t.norm for t in self.types])
        for index in np.ndindex(*(len(kept),) * self.link.r):
            degree = int(self._degrees[index])
            if degree <= degrees:
                product = self.coefficients[index] * inverse[index]
                parts[degree] += product * math.prod(
                    (sums[m][k] for m, k in enumerate(index)), start=np.ones(len(z))
                )
        return parts


@lru_cache(maxsize=32)
def composed(
    link: Link,
    polynomial: Link,
    blocks: tuple[tuple[int, int], ...],
    scales: tuple[float, ...],
) -> Composition:
    """Return the composition of g with a tree.

    Parameters
    ----------
    link, polynomial : Link
        The functions g and P.
    blocks : tuple of (int, int)
        Numbers of variables of each sign under a feature, level by level, directions first.
    scales : tuple of float
        Factors of the features over each level.
    """
    below = None
    for (plus, minus), scale in zip(blocks[:-1], scales[:-1], strict=True):
        below = FeatureLaw(polynomial, plus, minus, scale, below)
    return Composition(link, polynomial, *blocks[-1], scales[-1], below)
