"""Population quantities of one neuron sigma(w.x) on spiked inputs, by Hermite series.

With m = <w, beta>, s = <w, mu>, q = |w|^2, a = <mu, beta> and kappa = 1 + theta a^2,

    tau^2 = w^T Sigma w = q + theta s^2,   rho = (m + theta a s) / (tau sqrt(kappa)),

(label argument u, field h = tau v) are normal with correlation rho, and the gradient of the squared
loss E(sigma(h) - f(u))^2 is 2 (c_beta Sigma beta + c_w Sigma w) with

    c_beta = -A / sqrt(kappa),  A = E[f'(u) sigma'(h)],
    c_w = (E[h F] + rho tau A) / tau^2,  F = (sigma(h) - f(u)) sigma'(h).

All averages over both variables are series sum_k c_k(f) c_k(g) rho^k in orthonormal Hermite
coefficients, exact for polynomial links; where these have not converged, as for a broken link and a
broken or steep activation near rho = 1, they are integrals split along the breaks (`_near_one`).
Those of functions of h are integrals split at breaks. No second derivative of sigma is needed, so
that relu is as good as tanh.

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
from learnability.learners.flow._near_one import smoothed
from learnability.targets.spiked_index import Spike

__all__ = ["Averages", "Gradient", "Population", "geometry"]

Array = NDArray[np.float64]
_ORDER = 160  # Of the series of links that are no polynomials.
_PANEL = 0.5
_TAIL = 16  # Terms whose size tells how much the series has left out.
_ACCURACY = 1e-10


class Averages(NamedTuple):
    """At one (rho, tau).

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
    """Coefficients of the gradient 2 (c_beta Sigma beta + c_w Sigma w) of the squared loss."""

    beta: float
    weights: float


class Population:
    """The averages of a link and an activation.

    Parameters
    ----------
    link, activation : Link
        f and sigma.
    """

    def __init__(self, link: Link, activation: Link) -> None:
        for function in (link, activation):
            expand(function, 0)  # A sentence where it is not square-integrable.
        self.link, self.activation, self.slope = link, activation, activation.derivative()
        self._cuts = Section.whole(link).breakpoints
        u, weights = _nodes(self._cuts)
        values = np.asarray(link(u[:, None]), dtype=float)
        order = link.degree if link.degree is not None and link.is_polynomial else _ORDER
        self.energy = float(weights @ values**2)
        self._link = hermite_table(u, max(order, 1)) @ (weights * values)
        self._breaks = Section.whole(activation).breakpoints
        self._unit = self._coefficients(1.0)[0]

    def _coefficients(self, tau: float) -> tuple[Array, Array, float, float]:
        """Hermite coefficients of sigma(h) and h sigma'(h), and E[sigma^2], E[h sigma sigma']."""
        v, weights = _nodes(self._bends(tau))
        h = tau * v
        value = np.asarray(self.activation(h[:, None]), dtype=float)
        radial = h * np.asarray(self.slope(h[:, None]), dtype=float)
        table = hermite_table(v, len(self._link) - 1) * weights
        own, cross = float(weights @ value**2), float(weights @ (value * radial))
        return table @ value, table @ radial, own, cross

    def _bends(self, tau: float) -> Array:
        """Where sigma(tau v) breaks, and panels that grow from its own scale 1 / tau on."""
        steps = 2.0 ** np.arange(math.floor(math.log2(tau) + 1)) / tau if tau > 2 else np.zeros(0)
        return np.unique(np.concatenate([self._breaks / tau, steps, -steps]))

    def _near_one(self, rho: float, tau: float) -> tuple[float, float, float]:
        """E[f sigma], E[f' sigma'] and E[f h sigma'] by integrals."""
        known = smoothed(self.link, self._cuts, rho, self._bends(tau))
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
        """Whether the last terms of the slope of a series with these coefficients are small."""
        if len(first) <= _ORDER:
            return True  # A polynomial.
        k = np.arange(len(first))[-_TAIL:]
        left = np.abs(self._link[-_TAIL:] * first[-_TAIL:]) * k * abs(rho) ** (k - 1)
        size = math.sqrt(self.energy * float(first @ first)) + 1e-300
        return float(left.max()) < _ACCURACY * size

    def averages(self, rho: float, tau: float) -> Averages:
        """Averages at a correlation and a length."""
        sigma, radial, own, turned = self._coefficients(tau)
        if not (self._converged(sigma, rho) and self._converged(radial, rho)):
            cross, slope, on_radial = self._near_one(rho, tau)
            return Averages(own, cross, slope, turned - on_radial)
        powers = rho ** np.arange(len(self._link))
        slope = _slope(self._link, sigma, rho) / tau
        cross = float((self._link * sigma) @ powers)
        return Averages(own, cross, slope, turned - float((self._link * radial) @ powers))

    def loss(self, rho: float, tau: float) -> float:
        """E(sigma(h) - f)^2."""
        found = self.averages(rho, tau)
        return found.own - 2 * found.cross + self.energy

    def gradient(self, rho: float, tau: float, kappa: float) -> Gradient:
        """Coefficients of half the gradient of the squared loss."""
        found = self.averages(rho, tau)
        along = (found.radial + rho * tau * found.slope) / tau**2
        return Gradient(-found.slope / math.sqrt(kappa), along)

    def normalised_pull(self, rho: float) -> float:
        """zeta'(rho) = sum_k k c_k(f) c_k(sigma) rho^(k-1), of the field h / tau."""
        if not self._converged(self._unit, rho):
            return self._near_one(rho, 1.0)[1]
        return _slope(self._link, self._unit, rho)


def geometry(spike: Spike, m: float, s: float, q: float) -> tuple[float, float]:
    """rho and tau of weights with m = <w, beta>, s = <w, mu>, q = |w|^2."""
    tau = math.sqrt(max(q + spike.strength * s * s, 1e-300))
    along = m + spike.strength * spike.alignment * s
    return along / (tau * math.sqrt(spike.variance)), tau


def _slope(link: Array, sigma: Array, rho: float) -> float:
    k = np.arange(1, len(link))
    return float((k * link[1:] * sigma[1:]) @ rho ** (k - 1))


def _nodes(breaks: Array) -> tuple[Array, Array]:
    inside = np.sort(breaks[np.abs(breaks) < REACH])
    edges = np.concatenate([[-REACH], inside, [REACH]])
    x, weights = composite_legendre(edges, _PANEL, 12)
    weights = weights * np.exp(-0.5 * x**2)
    return x, weights / weights.sum()
