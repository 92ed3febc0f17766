"""Convex losses of one number: the residual of a regression, or the margin of a classification.

The asymptotics of a fit depend on a loss only through its proximal step. With rho = y - u for a
regression and rho = y u for labels y = +-1, let

    p = argmin_p loss(p) + (p - rho)^2 / (2 V),     f(rho) = (rho - p) / V = loss'(p),

the score of a sample. The theory needs the means of f, f^2 and f' over a normal variable around
its mean. The scores of least squares, Huber and hinge are piecewise linear and have closed
forms; that of the logistic loss is smooth and is integrated by a Gauss rule.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["LOSSES", "Loss", "ScoreMeans"]

Array = NDArray[np.float64]

HUBER_REACH = 1.35
"""Residuals of more than this many scales enter Huber's loss linearly; scikit-learn's default."""
_NODES = 48
_RESOLVED, _FINEST = 8.0, 16
"""The largest spread for so many nodes, and the largest factor for wider ones."""
_PER_SPREAD = 32  # Nodes of a spline per standard deviation: its error is of order 1e-9.


class ScoreMeans(NamedTuple):
    """Means of the score over N(mean, spread^2), arrays of the shape of the means."""

    first: Array
    second: Array
    slope: Array


class Loss(ABC):
    """A convex loss, its proximal score, and the fit of scikit-learn that minimises it."""

    classifies: ClassVar[bool] = False
    """Whether it is a function of the margin y u of labels +-1."""
    has_scale: ClassVar[bool] = False
    """Whether a scale of the residuals is fitted with the weights."""

    @abstractmethod
    def estimator(self, ridge: float) -> Any:
        """Return the estimator of scikit-learn that minimises sum_i loss_i + ridge |w|^2 / 2."""

    @abstractmethod
    def means_at(self, mean: Array, spread: float, V: float, scale: float) -> ScoreMeans:
        """Return what `means` returns, without interpolation."""

    def means(self, mean: Array, spread: float, V: float, scale: float) -> ScoreMeans:
        """Return means of the score, its square and its slope over rho ~ N(mean, spread^2).

        They are smooth on the scale of the spread, so that many of them are read off splines.

        Parameters
        ----------
        mean : array
            Means of rho.
        spread : float
            Standard deviation of rho, above 0.
        V : float
            Strength of the proximal step.
        scale : float
            Scale of the residuals, for losses that fit one.
        """
        from scipy.interpolate import CubicSpline

        low, high = float(mean.min()) - spread, float(mean.max()) + spread
        count = max(int(_PER_SPREAD * (high - low) / spread) + 2, 64)
        if count >= mean.size:
            return self.means_at(mean, spread, V, scale)
        grid = np.linspace(low, high, count)
        found = CubicSpline(grid, np.stack(self.means_at(grid, spread, V, scale)), axis=1)(mean)
        return ScoreMeans(*found)


class _PiecewiseLinear(Loss):
    """A loss whose score is linear between knots."""

    @abstractmethod
    def pieces(self, V: float, scale: float) -> tuple[Array, Array, Array]:
        """Return knots (k,), and values at zero (k + 1,) and slopes (k + 1,) of the lines."""

    def means_at(self, mean: Array, spread: float, V: float, scale: float) -> ScoreMeans:
        """Return the means in closed form."""
        from scipy.special import ndtr

        knots, values, slopes = self.pieces(V, scale)
        t = (knots - mean[..., None]) / spread
        end = np.zeros((*mean.shape, 1))
        density = np.exp(-0.5 * t**2) / np.sqrt(2 * np.pi)
        below = np.concatenate([end, ndtr(t), end + 1], axis=-1)
        first = np.concatenate([end, -density, end], axis=-1)
        second = np.concatenate([end, ndtr(t) - t * density, end + 1], axis=-1)
        mass, m1, m2 = (np.diff(part, axis=-1) for part in (below, first, second))
        at_mean = values + slopes * mean[..., None]
        rise = slopes * spread
        return ScoreMeans(
            (at_mean * mass + rise * m1).sum(axis=-1),
            (at_mean**2 * mass + 2 * at_mean * rise * m1 + rise**2 * m2).sum(axis=-1),
            (slopes * mass).sum(axis=-1),
        )


class Squared(_PiecewiseLinear):
    """Half the squared residual."""

    def estimator(self, ridge: float) -> Any:
        """Return ridge regression."""
        from sklearn.linear_model import Ridge

        return Ridge(alpha=ridge)

    def pieces(self, V: float, scale: float) -> tuple[Array, Array, Array]:
        """Return one line."""
        return np.zeros(0), np.zeros(1), np.array([1 / (1 + V)])


class Huber(_PiecewiseLinear):
    """Huber's loss with a fitted scale s: half of s + s H(rho / s), H quadratic up to its reach.

    The scale is that of scikit-learn: the mean of min(rho^2, (reach s)^2) over the fit is s^2.
    """

    has_scale: ClassVar[bool] = True

    def estimator(self, ridge: float) -> Any:
        """Return Huber regression."""
        from sklearn.linear_model import HuberRegressor

        # scikit-learn's loss is twice this one, and its penalty alpha |w|^2.
        return HuberRegressor(epsilon=HUBER_REACH, alpha=ridge, max_iter=2000, tol=1e-7)

    def pieces(self, V: float, scale: float) -> tuple[Array, Array, Array]:
        """Return three lines; the curvature of the loss is 1 / scale."""
        knot, most = HUBER_REACH * (scale + V), HUBER_REACH
        return (
            np.array([-knot, knot]),
            np.array([-most, 0.0, most]),
            np.array([0.0, 1 / (scale + V), 0.0]),
        )


class Hinge(_PiecewiseLinear):
    """max(0, 1 - rho), the loss of a linear support vector machine."""

    classifies: ClassVar[bool] = True

    def estimator(self, ridge: float) -> Any:
        """Return a support vector machine, whose intercept carries no penalty."""
        from sklearn.svm import SVC

        return SVC(kernel="linear", C=1 / ridge, tol=1e-4, cache_size=500)

    def pieces(self, V: float, scale: float) -> tuple[Array, Array, Array]:
        """Return three lines; the score is -1 below 1 - V, and zero above 1."""
        return (
            np.array([1 - V, 1.0]),
            np.array([-1.0, -1 / V, 0.0]),
            np.array([0.0, 1 / V, 0.0]),
        )


class Logistic(Loss):
    """log(1 + exp(-rho))."""

    classifies: ClassVar[bool] = True

    def estimator(self, ridge: float) -> Any:
        """Return logistic regression."""
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(C=1 / ridge, tol=1e-7, max_iter=5000)

    def means_at(self, mean: Array, spread: float, V: float, scale: float) -> ScoreMeans:
        """Return the means by a Gauss rule, as fine as a score that bends on the scale of one."""
        from learnability.gaussian.rules import gauss_normal

        finer = 2 ** max(math.ceil(math.log2(spread / _RESOLVED)), 0)
        x, w = gauss_normal(np.zeros(0), _NODES * min(finer, _FINEST))
        sigma = 1 / (1 + np.exp(_logistic_prox(mean[..., None] + spread * x, V)))
        curvature = sigma * (1 - sigma)
        return ScoreMeans(-sigma @ w, sigma**2 @ w, (curvature / (1 + V * curvature)) @ w)


def _logistic_prox(rho: Array, V: float) -> Array:
    """Return the root p of p - V / (1 + exp(p)) = rho, by Newton's method.

    The left side bends at p = 0 alone, so that the steps from there on go to the root in one
    direction; from elsewhere they may jump to and fro for ever when V is large.
    """
    p = np.zeros_like(rho)
    for _ in range(100):
        sigma = 1 / (1 + np.exp(np.clip(p, -500, 500)))
        residual = p - V * sigma - rho
        if np.abs(residual).max() <= 1e-12 * (1 + V):
            break
        p = p - residual / (1 + V * sigma * (1 - sigma))
    return p


LOSSES: dict[str, Loss] = {
    "squared": Squared(),
    "huber": Huber(),
    "logistic": Logistic(),
    "hinge": Hinge(),
}
"""Name -> loss."""
