"""The Mehler kernel, whose eigenfunctions are Hermite polynomials of Gaussian inputs, exactly.

K(x, x') = sum_j rho^j <He_j(x), He_j(x')> / j!
         = (1 - rho^2)^(-D/2) exp{[rho x.x' - rho^2 (|x|^2 + |x'|^2) / 2] / (1 - rho^2)}

in D dimensions has the eigenvalue rho^j on the C(D + j - 1, j) Hermite products of degree j. No
sphere and no limit of large dimension is involved, so that the errors of ridge regression follow
from the energies of the target by degree alone (`equivalent`). Here rho = 2 / D, at most 1/2.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.theory.equivalent import Levels

__all__ = [
    "half_recovery",
    "mehler_levels",
    "mehler_parameter",
    "mehler_trace",
    "mehler_values",
]

Array = NDArray[np.float64]

HIGHEST = 16
"""The highest degree whose functions are counted; all higher ones act as a ridge."""


def mehler_parameter(dimension: int) -> float:
    """Return the parameter rho = 2 / D, but 1/2 in fewer than four dimensions."""
    return min(2.0 / dimension, 0.5)


def mehler_values(X: NDArray[Any], Z: NDArray[Any]) -> NDArray[Any]:
    """Return kernel values, shape (rows of X, rows of Z).

    Parameters
    ----------
    X, Z : array, shapes (n, D) and (m, D)
        Inputs.
    """
    D = X.shape[1]
    rho = mehler_parameter(D)
    values = X @ Z.T
    values *= rho
    values -= 0.5 * rho**2 * np.sum(X**2, axis=1)[:, None]
    values -= 0.5 * rho**2 * np.sum(Z**2, axis=1)
    values /= 1 - rho**2
    values -= 0.5 * D * math.log1p(-(rho**2))
    return np.asarray(np.exp(values, out=values))


def mehler_trace(dimension: int) -> float:
    """Return the mean of K(x, x), which is the sum of all eigenvalues."""
    return float((1 - mehler_parameter(dimension)) ** -dimension)


def mehler_levels(dimension: int, energies: Array, noise: float) -> Levels:
    """Return the levels of the kernel and of a target.

    Parameters
    ----------
    dimension : int
        The dimension D.
    energies : array, shape (k,)
        Energies of the target by degree, from 0.
    noise : float
        Energy of higher degrees, and variance of the labels' noise.
    """
    rho, j = mehler_parameter(dimension), np.arange(HIGHEST + 1)
    sizes = np.array([math.comb(dimension + k - 1, k) for k in j], dtype=float)
    eigenvalues = rho ** j.astype(float)
    tail = max(mehler_trace(dimension) - float(sizes @ eigenvalues), 0.0)
    padded = np.zeros(HIGHEST + 1)
    padded[: len(energies)] = energies
    return Levels(eigenvalues, sizes, padded, tail, noise)


def half_recovery(dimension: int, degree: int) -> float:
    """Return the samples at which half of a degree is learned, with the ridge 1.

    The effective ridge is then rho^j.

    Parameters
    ----------
    dimension : int
        The dimension D.
    degree : int
        The degree j.
    """
    levels = mehler_levels(dimension, np.zeros(1), 0.0)
    at = mehler_parameter(dimension) ** float(degree)
    learned = levels.eigenvalues / (levels.eigenvalues + at)
    return float(levels.sizes @ learned + (levels.tail + 1) / at)
