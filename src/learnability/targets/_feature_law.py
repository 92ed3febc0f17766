"""The law of a feature h = s N^(-1/2) sum_i a_i P(x_i), alone and jointly with products below.

With phi_b(t) = E[exp(i t s P(x) / sqrt N) H_b], H_b a product of Hermite polynomials of what is
under the variable x, the variables being independent,

    E[exp(i t h) prod_i H_{b_i}] = prod_i phi_{b_i}(a_i t),

whose Fourier transform is the signed density rho_b(h) = E[delta(h - .) prod_i H_{b_i}]. The x are
Gaussian directions, with H_b = He_b, or features of the level below, whose own signed densities
then give phi: the laws climb a tree of any depth without an expansion in 1/N. Nodes in h are Gauss
rules split at given points; the sum over t is cut where phi_0^N has died, or fades out at a highest
frequency for few variables. Under a single variable the nodes are those of the variable itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.rules import legendre
from learnability.labels.link import Link
from learnability.targets._fourier import FourierSums
from learnability.targets._partitions import Type, hermite_powers, types_up_to

__all__ = ["FeatureLaw"]

Array = NDArray[np.float64]

DEGREE = 8
"""Highest degree that is resolved under one feature."""
MOST_TYPES = {1: 1500}
"""Degrees are resolved as long as all features together have at most this many types."""
_FREQUENCIES = (20.0, 40.0, 80.0, 160.0)  # The unit is one over the standard deviation of h.
_DEAD = 1e-13
_REACH = {True: 6.5, False: 5.0}  # This is how far one z reaches, by whether P has low degree.
_LOW = 4
_PANEL = {1: 0.2, 2: 0.4}  # A panel has this width in deviations of h, by the number of features.
_NODES = {1: 8, 2: 6}
_POINTS = {1: 400_000, 2: 2400, 3: 190}  # They are those of the variable when there is only one.
_MOST_POINTS = 8_000_000
_TYPES = 64  # This many types are transformed at once.
_DIRECT = 2**23


@dataclass(frozen=True)
class FeatureLaw:
    """The law of one feature of several equal ones.

    Parameters
    ----------
    polynomial : Link
        P, a function of one variable.
    plus, minus : int
        Number of variables of each sign under the feature.
    scale : float
        Factor s of the feature.
    below : FeatureLaw, optional
        The law of a variable; by default it is a Gaussian direction.
    features : int
        Number of such features in a function: with more of them there are fewer nodes.
    breaks : tuple of float
        Where nodes are split.
    """

    polynomial: Link
    plus: int
    minus: int
    scale: float
    below: FeatureLaw | None = None
    features: int = 1
    breaks: tuple[float, ...] = ()

    @property
    def N(self) -> int:
        """Number of variables under the feature."""
        return self.plus + self.minus

    @cached_property
    def highest(self) -> int:
        """Highest degree of the directions that is resolved."""
        most = DEGREE if self.below is None else self.below.highest
        allowed = MOST_TYPES.get(self.features, 60_000)
        while most > 1 and len(self._types(most)) ** self.features > allowed:
            most -= 1
        return most

    def _types(self, degree: int) -> list[Type]:
        kinds = None if self.below is None else self.below.types
        return types_up_to(degree, self.plus, self.minus, kinds)

    @cached_property
    def types(self) -> list[Type]:
        """Types of Hermite products of directions under the feature, degree 0 first."""
        return self._types(self.highest)

    @cached_property
    def spread(self) -> float:
        """Standard deviation of the feature, from that of one variable."""
        if self.below is None:
            x, law = _normal_grid(2000)
        else:
            x, law = self.below.nodes[0], self.below.densities[0][:, 0]
        return self.scale * math.sqrt(float(law @ self.P(x) ** 2))

    def P(self, x: Array) -> Array:
        """Return values of the polynomial."""
        return np.asarray(self.polynomial(x[..., None]), dtype=float)

    @cached_property
    def _degree(self) -> int:
        return max(sum(powers) for powers in self.polynomial.polynomial or {(1,): 1})

    @cached_property
    def _reach(self) -> float:
        """The largest size of one variable in the tails of the feature."""
        if self.below is None:
            return _REACH[self._degree <= _LOW]
        x, law = self.below.nodes[0], self.below.densities[0][:, 0]
        order = np.argsort(np.abs(x))
        left = np.cumsum(np.abs(law[order])[::-1])[::-1]  # This is the weight from a node outwards.
        kept = np.abs(x[order])[left > 1e-9]
        return float(kept.max())

    @cached_property
    def nodes(self) -> tuple[Array, Array]:
        """Nodes and weights in h, split at the breaks; nodes of the variable for N = 1."""
        if self._single:
            z, weights = _normal_grid(_POINTS[self.features])
            sign = 1.0 if self.plus else -1.0
            return sign * self.scale * self.P(z), weights
        tail = np.abs(self.P(np.linspace(-self._reach, self._reach, 401))).max() * self.scale
        reach = 8 * self.spread + tail / math.sqrt(self.N)
        r = self.features
        nodes, panel = _NODES.get(r, 4), _PANEL.get(r, 1.0)
        most = _MOST_POINTS ** (1 / r)
        count = min(math.ceil(2 * reach / (panel * self.spread)), int(most / nodes))
        # Panels grow towards the tails, which have little mass.
        u = np.linspace(-1, 1, count + 1)
        even = reach * (0.4 * u + 0.6 * u**3)
        inside = [b for b in self.breaks if abs(b) < reach]
        edges = np.unique(np.concatenate([even, inside]))
        x, w = legendre(nodes)
        half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
        return (middle[:, None] + half[:, None] * x).ravel(), (half[:, None] * w).ravel()

    @property
    def _single(self) -> bool:
        return self.N == 1 and self.below is None

    @cached_property
    def densities(self) -> tuple[Array, Array]:
        """Weights times rho of every type (q, types), with all and with half of the frequencies."""
        h, weights = self.nodes
        if self._single:
            z, _ = _normal_grid(len(h))
            every = np.array(hermite_powers(z, self.highest)).T * weights[:, None]
            coarse = np.where(np.arange(len(z))[:, None] % 2, 0.0, 2 * every)
            return every, coarse
        step = math.pi / (h.max() + self.spread)
        last, dead = self._last_frequency()
        t = np.arange(math.ceil(last / step)) * step
        phi = self._characteristic(t)
        half = len(t) // 2
        fading = np.ones((2, len(t)))
        fading[1, half:] = 0.0
        if not dead:  # A sharp end would ring in the tails.
            fading[0] = _taper(np.arange(len(t)) / len(t))
            fading[1, :half] = _taper(np.arange(half) / half)
        fading *= step / math.pi
        fading[:, 0] /= 2
        sums = FourierSums(h, step, len(t))
        found = np.zeros((2, len(h), len(self.types)))
        for start in range(0, len(self.types), _TYPES):
            part = slice(start, start + _TYPES)
            transforms = np.array([self._transform(one, phi) for one in self.types[part]]).T
            for k, factor in enumerate(fading):
                found[k, :, part] = sums.backward(transforms * factor[:, None]).real
        if len(h) * len(t) <= _DIRECT:  # Fast sums lose the tails of the density to rounding.
            law = self._transform(self.types[0], phi) * fading[0]
            found[0, :, 0] = (np.exp(-1j * np.outer(h, t)) @ law).real
        found *= weights[:, None]
        return found[0], found[1]

    def _transform(self, one: Type, phi: list[NDArray[np.complex128]]) -> NDArray[np.complex128]:
        """Return the Fourier transform of rho for a type; a sign of -1 means the conjugate."""
        value = phi[0] ** (self.plus - len(one.plus))
        value = value * np.conj(phi[0]) ** (self.minus - len(one.minus))
        for b in one.plus:
            value = value * phi[b]
        for b in one.minus:
            value = value * np.conj(phi[b])
        return np.asarray(value)

    def _last_frequency(self) -> tuple[float, bool]:
        """A frequency beyond which phi_0^N is negligible, or the highest; and whether it is."""
        for last in _FREQUENCIES:
            t = np.linspace(0.8, 1.0, 9) * last / self.spread
            z, table = self._variable(t)
            waves = np.exp(1j * np.outer(t, self._phase(z))) @ table[:, 0]
            if np.abs(waves).max() ** self.N < _DEAD:
                return last / self.spread, True
        return _FREQUENCIES[-1] / self.spread, False

    def _characteristic(self, t: Array) -> list[NDArray[np.complex128]]:
        """Return phi of all types of the level below at equidistant frequencies t of h, from 0."""
        z, table = self._variable(t)
        return list(FourierSums(self._phase(z), float(t[1]), len(t)).forward(table).T)

    def _phase(self, x: Array) -> Array:
        """Return what a variable adds to h."""
        return np.asarray(self.P(x) * (self.scale / math.sqrt(self.N)))

    def _variable(self, t: Array) -> tuple[Array, Array]:
        """Return nodes of a variable that resolve frequencies t of h, and its law by type."""
        if self.below is None:
            return self._directions(t)
        known = [kind.degree <= self.highest for kind in self.below.types]
        return self.below.nodes[0], self.below.densities[0][:, known]

    def _directions(self, t: Array) -> tuple[Array, Array]:
        """Return nodes of a Gaussian direction, and weights times He_0 up to the highest degree."""
        pace = np.abs(t).max() * self.scale / math.sqrt(self.N)
        end = 7.4 if self._degree <= _LOW else self._reach
        z = np.linspace(-end, end, 2001)
        steepest = float(np.abs(np.gradient(self.P(z), z)).max())
        count = math.ceil(18 * (pace * steepest + 12) / (2 * math.pi))
        z, weights = _normal_grid(max(count, 400))
        return z, np.array(hermite_powers(z, self.highest)).T * weights[:, None]


def _taper(t: Array) -> Array:
    """Return a window over [0, 1] that is one and flat at 0, and zero at 1."""
    return np.asarray(np.exp(-36 * t**8))


def _normal_grid(count: int) -> tuple[Array, Array]:
    """Equidistant nodes, which integrate smooth functions of a normal variable to rounding."""
    z = np.linspace(-9.0, 9.0, count)
    return z, np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi) * (z[1] - z[0])
