"""Errors of kernel ridge regression on inputs with a few long directions, for any link.

With the parts G0 = psi.psi, G1 = phi.phi and D of `_spiked_kernel`, the coordinates u along the
spikes are treated exactly and the bulk is replaced by its deterministic equivalent. The samples
then have an effective ridge that depends on u,

    Lambda(u) = ridge + D(u) + b phi(u)^T (I + S)^-1 phi(u),   S = (1/d) sum_i Q_ii phi_i phi_i^T,

with Q = (diag Lambda + Psi Psi^T)^-1. The mean prediction is Psi Psi^T Q y, and the bulk adds noise
phi^T B phi with B = b (I + S)^-1 [(1/d) sum_i E[alpha_i^2] phi_i phi_i^T] (I + S)^-1, where alpha
are the dual weights. When the label also depends on directions s of the bulk, these are kept too:
their features s phi(u) / sqrt(d) are added to psi(u) in Psi.

The sums run over a training set (`conditional_errors`), or are means over the law of the inputs
(`limit_errors`), where Q_ii = 1 / Lambda and E[alpha^2] = C / Lambda^2 with C(u) the error at u.

References
----------
Misiakiewicz, Saeed, arXiv:2403.08938 (deterministic equivalents of kernel ridge regression); the
predictor for spiked inputs is derived in the mathematics page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError

__all__ = ["Errors", "Points", "conditional_errors", "limit_errors"]

Array = NDArray[np.float64]
_ACCURACY = 1e-11
_MOST = 20_000


class Errors(NamedTuple):
    """Mean squared errors on fresh and on training samples."""

    test: float
    train: float


class Points(NamedTuple):
    """Nodes of the law of the inputs, or samples.

    Attributes
    ----------
    kept : array, shape (N, K)
        The features Psi.
    bulk : array, shape (N, M)
        The features phi.
    rest : array, shape (N,)
        The values D.
    label : array, shape (N,)
        The labels; at nodes without noise.
    weights : array, shape (N,)
        Weights that sum to one; those of samples are equal.
    spikes : int
        Number L of coordinates u; b = (d - L) / d.
    """

    kept: Array
    bulk: Array
    rest: Array
    label: Array
    weights: Array
    spikes: int = 1


def limit_errors(at: Points, n: float, d: float, ridge: float, noise: float) -> Errors:
    """Return the errors of a typical training set, as n and d grow in proportion.

    Parameters
    ----------
    at : Points
        Nodes of the law of the inputs.
    n, d : float
        Samples and dimension.
    ridge, noise : float
        Ridge, and variance of the label noise.
    """
    b, phi, w = (d - at.spikes) / d, at.bulk, at.weights

    def mixing(Lambda: Array) -> Array:
        return np.asarray((n / d) * (phi * (w / Lambda)[:, None]).T @ phi)

    Lambda, inverse = _effective_ridge(at, b, ridge, mixing)
    scaled = at.kept * (n * w / Lambda)[:, None]
    c = _solved(np.eye(at.kept.shape[1]) + scaled.T @ at.kept, scaled.T @ at.label)
    missed = (at.label - at.kept @ c) ** 2 + noise
    turned = phi @ inverse

    def spread(error: Array) -> Array:
        """Return phi^T B phi from the error at the samples."""
        inner = (turned * (w * error / Lambda**2)[:, None]).T @ turned
        return np.asarray(b * (n / d) * np.sum((phi @ inner) * phi, axis=1))

    error = _summed(missed, spread)
    test = float(w @ error)
    return Errors(test, ridge**2 * float(w @ (error / Lambda**2)))


def conditional_errors(
    train: Points, fresh: Points, d: float, ridge: float, noise: float
) -> Errors:
    """Return the errors of a given training set, whose coordinates u (and s) are known.

    Parameters
    ----------
    train : Points
        Samples, with their noisy labels.
    fresh : Points
        Nodes of the law of the inputs.
    d : float
        Dimension.
    ridge, noise : float
        Ridge, and variance of the label noise.
    """
    b, phi, psi = (d - train.spikes) / d, train.bulk, train.kept
    size = psi.shape[1]

    def resolvent(Lambda: Array) -> Array:
        """Return psi-tilde, for which Q = diag(1 / Lambda) - psi-tilde psi-tilde^T."""
        scaled = psi / Lambda[:, None]
        values, vectors = np.linalg.eigh(np.eye(size) + scaled.T @ psi)
        return np.asarray(scaled @ (vectors / np.sqrt(np.maximum(values, 1.0))))

    def mixing(Lambda: Array) -> Array:
        own = 1 / Lambda - np.sum(resolvent(Lambda) ** 2, axis=1)
        return np.asarray((phi * own[:, None]).T @ phi / d)

    Lambda, inverse = _effective_ridge(train, b, ridge, mixing)
    tilde = resolvent(Lambda)
    alpha = train.label / Lambda - tilde @ (tilde.T @ train.label)
    squared = _squared_resolvent(Lambda, tilde)
    turned = phi @ inverse

    def bulk_noise(square: Array) -> Array:
        return np.asarray((b / d) * (turned * square[:, None]).T @ turned)

    def spread(excess: Array) -> Array:
        B = bulk_noise(squared(excess))
        return np.asarray(np.sum((phi @ B) * phi, axis=1))

    # The labels include their noise; xi is the variance that the bulk adds.
    first_square = bulk_noise(alpha**2)
    xi = _summed(np.sum((phi @ first_square) * phi, axis=1), spread)
    B = bulk_noise(alpha**2 + squared(xi))
    coefficients = psi.T @ alpha
    carried = psi / Lambda[:, None] - tilde @ (tilde.T @ psi)
    wobble = (carried * xi[:, None]).T @ carried
    missed = (fresh.label - fresh.kept @ coefficients) ** 2
    varied = np.sum((fresh.kept @ wobble) * fresh.kept, axis=1)
    bulk = np.sum((fresh.bulk @ B) * fresh.bulk, axis=1)
    test = float(fresh.weights @ (missed + varied + bulk)) + noise
    return Errors(test, ridge**2 * float(np.mean(alpha**2 + squared(xi))))


def _squared_resolvent(Lambda: Array, tilde: Array) -> Callable[[Array], Array]:
    """Return the map v -> sum over l of Q_il^2 v_l for Q = diag(1 / Lambda) - tilde tilde^T."""
    n, size = tilde.shape
    if size * (size + 1) > 2 * n:
        Q2 = (np.diag(1 / Lambda) - tilde @ tilde.T) ** 2
        return lambda v: Q2 @ v
    # Apart from the diagonal, Q^2 elementwise is of low rank: a sum over pairs of columns.
    first, second = np.triu_indices(size)
    twice = np.where(first == second, 1.0, 2.0)
    pairs = tilde[:, first] * tilde[:, second]
    diagonal = 1 / Lambda**2 - 2 * np.sum(tilde**2, axis=1) / Lambda
    return lambda v: np.asarray(diagonal * v + pairs @ (twice * (pairs.T @ v)))


def _effective_ridge(
    at: Points, b: float, ridge: float, mixing: Callable[[Array], Array]
) -> tuple[Array, Array]:
    """Return Lambda at the points and (I + S)^-1, by iteration from above.

    Raises
    ------
    LearnabilityError
        When the iteration does not converge.
    """
    phi, least = at.bulk, ridge + at.rest
    eye = np.eye(phi.shape[1])
    inverse: Array = eye
    Lambda = least + b * np.sum(phi**2, axis=1)
    for _ in range(_MOST):
        inverse = np.asarray(np.linalg.inv(eye + mixing(Lambda)), dtype=float)
        new = least + b * np.sum((phi @ inverse) * phi, axis=1)
        gap = float(np.abs(new / Lambda - 1).max())
        Lambda = new
        if gap < _ACCURACY:
            return Lambda, inverse
        if Lambda.min() <= 1e-250:
            break
    raise LearnabilityError(
        "The effective ridge of the kernel was not found, as happens when the kernel has no part "
        "of high degree, which acts as a ridge: give a larger `ridge`."
    )


def _summed(first: Array, spread: Callable[[Array], Array]) -> Array:
    """Return the sum first + spread(first) + spread(spread(first)) + ...

    Raises
    ------
    LearnabilityError
        When it does not converge.
    """
    total, term = first, first
    for _ in range(_MOST):
        term = spread(term)
        total = total + term
        if float(np.abs(term).max()) <= _ACCURACY * float(np.abs(total).max()):
            return total
    raise LearnabilityError(
        "The errors grow without bound, as they do without a ridge when there are as many samples "
        "as dimensions: give a larger `ridge`."
    )


def _solved(matrix: Array, right: Array) -> Array:
    """Return the solution of a positive definite system whose rows have different scales."""
    scale = 1 / np.sqrt(np.diagonal(matrix))
    return np.asarray(scale * np.linalg.solve(matrix * np.outer(scale, scale), scale * right))
