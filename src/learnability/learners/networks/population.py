"""Population quantities of one neuron sigma(w.x) on Gaussian inputs, by Hermite series.

The label depends on u = <v, x> of unit variance. With tau^2 = w^T Sigma w and rho the correlation
of the field h = w.x with u, (u, h / tau) are standard normal with correlation rho, and the gradient
of the squared loss E(sigma(h) - f(u))^2 is 2 (c_v Sigma v + c_w Sigma w) with

    c_v = -A,  A = E[f'(u) sigma'(h)],
    c_w = (E[h F] + rho tau A) / tau^2,  F = (sigma(h) - f(u)) sigma'(h).

All averages over both variables are series sum_k c_k(f) c_k(g) rho^k in orthonormal Hermite
coefficients, exact for polynomial links. Where these have not converged, as for a link with breaks
and an activation with breaks or steep slopes near rho = 1, they are integrals split along the
breaks (`_near_one`). Averages of functions of h alone are integrals split at breaks, on panels that
are halved until sigma(h), which may oscillate when tau is large, is resolved. No second derivative
of sigma is needed, so that relu is as accurate as tanh.

References
----------
Mousavi-Hosseini, Wu, Suzuki, Erdogdu, NeurIPS 2023.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.hermite_products import hermite_table
from learnability.gaussian.rules import composite_legendre
from learnability.gaussian.sections import REACH, Section
from learnability.labels.hermite import expand
from learnability.labels.link import Link
from learnability.learners.networks._near_one import smoothed

__all__ = ["Averages", "Gradient", "Population"]

Array = NDArray[np.float64]
_ORDER = 160  # Order of the series of links that are not polynomials.
_PANEL = 0.5
_TAIL = 16  # Number of last terms whose size measures what the series leaves out.
_ACCURACY = 1e-10
_ROUNDING = 1e-14  # Rounding error of a coefficient, over the norm of its function.
_BLUR = 1e-12  # Rounding error of an average, over the norms of its functions.
_FINEST = 2e-3  # Smallest panel, so that no rule has more than about 100 000 nodes.
_LINK_FINEST = 0.03  # Of the link, whose coefficients to order 160 are taken on all nodes.


class Averages(NamedTuple):
    """Averages at one (rho, tau).

    Attributes
    ----------
    own : float
        E[sigma(h)^2].
    cross : float
        E[f sigma(h)].
    slope : float
        A = E[f' sigma'(h)].
    radial : float
        E[h F].
    """

    own: float
    cross: float
    slope: float
    radial: float


class Gradient(NamedTuple):
    """Coefficients of the gradient 2 (c_v Sigma v + c_w Sigma w) of the squared loss."""

    label: float
    weights: float


class Population:
    """The averages of a link and an activation.

    Parameters
    ----------
    link, activation : Link
        The functions f and sigma.
    """

    def __init__(self, link: Link, activation: Link) -> None:
        for function in (link, activation):
            expand(function, 0)  # Raises if it is not square-integrable.
        self.link, self.activation, self.slope = link, activation, activation.derivative()
        self._cuts = Section.whole(link).breakpoints
        u, weights = _nodes(self._cuts, _resolving(link, 1.0, self._cuts, _LINK_FINEST))
        values = np.asarray(link(u[:, None]), dtype=float)
        order = link.degree if link.degree is not None and link.is_polynomial else _ORDER
        self.energy = float(weights @ values**2)
        self._link = hermite_table(u, max(order, 1)) @ (weights * values)
        self._link[np.abs(self._link) < _ROUNDING * math.sqrt(self.energy)] = 0.0
        self._breaks = Section.whole(activation).breakpoints
        self._panels: dict[int, float] = {}
        self._unit = self._series(1.0).value

    def _series(self, tau: float) -> _Series:
        """Return the series of sigma(h) and h sigma'(h) at one length of the field."""
        v, weights = _nodes(self._bends(tau), self._panel(tau))
        h = tau * v
        value = np.asarray(self.activation(h[:, None]), dtype=float)
        radial = h * np.asarray(self.slope(h[:, None]), dtype=float)
        table = hermite_table(v, len(self._link) - 1) * weights
        own, mixed, turned = (
            float(weights @ (a * b)) for a, b in ((value, value), (value, radial), (radial, radial))
        )
        return _Series(table @ value, table @ radial, own, mixed, turned)

    def _bends(self, tau: float) -> Array:
        """Return where sigma(tau v) breaks, and panels that grow from its own scale 1 / tau on."""
        steps = 2.0 ** np.arange(math.floor(math.log2(tau) + 1)) / tau if tau > 2 else np.zeros(0)
        return np.unique(np.concatenate([self._breaks / tau, steps, -steps]))

    def _panel(self, tau: float) -> float:
        """Return the widest panel that resolves sigma(tau v)^2, up to a power of two."""
        level = math.ceil(math.log2(tau))
        if level not in self._panels:
            length = 2.0**level
            finest = max(0.25 / length, _FINEST)  # Kinks that nobody declared are not chased.
            self._panels[level] = _resolving(self.activation, length, self._bends(length), finest)
        return self._panels[level]

    def _near_one(self, rho: float, tau: float) -> tuple[float, float, float]:
        """Return E[f sigma], E[f' sigma'] and E[f h sigma'] by integrals."""
        known = smoothed(self.link, self._cuts, rho, self._bends(tau), self._panel(tau))
        h = tau * known.v
        value, slope = (
            known.weights * np.asarray(g(h[:, None]), dtype=float)
            for g in (self.activation, self.slope)
        )
        return (
            float(value @ known.value),
            float(slope @ known.slope),
            float((h * slope) @ known.value),
        )

    def _converged(self, first: Array, rho: float) -> bool:
        """Return whether the last terms of the slope of a series are small."""
        if len(first) <= _ORDER:
            return True  # The series of a polynomial is exact.
        k = np.arange(len(first))[-_TAIL:]
        left = np.abs(self._link[-_TAIL:] * first[-_TAIL:]) * k * abs(rho) ** (k - 1)
        size = math.sqrt(self.energy * float(first @ first)) + 1e-300
        return float(left.max()) < _ACCURACY * size

    def averages(self, rho: float, tau: float) -> Averages:
        """Return averages at a correlation and a length."""
        return self._averages(rho, tau)[0]

    def _averages(self, rho: float, tau: float) -> tuple[Averages, float, float]:
        """Return the averages, and the possible rounding errors of `slope` and `radial`."""
        series = self._series(tau)
        sigma, radial = series.value, series.radial
        length = math.sqrt(series.own * series.turned), math.sqrt(self.energy * series.turned)
        blur = _BLUR * sum(length)
        if not (self._converged(sigma, rho) and self._converged(radial, rho)):
            cross, slope, on_radial = self._near_one(rho, tau)
            found = Averages(series.own, cross, slope, series.mixed - on_radial)
            return found, _ACCURACY * (abs(slope) + length[1] / tau), 100 * blur
        sigma = np.where(np.abs(sigma) < 10 * _ROUNDING * math.sqrt(series.own), 0.0, sigma)
        k = np.arange(len(self._link))
        powers = rho**k
        slope = _slope(self._link, sigma, rho) / tau
        terms = np.abs(self._link[1:]) * k[1:] * np.abs(powers[:-1]) / tau
        kept = 10 * _ROUNDING * math.sqrt(series.own) * float(terms @ (sigma[1:] != 0))
        blurred = kept + _BLUR * float(terms @ np.abs(sigma[1:]))
        cross = float((self._link * sigma) @ powers)
        along = series.mixed - float((self._link * radial) @ powers)
        return Averages(series.own, cross, slope, along), blurred, blur

    def loss(self, rho: float, tau: float) -> float:
        """Return E(sigma(h) - f)^2."""
        found = self.averages(rho, tau)
        return found.own - 2 * found.cross + self.energy

    def gradient(self, rho: float, tau: float) -> Gradient:
        """Return coefficients of half the gradient of the squared loss."""
        found = self.averages(rho, tau)
        along = (found.radial + rho * tau * found.slope) / tau**2
        return Gradient(-found.slope, along)

    def turn(self, rho: float, tau: float, along: float, pull: float) -> float:
        """Return along E[h F] - pull A, a slope of the loss; 0 where rounding decides its sign.

        Parameters
        ----------
        rho, tau : float
            Correlation and length of the field.
        along, pull : float
            How log tau and rho change along the path, up to a common factor.
        """
        found, blurred, blur = self._averages(rho, tau)
        slope = along * found.radial - pull * found.slope
        return slope if abs(slope) > abs(along) * blur + abs(pull) * blurred else 0.0

    def normalised_pull(self, rho: float) -> float:
        """Return zeta'(rho) = sum_k k c_k(f) c_k(sigma) rho^(k-1) for the field h / tau."""
        if not self._converged(self._unit, rho):
            return self._near_one(rho, 1.0)[1]
        return _slope(self._link, self._unit, rho)


