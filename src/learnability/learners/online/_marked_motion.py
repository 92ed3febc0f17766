"""Equations of motion of one-pass SGD on inputs with one long direction, as d grows.

With the overlaps M = (s, b) with the frame (e1 = mu, e2), their stretched values
N = (sqrt(1 + theta) s, b) and C = W W^T - M M^T, fields are N g + (outside), g standard normal
along the frame, and the label depends on zeta = p g1 + q g2 alone. Let e be the direction (-q, p)
of the frame across it and k = N e. Given zeta, the fields are L u with L L^T = C + k k^T, and the
coordinate along e has the mean k^T L^-T u. So averages over (zeta, u), those of a label of one
direction, are all that is needed: with U the direction of `_reuse`,

    E[U g] = E[U zeta] (p, q) + E[U u^T] L^-1 k (-q, p),
    dM/dt = step E[U g] stretch,
    dC/dt = step (X + X^T) + step^2 E[U U^T] / b,  X = E[U u^T] L^T - E[U u^T] L^-1 k k^T,

and the normalised rules multiply U by tau and take step E[U v] Sigma w, or w, away. A step sees
X X^T / d = 1 and moves M by little: (1 + theta) / d has to be small.

References
----------
Saad and Solla, Phys. Rev. E 52 (1995); Mousavi-Hosseini, Wu, Suzuki, Erdogdu, NeurIPS 2023.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.labels.hermite import expand
from learnability.learners.networks.starts import root_of
from learnability.learners.online._averages import Nodes, nodes_for
from learnability.learners.online._engines import Recipe
from learnability.learners.online._motion import (
    Drift,
    Point,
    Rates,
    direction_of,
    rest_of_the_batch,
)
from learnability.targets.spiked_index import Spike

__all__ = ["label_correlation", "marked_drifts"]

Array = NDArray[np.float64]


def marked_drifts(recipe: Recipe, normalisation: str, spike: Spike, noise: float) -> list[Drift]:
    """Drifts of free weights at (C, M, a), whose spread is their error."""
    for function in (recipe.link, recipe.activation):
        expand(function, 0)  # A sentence where it is not square-integrable.
    plain = recipe.rule == "plain"
    rules = nodes_for(recipe.link, recipe.activation, recipe.width, noise, plain)
    return [_drift(recipe, normalisation, spike, nodes) for nodes in rules]


def label_correlation(at: Point, spike: Spike) -> float:
    """Largest |rho| of a neuron."""
    N = at.overlap * np.array([math.sqrt(1 + spike.strength), 1.0])
    variance = np.diag(at.rest) + (N**2).sum(axis=1)
    return float(np.abs(N @ np.array(spike.cosines) / np.sqrt(np.maximum(variance, 1e-300))).max())


def _drift(recipe: Recipe, normalisation: str, spike: Spike, nodes: Nodes) -> Drift:
    p, q = spike.cosines
    along, across = np.array([p, q]), np.array([-q, p])
    stretch = np.array([math.sqrt(1 + spike.strength), 1.0])
    zeta, own = nodes.hidden[0], nodes.own
    others = rest_of_the_batch(nodes.weights, recipe.batch - 1 if recipe.rule == "sam" else 0)
    free = normalisation == "none"

    def drift(at: Point, rates: Rates) -> Point:
        N = at.overlap * stretch
        m, k = N @ along, N @ across
        C = at.rest + np.outer(k, k)
        tau = np.ones(len(C)) if free else np.sqrt(np.maximum(np.diag(C) + m**2, 1e-300))
        L = root_of(C)
        field = (m[:, None] * zeta + L @ own) / tau[:, None]
        U, V = direction_of(recipe, at, field, nodes.y, rates, others)
        weighted = U * nodes.weights
        on_own = weighted @ own.T
        on_across = on_own @ np.linalg.lstsq(L, k, rcond=1e-12)[0]
        marked = tau[:, None] * (np.outer(weighted @ zeta, along) + np.outer(on_across, across))
        cross = tau[:, None] * (on_own @ L.T - np.outer(on_across, k))
        squared = np.outer(tau, tau) * (weighted @ U.T)
        turned = np.zeros(len(C)) if free else (weighted * field).sum(axis=1)
        taken: Any = turned[:, None] * at.overlap
        if normalisation == "whitened":
            moved = marked / stretch - taken
        else:
            moved = marked * stretch - taken * stretch**2
        linear = cross + cross.T - (turned[:, None] + turned) * at.rest
        return Point(
            rates.step * linear + rates.step**2 / recipe.batch * squared,
            rates.step * moved,
            rates.second_step * (V @ nodes.weights),
        )

    return drift
