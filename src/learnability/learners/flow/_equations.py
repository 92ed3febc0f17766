"""Population flows of one neuron in the closed set m = <w, beta>, s = <w, mu>, q = |w|^2.

==========  ========================================================================================
spherical   dw/dt = -(I - w w^T) grad E(sigma(w.x) - f)^2 on the unit sphere
normalised  the same loss of sigma(w.x / tau), times tau^2: dw/dt = 2 zeta' tau (Sigma beta /
            sqrt(kappa) - rho Sigma w / tau), which keeps |w|
whitened    with Sigma^-1 in front: dw/dt = 2 zeta' tau (beta / sqrt(kappa) - rho w / tau), for
            which d rho / dt = 2 zeta'(rho) (1 - rho^2)
==========  ========================================================================================

As the spike grows, an aligned spherical flow depends on S = theta m^2 alone: tau^2 = 1 + S and
rho^2 = S / (1 + S). Minima of the loss in S are where it ends, a maximum is a separatrix.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.learners.flow._population import Population, geometry
from learnability.targets.spiked_index import Spike

__all__ = ["FLOWS", "Landscape", "landscape", "solve"]

Array = NDArray[np.float64]
FLOWS = ("spherical", "normalised", "whitened")
_LEAST, _MOST, _SCAN = 1e-6, 1e6, 481


class Landscape(NamedTuple):
    """Where the loss of an aligned spherical flow turns, as the spike grows.

    Attributes
    ----------
    maxima : tuple of float
        S = theta m^2 of separatrices: the flow goes to the side on which it begins.
    minima : tuple of float
        S at which it ends; 0 is one when the loss first increases.
    sign : int
        Of the overlap that is followed, the one with the lower loss.
    """

    maxima: tuple[float, ...]
    minima: tuple[float, ...]
    sign: int


def solve(
    population: Population, spike: Spike, flow: str, start: tuple[float, float, float], times: Array
) -> Array:
    """(m, s, q) at the times, shape (T, 3).

    Parameters
    ----------
    population : Population
        The link and the activation.
    spike : Spike
        The spike.
    flow : str
        One of `FLOWS`.
    start : (m, s, q)
        At time 0.
    times : array, shape (T,)
        Not decreasing, from 0 on.
    """
    from scipy.integrate import solve_ivp

    theta, a = spike
    kappa = spike.variance
    root = math.sqrt(kappa)

    def spherical(m: float, s: float, q: float) -> tuple[float, float, float]:
        rho, tau = geometry(spike, m, s, q)
        along = m + theta * a * s
        c = population.gradient(rho, tau, kappa)
        on_beta = 2 * (c.beta * kappa + c.weights * along)
        on_mu = 2 * (1 + theta) * (c.beta * a + c.weights * s)
        on_weights = 2 * (c.beta * along + c.weights * tau**2)
        return -(on_beta - m * on_weights), -(on_mu - s * on_weights), 0.0

    def normalised(m: float, s: float, q: float) -> tuple[float, float, float]:
        rho, tau = geometry(spike, m, s, q)
        pull = 2 * population.normalised_pull(rho) * tau
        on_beta = root - rho * (m + theta * a * s) / tau
        return pull * on_beta, pull * (1 + theta) * (a / root - rho * s / tau), 0.0

    def whitened(m: float, s: float, q: float) -> tuple[float, float, float]:
        rho, tau = geometry(spike, m, s, q)
        pull = 2 * population.normalised_pull(rho) * tau
        return (
            pull * (1 / root - rho * m / tau),
            pull * (a / root - rho * s / tau),
            2 * pull * (m / root - rho * q / tau),
        )

    drift = {"spherical": spherical, "normalised": normalised, "whitened": whitened}[flow]
    grid = np.unique(np.concatenate([[0.0], times]))
    found = solve_ivp(
        lambda _, x: drift(*x),
        (0.0, max(float(grid[-1]), 1e-9)),
        np.array(start, dtype=float),
        t_eval=grid,
        method="LSODA",
        rtol=1e-8,
        atol=1e-11,
    )
    paths = np.full((len(grid), 3), np.nan)
    paths[: found.y.shape[1]] = found.y.T
    return paths[np.searchsorted(grid, times)]


def landscape(population: Population) -> Landscape:
    """Maxima and minima of the loss in S, between 1e-6 and 1e6, on the better side of m = 0."""
    grid = np.exp(np.linspace(math.log(_LEAST), math.log(_MOST), 81))
    lowest = {sign: min(_loss(population, S, sign) for S in grid) for sign in (1, -1)}
    return _landscape(population, 1 if lowest[1] <= lowest[-1] + 1e-9 * population.energy else -1)


def _loss(population: Population, S: float, sign: int) -> float:
    return population.loss(sign * math.sqrt(S / (1 + S)), math.sqrt(1 + S))


def _landscape(population: Population, sign: int) -> Landscape:
    from scipy.optimize import brentq

    def loss(log_s: float) -> float:
        return _loss(population, math.exp(log_s), sign)

    def slope(log_s: float) -> float:
        return loss(log_s + 1e-4) - loss(log_s - 1e-4)

    grid = np.linspace(math.log(_LEAST), math.log(_MOST), _SCAN)
    signs = np.array([slope(x) for x in grid])
    scale = max(abs(loss(0.0)), 1e-300)
    signs[np.abs(signs) < 1e-13 * scale] = 0.0
    maxima: list[float] = []
    minima: list[float] = []
    turning = signs[signs != 0]
    if len(turning) and turning[0] > 0:
        minima.append(0.0)
    for k in np.flatnonzero(signs[:-1] * signs[1:] < 0):
        S = math.exp(float(brentq(slope, grid[k], grid[k + 1], xtol=1e-10)))
        (maxima if signs[k] > 0 else minima).append(S)
    return Landscape(tuple(maxima), tuple(minima), sign)
