"""Averages of a link and an activation at correlations near one, where their series are slow.

With u = rho v + c xi, c^2 = 1 - rho^2, and h = tau v,

    E[f(u) g(h)] = E_v[g(tau v) E_xi f(rho v + c xi)],
    E[f'(u) g(h)] = E_v[g(tau v) E_xi[xi f(rho v + c xi)]] / c,

the latter by parts, so that a jump of f needs no derivative. The inner integral is split at the
breaks of f, the outer one at those of g. The inner one changes fast where rho v passes a break of
f, on the scale c / rho, and the outer panels are refined there.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.rules import composite_legendre
from learnability.gaussian.sections import REACH
from learnability.labels.link import Link

__all__ = ["Smoothed", "smoothed"]

Array = NDArray[np.float64]
_LEAST = 1e-7
"""The least c: for smaller ones the averages do not change in the digits that are kept."""
_GRADED = np.array([0.0, 0.5, 1.0, 2.0, 4.0, 8.0])
_PANELS, _NODES = 10, 12


class Smoothed(NamedTuple):
    """A link averaged over its argument u, given v.

    Attributes
    ----------
    v, weights : array, shape (N,)
        Nodes of the standard normal law.
    value, slope : array, shape (N,)
        E[f(u) | v] and E[f'(u) | v].
    """

    v: Array
    weights: Array
    value: Array
    slope: Array


def smoothed(link: Link, breaks: Array, rho: float, edges: Array, panel: float = 0.5) -> Smoothed:
    """Return the link at correlation rho.

    Parameters
    ----------
    link : Link
        The function f.
    breaks : array
        The breaks of f.
    rho : float
        Correlation, away from zero.
    edges : array
        Where the other function of v breaks or bends.
    panel : float
        The widest panel on which that function is resolved.
    """
    c = max(math.sqrt(max((1 - rho) * (1 + rho), 0.0)), _LEAST)
    steps = np.concatenate([-_GRADED[:0:-1], _GRADED]) * c / rho
    turns = (breaks[:, None] / rho + steps).ravel()
    inside = np.concatenate([edges, turns])
    inside = inside[np.abs(inside) < REACH]
    v, weights = composite_legendre(
        np.unique(np.concatenate([[-REACH], inside, [REACH]])), panel, _NODES
    )
    weights = weights * np.exp(-0.5 * v**2)
    weights /= weights.sum()
    cuts = np.clip((np.sort(breaks) - rho * v[:, None]) / c, -REACH, REACH)
    ends = np.hstack([np.full((len(v), 1), -REACH), cuts, np.full((len(v), 1), REACH)])
    x, share = composite_legendre(np.array([0.0, 1.0]), 1 / _PANELS, _NODES)
    length = np.diff(ends, axis=1)[..., None]
    xi = ends[:, :-1, None] + length * x
    density = length * share * np.exp(-0.5 * xi**2) / math.sqrt(2 * math.pi)
    values = np.asarray(link((rho * v[:, None, None] + c * xi)[..., None]), dtype=float) * density
    return Smoothed(v, weights, values.sum(axis=(1, 2)), (values * xi).sum(axis=(1, 2)) / c)
