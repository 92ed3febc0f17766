"""Laws of labels with a density: normal ones, and functions of visible and latent coordinates."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from learnability.expressions.structure import Symmetry
from learnability.expressions.tree import Tree, Var, const, power_of, product_of, sum_of
from learnability.labels._latent_sums import (
    LatentParts,
    independent_parts,
    independent_summands,
)
from learnability.labels.laws import Law, probe_points

if TYPE_CHECKING:
    from learnability.labels.link import Link

__all__ = ["GaussianLaw", "LatentLaw"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GaussianLaw(Law):
    """The label is normal given z, with a mean and a variance that depend on z.

    Latent variables that enter a formula linearly give such a law.

    Attributes
    ----------
    location, dispersion : Link
        E[y | z] and Var(y | z), the latter nowhere negative.
    name : str
        The text.
    """

    kind: ClassVar[str] = "normal"
    integrated_by_core: ClassVar[bool] = True

    location: Link
    dispersion: Link
    name: str = field(compare=False)

    @property
    def r(self) -> int:  # type: ignore[override]
        """Number of hidden coordinates."""
        return self.location.r

    @property
    def mean(self) -> Link:
        """The regression function E[y | z]."""
        return self.location

    @property
    def variance(self) -> Link:
        """Var(y | z)."""
        return self.dispersion

    @property
    def parts(self) -> tuple[Link, ...]:
        """The mean and the variance."""
        return self.location, self.dispersion

    @property
    def values(self) -> tuple[float, ...] | None:
        """None, because the label has a density."""
        return None

    @cached_property
    def added(self) -> float | None:
        """The variance where it does not depend on z: the law is then that of added noise."""
        found = np.asarray(self.variance(probe_points(self.r, [self.variance])), dtype=float)
        level = float(found[0])
        return level if np.ptp(found) <= 1e-13 * abs(level) else None

    @cached_property
    def core(self) -> Link:  # type: ignore[override]
        """The label as a function of z and of one standard normal variable, the last one."""
        from learnability.labels.link import Link

        a, b = self.mean, self.variance
        if a.tree is not None and b.tree is not None:
            from learnability.expressions.tree import call

            tree = sum_of([a.tree, product_of([call("sqrt", b.tree), Var(self.r)])])
            return Link._from_tree(tree, self.r + 1)
        return Link(_Normal(a, b), r=self.r + 1, breaks=None)

    def sample(self, z: Array, rng: np.random.Generator) -> Array:
        """Return labels (...) of hidden coordinates (..., r)."""
        mean, variance = (np.asarray(f(z), dtype=float) for f in (self.mean, self.variance))
        return np.asarray(mean + np.sqrt(variance) * rng.standard_normal(mean.shape))

    def profile(self, z: Array) -> Array:
        """Return mean and variance (n, 2)."""
        return np.column_stack([self.mean(z), self.variance(z)])

    @property
    def mirror(self) -> Callable[[Array], Array] | None:
        """The function that changes the sign of the mean."""
        return _opposite

    def rotate(self, Q: Array) -> GaussianLaw:
        """Return the law of a label whose hidden coordinates are Q z."""
        return GaussianLaw(self.mean.rotate(Q), self.variance.rotate(Q), f"{self.name} turned")


@dataclass(frozen=True)
class LatentLaw(Law):
    """The label is a function of z and of latent standard normal variables.

    Attributes
    ----------
    core : Link
        The function, of r + latents variables.
    latents : int
        Number of latent variables, the last ones.
    name : str
        The text.
    """

    kind: ClassVar[str] = "latent"
    integrated_by_core: ClassVar[bool] = True

    core: Link
    latents: int
    name: str = field(compare=False)

    @property
    def r(self) -> int:  # type: ignore[override]
        """Number of hidden coordinates."""
        return self.core.r - self.latents

    @property
    def parts(self) -> tuple[Link, ...]:
        """The function of visible and latent coordinates."""
        return (self.core,)

    @property
    def values(self) -> tuple[float, ...] | None:
        """None, because there are infinitely many labels."""
        return None

    @cached_property
    def independent(self) -> LatentParts:
        """The parts of the function that are independent of each other given z."""
        return independent_parts(self.core, self.r)

    @cached_property
    def summands(self) -> tuple[Link, ...]:
        """Functions of disjoint latent variables that add up to the label, each of its own ones."""
        return independent_summands(self.core, self.r)

    @cached_property
    def mean(self) -> Link:
        """The regression function E[y | z]."""
        return self._moment(1)

    @cached_property
    def variance(self) -> Link:
        """Var(y | z)."""
        return self._moment(2)

    def _moment(self, order: int) -> Link:
        from learnability.labels.link import Link

        terms = self.core.polynomial
        if terms is not None and all(isinstance(c, Fraction | int) for c in terms.values()):
            first = _expectation(terms, self.r)
            if order == 1:
                return Link._from_tree(_tree_of(first), self.r)
            second = _expectation(_product(terms, terms), self.r)
            for key, value in _product(first, first).items():
                second[key] = second.get(key, 0) - value
            return Link._from_tree(_tree_of(second), self.r)
        return Link(LatentMoment(self, order), r=self.r, breaks=self._visible_breaks)

    @property
    def _visible_breaks(self) -> tuple[Link, ...] | None:
        """Breaks of the averages over latent variables; None where breaks along these may count."""
        from learnability.labels.link import Link

        found = []
        for link in self.core.breaks or (() if self.core.breaks is not None else (self.core,)):
            if link.tree is None:
                return None
            names = {node.index for node in _variables(link.tree)}
            if not names & set(range(self.r, self.core.r)):
                found.append(Link._from_tree(link.tree, self.r))
            elif not _moves_linearly(link, self.r):
                return None
        return tuple(found)

    def sample(self, z: Array, rng: np.random.Generator) -> Array:
        """Return labels (...) of hidden coordinates (..., r)."""
        xi = rng.standard_normal((*z.shape[:-1], self.latents))
        return np.asarray(self.core(np.concatenate([z, xi], axis=-1)))

    def profile(self, z: Array) -> Array:
        """Return labels (n, q) at fixed values of the latent variables."""
        raise NotImplementedError

    @property
    def mirror(self) -> Callable[[Array], Array] | None:
        """None, because symmetries are those of the function."""
        return None

    @cached_property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """The symmetries of the function that do not mix visible and latent variables."""
        found: dict[tuple[tuple[int, ...], tuple[int, ...]], Symmetry] = {}
        for s in self.core.symmetries:
            if set(s.permutation[: self.r]) == set(range(self.r)):
                key = s.permutation[: self.r], s.signs[: self.r]
                known = found.get(key)
                if known is None or s.character == 1:
                    found[key] = Symmetry(*key, s.character)
        return tuple(found.values())

    def rotate(self, Q: Array) -> LatentLaw:
        """Return the law of a label whose hidden coordinates are Q z."""
        turn = np.eye(self.core.r)
        turn[: self.r, : self.r] = Q
        return LatentLaw(self.core.rotate(turn), self.latents, f"{self.name} turned")


@dataclass(frozen=True)
class _Normal:
    """(z, xi) -> mean + sqrt(variance) xi."""

    mean: Link
    variance: Link

    def __call__(self, points: Any) -> Any:
        z, xi = points[..., :-1], points[..., -1]
        return self.mean(z) + self.variance(z) ** 0.5 * xi


@dataclass(frozen=True)
class LatentMoment:
    """E[y | z] (order 1) or Var(y | z) (order 2) of a function of latent variables."""

    law: LatentLaw
    order: int

    def __call__(self, z: Any) -> Any:
        """Return values (...) at points (..., r), in NumPy."""
        points = np.asarray(z, dtype=float).reshape(-1, self.law.r)
        parts = self.law.independent
        found = parts.mean(points) if self.order == 1 else parts.mean_and_variance(points)[1]
        return found.reshape(np.shape(z)[:-1])


def _opposite(profile: Array) -> Array:
    return np.asarray(profile * np.array([-1.0, 1.0]))


def _variables(tree: Tree) -> list[Var]:
    from learnability.expressions.tree import walk

    return [node for node in walk(tree) if isinstance(node, Var)]


def _moves_linearly(link: Link, r: int) -> bool:
    """Whether a function is linear in its latent variables, with a slope that never vanishes."""
    rng = np.random.default_rng(31)
    z, xi = rng.standard_normal((64, r)), rng.standard_normal((2, 64, link.r - r))
    slopes = [
        np.stack([link.gradient()[k](np.column_stack([z, x])) for k in range(r, link.r)])
        for x in xi
    ]
    steady = np.allclose(slopes[0], slopes[1], rtol=1e-10, atol=1e-12)
    fixed = np.allclose(slopes[0], slopes[0][:, :1], rtol=1e-10, atol=1e-12)
    return bool(steady and fixed and np.abs(slopes[0]).max() > 1e-9)


Terms = dict[tuple[int, ...], Fraction | float]


def _expectation(terms: Terms, r: int) -> Terms:
    """The average of a polynomial over its variables after the first r."""
    found: Terms = {}
    for exponents, factor in terms.items():
        latent = exponents[r:]
        if all(n % 2 == 0 for n in latent):
            moment = math.prod(math.prod(range(1, n, 2)) for n in latent)
            key = exponents[:r]
            found[key] = found.get(key, 0) + factor * moment
    return found


def _product(a: Terms, b: Terms) -> Terms:
    found: Terms = {}
    for m, c in a.items():
        for n, d in b.items():
            key = tuple(i + j for i, j in zip(m, n, strict=True))
            found[key] = found.get(key, 0) + c * d
    return found


def _tree_of(terms: Terms) -> Tree:
    return sum_of(
        product_of(
            [const(Fraction(factor)), *(power_of(Var(i), Fraction(n)) for i, n in enumerate(key))]
        )
        for key, factor in sorted(terms.items())
        if factor
    )
