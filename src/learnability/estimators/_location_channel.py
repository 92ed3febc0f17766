"""The law of a number given the fields as a Gaussian around a curve: a channel for sharp links.

With u the normal score of y,

    u | w ~ N(mu(w), sigma(w)^2),

mu a kernel ridge regression on a few Gaussian bumps and quadratics, its ridge from the exact
leave-one-out error, and log sigma^2 a polynomial fitted to the logarithms of left-out residuals.
Where the directions are known well this resolves what bins cannot; where y is nearly unpredictable
it is the better of the two only for smooth links, so the held-out likelihood chooses.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from learnability.estimators._logit_channel import polynomials, slopes

__all__ = ["LocationChannel"]

Array = NDArray[np.float64]
_RIDGES = np.logspace(-5, 3, 17)
_MOST = 3.0
"""Residuals beyond this many standard deviations count as this many."""
_RANGE = 4.0
"""Largest change of the logarithm of the variance."""
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

    def __init__(self, bumps: int = 80, width: float = 1.0) -> None:
        self.bumps = bumps
        self.width = width

    def fit(self, w: Array, u: Array) -> LocationChannel:
        """Fit to standard fields w (n, r) and normal scores u (n,)."""
        n = len(w)
        count = min(self.bumps, n // 4)
        self._centres = 1.2 * w[np.linspace(0, n - 1, count).astype(int)]
        phi = np.concatenate([polynomials(w, 2)[0], self._bumps(w)])
        values, vectors = np.linalg.eigh(phi @ phi.T)
        values = np.maximum(values, 1e-12 * values[-1])
        rotated = vectors.T @ phi
        along = rotated @ u
        inverse = 1 / (values + _RIDGES[:, None])
        leverage = np.minimum(inverse @ rotated**2, 0.95)
        left_out = (u - (inverse * along) @ rotated) / (1 - leverage)
        errors = (left_out**2).mean(axis=1)
        best = int(errors.argmin())
        error, left_out = float(errors[best]), left_out[best]
        self._weights = vectors @ (along * inverse[best])
        self._degree = 2 if n < 400 else 4
        poly, degrees = polynomials(w, self._degree)
        log = np.log(np.maximum(left_out**2, 1e-4 * error)) + _LOG_CHI2
        gram = poly @ poly.T + np.diag(20.0 * degrees**2 + 1e-9)
        self._spread = np.linalg.solve(gram, poly @ log)
        self._spread[0] = 0.0
        # The level that makes the residuals have unit mean square.
        shape = np.clip(self._spread @ poly, -_RANGE, _RANGE)
        ratio = np.minimum(left_out**2 / np.exp(shape), 50 * error)
        self._level = float(np.log(max(ratio.mean(), 1e-8)))
        return self

    def score(self, w: Array, u: Array) -> tuple[Array, Array]:
        """Gradient of log p(u | w) in w, shape (n, r), and log p(u | w) / p(u)."""
        mean, log_variance = self.law(w)
        low, high = polynomials(w, 2)[0], polynomials(w, self._degree)[0]
        F, r = len(low), w.shape[1]
        weighted = self._weights[F:, None] * self._bumps(w)
        pull = weighted.T @ self._centres - w * weighted.sum(axis=0)[:, None]
        mean_slope = slopes(low, self._weights[:F], r, 2) + pull / self.width**2
        inside = np.abs(log_variance - self._level) < _RANGE
        spread_slope = slopes(high, self._spread, r, self._degree) * inside[:, None]
        sigma = np.exp(log_variance / 2)
        residual = (u - mean) / sigma
        bounded = np.clip(residual, -_MOST, _MOST)
        score = (bounded / sigma)[:, None] * mean_slope
        score += 0.5 * (bounded**2 - 1)[:, None] * spread_slope
        # Gaussian inside, exponential tails outside: bounded score, finite penalty.
        size = np.abs(residual)
        cost = np.where(size < _MOST, size**2 / 2, _MOST * size - _MOST**2 / 2)
        return score, -cost - log_variance / 2 + u**2 / 2

    def law(self, w: Array) -> tuple[Array, Array]:
        """Mean and logarithm of the variance of u given w, each (n,)."""
        low = polynomials(w, 2)[0]
        mean = self._weights[: len(low)] @ low + self._weights[len(low) :] @ self._bumps(w)
        tilt = self._spread @ polynomials(w, self._degree)[0]
        return mean, np.clip(tilt, -_RANGE, _RANGE) + self._level

    def _bumps(self, w: Array) -> Array:
        """Gaussian bumps, shape (count, n)."""
        c = self._centres
        gaps = (c**2).sum(axis=1)[:, None] + (w**2).sum(axis=1) - 2 * c @ w.T
        return np.exp(gaps * (-0.5 / self.width**2))
