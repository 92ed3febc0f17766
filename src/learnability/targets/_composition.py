"""Exact degree energies of f = g(h_1 ... h_r) with h_m = s N^(-1/2) sum_i a_i P(z_i), at finite N.

With phi_b(t) = E[exp(i t s P(z) / sqrt N) He_b(z)], the variables being independent,

    E[exp(i t h) prod_i He_{b_i}(z_i)] = prod_i phi_{b_i}(a_i t),

whose Fourier transform is the signed density rho_b(h) = E[delta(h - .) prod_i He_{b_i}(z_i)]. Hence
E[g(h) prod_i He_{b_i}(z_i)] = int g rho_b, one number for each type of product (`_partitions`), and
the energy of degree j is the sum of their squares over the norms, times how many there are. No
expansion in 1/N is made. Nodes in h are Gauss rules split where g breaks; the sum over t is cut
where phi_0^N has died, or fades out at a highest frequency for few variables, and the energies with
half of the frequencies tell the error of that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.gaussian.quadrature import axis_breaks
from learnability.gaussian.rules import legendre
from learnability.gaussian.sections import Section
from learnability.labels.link import Link
from learnability.targets._partitions import Type, hermite_powers, symmetric_sum, types_up_to

__all__ = ["Composition"]

Array = NDArray[np.float64]

DEGREE = 8
"""Highest degree that is resolved under one feature."""
FEW = 4
"""The same for several features."""
_FREQUENCIES = (20.0, 40.0, 80.0, 160.0)  # It is in units of one over the deviation of h.
_DEAD = 1e-13
_REACH = 6.5  # It is that of one z in the tails of h.
_PANEL = {1: 0.2, 2: 0.4}  # A panel is so wide in deviations of h, by the number of features.
_NODES = {1: 8, 2: 6}
_MOST_POINTS = 8_000_000
_INNER = 0.9  # It is a share of the reach of the nodes: what f^2 has beyond bounds what they miss.
_ACCURACY = 2e-3
_CONSTANT = 1e-20  # It is that of the variance over the mean square.
_BLOCK = 2**21


@dataclass(frozen=True)
class Composition:
    """The function g of features, and how it decomposes by degree of the variables under them.

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
    """

    link: Link
    polynomial: Link
    plus: int
    minus: int
    scale: float

    @property
    def N(self) -> int:
        """Variables under one feature."""
        return self.plus + self.minus

    @property
    def highest(self) -> int:
        """Highest degree that is resolved: less for several features, whose types multiply."""
        return DEGREE if self.link.r == 1 else FEW

    @cached_property
    def spread(self) -> float:
        """Standard deviation of a feature."""
        z, weights = _normal_grid(2000)
        return self.scale * math.sqrt(float(weights @ self._P(z) ** 2))

    @cached_property
    def types(self) -> list[Type]:
        """Types of Hermite products under one feature, degree 0 first."""
        return types_up_to(self.highest, self.plus, self.minus)

    @cached_property
    def _nodes(self) -> tuple[Array, Array]:
        """Nodes and weights in h, symmetric, split at the breaks of g on the axes."""
        tail = np.abs(self._P(np.array([-_REACH, _REACH]))).max() * self.scale
        reach = 8 * self.spread + tail / math.sqrt(self.N)
        r = self.link.r
        nodes, panel = _NODES.get(r, 4), _PANEL.get(r, 1.0)
        most = _MOST_POINTS ** (1 / r)
        count = min(math.ceil(2 * reach / (panel * self.spread)), int(most / nodes))
        section = Section.whole(self.link)
        if r == 1:
            breaks = section.breakpoints if self.link.breaks is not None else np.zeros(0)
        else:
            breaks = np.concatenate(axis_breaks(section) or [np.zeros(0)])
        inside = breaks[np.abs(breaks) < reach]
        # Panels grow towards the tails, which hold little.
        u = np.linspace(-1, 1, count + 1)
        even = reach * (0.4 * u + 0.6 * u**3)
        edges = np.unique(np.concatenate([even, inside]))
        x, w = legendre(nodes)
        half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
        return (middle[:, None] + half[:, None] * x).ravel(), (half[:, None] * w).ravel()

    @cached_property
    def _densities(self) -> tuple[Array, Array]:
        """Weights times rho of every type (q, types), with all and with half of the frequencies."""
        h, weights = self._nodes
        step = math.pi / (h.max() + self.spread)
        last, dead = self._last_frequency()
        t = np.arange(math.ceil(last / step)) * step
        phi = self._characteristic(t)
        transforms = np.array([self._transform(one, phi) for one in self.types])
        transforms *= step / math.pi
        transforms[:, 0] /= 2
        found = np.zeros((2, len(h), len(self.types)))
        rows = max(_BLOCK // len(t), 1)
        half = len(t) // 2
        whole, low = transforms.T, transforms[:, :half].T
        if not dead:  # A sharp end would ring in the tails.
            whole = whole * _taper(np.arange(len(t)) / len(t))[:, None]
            low = low * _taper(np.arange(half) / half)[:, None]
        for start in range(0, len(h), rows):
            part = slice(start, start + rows)
            wave = np.exp(-1j * np.outer(h[part], t))
            found[0, part] = (wave @ whole).real
            found[1, part] = (wave[:, :half] @ low).real
        found *= weights[:, None]
        return found[0], found[1]

    def _transform(self, one: Type, phi: list[NDArray[np.complex128]]) -> NDArray[np.complex128]:
        """Return the Fourier transform of rho of a type; a sign -1 conjugates."""
        value = phi[0] ** (self.plus - len(one.plus))
        value = value * np.conj(phi[0]) ** (self.minus - len(one.minus))
        for b in one.plus:
            value = value * phi[b]
        for b in one.minus:
            value = value * np.conj(phi[b])
        return np.asarray(value)

    def _last_frequency(self) -> tuple[float, bool]:
        """Where the characteristic function of h has died, or the highest; whether it has died."""
        for last in _FREQUENCIES:
            t = np.linspace(0.8, 1.0, 9) * last / self.spread
            if np.abs(self._characteristic(t)[0]).max() ** self.N < _DEAD:
                return last / self.spread, True
        return _FREQUENCIES[-1] / self.spread, False

    def _characteristic(self, t: Array) -> list[NDArray[np.complex128]]:
        """Return phi_0 ... phi of the highest degree at frequencies t of h."""
        pace = np.abs(t).max() * self.scale / math.sqrt(self.N)
        z = np.linspace(-7.4, 7.4, 2001)
        steepest = float(np.abs(np.gradient(self._P(z), z)).max())
        count = math.ceil(18 * (pace * steepest + 12) / (2 * math.pi))
        z, weights = _normal_grid(count)
        table = np.array(hermite_powers(z, self.highest)).T * weights[:, None]
        phase = self._P(z) * self.scale / math.sqrt(self.N)
        rows = max(_BLOCK // count, 1)
        found = np.zeros((len(t), self.highest + 1), dtype=complex)
        for start in range(0, len(t), rows):
            angle = np.outer(t[start : start + rows], phase)
            found[start : start + rows] = np.cos(angle) @ table + 1j * (np.sin(angle) @ table)
        return list(found.T)

    def _P(self, z: Array) -> Array:
        return np.asarray(self.polynomial(z[..., None]), dtype=float)

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
                f"{self.polynomial!r} with N = {self.N} that its variance is not known: use one "
                "that grows less, such as tanh(z), or a larger N."
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
        """|P_j f|^2 for j = 0 ... 8; what is left of E f^2 is of higher degree."""
        _ = self.variance  # It refuses what would overflow below.
        found = self._energies(self.coefficients)
        rough = self._energies(self._contracted(self._values, self._densities[1]))
        self._check(float(np.abs(found - rough).max()))
        return found

    def _check(self, error: float) -> None:
        if self.variance <= _CONSTANT * self.mean**2:
            raise LearnabilityError(
                f"The function {self.link!r} of the features is constant: nothing is to be learned."
            )
        if not error <= _ACCURACY * max(self.variance, 1e-300):
            raise LearnabilityError(
                f"The degree energies of {self.link!r} of {self.polynomial!r} with N = {self.N} "
                f"are known to {error:.1e} only: use a larger N, or a smoother function."
            )

    def single(self, degree: int) -> Array:
        """Return E[f He_k(z_i)] for a variable of sign +1 and -1 under each feature, shape (r, 2).

        NaN where there is no variable of that sign.
        """
        wanted = ((degree,), ()), ((), (degree,))
        names = [(t.plus, t.minus) for t in self.types]
        found = np.full((self.link.r, 2), np.nan)
        for sign, name in enumerate(wanted):
            if name in names:
                for m in range(self.link.r):
                    index = [0] * self.link.r
                    index[m] = names.index(name)
                    found[m, sign] = self.coefficients[tuple(index)]
        return found

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


def _taper(t: Array) -> Array:
    """Return one at frequency 0, flat there, and nothing at 1."""
    return np.asarray(np.exp(-36 * t**8))


def _normal_grid(count: int) -> tuple[Array, Array]:
    """Equidistant nodes, on which smooth functions of a normal variable are summed exactly."""
    z = np.linspace(-9.0, 9.0, max(count, 400))
    return z, np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi) * (z[1] - z[0])
