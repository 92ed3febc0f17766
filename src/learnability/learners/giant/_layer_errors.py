"""Errors of ridge regression on the features of one given first layer.

Features phi / sqrt(p) have, at a node kappa, the second moment S / p with S = C + M M^T (`Layer`).
The resolvent of n samples has the deterministic equivalent

    Q^-1 = ridge + (n / p) E[S / (1 + V)],    V(kappa) = Tr(S Q) / p,

the readout has the mean Q (n / p^(1/2)) E[M y / (1 + V)], and at kappa the squared error

    D = B + (n / p^2) Tr(S Q E[S D / (1 + V)^2] Q),

with B that of the mean readout. The test error is E[D], the training error E[D / (1 + V)^2].

References
----------
Louart, Couillet, arXiv:1805.08295 (equivalents of such resolvents).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from learnability.learners.giant._given_layer import Layer, LowRank
from learnability.learners.giant._limit_errors import Errors

__all__ = ["layer_errors"]

Array = NDArray[np.float64]

_ITERATIONS = 200
_MEMORY = 5
_TOLERANCE = 1e-9


def layer_errors(layer: Layer, n: int, ridge: float) -> Errors:
    """Return the errors of ridge regression on n samples.

    Parameters
    ----------
    layer : Layer
        The first layer.
    n : int
        Samples.
    ridge : float
        The ridge, above zero.
    """
    from scipy.sparse.linalg import LinearOperator, gmres

    p, weights = layer.rest.shape[1], layer.weights
    Q, V, status = _fixed_point(layer, n, ridge)
    damp = weights / (1 + V)
    mean = Q @ (layer.means.right.T @ (layer.means.left.T @ (damp * layer.label)))
    mean *= n / math.sqrt(p)
    fitted = layer.means.left @ (layer.means.right @ mean) / math.sqrt(p)
    alone = _spread(layer, np.outer(mean, mean), with_means=False) / p
    base = (layer.label - fitted) ** 2 + alone + layer.noise
    squared = damp / (1 + V)

    def remaining(D: Array) -> Array:
        """Return D without the part that the fluctuations of the readout add, which is B."""
        return np.asarray(D - n / p**2 * _spread(layer, Q @ _moment(layer, squared * D) @ Q))

    size = len(base)
    operator = LinearOperator((size, size), matvec=remaining, dtype=float)
    error, failed = gmres(operator, base, x0=base, rtol=1e-7, restart=40, maxiter=5)
    if failed:
        status = "stopped"
    return Errors(float(weights @ error), float(squared @ error), status)


def _moment(layer: Layer, w: Array) -> Array:
    """Return sum_t w_t S_t."""

    def inner(part: LowRank) -> Array:
        return np.asarray(part.right.T @ ((part.left.T * w) @ part.left) @ part.right)

    found = inner(layer.means)
    for kernel, factors in layer.orders:
        found += kernel * inner(factors)
    found[np.diag_indices(len(found))] += w @ layer.rest
    if layer.shared is not None:
        half = np.arange(layer.shared.shape[1])
        both = w @ layer.shared
        found[half, half + len(half)] += both
        found[half + len(half), half] += both
    return found


def _spread(layer: Layer, Q: Array, with_means: bool = True) -> Array:
    """Return Tr(S_t Q) at every node, or Tr(C_t Q)."""

    def along(part: LowRank, form: Array) -> Array:
        reduced = part.right @ form @ part.right.T
        return np.asarray(np.sum((part.left @ reduced) * part.left, axis=1))

    found = layer.rest @ np.diag(Q)
    for kernel, factors in layer.orders:
        found += along(factors, kernel * Q)
    if with_means:
        found += along(layer.means, Q)
    if layer.shared is not None:
        found += 2 * layer.shared @ np.diag(Q, layer.shared.shape[1])
    return found


def _scale(weights: Array, power: Array, ratio: float, ridge: float) -> float:
    """Return log q with Q = q times the identity: q (ridge + ratio E[power / (1 + q power)]) = 1.

    Features that are long beside the ridge would take hundreds of steps from another scale, each by
    the factor of neurons to samples.
    """
    from scipy.optimize import brentq

    def gap(log_q: float) -> float:
        seen = math.exp(log_q) * power
        return float(math.exp(log_q) * ridge + ratio * (weights @ (seen / (1 + seen)))) - 1

    high = -math.log(ridge)  # There the first part alone is 1.
    low = high - math.log1p(ratio * float(power.max()) / ridge)
    return float(brentq(gap, low, high)) if low < high else high


def _fixed_point(layer: Layer, n: int, ridge: float) -> tuple[Array, Array, str]:
    """Return the resolvent Q, V at the nodes, and whether Anderson's iteration reached them."""
    p = layer.rest.shape[1]
    eye = ridge * np.eye(p)

    def resolvent(V: Array) -> Array:
        return np.asarray(np.linalg.inv(n / p * _moment(layer, layer.weights / (1 + V)) + eye))

    def logarithm(spread: Array) -> Array:
        """Return log V, with a floor for nodes at which all features vanish."""
        return np.asarray(np.log(np.maximum(spread, 1e-12 * float(spread.max())) / p))

    x = logarithm(_spread(layer, np.eye(p)))
    x += _scale(layer.weights, np.exp(x), n / p, ridge)
    images: list[Array] = []
    gaps: list[Array] = []
    status = "stopped"
    for _ in range(_ITERATIONS):
        Q = resolvent(np.exp(x))
        image = logarithm(_spread(layer, Q))
        gap = image - x
        if float(layer.weights @ np.abs(gap)) < _TOLERANCE:
            status = "converged"
            break
        images, gaps = [*images, image][-_MEMORY:], [*gaps, gap][-_MEMORY:]
        x = image
        if len(gaps) > 1:
            steps = np.array([gap - one for one in gaps[:-1]])
            metric = steps * layer.weights
            share = np.linalg.lstsq(metric @ steps.T, metric @ gap, rcond=1e-12)[0]
            x = image - share @ np.array([image - one for one in images[:-1]])
    return Q, np.exp(image), status
