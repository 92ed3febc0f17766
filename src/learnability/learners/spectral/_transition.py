"""The spectral transition: bulk edge, outliers and eigenvectors of matrices of labelled samples.

For M = (1/n) sum_i (x_i x_i^T) kron T_i with n = alpha d, in the limit of large d:

* bulk: the partial trace S = alpha L^-1 of the resolvent at lambda is the largest solution of
  lambda I = L / alpha + E[T] + E[T (L - T)^-1 T], L > T, whose right side is convex in L; the
  edge is the smallest lambda that has one;
* outliers: lambda is an eigenvalue of E[(I + G) kron K], K = T + T (L - T)^-1 T, with
  I + G = E[z z^T | y]; its eigenvector V (r, r) gives the part of the eigenvector of M along W*;
* the rest of the eigenvectors k, l of M is noise, with Gram matrix between their rows a, b

      E[ <V_k^T (I + G) V_l, K_k Y_ab K_l> ] / alpha,
      S_k^-1 Y_ab S_l^-1 = e_a e_b^T + E[K_k Y_ab K_l] / alpha.

For r = 1 this is lambda = psi(L) = phi(L) of Lu and Li, and the squared overlap
psi' / (psi' - phi'). For T = G (I + G)^-1 an outlier lies at 1 / alpha exactly, with
V = I - S / alpha. The asymmetric matrix with eigenvalue mu has the eigenvectors of M for
T = G (mu + G)^-1 at 1 / alpha; there L = I, K = G / mu, and mu is alpha times an eigenvalue of
E[G kron G] above its bulk, of radius sqrt(alpha / alpha_c).

References
----------
Lu and Li, Inf. Inference 9 (2020), theorem 1, for r = 1. Defilippis, Dandi, Mergny, Krzakala and
Loureiro, arXiv:2502.02545, and Kovacevic, Zhang and Mondelli, arXiv:2502.01583, for r > 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

__all__ = ["Transition", "linearised_transition", "symmetric_transition"]

Array = NDArray[np.float64]

_STEPS = 200
_SAME = 1e-7  # Outliers with a smaller relative distance count as one of higher multiplicity.


@dataclass(frozen=True, eq=False)
class Transition:
    """Outliers above the bulk.

    Attributes
    ----------
    edge : float
        Right end of the bulk, for the asymmetric matrix its radius.
    values : array, shape (k,)
        Outliers, largest first; k = 0 below the transition.
    shapes : array, shape (k, r, r)
        V of each outlier, of norm one: rows along W*, columns along the rows of an eigenvector.
    weights : array, shape (k,)
        Squared norm of the part of each eigenvector that lies along W*.
    noise : array, shape (k * r, k * r)
        Gram matrix of the other part of the rows of the eigenvectors.
    """

    edge: float
    values: Array
    shapes: Array
    weights: Array
    noise: Array

    @property
    def signal(self) -> Array:
        """Coordinates (k * r, r) along W* of the rows of the eigenvectors."""
        scaled = np.sqrt(self.weights)[:, None, None] * self.shapes.transpose(0, 2, 1)
        return scaled.reshape(-1, self.shapes.shape[-1])

    @property
    def gram(self) -> Array:
        """Gram matrix (k * r, k * r) of the rows of the eigenvectors."""
        return self.signal @ self.signal.T + self.noise


# Its small products gain nothing from threads, which wait for each other on a busy machine.
@threadpool_limits.wrap(limits=1, user_api="blas")  # type: ignore[untyped-decorator]
def symmetric_transition(weights: Array, G: Array, T: Array, alpha: float) -> Transition:
    """Return the transition of (1/n) sum_i (x_i x_i^T) kron T_i.

    Parameters
    ----------
    weights : array, shape (m,)
        The weights of the labels.
    G, T : array, shape (m, r, r)
        E[z z^T - I | y] and the preprocessed labels.
    alpha : float
        Samples over dimension.

    Returns
    -------
    Transition
    """
    from scipy.optimize import brentq

    bulk = _Bulk(weights, T, alpha)
    second = np.eye(G.shape[1]) + G
    edge, at_edge = bulk.edge()

    def signal(L: Array) -> tuple[Array, Array]:
        return np.linalg.eigh(_kron_mean(weights, second, bulk.response(L)))

    tops = signal(at_edge)[0][::-1]
    values: list[float] = []
    shapes: list[Array] = []
    responses: list[Array] = []
    levels: list[Array] = []
    for j, top in enumerate(tops):
        if top <= edge + 1e-9 * abs(edge):
            break

        def excess(lam: float, j: int = j) -> float:
            L = bulk.level(lam)
            return float(signal(at_edge if L is None else L)[0][-1 - j]) - lam

        # The signal falls with lambda, so the root is below its value at the edge.
        lam = brentq(excess, edge, top, xtol=1e-14, rtol=1e-13)
        if values and abs(lam - values[-1]) <= _SAME * abs(lam):
            lam = values[-1]
        L = bulk.level(lam)
        L = at_edge if L is None else L
        values.append(lam)
        shapes.append(signal(L)[1][:, -1 - j].reshape(G.shape[1:]))
        responses.append(bulk.response(L))
        levels.append(L)
    return _assembled(edge, weights, second, alpha, values, shapes, responses, levels)


def linearised_transition(weights: Array, G: Array, alpha: float) -> Transition:
    """Return the transition of the asymmetric matrix with blocks (x_i . x_j / d - delta_ij) G_j.

    Parameters
    ----------
    weights, G, alpha
        As in `symmetric_transition`.

    Returns
    -------
    Transition
    """
    r = G.shape[1]
    found, vectors = np.linalg.eigh(_kron_mean(weights, G, G))
    edge = math.sqrt(alpha * max(float(found[-1]), 0.0))
    outside = [j for j in range(len(found))[::-1] if alpha * found[j] > edge * (1 + 1e-9)]
    values = [alpha * float(found[j]) for j in outside]
    return _assembled(
        edge,
        weights,
        np.eye(r) + G,
        alpha,
        values,
        [vectors[:, j].reshape(r, r) for j in outside],
        [G / value for value in values],
        [np.eye(r)] * len(values),
    )


@dataclass(frozen=True, eq=False)
class _Bulk:
    """The law of the eigenvalues of M without signal."""

    weights: Array
    T: Array
    alpha: float

    def _mean(self, values: Array) -> Array:
        return np.tensordot(self.weights, values, axes=1)

    def response(self, L: Array) -> Array:
        """Return K = T + T (L - T)^-1 T, shape (m, r, r)."""
        return self.T + self.T @ np.linalg.solve(L - self.T, self.T)

    def level(self, lam: float) -> Array | None:
        """Return L (r, r) at lambda, None inside the bulk.

        This is Newton's method from above on a convex equation: every iterate bounds the solution
        from above, so that an iterate outside the domain proves that there is no solution.
        """
        r = self.T.shape[1]
        mean = self._mean(self.T)
        L = self.alpha * (lam * np.eye(r) - mean)
        last = math.inf
        for _ in range(_STEPS):
            if np.linalg.eigvalsh(L - self.T).min() <= 0:
                return None
            N = np.asarray(np.linalg.solve(L - self.T, self.T), dtype=float)  # (L - T)^-1 T
            residual = L / self.alpha + mean + self._mean(self.T @ N) - lam * np.eye(r)
            size = float(np.abs(residual).max())
            moved = N.transpose(0, 2, 1)
            slope = np.eye(r * r) / self.alpha - _kron_mean(self.weights, moved, moved)
            growth = float(np.linalg.eigvals(slope).real.min())
            if growth <= 0:
                return None
            if size <= 1e-13 * max(abs(lam), float(np.abs(mean).max())) or size >= last:
                return L
            last = size if size < 1e-9 * abs(lam) else math.inf
            step = np.linalg.solve(slope, residual.ravel()).reshape(r, r)
            L = L - 0.5 * (step + step.T)
        return L

    def edge(self) -> tuple[float, Array]:
        """Return the edge, and L a little above it."""
        from scipy.optimize import minimize_scalar

        r = self.T.shape[1]
        mean = self._mean(self.T)
        top = float(np.linalg.eigvalsh(self.T).max())

        def bound(log_distance: float) -> float:
            L = (top + math.exp(log_distance)) * np.eye(r)
            total = L / self.alpha + mean + self._mean(
                self.T @ np.linalg.solve(L - self.T, self.T)
            )  # fmt: skip
            return float(np.linalg.eigvalsh(total)[-1])

        # A multiple of the identity solves the inequality: the edge is at most this bound.
        found = minimize_scalar(bound, bounds=(-12.0, 12.0), method="bounded").fun
        size = max(abs(found), float(np.abs(mean).max()), 1e-12)
        high = found + 1e-9 * size
        while (L := self.level(high)) is None:
            high += 1e-3 * size
        gap = 1e-7 * size
        while self.level(high - gap) is not None:
            gap *= 8
        low = high - gap
        while high - low > 1e-9 * size:
            middle = 0.5 * (low + high)
            at_middle = self.level(middle)
            if at_middle is None:
                low = middle
            else:
                high, L = middle, at_middle
        return high, L


def _assembled(
    edge: float,
    label_weights: Array,
    second: Array,
    alpha: float,
    values: list[float],
    shapes: list[Array],
    responses: list[Array],
    levels: list[Array],
) -> Transition:
    """Return norms and noise of the eigenvectors from V, K and L of each."""
    r, k = second.shape[1], len(values)
    noise = np.zeros((k, r, k, r))
    for i in range(k):
        for j in range(i, k):
            slope = np.kron(levels[i], levels[j]) / alpha**2
            slope = slope - _kron_mean(label_weights, responses[i], responses[j]) / alpha
            inner = shapes[i].T @ second @ shapes[j]
            moved = responses[i] @ inner @ responses[j]
            both = np.tensordot(label_weights, moved, axes=1) / alpha
            # <inner, K Y K> = <K inner K, Y>, and Y depends on e_a e_b^T through the slope.
            noise[i, :, j, :] = np.linalg.solve(slope.T, both.ravel()).reshape(r, r)
            noise[j, :, i, :] = noise[i, :, j, :].T
    length = np.sqrt([1 + float(np.trace(noise[i, :, i, :])) for i in range(k)])
    if k:
        noise = noise / length[:, None, None, None] / length[:, None]
    return Transition(
        edge,
        np.array(values),
        np.array(shapes).reshape(k, r, r),
        1 / length**2 if k else np.zeros(0),
        noise.reshape(k * r, k * r),
    )


def _kron_mean(weights: Array, A: Array, B: Array) -> Array:
    """Return E[A kron B], shape (r^2, r^2)."""
    r = A.shape[1]
    left = (weights[:, None] * A.reshape(len(A), -1)).T @ B.reshape(len(B), -1)
    return left.reshape(r, r, r, r).transpose(0, 2, 1, 3).reshape(r * r, r * r)
