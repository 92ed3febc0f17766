"""The law of a label given the fields, as a softmax of polynomials: a channel for labels or bins.

    log p(b | w) = log pi_b + phi(w)^T Theta psi_b - log(normalisation),

phi are products of Hermite polynomials of the fields up to a total degree, psi functions of the bin
that are orthonormal under pi: cosines of the rank for numbers, indicators for classes. Theta is a
penalised maximum of the likelihood, rough functions paying more. It is found by Newton steps from
the last Theta, with a Hessian that is kept while it still leads uphill: the fields of message
passing move little from step to step, so one or two cheap steps are enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from learnability.estimators._labels import Labels

__all__ = ["Bins", "LogitChannel", "bins_of", "polynomials", "slopes"]

Array = NDArray[np.float64]
_HESSIAN_ROWS = 1500
"""Rows that a Hessian is estimated from."""


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
        How fast each of them varies.
    """

    codes: NDArray[np.intp]
    pi: Array
    psi: Array
    roughness: Array

    def take(self, rows: NDArray[np.intp]) -> Bins:
        """The same bins for some rows."""
        return replace(self, codes=self.codes[rows])


def bins_of(labels: Labels, count: int, functions: int) -> Bins:
    """Cut labels into at most `count` bins with at most `functions` functions of them."""
    codes = labels.slices(count)
    pi = np.bincount(codes) / len(codes)
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
    return Bins(codes, pi, psi, roughness)


@dataclass(frozen=True)
class _Table:
    """Exponents of the products, feature 0 being the constant.

    `parents[f, a]` is the feature with one power of field a less, `roots[f, a]` the root of that
    power, and `steps` says how each feature is built from another.
    """

    degrees: Array
    roots: Array
    parents: NDArray[np.intp]
    steps: tuple[tuple[int, int, int], ...]


@cache
def _table(r: int, degree: int) -> _Table:
    powers = [(0,) * r]
    for total in range(1, degree + 1):
        for chosen in combinations_with_replacement(range(r), total):
            powers.append(tuple(chosen.count(a) for a in range(r)))
    place = {power: f for f, power in enumerate(powers)}
    parents = np.zeros((len(powers), r), dtype=np.intp)
    steps = []
    for f, power in enumerate(powers):
        for a in range(r):
            if power[a]:
                parents[f, a] = place[(*power[:a], power[a] - 1, *power[a + 1 :])]
        if f:
            first = next(a for a in range(r) if power[a])
            rest = place[(*power[:first], 0, *power[first + 1 :])]
            steps.append((first, power[first], rest))
    table = np.array(powers, dtype=float)
    return _Table(table.sum(axis=1), np.sqrt(table), parents, tuple(steps))


def polynomials(w: Array, degree: int) -> tuple[Array, Array]:
    """Orthonormal products of Hermite polynomials of standard fields.

    Parameters
    ----------
    w : array, shape (n, r)
        Fields of unit covariance.
    degree : int
        Largest total degree.

    Returns
    -------
    tuple
        Values (F, n), the constant first, and total degrees (F,).
    """
    n, r = w.shape
    one = np.ones((r, degree + 1, n))
    for a in range(r):
        x = np.ascontiguousarray(w[:, a])
        if degree:
            one[a, 1] = x
        for k in range(1, degree):  # h_{k+1} = (w h_k - sqrt(k) h_{k-1}) / sqrt(k+1)
            one[a, k + 1] = (x * one[a, k] - np.sqrt(k) * one[a, k - 1]) / np.sqrt(k + 1)
    table = _table(r, degree)
    values = np.empty((len(table.degrees), n))
    values[0] = 1.0
    for f, (field, power, rest) in enumerate(table.steps, start=1):
        np.multiply(one[field, power], values[rest], out=values[f])
    return values, table.degrees


