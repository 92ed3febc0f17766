"""The law of a number given the fields as a Gaussian around a curve: a channel for sharp links.

With u the normal score of y,

    u | w ~ N(mu(w), sigma(w)^2),

where mu is a kernel ridge regression on a few Gaussian bumps and quadratics, whose ridge has the
least leave-one-out error, and log sigma^2 is a polynomial fitted to the logarithms of left-out
residuals. Where the directions are known well this resolves what bins cannot; where y is nearly
unpredictable it is better than bins only for smooth links, so the held-out likelihood chooses.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from learnability.estimators._products import Products

__all__ = ["LocationChannel"]

Array = NDArray[np.float64]
_RIDGES = np.logspace(-5, 3, 17)
_MOST = 3.0
"""Residuals beyond this many standard deviations count as this many."""
_RANGE = 4.0
"""Largest change of the logarithm of the variance."""
_LOG_CHI2 = 1.2703628
"""Minus the mean of the logarithm of a squared standard normal."""


class LocationChannel:
    """A Gaussian regression channel.

    Parameters
    ----------
    bumps : int
        Number of Gaussian bumps.
    width : float
        Their width in units of the fields' spread.
    """

    degree = 4
    """Largest degree of the polynomials that it needs."""

    def __init__(self, bumps: int = 80, width: float = 1.0) -> None:
        self.bumps = bumps
        self.width = width

    def fit(self, at: Products, u: Array, weights: Array) -> LocationChannel:
        """Fit to standard fields and normal scores u (n,) of rows with counts `weights`."""
        n = len(u)
        count = min(self.bumps, n // 4)
        self._centres = 1.2 * at.w[np.linspace(0, n - 1, count).astype(int)]
        root = np.sqrt(weights)
        phi = np.concatenate([at.up_to(2).values, self._bumps(at.w)]) * root
        values, vectors = np.linalg.eigh(phi @ phi.T)
        values = np.maximum(values, 1e-12 * values[-1])
        rotated = vectors.T @ phi
        along = rotated @ (u * root)
        inverse = 1 / (values + _RIDGES[:, None])
        leverage = np.minimum(inverse @ rotated**2, 0.95)
        left_out = (u * root - (inverse * along) @ rotated) / (1 - leverage)
        total = weights.sum()
        errors = (left_out**2).sum(axis=1) / total
        best = int(errors.argmin())
        error = float(errors[best])
        squares = np.divide(left_out[best] ** 2, weights, where=weights > 0, out=np.zeros(n))
        self._weights = vectors @ (along * inverse[best])
        self._degree = 2 if n < 400 else self.degree
        at = at.up_to(self._degree)
        poly, degrees = at.values, at.degrees
        log = np.log(np.maximum(squares, 1e-4 * error)) + _LOG_CHI2
        gram = (poly * weights) @ poly.T + np.diag(20.0 * degrees**2 + 1e-9)
        self._spread = np.linalg.solve(gram, poly @ (weights * log))
        self._spread[0] = 0.0
        # With this level the residuals have unit mean square.
        shape = np.clip(self._spread @ poly, -_RANGE, _RANGE)
        ratio = np.minimum(squares / np.exp(shape), 50 * error)
        self._level = float(np.log(max(weights @ ratio / total, 1e-8)))
        return self

    def score(self, at: Products, u: Array) -> tuple[Array, Array]:
        """Return the gradient of log p(u | w) in w, shape (n, r), and log p(u | w) / p(u)."""
        low, high = at.up_to(2), at.up_to(self._degree)
        F = len(low.values)
        weighted = self._weights[F:, None] * self._bumps(at.w)
        mean, log_variance = self._law(at, weighted.sum(axis=0))
        pull = weighted.T @ self._centres - at.w * weighted.sum(axis=0)[:, None]
        mean_slope = low.slopes(self._weights[:F]) + pull / self.width**2
        inside = np.abs(log_variance - self._level) < _RANGE
        spread_slope = high.slopes(self._spread) * inside[:, None]
        sigma = np.exp(log_variance / 2)
        residual = (u - mean) / sigma
        bounded = np.clip(residual, -_MOST, _MOST)
        score = (bounded / sigma)[:, None] * mean_slope
        score += 0.5 * (bounded**2 - 1)[:, None] * spread_slope
        # The density is Gaussian inside with exponential tails, so that the score is bounded.
        size = np.abs(residual)
        cost = np.where(size < _MOST, size**2 / 2, _MOST * size - _MOST**2 / 2)
        return score, -cost - log_variance / 2 + u**2 / 2

    def law(self, at: Products) -> tuple[Array, Array]:
        """Return the mean and logarithm of the variance of u given w, each (n,)."""
        F = len(at.up_to(2).values)
        return self._law(at, self._weights[F:] @ self._bumps(at.w))

    def _law(self, at: Products, rest: Array) -> tuple[Array, Array]:
        low = at.up_to(2).values
        tilt = self._spread @ at.up_to(self._degree).values
        mean = self._weights[: len(low)] @ low + rest
        return mean, np.clip(tilt, -_RANGE, _RANGE) + self._level

    def _bumps(self, w: Array) -> Array:
        """Return Gaussian bumps, shape (count, n)."""
        c = self._centres / self.width
        w = w / self.width
        gaps = c @ w.T
        gaps -= (c**2).sum(axis=1)[:, None] / 2
        gaps -= (w**2).sum(axis=1) / 2
        return np.asarray(np.exp(gaps, out=gaps))
