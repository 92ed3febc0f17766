"""Weights seen in the frame that spiked inputs mark, and where they begin.

A neuron has the coordinates <w, e1> = <w, mu> and <w, e2>, and a rest of length r outside of them;
e3 is the direction of that rest. In (e1, e2, e3) every rule that moves w along inputs, along w and
along Sigma w is closed: what the inputs have outside of e1, e2, e3 enters by its length only.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.targets.spiked_index import Spike

__all__ = [
    "checked_weights",
    "correlations",
    "order_parameters",
    "random_weights",
    "typical_correlation",
]

Array = NDArray[np.float64]


def random_weights(seed: int, d: int) -> Array:
    """(<w, e1>, <w, e2>, r) of uniform weights of unit length in dimension d."""
    rng = np.random.default_rng([seed, 11])
    marked = rng.standard_normal(2)
    rest = rng.chisquare(d - 2)
    return np.array([*marked, math.sqrt(rest)]) / math.sqrt(float(marked @ marked) + rest)


def checked_weights(start: Any, spike: Spike) -> Array:
    """The same of given (m, s, q) = (<w, beta>, <w, mu>, |w|^2), or a sentence."""
    try:
        m, s, q = (float(value) for value in start)
    except (TypeError, ValueError):
        m = s = q = math.nan
    a = spike.alignment
    other = math.sqrt(max(1 - a * a, 0.0))
    b = (m - a * s) / other if other > 1e-9 else 0.0
    rest = q - s * s - b * b
    if not math.isfinite(rest) or rest < -1e-9 * max(abs(q), 1e-300) or q <= 0:
        raise LearnabilityError(
            f"`start` was given as {start!r}, but numbers (<w, beta>, <w, mu>, |w|^2) that weights "
            "can have are accepted."
        )
    if other <= 1e-9 and abs(m - a * s) > 1e-9:
        raise LearnabilityError(
            f"`start` was given as {start!r}, but the spike is the hidden direction, so that "
            "<w, beta> is <w, mu>, up to the sign of the alignment."
        )
    return np.array([s, b, math.sqrt(max(rest, 0.0))])


def order_parameters(weights: Array, spike: Spike) -> Array:
    """(m, s, q) of coordinates (..., 3)."""
    a = spike.alignment
    s, b = weights[..., 0], weights[..., 1]
    m = a * s + math.sqrt(max(1 - a * a, 0.0)) * b
    return np.stack([m, s, np.sum(weights**2, axis=-1)], axis=-1)


def correlations(parameters: Array, spike: Spike) -> Array:
    """rho, the correlation of w.x with the argument of the label, of (m, s, q) (..., 3)."""
    m, s, q = np.moveaxis(parameters, -1, 0)
    theta, a = spike
    tau2 = np.maximum(q + theta * s**2, 1e-300)
    return np.asarray((m + theta * a * s) / np.sqrt(tau2 * spike.variance))


def typical_correlation(spike: Spike, d: int) -> float:
    """The median of |rho| at random weights of unit length in large dimension d.

    With normal e1, e2 along the frame, rho = (a (1 + theta) e1 + sqrt(1 - a^2) e2) /
    sqrt(kappa (d + theta e1^2)); given e1 its law is that of e2.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtr
    from scipy.stats import chi2

    theta, a = spike
    if abs(a) == 1:  # rho^2 grows with e1^2.
        square = float(chi2.ppf(0.5, 1))
        return math.sqrt((1 + theta) * square / (d + theta * square))
    e1 = np.linspace(-8.0, 8.0, 4001)
    weights = np.exp(-0.5 * e1**2)
    weights /= weights.sum()
    mean, spread = a * (1 + theta) * e1, math.sqrt((1 - a) * (1 + a))

    def excess(rho: float) -> float:
        bound = rho * np.sqrt(spike.variance * (d + theta * e1**2))
        share = ndtr((bound - mean) / spread) - ndtr((-bound - mean) / spread)
        return float(weights @ share) - 0.5

    return float(brentq(excess, 0.0, 1.0, xtol=1e-12))