def slopes(values: Array, tilt: Array, r: int, degree: int) -> Array:
    """Gradient (n, r) of sum_f tilt_f phi_f for values (F, n) and tilt (F,) or (F, n)."""
    table = _table(r, degree)
    tilt = tilt[:, None] if tilt.ndim == 1 else tilt
    found = np.empty((values.shape[1], r))
    for a in range(r):
        has = np.flatnonzero(table.roots[:, a])
        terms = tilt[has] * values[table.parents[has, a]]
        found[:, a] = table.roots[has, a] @ terms
    return found


class LogitChannel:
    """A softmax channel that is fitted again and again as its fields move.

    Parameters
    ----------
    degree : int
        Largest degree of the polynomials.
    ridge : float
        Penalty in samples: ridge (degree roughness)^2 |Theta|^2 / 2.
    """

    def __init__(self, degree: int, ridge: float) -> None:
        self.degree = degree
        self.ridge = ridge
        self._theta: Array | None = None
        self._factor: tuple[Array, bool] | None = None

    def fit(self, w: Array, bins: Bins, steps: int = 2) -> LogitChannel:
        """Take a few Newton steps on the fields w (n, r) and their bins."""
        phi, degrees = polynomials(w, self.degree)
        phi, degrees = phi[1:], degrees[1:]
        penalty = self.ridge * np.outer(degrees, bins.roughness) ** 2
        theta = self._theta
        if theta is None:
            theta, self._factor = np.zeros(penalty.shape), None
        target = bins.psi[bins.codes]
        p, value = _law(phi, theta, bins)
        value -= float((penalty * theta**2).sum()) / 2
        for _ in range(steps):
            slope = phi @ (target - p @ bins.psi) - penalty * theta
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
            if size < 1 or gain > 0.02 * len(w):
                self._factor = None
        self._theta = theta
        return self

    def score(self, w: Array, bins: Bins) -> tuple[Array, Array]:
        """Gradient of log p(b | w) in w, shape (n, r), and log p(b | w) / pi_b of each row."""
        assert self._theta is not None
        phi, _ = polynomials(w, self.degree)
        p, _ = _law(phi[1:], self._theta, bins)
        tilt = np.zeros(phi.shape)
        tilt[1:] = self._theta @ (bins.psi[bins.codes] - p @ bins.psi).T
        ratio = np.log(p[np.arange(len(w)), bins.codes] / bins.pi[bins.codes])
        return slopes(phi, tilt, w.shape[1], self.degree), ratio

    def law(self, w: Array, bins: Bins) -> Array:
        """p(b | w) of all bins, shape (n, B)."""
        assert self._theta is not None
        return _law(polynomials(w, self.degree)[0][1:], self._theta, bins)[0]


def _law(phi: Array, theta: Array, bins: Bins) -> tuple[Array, float]:
    """p(b | w) of all bins (n, B), and the log-likelihood of the bins that were seen."""
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
    return p, float(np.log(p[np.arange(len(p)), bins.codes]).sum())


def _hessian(phi: Array, p: Array, bins: Bins, penalty: Array) -> tuple[Array, bool]:
    F, n = phi.shape
    every = max(1, n // _HESSIAN_ROWS)
    phi, p = np.ascontiguousarray(phi[:, ::every]), p[::every]
    psi, m = bins.psi, bins.psi.shape[1]
    mean = p @ psi
    # Blocks (l, k): phi diag(Cov(psi_l, psi_k)) phi^T.
    found = np.empty((F, m, F, m))
    for first in range(m):
        for second in range(first, m):
            weight = p @ (psi[:, first] * psi[:, second]) - mean[:, first] * mean[:, second]
            block = (phi * weight) @ phi.T
            found[:, first, :, second] = block
            found[:, second, :, first] = block
    matrix = found.reshape(F * m, F * m) * every
    matrix[np.diag_indices(F * m)] += penalty.ravel() + 1e-3 * n
    return cho_factor(matrix, lower=True, check_finite=False)
