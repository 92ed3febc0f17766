"""The first gradient on spiked inputs: how much of it points along the label, and its outliers.

A neuron w_j ~ N(0, I / d) with bias b_j moves along
G_j = (1/n) sum_i y_i sigma'(w_j.x_i + b_j) x_i. With u the coordinate along the spike,
t = (1 + theta) / d, omega_j = sqrt(d) <w_j, mu>,

    m1(u) = E_v sigma'(sqrt(t) omega u + v + b),  m11 = E_v sigma'^2,  md = E_v sigma'',

the part along the hidden direction, of which x has the coordinate sqrt(kappa) h, is

    <G_j, beta>: mean sqrt(kappa) E[y h m1], variance (kappa / n) Var(y h sigma'),
    bulk: |G_bulk|^2 = (d - 1) / n E[y^2 m11] + E[y md]^2.

Means over samples are taken over a training set (conditional) or over the law of the inputs. The
matrix G is of low rank up to noise: m1 = sum_m s_m p_m(u) q_m(omega, b), and

    R_ml = s_m s_l [(1 + theta) c_m c_l + (d - 1) / n E[y^2 p_m p_l]],  c_m = mean of y u p_m,

has the squares of its singular values over p, seen through noise of variance
(1 / n) E[y^2 (m11 - m1^2)] an entry. The edge of that noise is not the one of independent entries,
so that singular values near it are not predicted.

References
----------
Ba, Erdogdu, Suzuki, Wang, Wu, NeurIPS 2023; Benaych-Georges, Nadakuditi, J. Multivar. Anal. 111
(2012) (outliers).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.rules import composite_legendre, gauss_normal, product_grid
from learnability.gaussian.sections import Section
from learnability.labels.link import Link
from learnability.learners.giant._spectrum import outlier
from learnability.targets.spiked_index import Spike, SpikedIndex
from learnability.theory.shifted_moments import tabulated_moments

__all__ = ["Inputs", "Prediction", "gradient_on_spikes", "law_of_inputs"]

Array = NDArray[np.float64]
_REACH = 7.0
_OUTLIERS = 4  # That are looked for; those that are none are at the edge.


class Inputs(NamedTuple):
    """Samples or nodes: coordinates u and h, labels, the mean of their squares, weights.

    Attributes
    ----------
    u, h : array, shape (N,)
        Along the spike, and the argument of the label.
    y, square : array, shape (N,)
        Label, and its mean square (they differ by the noise at nodes).
    weights : array, shape (N,)
        That sum to one.
    sampled : bool
        Whether these are the samples themselves.
    """

    u: Array
    h: Array
    y: Array
    square: Array
    weights: Array
    sampled: bool


class Prediction(NamedTuple):
    """Of the gradient.

    Attributes
    ----------
    alignment : float
        sum_j <G_j, beta>^2 / sum_j |G_j|^2.
    norm : float
        Mean of |G_j|^2.
    correlation : float
        The same for rho^2 of w = G_j: kappa-weighted, <w, Sigma beta>^2 / (kappa w^T Sigma w).
    outliers, overlaps : array, shape (k,)
        Singular values of G and squared overlaps of their right vectors with beta.
    """

    alignment: float
    norm: float
    correlation: float
    outliers: Array
    overlaps: Array


def law_of_inputs(target: SpikedIndex, spike: Spike) -> Inputs:
    """Nodes of the law of the inputs."""
    p, q = spike.cosines
    breaks = Section.whole(target.link).breakpoints
    edges = np.concatenate([[-_REACH], breaks[np.abs(breaks) < _REACH], [_REACH]])
    h, weights = composite_legendre(edges, 1.0, 12)
    weights = weights * np.exp(-0.5 * h**2)
    weights /= weights.sum()
    k, shares = (np.zeros(1), np.ones(1)) if q < 1e-6 else gauss_normal(np.zeros(0), 24)
    u = (p * h[:, None] - q * k).ravel()
    h, weights = np.repeat(h, len(k)), np.outer(weights, shares).ravel()
    y = np.asarray(target.link(h[:, None]), dtype=float)
    return Inputs(u, h, y, y**2 + target.noise, weights, False)


def gradient_on_spikes(
    inputs: Inputs, activation: Link, bias: float, spike: Spike, n: int, p: int, d: int
) -> Prediction:
    """Predict the gradient on n samples of p neurons.

    Parameters
    ----------
    inputs : Inputs
        A training set, or the law of the inputs.
    activation : Link
        sigma.
    bias : float
        Standard deviation of the biases.
    spike : Spike
        The spike in dimension d.
    n, p, d : int
        Samples, neurons, dimension.
    """
    theta, kappa = spike.strength, spike.variance
    root = math.sqrt((1 + theta) / d)
    size = 40
    nodes = [gauss_normal(np.zeros(0), size)] + ([gauss_normal(np.zeros(0), 24)] if bias else [])
    neurons, shares = product_grid(nodes)
    shift = bias * neurons[:, 1] if bias else np.zeros(len(neurons))
    z = root * np.multiply.outer(np.clip(inputs.u, -_REACH, _REACH), neurons[:, 0]) + shift
    reach = math.ceil(float(np.abs(z).max()) / 4 + 0.1) * 4.0
    slope = activation.derivative()
    moments = np.asarray(tabulated_moments(activation, reach, 1.0, 2)(z))
    m1, md = moments[1], moments[2]
    m11 = np.asarray(tabulated_moments(slope, reach, 1.0, 0, 2)(z))[0]
    w, y, u, h = inputs.weights, inputs.y, inputs.u, inputs.h

    def squared_part(coordinate: Array, scale: float) -> Array:
        """E <G_j, e>^2 of a direction of which x has `scale` times the coordinate."""
        mean = (w * y * coordinate) @ m1
        own = (w * inputs.square * coordinate**2) @ (m11 - m1**2 if inputs.sampled else m11)
        spread = own if inputs.sampled else own - mean**2
        return np.asarray(scale**2 * (mean**2 + spread / n))

    on_label = float(shares @ squared_part(h, math.sqrt(kappa)))
    on_spike = float(shares @ squared_part(u, math.sqrt(1 + theta)))
    bulk = float(shares @ ((d - 1) / n * (w * inputs.square) @ m11 + ((w * y) @ md) ** 2))
    apart = max(on_label - spike.alignment**2 * on_spike, 0.0) if spike.cosines[1] > 1e-6 else 0.0
    norm = on_spike + bulk
    # w^T Sigma w and <w, Sigma beta> of w = G; the spike and what the label has beside it.
    p_, q_ = spike.cosines
    along = (p_ * math.sqrt((1 + theta) * on_spike) + q_ * math.sqrt(apart)) ** 2
    correlation = along / ((1 + theta) * on_spike + bulk)
    return Prediction(
        on_label / norm, norm, min(correlation, 1.0),
        *_outliers(inputs, m1, m11, shares, spike, n, p, d),
    )  # fmt: skip


def _outliers(
    inputs: Inputs, m1: Array, m11: Array, shares: Array, spike: Spike, n: int, p: int, d: int
) -> tuple[Array, Array]:
    w, y = inputs.weights, inputs.y
    theta, kappa = spike.strength, spike.variance
    # Functions of (omega, b): eigenvectors of the Gram matrix, which is small.
    values, vectors = np.linalg.eigh(np.sqrt(np.outer(shares, shares)) * ((w[:, None] * m1).T @ m1))
    kept = values > 1e-9 * values.max()
    functions = m1 @ (np.sqrt(shares)[:, None] * vectors[:, kept])  # s_m p_m(u)
    on_spike = math.sqrt(1 + theta) * ((w * y * inputs.u) @ functions)
    on_label = math.sqrt(kappa) * ((w * y * inputs.h) @ functions)
    noise = (d - 1) / n * (functions * (w * inputs.square)[:, None]).T @ functions
    R = np.outer(on_spike, on_spike) + noise
    if spike.cosines[1] > 1e-6:
        rest = on_label - spike.alignment * on_spike
        R = R + np.outer(rest, rest) / (1 - spike.alignment**2)
    powers, directions = np.linalg.eigh(R)
    bulk = math.sqrt(d / n * float(shares @ ((w * inputs.square) @ (m11 - m1**2))))
    found = [bulk * outlier(0.0, p / d).value] * _OUTLIERS
    overlaps = [0.0] * _OUTLIERS
    pairs = zip(powers[::-1][:_OUTLIERS], directions.T[::-1], strict=False)
    for k, (power, direction) in enumerate(pairs):
        one = outlier(math.sqrt(p * max(power, 0.0)) / bulk, p / d)
        found[k] = bulk * one.value
        overlaps[k] = float(direction @ on_label) ** 2 / max(power, 1e-300) * one.right
    return np.array(found), np.array(overlaps)
