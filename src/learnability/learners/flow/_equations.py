"""Population flows of one neuron, in its coordinates along the marked axes and the rest.

==========  ========================================================================================
spherical   dw/dt = -(I - w w^T) grad E(sigma(w.x) - f)^2 on the unit sphere
normalised  the same loss of sigma(w.x / tau), times tau^2: dw/dt = 2 zeta' tau (Sigma v -
            rho Sigma w / tau), which keeps |w|
whitened    with Sigma^-1 in front: dw/dt = 2 zeta' tau (v - rho w / tau), for which
            d rho / dt = 2 zeta'(rho) (1 - rho^2)
==========  ========================================================================================

The label depends on u = <v, x>, and v lies along the k marked axes of the inputs; outside of them
Sigma is the identity and w keeps its direction. So the equations for (<w, e_1>, ..., <w, e_k>,
length of the rest) are closed for any number of spikes; isotropic inputs have one axis, the hidden
direction.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from learnability.inputs import Frame
from learnability.learners.networks.population import Population

__all__ = ["FLOWS", "geometry", "solve"]

Array = NDArray[np.float64]
FLOWS = ("spherical", "normalised", "whitened")


def geometry(frame: Frame, w: Array) -> tuple[float, float]:
    """Return rho and tau of weights with coordinates w (k + 1,), of which the rest is the last."""
    stretched = frame.scale * w[:-1]
    tau = math.sqrt(max(float(stretched @ stretched + w[-1] ** 2), 1e-300))
    return float(frame.to_label[0] @ stretched) / tau, tau


def solve(population: Population, frame: Frame, flow: str, start: Array, times: Array) -> Array:
    """Return coordinates of the weights at the times, shape (T, k + 1).

    Parameters
    ----------
    population : Population
        The link and the activation.
    frame : Frame
        The marked axes of inputs with one hidden direction.
    flow : str
        One of `FLOWS`.
    start : array, shape (k + 1,)
        Coordinates at time 0.
    times : array, shape (T,)
        Times from 0 on, not decreasing.
    """
    from scipy.integrate import solve_ivp

    variance = np.append(frame.scale**2, 1.0)
    label = np.append(frame.to_label[0] / frame.scale, 0.0)
    pulled = variance * label

    def spherical(w: Array) -> Array:
        c = population.gradient(*geometry(frame, w))
        gradient = 2 * (c.label * pulled + c.weights * variance * w)
        return np.asarray(-(gradient - float(gradient @ w) * w))

    def normalised(w: Array) -> Array:
        rho, tau = geometry(frame, w)
        return np.asarray(2 * population.normalised_pull(rho) * (tau * pulled - rho * variance * w))

    def whitened(w: Array) -> Array:
        rho, tau = geometry(frame, w)
        return 2 * population.normalised_pull(rho) * (tau * label - rho * w)

    drift = {"spherical": spherical, "normalised": normalised, "whitened": whitened}[flow]
    square = float(start @ start)

    def completed(axes: Array) -> Array:
        """Return all coordinates of weights that keep their length, from those along the axes.

        A step of the solver that leaves the sphere is projected back to it: outside of it the
        equations are not those of the flow, and may grow without bound.
        """
        rest = square - float(axes @ axes)
        if rest >= 0:
            return np.append(axes, math.sqrt(rest))
        return np.append(axes * math.sqrt(square / float(axes @ axes)), 0.0)

    keeps = flow != "whitened"
    grid = np.unique(np.concatenate([[0.0], times]))
    found = solve_ivp(
        lambda _, x: drift(completed(x))[:-1] if keeps else drift(x),
        (0.0, max(float(grid[-1]), 1e-9)),
        start[:-1] if keeps else start,
        t_eval=grid,
        method="LSODA",
        rtol=1e-8,
        atol=1e-11,
    )
    paths = np.full((len(grid), len(start)), np.nan)
    for place, x in enumerate(found.y.T):
        paths[place] = completed(x) if keeps else x
    return paths[np.searchsorted(grid, times)]