class _Series(NamedTuple):
    """Hermite coefficients of sigma(h) and h sigma'(h), and the averages of their products.

    Attributes
    ----------
    value, radial : array
        Coefficients.
    own, mixed, turned : float
        E[sigma^2], E[h sigma sigma'] and E[h^2 sigma'^2].
    """

    value: Array
    radial: Array
    own: float
    mixed: float
    turned: float


def _slope(link: Array, sigma: Array, rho: float) -> float:
    k = np.arange(1, len(link))
    return float((k * link[1:] * sigma[1:]) @ rho ** (k - 1))


def _resolving(function: Link, tau: float, cuts: Array, finest: float) -> float:
    """Return the widest panel, halved from `_PANEL` on, that resolves the square of f(tau v)."""

    def square(panel: float) -> float:
        v, weights = _nodes(cuts, panel)
        return float(weights @ np.asarray(function(tau * v[:, None]), dtype=float) ** 2)

    panel, now = _PANEL, square(_PANEL)
    while panel > finest:
        finer = square(panel / 2)
        if abs(finer - now) <= 10 * _ROUNDING * finer:
            break
        panel, now = panel / 2, finer
    return panel


def _nodes(breaks: Array, panel: float) -> tuple[Array, Array]:
    inside = np.sort(breaks[np.abs(breaks) < REACH])
    edges = np.concatenate([[-REACH], inside, [REACH]])
    x, weights = composite_legendre(edges, panel, 12)
    weights = weights * np.exp(-0.5 * x**2)
    return x, weights / weights.sum()
