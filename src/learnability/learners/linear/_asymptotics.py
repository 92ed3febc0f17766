"""The fit of a linear model in high dimension: a fixed point of a few numbers.

The weights w minimise sum_i loss(y_i, w.x_i / sqrt(d) + b) + ridge |w|^2 / 2 over n = alpha d
samples. With m = W* w / sqrt(d), q = |w|^2 / d and the score g of a sample (see `losses`), whose
argument is omega = m.z + sqrt(q - |m|^2) xi with xi standard normal,

    V = 1 / (ridge + alpha E[f']),   m = alpha V (E[z g] + m E[f']),
    q = V^2 (|alpha (E[z g] + m E[f'])|^2 + alpha E[f^2]),   E[g] = 0,

and E[f^2] = 1 fixes the scale of Huber's loss. Only the law of (z, y) enters, so it holds for
every law of the label; it is integrated by a rule that is split where the link breaks.

References
----------
Thrampoulidis, Abbasi, Hassibi, IEEE Trans. Inf. Theory 64 (2018); Aubin, Krzakala, Lu, Zdeborova,
NeurIPS 2020 (classification); El Karoui et al., PNAS 110 (2013) (robust regression).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.learners.linear.losses import Loss
from learnability.statuses import Status

__all__ = ["Fit", "LabelNodes", "fit_at"]

Array = NDArray[np.float64]

_MOST_STEPS = 4000
_TOLERANCE = 1e-9
_DAMPING = 0.7


class LabelNodes(NamedTuple):
    """A quadrature of the joint law of hidden coordinates and label.

    Attributes
    ----------
    z : array, shape (N, r)
        Hidden coordinates.
    y : array, shape (N,)
        Labels without their Gaussian noise; +-1 for a loss that classifies.
    weights : array, shape (N,)
        They sum to one.
    noise : float
        Variance of the Gaussian noise of the label.
    """

    z: Array
    y: Array
    weights: Array
    noise: float


class Fit(NamedTuple):
    """A fixed point, and the errors that follow from it.

    Attributes
    ----------
    m : array, shape (r,)
        Weights times hidden directions.
    q : float
        Squared length of the weights.
    V, b, scale : float
        Strength of the proximal step, intercept, and scale of the residuals.
    status : Status
        Whether it converged.
    """

    m: Array
    q: float
    V: float
    b: float
    scale: float
    status: Status

    def centre(self, loss: Loss, nodes: LabelNodes) -> Array:
        """Return the mean of the residual or margin at the nodes, shape (N,)."""
        field = nodes.z @ self.m + self.b
        return nodes.y * field if loss.classifies else nodes.y - field

    def spread(self, nodes: LabelNodes) -> float:
        """Return the standard deviation of the residual or margin around that mean."""
        rest = max(self.q - float(self.m @ self.m), 1e-14 * max(self.q, 1e-300))
        return math.sqrt(max(rest + nodes.noise, 1e-300))

    def error(self, loss: Loss, nodes: LabelNodes) -> float:
        """Return the mean squared error on fresh samples, or the share of wrong labels."""
        from scipy.special import ndtr

        centre, spread = self.centre(loss, nodes), self.spread(nodes)
        if loss.classifies:
            return float(nodes.weights @ ndtr(-centre / spread))
        return float(nodes.weights @ centre**2) + spread**2

    def train_error(self, loss: Loss, nodes: LabelNodes) -> float:
        """Return the mean squared residual rho - V f on the samples of a regression."""
        centre, spread = self.centre(loss, nodes), self.spread(nodes)
        f = loss.means(centre, spread, self.V, self.scale)
        crossed = centre * f.first + spread**2 * f.slope
        squares = centre**2 + spread**2 - 2 * self.V * crossed + self.V**2 * f.second
        return float(nodes.weights @ squares)


def fit_at(
    loss: Loss, nodes: LabelNodes, alpha: float, ridge: float, start: Fit | None = None
) -> Fit:
    """Return the fixed point at one ratio of samples.

    Parameters
    ----------
    loss : Loss
        The loss.
    nodes : LabelNodes
        The law of the label.
    alpha : float
        Samples per dimension.
    ridge : float
        The penalty, above 0.
    start : Fit, optional
        Where to begin.
    """
    mean = float(nodes.weights @ nodes.y)
    power = float(nodes.weights @ (nodes.y - mean) ** 2) + nodes.noise
    at = start or Fit(
        np.zeros(nodes.z.shape[1]),
        power,
        1 / ridge,
        0.0 if loss.classifies else mean,
        math.sqrt(power),
        Status.STOPPED,
    )
    for _ in range(_MOST_STEPS):
        new = _step(loss, nodes, alpha, ridge, at)
        change = max(
            float(np.abs(new.m - at.m).max(initial=0)) / math.sqrt(max(at.q, 1e-300)),
            abs(new.q - at.q) / max(at.q, 1e-300),
            abs(new.V - at.V) / at.V,
            abs(new.b - at.b) / math.sqrt(power),
            abs(new.scale - at.scale) / math.sqrt(power) if loss.has_scale else 0.0,
        )
        at = new
        if change <= _TOLERANCE:
            return at._replace(status=Status.CONVERGED)
    return at


def _step(loss: Loss, nodes: LabelNodes, alpha: float, ridge: float, at: Fit) -> Fit:
    f = loss.means(at.centre(loss, nodes), at.spread(nodes), at.V, at.scale)
    g = -nodes.y * f.first if loss.classifies else f.first
    slope = float(nodes.weights @ f.slope)
    second = float(nodes.weights @ f.second)
    pull = alpha * ((nodes.weights * g) @ nodes.z + slope * at.m)
    V = 1 / (ridge + alpha * slope)
    q = V**2 * (float(pull @ pull) + alpha * second)
    b = at.b + float(nodes.weights @ g) / max(slope, 1e-12)
    scale = max((at.scale + at.V) * math.sqrt(second) - at.V, 0.5 * at.scale)

    def mixed(new: float, old: float) -> float:
        return _DAMPING * new + (1 - _DAMPING) * old

    return Fit(
        _DAMPING * V * pull + (1 - _DAMPING) * at.m,
        mixed(q, at.q),
        mixed(V, at.V),
        mixed(b, at.b),
        mixed(scale, at.scale),
        Status.STOPPED,
    )
