"""Exact errors of ridge regression on features with one spike: w_j = c w~_j + r v.

Given kappa = v . x, the features are equivalent to Gaussian ones,

    sigma(w_j . x) ~ mu0(kappa) + mu1(kappa) (kappa w~_j . v + w~_j . x_perp) + mu2(kappa) xi_j,

with mu0 = E sigma(c z + r kappa), mu1 = E[z sigma(c z + r kappa)] / c, mu2^2 the rest of E sigma^2
(here w~_j has length c). The readout then depends on a few numbers: two of them, Vhat_1 and Vhat_2,
solve a fixed point, and the others linear equations, all of which are averages over kappa of
moments of the label given kappa. With V = mu1^2 V_1 + mu2^2 V_2 and C(kappa) the squared error at
kappa, the test error is E[C] and the training error E[C / (1 + V)^2].

What the readout learns of functions of kappa it learns through three collective modes: mu0 times
m = 1 . a / sqrt(p), which costs nothing; mu1 kappa times zeta, the sum of (w~_j . v) a_j, of
strength c^2 / d; and d mu0 / d c^2 times the sum of (|w~_j|^2 - c^2) a_j, of strength
spread c^4 / d. The system of the references is about rows of one length, spread = 0. Independent
normal entries have spread = 2, which is a few percent of the error for relu, below 1e-4 of it for
tanh, and nothing for odd activations without a spike.

The bulk is taken as rows with independent entries, whose spectrum is that of Marchenko and Pastur.

References
----------
Cui, Pesce, Dandi, Krzakala, Lu, Zdeborova, Loureiro, arXiv:2402.04980; Dandi, Pesce, Cui, Krzakala,
Lu, Loureiro, arXiv:2410.18938 (spiked random features).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Errors", "Features", "Labels", "covariance_density", "errors"]

Array = NDArray[np.float64]

_TOLERANCE = 1e-12
_ITERATIONS = 20_000


class Features(NamedTuple):
    """The features given kappa, at quadrature nodes.

    Attributes
    ----------
    kappa, weights : array, shape (k,)
        Nodes and weights of the standard normal law.
    mean, linear, rest : array, shape (k,)
        mu0, mu1 and mu2^2.
    stretch : array, shape (k,)
        The derivative of mu0 in c^2.
    bulk : float
        The length c of the rows.
    spread : float
        d times the variance of their squared length, over c^4.
    """

    kappa: Array
    weights: Array
    mean: Array
    linear: Array
    rest: Array
    stretch: Array
    bulk: float
    spread: float


class Labels(NamedTuple):
    """Moments of the label given kappa, at the same nodes.

    Attributes
    ----------
    mean, square : array, shape (k,)
        E[y | kappa] and E[y^2 | kappa], noise included.
    linear : array, shape (m, k)
        E[s y | kappa] for the directions s of the target that are orthogonal to v.
    """

    mean: Array
    square: Array
    linear: Array


class Errors(NamedTuple):
    """Mean squared errors, and whether the fixed point was reached."""

    test: float
    train: float
    status: str


def errors(features: Features, labels: Labels, alpha: float, beta: float, ridge: float) -> Errors:
    """The errors at n = alpha d samples, p = beta d neurons and a ridge above zero.

    Parameters
    ----------
    features, labels : Features, Labels
        At the same nodes.
    alpha, beta, ridge : float
        Above zero.
    """
    c2 = features.bulk**2
    mu0, mu1, mu2 = features.mean, features.linear, np.sqrt(features.rest)
    hat1, hat2, status = _fixed_point(features, alpha, beta, ridge)
    V1, V2, T02, T12, T22 = _integrals(hat1, ridge + hat2, c2, beta)
    damp = 1 / (1 + mu1**2 * V1 + mu2**2 * V2)
    weights = features.weights

    def average(values: Array) -> Array:
        return values @ weights

    # Means: the common mode, free where there is one, and two of finite strength.
    modes = np.array([mu0, mu1 * features.kappa, features.stretch])
    strengths = np.array([c2, features.spread * c2**2])
    cross = average(modes[:, None] * modes[None] * damp)
    known = average(modes * labels.mean * damp)
    system = np.vstack([cross[:1], (alpha * V2 * strengths)[:, None] * cross[1:]])
    system[1:, 1:] += np.eye(2)
    right = np.concatenate([known[:1], alpha * V2 * strengths * known[1:]])
    if average(mu0**2) <= 1e-20 * average(mu0**2 + mu1**2 + mu2**2):
        system[0], right[0] = [1.0, 0.0, 0.0], 0.0
    amplitudes = np.linalg.solve(system, right)
    fitted = amplitudes @ modes
    b1 = labels.mean - fitted
    b2 = labels.square - 2 * fitted * labels.mean + fitted**2
    mode_hat = alpha / beta * average(modes[1:] * b1 * damp)
    psi_hat = alpha / beta * average(mu1 * labels.linear * damp)
    psi = beta * V1 * psi_hat
    known_error = b2 - 2 * mu1 * (
        psi @ labels.linear
    )  # mu1^2 |psi|^2 cancels against q1 - |psi|^2.
    # Variances: two linear equations.
    moments = (
        alpha
        / beta
        * np.array(
            [
                [average(mu1**2 * part * damp**2) for part in (known_error, mu1**2, mu2**2)],
                [average(mu2**2 * part * damp**2) for part in (known_error, mu1**2, mu2**2)],
            ]
        )
    )
    kernel = np.array([[T22, T12], [T12, T02]])
    sources = beta * np.array([float(psi_hat @ psi_hat), float(strengths @ mode_hat**2)])
    source = kernel @ (moments[:, 0] + sources)
    q1, q2 = np.linalg.solve(np.eye(2) - kernel @ moments[:, 1:], source)
    squared = known_error + mu1**2 * q1 + mu2**2 * q2
    return Errors(float(average(squared)), float(average(squared * damp**2)), status)


def _integrals(hat1: float, shift: float, c2: float, beta: float) -> tuple[float, ...]:
    """V_1, V_2, T_02, T_12, T_22: integrals of rho^k / (shift + hat1 rho)^l over the bulk."""
    scale = hat1 * c2
    s = shift / scale
    q = 1 - beta + s
    root = math.sqrt(q * q + 4 * beta * s)
    S = 2 / (q + root) if q >= 0 else (root - q) / (2 * beta * s)
    V2 = S / scale
    T02 = (beta * S * S + S) / (2 * beta * s * S + q) / scale**2
    V1 = (1 - shift * V2) / hat1
    T12 = (V2 - shift * T02) / hat1
    return V1, V2, T02, T12, (V1 - shift * T12) / hat1


def _fixed_point(
    features: Features, alpha: float, beta: float, ridge: float
) -> tuple[float, float, str]:
    """Vhat_1 and Vhat_2: damped iteration, finished by a root search in their logarithms."""
    from scipy.optimize import root

    squares = np.array([features.linear**2, features.rest])
    floor = 1e-9 * float(np.max(squares @ features.weights))
    squares = np.maximum(squares, floor)  # A part that vanishes is taken as tiny.
    c2 = features.bulk**2

    def image(hats: Array) -> Array:
        V = np.array(_integrals(hats[0], ridge + hats[1], c2, beta)[:2])
        return np.asarray(alpha / beta * (squares @ (features.weights / (1 + V @ squares))))

    def gap(logs: Array) -> Array:
        return np.asarray(np.log(image(np.exp(logs))) - logs)

    hats = image(alpha / beta * (squares @ features.weights))
    for k in range(_ITERATIONS):
        fresh = image(hats)
        change = float(np.max(np.abs(fresh / hats - 1)))
        hats = 0.5 * (hats + fresh)
        if change < _TOLERANCE:
            return float(hats[0]), float(hats[1]), "converged"
        if k % 200 == 50:
            found = root(gap, np.log(hats), tol=1e-13)
            tried = np.exp(found.x)
            if np.isfinite(tried).all() and np.max(np.abs(image(tried) / tried - 1)) < 1e-10:
                return float(tried[0]), float(tried[1]), "converged"
    return float(hats[0]), float(hats[1]), "stopped"


def covariance_density(features: Features, alpha: float, beta: float, x: Array) -> Array:
    """Density of the eigenvalues of the sample covariance of sigma(W x), its outliers left out.

    The fixed point of `errors` at a complex ridge, one for each point of x, by damped iteration.

    Parameters
    ----------
    features : Features
        Of the neurons.
    alpha, beta : float
        Samples and neurons over dimension.
    x : array, shape (k,)
        Eigenvalues above zero; details finer than a percent of them are smoothed.

    Returns
    -------
    array, shape (k,)
        NaN where the iteration does not settle.
    """
    scale = alpha / beta  # The covariance is F^T F / scale, F the features over sqrt(p).
    squares = np.array([features.linear**2, features.rest])
    c2 = features.bulk**2
    # V_1 and V_2 at endless ridge, then towards the real axis in steps.
    V2 = 1j / (scale * x)
    V1 = c2 * V2
    S = np.full(len(x), 1j)
    with np.errstate(all="ignore"):
        for width in (1.0, 0.3, 0.1, 0.03, 0.01):
            z = scale * x * (1 + 1j * width)
            for _ in range(1000):
                before = V2
                V = V1[:, None] * squares[0] + V2[:, None] * squares[1]
                hats = scale * ((features.weights / (1 + V)) @ squares.T).T
                shift = hats[1] - z
                S = 0.5 * (S + 1 / (shift / (hats[0] * c2) + 1 / (1 + beta * S)))
                V2 = 0.5 * (V2 + S / (hats[0] * c2))
                V1 = 0.5 * (V1 + (1 - shift * S / (hats[0] * c2)) / hats[0])
                if np.nanmax(np.abs(V2 / before - 1)) < 1e-9:
                    break
    return np.asarray(scale * np.maximum(V2.imag, 0.0) / np.pi)
