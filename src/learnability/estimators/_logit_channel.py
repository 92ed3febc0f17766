"""The law of a label given the fields, as a softmax of polynomials: a channel for labels or bins.

The law is

    log p(b | w) = log pi_b + phi(w)^T Theta psi_b - log(normalisation),

where phi are products of Hermite polynomials of the fields up to a total degree and psi functions
of the bin that are orthonormal under pi: cosines of the rank for numbers, indicators for classes.
Theta maximises a penalised likelihood, with a larger penalty for rough functions. It is found by
Newton steps from the last Theta, with a Hessian that is kept while it still leads uphill: the
fields of message passing move little from step to step, so one or two cheap steps are enough.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from learnability.estimators._labels import Labels
from learnability.estimators._products import Products

__all__ = ["Bins", "LogitChannel", "bins_of"]

Array = NDArray[np.float64]
_HESSIAN_ROWS = 1500
"""Number of rows from which a Hessian is estimated."""


@dataclass(frozen=True)
class Bins:
    """Labels as bins.

    Attributes
    ----------
    codes : array, shape (n,)
        Bin of each row.
    pi : array, shape (B,)
        Shares of the bins.
    psi : array, shape (B, m)
        Functions of the bin, orthonormal under pi and of mean zero.
    roughness : array, shape (m,)
        How fast each function varies.
    weights : array, shape (n,)
        Counts of the rows.
    """

    codes: NDArray[np.intp]
    pi: Array
    psi: Array
    roughness: Array
    weights: Array

    def take(self, rows: Any) -> Bins:
        """Return the same bins for some rows."""
        return replace(self, codes=self.codes[rows], weights=self.weights[rows])


def bins_of(labels: Labels, count: int, functions: int) -> Bins:
    """Cut labels into at most `count` bins with at most `functions` functions of them."""
    codes = labels.slices(count)
    pi = np.bincount(codes, weights=labels.weights) / labels.weights.sum()
    B = len(pi)
    if labels.kind == "numbers":
        middle = np.cumsum(pi) - pi / 2
        order = np.arange(1, min(functions, B - 1) + 1)
        raw = np.cos(np.pi * order[:, None] * middle)
        roughness = order.astype(float)
    else:
        raw = np.eye(B)[1:]
        roughness = np.ones(B - 1)
    raw = (raw - raw @ pi[:, None]) * np.sqrt(pi)
    left, right = np.linalg.qr(raw.T)
    signs = np.sign(np.diag(right))
    psi = (left * np.where(signs == 0, 1.0, signs)) / np.sqrt(pi)[:, None]
    return Bins(codes, pi, psi, roughness, labels.weights)


class LogitChannel:
    """A softmax channel that is fitted again and again as its fields move.

    Parameters
    ----------
    degree : int
        Largest degree of the polynomials.
    ridge : float
        The penalty, ridge (degree roughness)^2 |Theta|^2 / 2, in units of log-likelihood.
    """

    def __init__(self, degree: int, ridge: float) -> None:
        self.degree = degree
        self.ridge = ridge
        self._theta: Array | None = None
        self._factor: tuple[Array, bool] | None = None

    def fit(self, at: Products, bins: Bins, steps: int = 2) -> LogitChannel:
        """Take a few Newton steps on the fields and their bins."""
        at = at.up_to(self.degree)
        phi = at.values[1:]
        penalty = self._penalty(at, bins)
        theta = self._theta
        if theta is None:
            theta, self._factor = np.zeros(penalty.shape), None
        target = bins.psi[bins.codes]
        p, value = _law(phi, theta, bins)
        value -= float((penalty * theta**2).sum()) / 2
        for _ in range(steps):
            slope = phi @ ((target - p @ bins.psi) * bins.weights[:, None]) - penalty * theta
            fresh = self._factor is None
            if fresh:
                self._factor = _hessian(phi, p, bins, penalty)
            assert self._factor is not None
            move = cho_solve(self._factor, slope.ravel(), check_finite=False).reshape(theta.shape)
            gain = float((move * slope).sum())
            if gain < 1e-3:
                break
            size = 1.0
            while size > 0.05:
                trial = theta + size * move
                q, there = _law(phi, trial, bins)
                there -= float((penalty * trial**2).sum()) / 2
                if there > value + 1e-4 * size * gain:
                    break
                size /= 3
            else:
                self._factor = None
                if fresh:
                    break
                continue
            theta, p, value = trial, q, there
            if size < 1 or gain > 0.02 * bins.weights.sum():
                self._factor = None
        self._theta = theta
        return self

    def left_out(self, at: Products, bins: Bins, parts: list[slice]) -> list[LogitChannel]:
        """Return channels of the same rows without each of some parts of equal size.

        Each is one Newton step away from the channel of all rows, which is accurate where the rows
        are many times the parameters.
        """
        at = at.up_to(self.degree)
        phi = at.values[1:]
        penalty = self._penalty(at, bins)
        assert self._theta is not None
        p, _ = _law(phi, self._theta, bins)
        if self._factor is None:
            self._factor = _hessian(phi, p, bins, penalty)
        pull = (bins.psi[bins.codes] - p @ bins.psi) * bins.weights[:, None]
        each = np.stack([phi[:, part] @ pull[part] for part in parts])
        slopes = each.sum(axis=0) - penalty * self._theta - each
        slopes *= len(parts) / (len(parts) - 1)  # The Hessian is that of all rows.
        moves = cho_solve(self._factor, slopes.reshape(len(parts), -1).T, check_finite=False).T
        found = []
        for move in moves:
            other = copy(self)
            other._theta = self._theta + move.reshape(penalty.shape)
            found.append(other)
        return found

    def parameters(self, at: Products, bins: Bins) -> int:
        """Return the number of parameters."""
        return int((len(at.up_to(self.degree).values) - 1) * bins.psi.shape[1])

    def _penalty(self, at: Products, bins: Bins) -> Array:
        return self.ridge * np.outer(at.degrees[1:], bins.roughness) ** 2

    def score(self, at: Products, bins: Bins) -> tuple[Array, Array]:
        """Return the gradient of log p(b | w) in w (n, r), and log p(b | w) / pi_b of each row."""
        assert self._theta is not None
        at = at.up_to(self.degree)
        p, _ = _law(at.values[1:], self._theta, bins)
        tilt = np.zeros(at.values.shape)
        tilt[1:] = self._theta @ (bins.psi[bins.codes] - p @ bins.psi).T
        ratio = np.log(p[np.arange(len(p)), bins.codes] / bins.pi[bins.codes])
        return at.slopes(tilt), ratio

    def law(self, at: Products, bins: Bins) -> Array:
        """Return p(b | w) of all bins, shape (n, B)."""
        assert self._theta is not None
        return _law(at.up_to(self.degree).values[1:], self._theta, bins)[0]


def _law(phi: Array, theta: Array, bins: Bins) -> tuple[Array, float]:
    """Return p(b | w) of all bins (n, B), and the log-likelihood of the observed bins."""
    logits = phi.T @ (theta @ bins.psi.T)
    logits += np.log(bins.pi)
    if logits.shape[1] == 2:
        gap = np.clip(logits[:, 1] - logits[:, 0], -25, 25)
        second = 1 / (1 + np.exp(-gap))
        p = np.stack([1 - second, second], axis=1)
    else:
        logits -= logits.max(axis=1, keepdims=True)
        p = np.exp(np.maximum(logits, -25, out=logits), out=logits)
        p /= p.sum(axis=1, keepdims=True)
    return p, float(bins.weights @ np.log(p[np.arange(len(p)), bins.codes]))


def _hessian(phi: Array, p: Array, bins: Bins, penalty: Array) -> tuple[Array, bool]:
    every = max(1, phi.shape[1] // _HESSIAN_ROWS)
    phi, p, weights = phi[:, ::every], p[::every], bins.weights[::every]
    F, n = phi.shape
    psi, m = bins.psi, bins.psi.shape[1]
    # Blocks (l, k): phi diag(w Cov(psi_l, psi_k)) phi^T, all pairs l <= k at once.
    first, second = np.triu_indices(m)
    mean = p @ psi
    spread = p @ (psi[:, first] * psi[:, second]) - mean[:, first] * mean[:, second]
    spread *= every * weights[:, None]
    pairs = (phi[None] * spread.T[:, None]).reshape(-1, n) @ phi.T
    found = np.empty((F, m, F, m))
    found[:, first, :, second] = pairs.reshape(-1, F, F)
    found[:, second, :, first] = pairs.reshape(-1, F, F)
    matrix = found.reshape(F * m, F * m)
    matrix[np.diag_indices(F * m)] += penalty.ravel() + 1e-3 * bins.weights.sum()
    return cho_factor(matrix, lower=True, check_finite=False)
