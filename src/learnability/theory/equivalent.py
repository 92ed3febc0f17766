"""Exact errors of ridge regression on random features, in the limit of many samples.

A kernel sum_k xi_k (sum over the N_k functions of level k) is approximated by p random features and
fitted on n samples with ridge lambda. The features are equivalent to Gaussian ones, so the errors
depend only on the xi_k, the N_k and the energies f_k^2 of the target on each level. With
T(nu) = sum_k N_k xi_k / (xi_k + nu), the effective ridge nu is the root of

    (n - T) (p - T) nu = lambda p .

With s_k = nu / (xi_k + nu), the share of level k that stays unlearned, D = sum_k N_k (1 - s_k)^2,

    error = (B + noise) / (1 - Y),
    B = sum_k f_k^2 s_k^2 + (sum_k N_k s_k (1 - s_k)) (sum_k f_k^2 s_k (1 - s_k)) / (p - D),
    Y = (p / n) ((T / p)^2 + (1 - T / p)^2 D / (p - D)),

and the training error is error times (1 - T / n)^2. Levels too fine to be learned, of total
weight sum_k N_k xi_k = tail, act as the ridge tail / nu in T and as noise. A kernel is the limit
of p to infinity. Only ratios of n, p, N_k count: units of d give the proportional limit.

References
----------
Defilippis, Loureiro, Misiakiewicz, NeurIPS 2024, arXiv:2405.15699, theorem 3.3 (random features).
Canatar, Bordelon, Pehlevan, Nat. Commun. 12 (2021) (kernels).
Mei, Montanari, Comm. Pure Appl. Math. 75 (2022); Gerace, Loureiro, Krzakala, Mezard, Zdeborova,
ICML 2020 (the proportional limit).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Errors", "Fit", "Levels", "effective_ridge", "errors", "fit", "shares"]

Array = NDArray[np.float64]


class Levels(NamedTuple):
    """A kernel and a target, level by level.

    Attributes
    ----------
    eigenvalues : array, shape (k,)
        The eigenvalues xi_k; infinite for levels that are learned completely.
    sizes : array, shape (k,)
        The numbers N_k of functions.
    energies : array, shape (k,)
        Squared length of the target on each level.
    tail : float
        Weight of the kernel beyond these levels.
    noise : float
        Energy of the target beyond these levels, and variance of the label noise.
    """

    eigenvalues: Array
    sizes: Array
    energies: Array
    tail: float
    noise: float


class Errors(NamedTuple):
    """Mean squared errors on fresh and on training samples; infinite at the interpolation peak."""

    test: float
    train: float


def errors(levels: Levels, samples: float, features: float, ridge: float) -> Errors:
    """Return the errors, in the units of the sizes of the levels.

    Parameters
    ----------
    levels : Levels
        The kernel and the target.
    samples, features : float
        The numbers n and p; p may be infinite.
    ridge : float
        The ridge lambda, at least zero.
    """
    _, T, B, Y = fit(levels, samples, features, ridge)
    if Y >= 1 - 1e-13:
        return Errors(math.inf, math.nan)
    test = (B + levels.noise) / (1 - Y)
    return Errors(test, test * max(1 - T / samples, 0.0) ** 2)


class Fit(NamedTuple):
    """The quantities nu, T, B and Y of the equations above."""

    ridge: float
    learned: float
    bias: float
    variance: float


def fit(levels: Levels, samples: float, features: float, ridge: float) -> Fit:
    """Return the effective ridge and the sums of which the errors are made.

    Parameters
    ----------
    levels : Levels
        The kernel and the target.
    samples, features : float
        The numbers n and p; p may be infinite.
    ridge : float
        The ridge lambda, at least zero.
    """
    nu = effective_ridge(levels, samples, features, ridge)
    s, learned = shares(levels, nu)
    N, energies = levels.sizes, levels.energies
    fine = levels.tail / nu if levels.tail else 0.0
    T = float(N @ learned) + fine
    D = float(N @ learned**2)
    if math.isinf(features):
        return Fit(nu, T, float(energies @ s**2), D / samples)
    spread = float(N @ (s * learned)) + fine
    B = float(energies @ s**2) + spread * float(energies @ (s * learned)) / (features - D)
    share = T / features
    Y = (features / samples) * (share**2 + (1 - share) ** 2 * D / (features - D))
    return Fit(nu, T, B, Y)


def shares(levels: Levels, nu: float) -> tuple[Array, Array]:
    """Return the shares s_k and 1 - s_k; at nu = 0 every level that the kernel has is learned.

    Both are computed, as levels of many functions have a tiny 1 - s_k that still counts.
    """
    xi = levels.eigenvalues
    if nu == 0:
        return np.where(xi > 0, 0.0, 1.0), np.where(xi > 0, 1.0, 0.0)
    at_once = np.isinf(xi)
    finite = np.where(at_once, 1.0, xi)
    return (
        np.where(at_once, 0.0, nu / (finite + nu)),
        np.where(at_once, 1.0, finite / (finite + nu)),
    )


def effective_ridge(levels: Levels, samples: float, features: float, ridge: float) -> float:
    """Return the root nu; it is zero without a ridge and with few functions in the levels."""
    from scipy.optimize import brentq

    least = min(samples, features)
    most = float(levels.sizes @ (levels.eigenvalues > 0))
    if ridge == 0 and levels.tail == 0 and most <= least:
        return 0.0

    def gap(log_nu: float) -> float:
        """Return the log ratio of both sides, increasing in nu; without a ridge, least - T."""
        nu = math.exp(log_nu)
        T = float(levels.sizes @ shares(levels, nu)[1]) + levels.tail / nu
        room = least - T
        if ridge == 0 or room <= 0:
            return min(room, -1e-300) if ridge else room
        other = 0.0 if math.isinf(features) else math.log1p(-T / features)
        return math.log(samples - T) + other + log_nu - math.log(ridge)

    return math.exp(float(brentq(gap, -200.0, 200.0, xtol=1e-13, rtol=1e-13, maxiter=500)))
